//! Probes a machine: for each file system and venue, every obstacle with a hint.

use std::fmt;

use fslab_model::VenueKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Driver, FileSystem, GuestKernel, Host, KernelConfig, Privilege, Tool};

/// The kernel's name of FUSE.
const FUSE: &str = "fuse";

/// An obstacle to a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "obstacle", rename_all = "kebab-case")]
pub enum Obstacle {
    /// A program is not installed.
    MissingTool {
        /// The program.
        program: String,
        /// The Debian package that has it.
        package: String,
        /// What to do.
        hint: String,
    },
    /// A guest lacks a program: it sees only those of its lab.
    NotInLab {
        /// The program.
        program: String,
        /// The Debian package that has it.
        package: String,
        /// The lab.
        lab: String,
        /// What to do.
        hint: String,
    },
    /// The kernel cannot mount it, or only read-only.
    MissingDriver {
        /// The kernel: `this kernel`, or a guest's.
        kernel: String,
        /// The kernel configuration that can.
        config: String,
        /// What to do.
        hint: String,
    },
    /// This process may not mount.
    MissingPrivilege {
        /// What to do.
        hint: String,
    },
    /// There are no loop devices.
    NoLoopDevices {
        /// What to do.
        hint: String,
    },
    /// A daemon already runs that trials would share with other users.
    DaemonRuns {
        /// The program.
        program: String,
        /// What to do.
        hint: String,
    },
    /// There is no guest kernel.
    NoGuestKernel {
        /// What to do.
        hint: String,
    },
    /// No file system of this type is mounted whose directories could be used.
    NotMounted {
        /// What to do.
        hint: String,
    },
    /// No driver exists.
    NoDriverAnywhere {
        /// Why.
        reason: String,
    },
}

/// The result for one venue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VenueProbe {
    /// The venue.
    pub venue: VenueKind,
    /// True without obstacles.
    pub works: bool,
    /// A note, if it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Every obstacle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<Obstacle>,
}

/// The result for one file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// Its name in prose.
    pub title: String,
    /// One for each venue.
    pub venues: Vec<VenueProbe>,
}

/// Probes `file_system` on `host`.
pub fn probe(file_system: &FileSystem, host: &Host) -> Probe {
    let venues = match &file_system.driver {
        Driver::Kernel(_) | Driver::Fuse(_) | Driver::Pool(_) => vec![
            probe_directory(&file_system.driver, host),
            probe_device(file_system, host, VenueKind::Loop),
            probe_device(file_system, host, VenueKind::Block),
            probe_guest(file_system, host),
        ],
        Driver::BuiltIn => vec![VenueProbe::new(VenueKind::Fake, None, Vec::new())],
        Driver::Nowhere(reason) => [
            VenueKind::Dir,
            VenueKind::Loop,
            VenueKind::Block,
            VenueKind::Guest,
        ]
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

fn probe_directory(driver: &Driver, host: &Host) -> VenueProbe {
    let types = driver.mounted_types();
    let mounted = host
        .mounts
        .iter()
        .find(|mount| types.contains(&mount.fs_type.as_str()));
    match mounted {
        Some(mount) => {
            let note = format!("mounted at {}", mount.mount_point.display());
            VenueProbe::new(VenueKind::Dir, Some(note), Vec::new())
        }
        None => {
            let hint = format!(
                "mount {} somewhere and name a directory of it with --dir",
                types.first().unwrap_or(&"it")
            );
            VenueProbe::new(VenueKind::Dir, None, vec![Obstacle::NotMounted { hint }])
        }
    }
}

fn probe_device(file_system: &FileSystem, host: &Host, venue: VenueKind) -> VenueProbe {
    let driver = &file_system.driver;
    let mut obstacles: Vec<_> = missing_driver(driver, host).into_iter().collect();
    let is_in_kernel = |name: &str| host.registered.contains(name);
    let daemon = daemon(driver, is_in_kernel).map(|tool| tool.program);
    obstacles.extend(missing_tools(needed_tools(file_system, is_in_kernel), host));
    if let Some(program) = daemon.filter(|&program| host.running.contains(program)) {
        obstacles.push(Obstacle::DaemonRuns {
            program: program.to_owned(),
            hint: format!("export its pools and stop {program}: a trial starts its own"),
        });
    }
    if venue == VenueKind::Loop && !host.has_loop_control {
        obstacles.push(Obstacle::NoLoopDevices {
            hint: "run modprobe loop, or use a kernel with CONFIG_BLK_DEV_LOOP".to_owned(),
        });
    }
    obstacles.extend(missing_privilege(host.privilege));
    let note = match (loading_module(driver, host), daemon) {
        (_, Some(program)) => Some(format!(
            "each trial starts {program}, which also imports the pools of /etc/zfs/zpool.cache"
        )),
        (Some(module), None) => Some(format!("the module {module} loads on the first mount")),
        (None, None) => None,
    };
    VenueProbe::new(venue, note, obstacles)
}

/// The daemon that serves its pools; `None` if it has no pools, or if the kernel serves them.
fn daemon(driver: &Driver, is_in_kernel: impl Fn(&str) -> bool) -> Option<Tool> {
    match driver {
        Driver::Pool(pool) if !is_in_kernel(pool.kernel_fs_type) => Some(pool.daemon),
        _ => None,
    }
}

/// The programs that a trial runs with a kernel that has the drivers `is_in_kernel`.
fn needed_tools(
    file_system: &FileSystem,
    is_in_kernel: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Tool> {
    let daemon = daemon(&file_system.driver, is_in_kernel);
    let is_needed = move |tool: &Tool| match file_system.driver {
        Driver::Pool(pool) => *tool != pool.daemon || daemon.is_some(),
        _ => true,
    };
    file_system.tools().into_iter().filter(is_needed)
}

/// The possible names of its driver in /proc/filesystems; one is enough.
fn kernel_names(driver: &Driver) -> Vec<&'static str> {
    match driver {
        Driver::Kernel(driver) => vec![driver.fs_type],
        Driver::Fuse(driver) => vec![driver.fs_type],
        Driver::Pool(driver) => vec![driver.kernel_fs_type, FUSE],
        Driver::BuiltIn | Driver::Nowhere(_) => Vec::new(),
    }
}

/// The module that the first mount loads; `None` if the driver is already available, or missing.
fn loading_module<'a>(driver: &Driver, host: &'a Host) -> Option<&'a str> {
    let names = kernel_names(driver);
    if names.iter().any(|&name| host.registered.contains(name)) {
        return None;
    }
    let module = names.iter().find_map(|&name| host.modules.get(name));
    module.map(String::as_str)
}

fn missing_driver(driver: &Driver, host: &Host) -> Option<Obstacle> {
    let names = kernel_names(driver);
    let config = driver.config()?;
    let release = &host.kernel_release;
    let is_registered = names.iter().any(|&name| host.registered.contains(name));
    let cannot_write = host.config.as_ref().is_some_and(|it| !config.is_met_by(it));
    let hint = match (
        is_registered || loading_module(driver, host).is_some(),
        cannot_write,
    ) {
        (true, false) => return None,
        (true, true) => format!(
            "the driver is there, but not all of {config}: use a kernel that has it, or the venue \
             guest"
        ),
        (false, _) if host.has_modules => {
            format!("use a kernel with {config}, which {release} lacks, or the venue guest")
        }
        // After an update of the kernel the old one may still run without its modules.
        (false, _) => format!(
            "no modules of the running kernel {release} are installed: reboot after a kernel \
             update, or use a kernel with {config}, or the venue guest"
        ),
    };
    Some(Obstacle::MissingDriver {
        kernel: "this kernel".to_owned(),
        config: config.to_string(),
        hint: match is_registered {
            true => hint,
            false => driver.why_lacking(release).unwrap_or(hint),
        },
    })
}

pub(crate) fn missing_tools(
    tools: impl Iterator<Item = Tool>,
    host: &Host,
) -> impl Iterator<Item = Obstacle> {
    tools
        .filter(|tool| !host.tools.contains_key(tool.program))
        .map(|tool| Obstacle::MissingTool {
            program: tool.program.to_owned(),
            package: tool.package.to_owned(),
            hint: tool.install_hint(),
        })
}

/// In a guest all users are root, and no module loads: its configuration determines what it can
/// mount.
fn probe_guest(file_system: &FileSystem, host: &Host) -> VenueProbe {
    let Some(guest) = &host.guest else {
        // A lab built here takes its programs from this machine.
        let missing = missing_tools(file_system.tools().into_iter(), host);
        let hint = "fslab lab build".to_owned();
        let obstacles = missing.chain([Obstacle::NoGuestKernel { hint }]);
        return VenueProbe::new(VenueKind::Guest, None, obstacles.collect());
    };
    let lists = guest.module_lists.as_ref();
    let is_in_kernel = |name: &str| lists.is_some_and(|lists| lists.contains(name));
    let missing = needed_tools(file_system, is_in_kernel)
        .filter_map(|tool| not_in_lab(guest, tool, "fslab lab build --new-root"));
    let lacks = |config: &KernelConfig| !config.is_met_by(&guest.config);
    let driver = file_system.driver.config().filter(lacks);
    let driver = driver.map(|config| lacking_guest(guest, &file_system.driver, config));
    let note = format!("{} {}", guest.name, guest.release);
    VenueProbe::new(
        VenueKind::Guest,
        Some(note),
        driver.into_iter().chain(missing).collect(),
    )
}

/// What `guest` lacks if it has no `tool`, which `build` puts there. fslab is in every guest.
pub(crate) fn not_in_lab(guest: &GuestKernel, tool: Tool, build: &str) -> Option<Obstacle> {
    let is_there = tool == Tool::FSLAB || guest.programs.contains(tool.program);
    (!is_there).then(|| Obstacle::NotInLab {
        program: tool.program.to_owned(),
        package: tool.package.to_owned(),
        lab: guest.name.clone(),
        hint: format!("{}, then {build}", tool.install_hint()),
    })
}

fn lacking_guest(guest: &GuestKernel, driver: &Driver, config: KernelConfig) -> Obstacle {
    let by_version = driver.why_lacking(&guest.release);
    Obstacle::MissingDriver {
        kernel: format!("the guest kernel {}", guest.name),
        config: config.to_string(),
        hint: by_version
            .unwrap_or_else(|| format!("build a guest kernel with {config}: fslab lab build")),
    }
}

fn missing_privilege(privilege: Privilege) -> Option<Obstacle> {
    let hint = match privilege {
        Privilege::Full => return None,
        Privilege::None => "run fslab as root, in a container with CAP_SYS_ADMIN",
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
    /// What to do; `None` if nothing helps.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::MissingTool { hint, .. }
            | Self::NotInLab { hint, .. }
            | Self::MissingDriver { hint, .. }
            | Self::MissingPrivilege { hint }
            | Self::NoLoopDevices { hint }
            | Self::DaemonRuns { hint, .. }
            | Self::NoGuestKernel { hint }
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
            Self::NotInLab { program, lab, .. } => write!(f, "{program} is not in the lab {lab}"),
            Self::MissingDriver { kernel, config, .. } => write!(f, "{kernel} has no {config}"),
            Self::MissingPrivilege { .. } => f.write_str("mounting is not permitted"),
            Self::NoLoopDevices { .. } => f.write_str("there are no loop devices"),
            Self::DaemonRuns { program, .. } => write!(f, "{program} is already running"),
            Self::NoGuestKernel { .. } => f.write_str("there is no lab"),
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

    /// A machine without obstacles.
    fn host() -> Host {
        let entries = || crate::all().iter();
        let tools = entries().flat_map(|entry| entry.tools());
        let configs = entries().filter_map(|entry| entry.driver.config());
        let options = configs.flat_map(|config| config.0.concat());
        Host {
            kernel_release: "6.1.0-test".into(),
            registered: entries()
                .flat_map(|entry| kernel_names(&entry.driver))
                .filter(|&name| name != "zfs")
                .map(str::to_owned)
                .collect(),
            has_modules: true,
            modules: BTreeMap::new(),
            config: None,
            privilege: Privilege::Full,
            has_loop_control: true,
            tools: tools
                .map(|tool| (tool.program.to_owned(), "/sbin/x".into()))
                .collect(),
            running: names(&["sh"]),
            mounts: parse_mount_table(b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"),
            guest: Some(GuestKernel {
                name: "uml".into(),
                release: "6.12".into(),
                config: options.map(str::to_owned).collect(),
                programs: entries()
                    .flat_map(|entry| entry.tools())
                    .filter(|tool| *tool != Tool::FSLAB)
                    .map(|tool| tool.program.to_owned())
                    .collect(),
                module_lists: None,
            }),
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
                let is_nowhere = matches!(entry.driver, Driver::Nowhere(_));
                let expected = venue.venue != VenueKind::Dir || entry.name == "ext4";
                assert_eq!(
                    venue.works,
                    expected && !is_nowhere,
                    "{} {:?}",
                    entry.name,
                    venue.venue
                );
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
    fn a_driver_that_loads_on_mount_works_and_is_noted() {
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
    fn an_ordinary_user_with_nothing_gets_every_obstacle() {
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
        assert_eq!(probe.venues.len(), 4);
        for venue in &probe.venues {
            assert_eq!(obstacles(venue), ["no kernel has a driver for it"]);
        }
    }

    #[test]
    fn a_guest_needs_its_kernel_its_options_and_the_tools_but_no_privilege() {
        let mut host = host();
        host.privilege = Privilege::None;
        let ufs = of("ufs1", &host, VenueKind::Guest);
        assert!(ufs.works);
        assert_eq!(ufs.note.as_deref(), Some("uml 6.12"));
        let guest = host.guest.as_mut().expect("there is one");
        guest.config.remove("CONFIG_UFS_FS_WRITE");
        assert_eq!(
            obstacles(&of("ufs1", &host, VenueKind::Guest)),
            ["the guest kernel uml has no CONFIG_UFS_FS and CONFIG_UFS_FS_WRITE"]
        );
        host.guest = None;
        let probe = of("xfs", &host, VenueKind::Guest);
        assert_eq!(obstacles(&probe), ["there is no lab"]);
        assert_eq!(probe.obstacles[0].hint(), Some("fslab lab build"));
    }

    #[test]
    fn a_guest_whose_kernel_has_zfs_needs_no_daemon() {
        let mut host = host();
        let guest = host.guest.as_mut().expect("there is one");
        guest.programs.remove("zfs-fuse");
        guest.module_lists = Some(["ext4".to_owned()].into());
        let without = obstacles(&of("zfs", &host, VenueKind::Guest));
        assert_eq!(without, ["zfs-fuse is not in the lab uml"]);
        let guest = host.guest.as_mut().expect("there is one");
        guest.module_lists = Some(["zfs".to_owned()].into());
        assert!(of("zfs", &host, VenueKind::Guest).works);
        let guest = host.guest.as_mut().expect("there is one");
        guest.programs.remove("zpool");
        let without = obstacles(&of("zfs", &host, VenueKind::Guest));
        assert_eq!(without, ["zpool is not in the lab uml"]);
    }

    // A guest was reported to have the programs of its host.
    #[test]
    fn a_guest_has_the_programs_of_its_lab_and_not_those_of_this_machine() {
        let mut host = host();
        host.tools.clear();
        assert!(of("xfs", &host, VenueKind::Guest).works);
        let guest = host.guest.as_mut().expect("there is one");
        guest.programs.remove("mkfs.xfs");
        let probe = of("xfs", &host, VenueKind::Guest);
        assert_eq!(obstacles(&probe), ["mkfs.xfs is not in the lab uml"]);
        let hint = "apt-get install xfsprogs, then fslab lab build --new-root";
        assert_eq!(probe.obstacles[0].hint(), Some(hint));
    }

    #[test]
    fn a_driver_that_cannot_write_is_missing() {
        let mut host = host();
        host.config = Some(names(&["CONFIG_UFS_FS", "CONFIG_XFS_FS"]));
        let probe = of("ufs2", &host, VenueKind::Loop);
        assert_eq!(
            obstacles(&probe),
            ["this kernel has no CONFIG_UFS_FS and CONFIG_UFS_FS_WRITE"]
        );
        assert!(of("xfs", &host, VenueKind::Loop).works);
    }

    #[test]
    fn programs_that_mount_need_fuse_and_a_pool_a_daemon_of_its_own() {
        let mut host = host();
        host.registered.remove("fuseblk");
        assert!(!of("ntfs-3g", &host, VenueKind::Loop).works);
        host.running.insert("zfs-fuse".into());
        let zfs = of("zfs", &host, VenueKind::Loop);
        assert_eq!(obstacles(&zfs), ["zfs-fuse is already running"]);
        host.registered.insert("zfs".into());
        host.tools.remove("zfs-fuse");
        assert!(of("zfs", &host, VenueKind::Loop).works);
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
