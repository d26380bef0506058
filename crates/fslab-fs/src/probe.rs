//! What works on a machine: for each file system and venue, every obstacle and the way around it.

use std::fmt;

use fslab_model::VenueKind;
use serde::{Deserialize, Serialize};

use crate::{Driver, FileSystem, Host, KernelDriver, Privilege};

/// Something that stands in the way of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "obstacle", rename_all = "kebab-case")]
pub enum Obstacle {
    /// A program is not installed.
    MissingTool {
        /// The program.
        program: String,
        /// The Debian package that has it.
        package: String,
        /// How to get it.
        hint: String,
    },
    /// The running kernel cannot mount it.
    MissingDriver {
        /// The kernel's configuration that can.
        config: String,
        /// How to get it.
        hint: String,
    },
    /// This process may not mount.
    MissingPrivilege {
        /// How to get it.
        hint: String,
    },
    /// There are no loop devices.
    NoLoopDevices {
        /// How to get them.
        hint: String,
    },
    /// None is mounted whose directories could be used.
    NotMounted {
        /// How to get one.
        hint: String,
    },
    /// No driver exists.
    NoDriverAnywhere {
        /// Why.
        reason: String,
    },
}

/// What works in one venue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VenueProbe {
    /// The venue.
    pub venue: VenueKind,
    /// Whether nothing stands in the way.
    pub works: bool,
    /// What is worth knowing where it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Everything that stands in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<Obstacle>,
}

/// What works of one file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// Its name as people write it.
    pub title: String,
    /// One for each venue.
    pub venues: Vec<VenueProbe>,
}

/// Finds out what of `file_system` works on `host`.
#[must_use]
pub fn probe(file_system: &FileSystem, host: &Host) -> Probe {
    let venues = match &file_system.driver {
        Driver::Kernel(driver) => vec![
            probe_directory(driver, host),
            probe_device(file_system, driver, host, VenueKind::Loop),
            probe_device(file_system, driver, host, VenueKind::Block),
        ],
        Driver::BuiltIn => vec![VenueProbe::new(VenueKind::Fake, None, Vec::new())],
        Driver::Nowhere(reason) => [VenueKind::Dir, VenueKind::Loop, VenueKind::Block]
            .map(|venue| {
                let reason = (*reason).to_owned();
                VenueProbe::new(venue, None, vec![Obstacle::NoDriverAnywhere { reason }])
            })
            .into(),
    };
    Probe {
        name: file_system.name.to_owned(),
        title: file_system.title.to_owned(),
        venues,
    }
}

fn probe_directory(driver: &KernelDriver, host: &Host) -> VenueProbe {
    let mounted = host
        .mounts
        .iter()
        .find(|mount| mount.fs_type == driver.fs_type);
    match mounted {
        Some(mount) => {
            let note = format!("mounted at {}", mount.mount_point.display());
            VenueProbe::new(VenueKind::Dir, Some(note), Vec::new())
        }
        None => {
            let hint = format!(
                "mount {} somewhere and name a directory of it with --dir",
                driver.fs_type
            );
            VenueProbe::new(VenueKind::Dir, None, vec![Obstacle::NotMounted { hint }])
        }
    }
}

fn probe_device(
    file_system: &FileSystem,
    driver: &KernelDriver,
    host: &Host,
    venue: VenueKind,
) -> VenueProbe {
    let mut obstacles = Vec::new();
    let module = host.modules.get(driver.fs_type);
    let is_registered = host.registered.contains(driver.fs_type);
    if !is_registered && module.is_none() {
        obstacles.push(missing_driver(driver, host));
    }
    for tool in file_system.tools() {
        if !host.tools.contains_key(tool.program) {
            obstacles.push(Obstacle::MissingTool {
                program: tool.program.to_owned(),
                package: tool.package.to_owned(),
                hint: tool.install_hint(),
            });
        }
    }
    if venue == VenueKind::Loop && !host.has_loop_control {
        obstacles.push(Obstacle::NoLoopDevices {
            hint: "modprobe loop, or a kernel with CONFIG_BLK_DEV_LOOP".to_owned(),
        });
    }
    obstacles.extend(missing_privilege(host.privilege));
    let note = module
        .filter(|_| !is_registered)
        .map(|module| format!("the module {module} loads on the first mount"));
    VenueProbe::new(venue, note, obstacles)
}

fn missing_driver(driver: &KernelDriver, host: &Host) -> Obstacle {
    let release = &host.kernel_release;
    let hint = if host.has_modules {
        format!("use a kernel with {}; {release} is without", driver.config)
    } else {
        // After an update of the kernel the old one still runs, and its modules may be gone.
        format!(
            "no modules of the running kernel {release} are installed: reboot after a kernel \
             update, or use a kernel with {}",
            driver.config
        )
    };
    Obstacle::MissingDriver {
        config: driver.config.to_owned(),
        hint,
    }
}

fn missing_privilege(privilege: Privilege) -> Option<Obstacle> {
    let hint = match privilege {
        Privilege::Full => return None,
        Privilege::None => "run fslab as root, with CAP_SYS_ADMIN where it is in a container",
        Privilege::UserNamespace => "run fslab as root outside of the user namespace",
    };
    Some(Obstacle::MissingPrivilege {
        hint: hint.to_owned(),
    })
}

impl VenueProbe {
    fn new(venue: VenueKind, note: Option<String>, obstacles: Vec<Obstacle>) -> Self {
        Self {
            venue,
            works: obstacles.is_empty(),
            note: note.filter(|_| obstacles.is_empty()),
            obstacles,
        }
    }
}

impl Obstacle {
    /// How to get around it; `None` where there is no way.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::MissingTool { hint, .. }
            | Self::MissingDriver { hint, .. }
            | Self::MissingPrivilege { hint }
            | Self::NoLoopDevices { hint }
            | Self::NotMounted { hint } => Some(hint),
            Self::NoDriverAnywhere { .. } => None,
        }
    }
}

impl fmt::Display for Obstacle {
    /// A fragment, without the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingTool { program, .. } => write!(f, "{program} is not installed"),
            Self::MissingDriver { config, .. } => write!(f, "this kernel has no {config}"),
            Self::MissingPrivilege { .. } => f.write_str("mounting is not permitted"),
            Self::NoLoopDevices { .. } => f.write_str("there are no loop devices"),
            Self::NotMounted { .. } => f.write_str("none is mounted"),
            Self::NoDriverAnywhere { reason } => f.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use fslab_sys::parse_mount_table;

    use crate::find;

    fn names(of: &[&str]) -> BTreeSet<String> {
        of.iter().map(|&name| name.to_owned()).collect()
    }

    /// A machine with everything.
    fn host() -> Host {
        let tools = crate::all().iter().flat_map(|entry| entry.tools());
        Host {
            kernel_release: "6.1.0-test".into(),
            registered: names(&["btrfs", "ext2", "ext3", "ext4", "xfs"]),
            has_modules: true,
            modules: BTreeMap::new(),
            privilege: Privilege::Full,
            has_loop_control: true,
            tools: tools
                .map(|tool| (tool.program.to_owned(), "/sbin/x".into()))
                .collect(),
            mounts: parse_mount_table(b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"),
        }
    }

    fn of(name: &str, host: &Host, venue: VenueKind) -> VenueProbe {
        let probe = probe(find(name).expect("an entry"), host);
        let found = probe.venues.into_iter().find(|probe| probe.venue == venue);
        found.expect("the venue is probed")
    }

    fn obstacles(probe: &VenueProbe) -> Vec<String> {
        assert_eq!(probe.works, probe.obstacles.is_empty());
        probe.obstacles.iter().map(Obstacle::to_string).collect()
    }

    #[test]
    fn where_everything_is_there_everything_works() {
        for entry in crate::all() {
            for venue in probe(entry, &host()).venues {
                let expected = venue.venue != VenueKind::Dir || entry.name == "ext4";
                assert_eq!(venue.works, expected, "{} {:?}", entry.name, venue.venue);
            }
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_the_command_that_gets_it() {
        let mut host = host();
        host.tools.remove("mkfs.xfs");
        let probe = of("xfs", &host, VenueKind::Loop);
        assert_eq!(obstacles(&probe), ["mkfs.xfs is not installed"]);
        assert_eq!(probe.obstacles[0].hint(), Some("apt-get install xfsprogs"));
        assert!(of("ext4", &host, VenueKind::Loop).works);
    }

    #[test]
    fn a_driver_that_loads_on_mount_works_and_is_told() {
        let mut host = host();
        host.registered.clear();
        host.modules = [("ext3".to_owned(), "ext4".to_owned())].into();
        let ext3 = of("ext3", &host, VenueKind::Block);
        assert!(ext3.works);
        assert_eq!(
            ext3.note.as_deref(),
            Some("the module ext4 loads on the first mount")
        );
        let xfs = of("xfs", &host, VenueKind::Block);
        assert_eq!(obstacles(&xfs), ["this kernel has no CONFIG_XFS_FS"]);
        assert_eq!(xfs.note, None);
    }

    #[test]
    fn a_kernel_whose_modules_are_gone_gets_another_hint() {
        let mut host = host();
        host.registered.clear();
        host.has_modules = false;
        let probe = of("btrfs", &host, VenueKind::Block);
        let hint = probe.obstacles[0].hint().expect("a hint");
        assert!(
            hint.contains("reboot") && hint.contains("6.1.0-test"),
            "{hint}"
        );
    }

    #[test]
    fn an_ordinary_user_with_nothing_is_told_of_every_obstacle() {
        let mut host = host();
        host.tools.clear();
        host.privilege = Privilege::None;
        host.has_loop_control = false;
        assert_eq!(
            obstacles(&of("btrfs", &host, VenueKind::Loop)),
            [
                "mkfs.btrfs is not installed",
                "btrfs is not installed",
                "there are no loop devices",
                "mounting is not permitted"
            ]
        );
        assert_eq!(of("btrfs", &host, VenueKind::Block).obstacles.len(), 3);
        assert!(of("ext4", &host, VenueKind::Dir).works);
    }

    #[test]
    fn a_file_system_with_no_driver_anywhere_says_why() {
        let named = FileSystem {
            driver: Driver::Nowhere("no kernel has a driver for it"),
            ..*find("xfs").expect("an entry")
        };
        let probe = probe(&named, &host());
        assert_eq!(probe.venues.len(), 3);
        for venue in &probe.venues {
            assert_eq!(obstacles(venue), ["no kernel has a driver for it"]);
        }
    }

    #[test]
    fn a_probe_reads_back_from_its_json() {
        let mut host = host();
        host.tools.clear();
        let probe = probe(find("ext4").expect("an entry"), &host);
        let json = serde_json::to_string(&probe).expect("serialises");
        assert!(json.contains(r#""obstacle":"missing-tool""#), "{json}");
        assert_eq!(serde_json::from_str::<Probe>(&json).expect("reads"), probe);
    }
}
