//! Properties of a machine: programs, drivers, privileges, loop devices, mounts. Gathered once, so
//! that probing is a function of a value and can be tested with invented machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fslab_sys::{Mount, parse_mount_table};

use fslab_model::{Failure, FailureKind};

use crate::{SearchPath, all};

/// The bit of CAP_SYS_ADMIN in the capability sets of /proc/self/status.
const CAP_SYS_ADMIN_BIT: u32 = 21;

/// The user id map outside of every user namespace: all ids, from 0 to 0.
const INITIAL_NAMESPACE: &str = "0 0 4294967295";

/// The privilege of this process to mount a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Privilege {
    /// It has CAP_SYS_ADMIN in the initial user namespace.
    Full,
    /// It lacks CAP_SYS_ADMIN.
    None,
    /// It has CAP_SYS_ADMIN in a user namespace, where block devices cannot be mounted.
    UserNamespace,
}

/// A guest kernel that this machine can boot, with the programs of its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestKernel {
    pub name: String,
    /// Its release, such as `6.12.95-fslab`.
    pub release: String,
    /// The options that its configuration sets to `y`, such as `CONFIG_XFS_FS`.
    pub config: BTreeSet<String>,
    /// The names of the programs in the guest; it does not see those of this machine.
    pub programs: BTreeSet<String>,
    /// The file systems and protocols whose modules it has; `None` if it has no modules.
    pub module_lists: Option<BTreeSet<String>>,
}

impl GuestKernel {
    /// A kernel with the `.config` text `config` and a root with `programs`.
    pub fn new(name: String, release: String, config: &str, programs: BTreeSet<String>) -> Self {
        let config = options_set(config, &["y"]);
        Self {
            name,
            release,
            config,
            programs,
            module_lists: None,
        }
    }

    /// The same with modules: of what its configuration sets to `m`, those of `lists`.
    pub fn with_modules(self, config: &str, lists: BTreeSet<String>) -> Self {
        Self {
            config: options_set(config, &["y", "m"]),
            module_lists: Some(lists),
            ..self
        }
    }
}

/// Properties of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The kernel's release, such as `6.12.9-amd64`.
    pub kernel_release: String,
    /// The names in /proc/filesystems: drivers already available.
    pub registered: BTreeSet<String>,
    /// Whether /lib/modules has a directory of this kernel release.
    pub has_modules: bool,
    /// Drivers that load on first use: the module by the type to mount by.
    ///
    /// From the `fs-` aliases in modules.alias, which the kernel itself requests. Unlike
    /// modules.dep they show that the module ext4 serves ext2. Built-in drivers are in
    /// /proc/filesystems.
    pub modules: BTreeMap<String, String>,
    /// The options that the running kernel's configuration sets to `y` or `m`; `None` if it cannot
    /// be read. A driver may be present without write support.
    pub config: Option<BTreeSet<String>>,
    /// The privilege to mount.
    pub privilege: Privilege,
    /// Whether /dev/loop-control exists.
    pub has_loop_control: bool,
    /// The catalogue's programs that are installed, with their paths.
    pub tools: BTreeMap<String, PathBuf>,
    /// The names of running programs, as the kernel has them.
    pub running: BTreeSet<String>,
    pub mounts: Vec<Mount>,
    /// The guest kernel, set by the caller, because only the venue knows it.
    pub guest: Option<GuestKernel>,
}

impl Host {
    /// Gathers the properties of this machine.
    pub fn gather() -> Result<Self, Failure> {
        Self::gather_below(Path::new("/"), &SearchPath::from_environment())
    }

    /// Gathers the properties of the machine with its files below `root` and its programs in
    /// `search`.
    pub fn gather_below(root: &Path, search: &SearchPath) -> Result<Self, Failure> {
        let release = read(&root.join("proc/sys/kernel/osrelease"))?
            .trim()
            .to_owned();
        let modules = root.join("lib/modules").join(&release);
        // Missing for a kernel without modules, or one whose modules were removed.
        let aliases = read_if_there(&modules.join("modules.alias"))?.unwrap_or_default();
        let config = read_if_there(&root.join("boot").join(format!("config-{release}")))?;
        Ok(Self {
            config: config.map(|text| options_set(&text, &["y", "m"])),
            running: running_programs(&root.join("proc")),
            guest: None,
            registered: registered_drivers(&read(&root.join("proc/filesystems"))?),
            has_modules: modules.is_dir(),
            modules: file_system_modules(&aliases),
            privilege: privilege(
                &read(&root.join("proc/self/status"))?,
                // A kernel without user namespaces has no map.
                &read_if_there(&root.join("proc/self/uid_map"))?
                    .unwrap_or(INITIAL_NAMESPACE.into()),
            ),
            has_loop_control: root.join("dev/loop-control").exists(),
            tools: installed_tools(search),
            mounts: parse_mount_table(read(&root.join("proc/self/mountinfo"))?.as_bytes()),
            kernel_release: release,
        })
    }
}

/// The options of a kernel's configuration that have one of `values`.
fn options_set(config: &str, values: &[&str]) -> BTreeSet<String> {
    config
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(name, value)| name.starts_with("CONFIG_") && values.contains(value))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Processes come and go during the read; one that has ended is ignored.
fn running_programs(proc: &Path) -> BTreeSet<String> {
    let folders = fs::read_dir(proc).into_iter().flatten().flatten();
    folders
        .filter_map(|folder| fs::read_to_string(folder.path().join("comm")).ok())
        .map(|name| name.trim_end().to_owned())
        .collect()
}

fn read(path: &Path) -> Result<String, Failure> {
    read_if_there(path)?.ok_or_else(|| unreadable(path)(io::ErrorKind::NotFound.into()))
}

fn read_if_there(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path)(error)),
    }
}

/// The failure to read `path`, with a hint for a user who is not root.
pub fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Failure + '_ {
    move |error| {
        let failure = Failure::of_file(FailureKind::Device, "read", path, &error);
        match error.kind() {
            io::ErrorKind::PermissionDenied => failure.hint("run fslab as root"),
            _ => failure,
        }
    }
}

fn registered_drivers(proc_filesystems: &str) -> BTreeSet<String> {
    proc_filesystems
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(str::to_owned)
        .collect()
}

fn file_system_modules(aliases: &str) -> BTreeMap<String, String> {
    let alias = |line: &str| {
        let mut words = line.split_whitespace();
        let (keyword, alias, module) = (words.next()?, words.next()?, words.next()?);
        let fs_type = (keyword == "alias").then(|| alias.strip_prefix("fs-"))??;
        Some((fs_type.to_owned(), module.to_owned()))
    };
    aliases.lines().filter_map(alias).collect()
}

fn privilege(status: &str, uid_map: &str) -> Privilege {
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or(0);
    let is_initial = uid_map
        .split_whitespace()
        .eq(INITIAL_NAMESPACE.split_whitespace());
    match (effective >> CAP_SYS_ADMIN_BIT & 1 == 1, is_initial) {
        (false, _) => Privilege::None,
        (true, true) => Privilege::Full,
        (true, false) => Privilege::UserNamespace,
    }
}

fn installed_tools(search: &SearchPath) -> BTreeMap<String, PathBuf> {
    all()
        .iter()
        .flat_map(|entry| entry.tools())
        .chain(
            crate::layers()
                .iter()
                .flat_map(|layer| layer.tools.iter().copied()),
        )
        .filter_map(|tool| Some((tool.program.to_owned(), tool.locate(search).ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_named_with_and_without_a_device() {
        let drivers = registered_drivers("nodev\ttmpfs\n\text4\n\n");
        assert_eq!(drivers, ["ext4", "tmpfs"].map(str::to_owned).into());
    }

    #[test]
    fn only_aliases_of_file_systems_are_modules_that_mount_loads() {
        let aliases = "# Aliases\nalias fs-ext2 ext4\nalias pci:v0 e1000\nalias fs-xfs xfs\nfs-a\n";
        let modules = file_system_modules(aliases);
        let pairs: Vec<_> = modules
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(pairs, [("ext2", "ext4"), ("xfs", "xfs")]);
    }

    #[test]
    fn root_of_a_container_or_of_a_user_namespace_may_not_mount() {
        let (initial, part) = ("         0          0 4294967295\n", "0 1000 1\n");
        let full = "Name:\tx\nCapEff:\t000001ffffffffff\n";
        let container = "CapEff:\t00000000a80425fb\n";
        assert_eq!(privilege(full, initial), Privilege::Full);
        assert_eq!(privilege(full, part), Privilege::UserNamespace);
        assert_eq!(privilege(container, initial), Privilege::None);
        assert_eq!(privilege("", initial), Privilege::None);
    }

    #[test]
    fn a_machine_is_gathered_from_its_files() {
        let root = tempfile::tempdir().expect("tempdir");
        for (name, text) in [
            ("proc/sys/kernel/osrelease", "6.1.0-test\n"),
            ("proc/filesystems", "\text4\n"),
            ("proc/self/status", "CapEff:\t0\n"),
            (
                "proc/self/mountinfo",
                "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
            ),
            ("lib/modules/6.1.0-test/modules.alias", "alias fs-xfs xfs\n"),
            ("dev/loop-control", ""),
            (
                "boot/config-6.1.0-test",
                "CONFIG_UFS_FS=m\n# CONFIG_UFS_FS_WRITE is not set\nCONFIG_HZ=250\n",
            ),
            ("proc/42/comm", "zfs-fuse\n"),
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("mkdir");
            fs::write(path, text).expect("writes");
        }
        let host = Host::gather_below(root.path(), &SearchPath::new([])).expect("gathers");
        assert_eq!(host.kernel_release, "6.1.0-test");
        assert!(host.registered.contains("ext4") && host.has_modules && host.has_loop_control);
        assert_eq!(host.modules["xfs"], "xfs");
        assert_eq!(host.privilege, Privilege::None);
        assert_eq!(host.mounts[0].source, "/dev/sda1");
        assert!(host.tools.keys().eq(["fslab"]), "fslab is always there");
        assert_eq!(host.config, Some(["CONFIG_UFS_FS".to_owned()].into()));
        assert!(host.running.contains("zfs-fuse") && host.guest.is_none());

        fs::remove_file(root.path().join("proc/filesystems")).expect("removes");
        let error = Host::gather_below(root.path(), &SearchPath::new([])).expect_err("blind");
        assert!(error.message.ends_with("/proc/filesystems"), "{error}");
    }

    #[test]
    fn a_guest_kernel_has_what_its_configuration_sets_to_y() {
        let text = "CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_D=\"y\"\n";
        let guest = GuestKernel::new("uml".into(), "6.12".into(), text, BTreeSet::new());
        assert_eq!(guest.config, ["CONFIG_A".to_owned()].into());
    }

    #[test]
    fn this_machine_can_be_gathered() {
        let host = Host::gather().expect("gathers");
        assert!(!host.kernel_release.is_empty() && !host.mounts.is_empty());
    }
}
