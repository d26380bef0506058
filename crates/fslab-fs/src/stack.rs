//! The stack of a subject on its disks: which layer lies on what, in the order in which they are
//! made.
//!
//! ```text
//!     ext4/luks/raid1x2    disk 1 --+
//!                                   +-- raid1 --> luks --> ext4
//!                          disk 2 --+
//!     btrfs:raid1x2/luks   disk 1 --> luks --+
//!                                            +--> btrfs
//!                          disk 2 --> luks --+
//! ```

use fslab_model::{Bytes, Failure, LayerKind, StackLayer, Subject};

use crate::layer::{BlockLayer, LayerPlace, layer};
use crate::mounting::base_name;
use crate::probe::{missing_tools, not_in_lab};
use crate::{CommandLine, GuestKernel, Host, Obstacle, Tool};

/// Placeholder of the device in commands that are shown before there is one; of several, the first
/// is `DEVICE1`.
const DEVICE_WORD: &str = "DEVICE";

/// What the names of layers begin with, before the name of their first disk.
pub const LAYER_PREFIX: &str = "fslab_";

/// A layer on the devices of one subject.
#[derive(Clone, Debug)]
pub struct StackPart {
    pub layer: &'static BlockLayer,
    /// The name of its device.
    name: String,
    /// The devices below.
    members: Vec<String>,
    options: Vec<String>,
    /// True if those are disks.
    is_on_disks: bool,
}

/// The layers of a subject in the order in which they are made, and the devices of its file system.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    pub parts: Vec<StackPart>,
    /// The devices that the file system is made on: the disks without layers.
    pub devices: Vec<String>,
}

impl Stack {
    /// The stack of `subject` on `disks`, as many as it has.
    pub fn of(subject: &Subject, disks: &[String]) -> Self {
        let name = disks.first().map_or("", |disk| base_name(disk));
        let mut stack = Self::default();
        let devices = subject.spread().map_or(1, |spread| spread.devices as usize);
        let each = (disks.len() / devices).max(1);
        for disks in disks.chunks(each) {
            let device = stack.build(subject.layers(), disks, name);
            stack.devices.push(device);
        }
        stack
    }

    /// The first device of the file system, and the others.
    pub fn first_and_others(&self) -> (&str, &[String]) {
        self.devices
            .split_first()
            .map_or(("", &[]), |(first, others)| (first, others))
    }

    /// Adds the layers on `disks`, the lowest first; returns the device of the topmost.
    fn build(&mut self, layers: &[StackLayer], disks: &[String], name: &str) -> String {
        let Some((upper, below)) = layers.split_first() else {
            return disks.first().cloned().unwrap_or_default();
        };
        let each = (disks.len() / upper.members as usize).max(1);
        let members = disks
            .chunks(each)
            .map(|disks| self.build(below, disks, name));
        let members: Vec<String> = members.collect();
        let part = StackPart {
            layer: layer(upper.kind),
            name: format!("{LAYER_PREFIX}{name}_{}", self.parts.len() + 1),
            members,
            options: upper.options.clone(),
            is_on_disks: below.is_empty(),
        };
        let device = part.device();
        self.parts.push(part);
        device
    }

    /// The commands that make all layers, as they are shown before there is a disk.
    pub fn plan(&self) -> Vec<Vec<String>> {
        let made = self.parts.iter().flat_map(|part| part.make(None, true));
        made.map(|line| line.words()).collect()
    }
}

impl StackPart {
    /// The device of the layer.
    pub fn device(&self) -> String {
        (self.layer.device)(&self.name)
    }

    /// The devices below.
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// The commands that make and open it, on devices the smallest of which has `bytes`; `None` in
    /// a plan. Disks read as zeros if `is_zeroed`; what a layer shows need not.
    pub fn make(&self, bytes: Option<Bytes>, is_zeroed: bool) -> Vec<CommandLine> {
        (self.layer.make)(&LayerPlace {
            bytes,
            is_zeroed: is_zeroed && self.is_on_disks,
            ..self.place()
        })
    }

    /// The commands that close it.
    pub fn close(&self) -> Vec<CommandLine> {
        (self.layer.close)(&self.place())
    }

    fn place(&self) -> LayerPlace<'_> {
        LayerPlace {
            kind: self.layer.kind,
            name: &self.name,
            members: &self.members,
            options: &self.options,
            bytes: None,
            is_zeroed: false,
        }
    }
}

/// Placeholders of the disks of a subject.
pub(crate) fn disk_words(disks: u32) -> Vec<String> {
    match disks {
        1 => vec![DEVICE_WORD.to_owned()],
        _ => (1..=disks)
            .map(|number| format!("{DEVICE_WORD}{number}"))
            .collect(),
    }
}

/// Checks the layers of a subject.
pub(crate) fn validate_layers(subject: &Subject) -> Result<(), Failure> {
    let mut layers = subject.layers().iter();
    layers.try_for_each(|it| layer(it.kind).validate(it))
}

/// Why the layers of `subject` cannot be made: in the guest of `host` if `is_guest`, else on this
/// machine.
pub fn layer_obstacles(subject: &Subject, host: &Host, is_guest: bool) -> Vec<Obstacle> {
    let mut kinds: Vec<LayerKind> = subject.layers().iter().map(|it| it.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let layers = kinds.into_iter().map(layer);
    match (is_guest, &host.guest) {
        // The file system has the obstacle that there is no guest.
        (true, None) => Vec::new(),
        (true, Some(guest)) => layers.flat_map(|it| obstacles_in(guest, it)).collect(),
        (false, _) => layers.flat_map(|it| obstacles_here(host, it)).collect(),
    }
}

fn obstacles_in(guest: &GuestKernel, layer: &BlockLayer) -> Vec<Obstacle> {
    let lists = guest.module_lists.as_ref();
    let has_modules = lists.is_none_or(|lists| lists.contains(layer.kind.into()));
    let lacks = !has_modules || !layer.config.is_met_by(&guest.config);
    let kernel = lacks.then(|| Obstacle::MissingDriver {
        kernel: format!("the guest kernel {}", guest.name),
        config: layer.config.to_string(),
        hint: "build the lab again: fslab lab build".to_owned(),
    });
    let missing = layer.tools.iter();
    let missing = missing.filter_map(|tool| not_in_lab(guest, *tool, "fslab lab build --new-root"));
    kernel.into_iter().chain(missing).collect()
}

fn obstacles_here(host: &Host, layer: &BlockLayer) -> Vec<Obstacle> {
    let config = host.config.as_ref();
    let lacks = config.is_some_and(|config| !layer.config.is_met_by(config));
    let kernel = lacks.then(|| Obstacle::MissingDriver {
        kernel: "this kernel".to_owned(),
        config: layer.config.to_string(),
        hint: format!("use a kernel with {}, or the venue guest", layer.config),
    });
    let missing = missing_tools(layer.tools.iter().copied(), host);
    kernel.into_iter().chain(missing).collect()
}

/// The programs of the layers of a subject, each once.
pub fn layer_tools(subject: &Subject) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    for tool in subject.layers().iter().flat_map(|it| layer(it.kind).tools) {
        if !tools.contains(tool) {
            tools.push(*tool);
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(subject: &str) -> Stack {
        let subject: Subject = subject.parse().expect(subject);
        let disks = ["/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd"];
        let disks = disks.map(str::to_owned);
        Stack::of(&subject, &disks[..subject.disks() as usize])
    }

    fn shape(stack: &Stack) -> Vec<(String, Vec<String>)> {
        let parts = stack.parts.iter();
        parts.map(|it| (it.device(), it.members.clone())).collect()
    }

    #[test]
    fn without_layers_the_file_system_is_on_the_disks() {
        assert_eq!(stack("ext4").devices, ["/dev/sda"]);
        assert_eq!(stack("btrfs:raid1x2").devices, ["/dev/sda", "/dev/sdb"]);
        assert!(stack("ext4").parts.is_empty());
    }

    #[test]
    fn layers_are_made_from_the_disks_up() {
        let stack = stack("ext4/luks/raid1x2");
        let expected = [
            ("/dev/md/fslab_sda_1", vec!["/dev/sda", "/dev/sdb"]),
            ("/dev/mapper/fslab_sda_2", vec!["/dev/md/fslab_sda_1"]),
        ];
        let expected = expected.map(|(device, members)| {
            let members = members.into_iter().map(str::to_owned);
            (device.to_owned(), members.collect::<Vec<_>>())
        });
        assert_eq!(shape(&stack), expected);
        assert_eq!(stack.devices, ["/dev/mapper/fslab_sda_2"]);
    }

    #[test]
    fn each_member_of_an_array_has_the_layers_below_it() {
        let nested = stack("ext4/raid0x2/raid1x2");
        let members: Vec<_> = nested.parts.iter().map(|it| it.members.clone()).collect();
        assert_eq!(members[0], ["/dev/sda", "/dev/sdb"]);
        assert_eq!(members[1], ["/dev/sdc", "/dev/sdd"]);
        assert_eq!(members[2], ["/dev/md/fslab_sda_1", "/dev/md/fslab_sda_2"]);
        let spread = stack("btrfs:raid1x2/luks");
        let devices = ["/dev/mapper/fslab_sda_1", "/dev/mapper/fslab_sda_2"];
        assert_eq!(spread.devices, devices);
    }

    #[test]
    fn only_disks_are_known_to_read_as_zeros() {
        let lines = |part: &StackPart, is_zeroed| -> Vec<String> {
            let lines = part.make(Some(Bytes::mib(64)), is_zeroed);
            lines.iter().map(|line| line.words().join(" ")).collect()
        };
        let on_disks = stack("ext4/raid1x2");
        let made = lines(&on_disks.parts[0], true);
        assert_eq!(made.len(), 1);
        assert!(made[0].contains("--assume-clean"), "{made:?}");
        let of_a_user = lines(&on_disks.parts[0], false);
        assert!(!of_a_user[0].contains("--assume-clean"), "{of_a_user:?}");
        assert!(of_a_user[1].contains("--wait"), "{of_a_user:?}");
        let on_luks = stack("ext4/raid1x2/luks");
        let encrypted = lines(&on_luks.parts[2], true);
        assert!(!encrypted[0].contains("--assume-clean"), "{encrypted:?}");
    }

    #[test]
    fn what_needs_a_size_gets_it_and_a_plan_has_a_word() {
        let stack = stack("ext4/linear");
        assert!(
            stack.plan()[0]
                .join(" ")
                .contains("0 SECTORS linear /dev/sda 0")
        );
        let made = stack.parts[0].make(Some(Bytes::mib(1)), true);
        assert!(made[0].words().join(" ").contains("0 2048 linear"));
        let closed = stack.parts[0].close();
        assert_eq!(closed[0].words(), ["dmsetup", "remove", "fslab_sda_1"]);
    }
}
