//! What mounts a file system: a driver of the kernel's, a program, a pool, or nothing at all.
//!
//! ```text
//!     Driver --+-- Kernel   mount(2); beside some a companion program works
//!              +-- Fuse     a program that mounts, and serves until it is unmounted
//!              +-- Pool     ZFS: a pool is created, imported and exported
//!              +-- BuiltIn  fslab stands in for it
//!              +-- Nowhere  nothing can, and why
//! ```

use std::collections::BTreeSet;
use std::fmt;

use crate::Tool;
use crate::option_rule::KeyRule;

/// What a kernel's configuration must have: one of these lists, and all of that list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelConfig(pub &'static [&'static [&'static str]]);

impl KernelConfig {
    /// Whether `names`, the options that are set, are enough.
    #[must_use]
    pub fn is_met_by(self, names: &BTreeSet<String>) -> bool {
        let has_all = |list: &[&str]| list.iter().all(|&name| names.contains(name));
        self.0.iter().any(|list| has_all(list))
    }
}

impl fmt::Display for KernelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists: Vec<_> = self.0.iter().map(|list| list.join(" with ")).collect();
        f.pad(&lists.join(", or "))
    }
}

/// What a driver of the kernel's stores files on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountSource {
    /// A block device.
    Device,
    /// Memory, as much as the device would have had.
    Memory,
}

/// A program that works beside a mounted file system, and daemonises itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Companion {
    /// The program; it gets the device and the mount point.
    pub tool: Tool,
    /// What a trial always passes; what the user sets comes behind it.
    pub arguments: &'static [&'static str],
    /// The mount option that leaves it out.
    pub off: &'static str,
    /// Mount options that are for the program, and its option that takes the value.
    pub options: &'static [(&'static str, &'static str)],
    /// What it prints its process id behind.
    pub pid_prefix: &'static str,
}

/// A driver of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDriver {
    /// The name to mount by, as it stands in /proc/filesystems.
    pub fs_type: &'static str,
    /// The drivers that may serve that name, the usual one first.
    pub served_by: &'static [&'static str],
    /// The kernel's configuration that has it.
    pub config: KernelConfig,
    /// Options that every mount needs; the user's come behind them.
    pub options: &'static [&'static str],
    /// Options with a value that a subject may set.
    pub mount_keys: &'static [KeyRule],
    /// What it stores files on.
    pub source: MountSource,
    /// A program that works beside it.
    pub companion: Option<Companion>,
}

impl KernelDriver {
    /// What most drivers are: on a device, without options, without a companion.
    pub(crate) const PLAIN: Self = Self {
        fs_type: "",
        served_by: &[],
        config: KernelConfig(&[]),
        options: &[],
        mount_keys: &[],
        source: MountSource::Device,
        companion: None,
    };
}

/// A program that mounts a file system through FUSE, and serves it until it is unmounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseDriver {
    /// The program; it gets the device, the mount point and `-o OPTIONS`.
    pub tool: Tool,
    /// The type of its mounts, as it stands in /proc/self/mountinfo.
    pub fs_type: &'static str,
    /// The kernel's configuration that it needs.
    pub config: KernelConfig,
    /// Options that every mount needs; the user's come behind them.
    pub options: &'static [&'static str],
    /// Options with a value that a subject may set.
    pub mount_keys: &'static [KeyRule],
}

/// Programs that keep file systems in pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolDriver {
    /// Creates, imports, exports and scrubs pools.
    pub tool: Tool,
    /// The kernel's own driver, which does without the daemon.
    pub kernel_fs_type: &'static str,
    /// Serves pools through FUSE where the kernel cannot.
    pub daemon: Tool,
    /// The daemon's arguments that keep it in the foreground.
    pub daemon_arguments: &'static [&'static str],
    /// The types of its mounts, as they stand in /proc/self/mountinfo.
    pub fs_types: &'static [&'static str],
    /// The kernel's configuration that the daemon needs.
    pub config: KernelConfig,
    /// Options with a value that a subject may set at the import.
    pub mount_keys: &'static [KeyRule],
}

/// What mounts a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// The kernel.
    Kernel(KernelDriver),
    /// A program, through FUSE.
    Fuse(FuseDriver),
    /// A pool's programs, through the kernel or FUSE.
    Pool(PoolDriver),
    /// Nothing needs to: fslab itself stands in for it.
    BuiltIn,
    /// Nothing can; a fragment says why.
    Nowhere(&'static str),
}

impl Driver {
    /// Whether something mounts it.
    #[must_use]
    pub fn is_mountable(&self) -> bool {
        match self {
            Self::Kernel(_) | Self::Fuse(_) | Self::Pool(_) => true,
            Self::BuiltIn | Self::Nowhere(_) => false,
        }
    }

    /// The types that its mounts have in /proc/self/mountinfo, the usual one first.
    #[must_use]
    pub fn mounted_types(&self) -> Vec<&'static str> {
        match self {
            Self::Kernel(driver) => vec![driver.fs_type],
            Self::Fuse(driver) => vec![driver.fs_type],
            Self::Pool(driver) => driver.fs_types.to_vec(),
            Self::BuiltIn | Self::Nowhere(_) => Vec::new(),
        }
    }

    /// What the kernel must have.
    #[must_use]
    pub fn config(&self) -> Option<KernelConfig> {
        match self {
            Self::Kernel(driver) => Some(driver.config),
            Self::Fuse(driver) => Some(driver.config),
            Self::Pool(driver) => Some(driver.config),
            Self::BuiltIn | Self::Nowhere(_) => None,
        }
    }

    /// The programs that mount it and work while it is mounted.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        match self {
            Self::Kernel(driver) => driver.companion.map(|it| it.tool).into_iter().collect(),
            Self::Fuse(driver) => vec![driver.tool],
            Self::Pool(driver) => vec![driver.tool, driver.daemon],
            Self::BuiltIn | Self::Nowhere(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_met_by_all_of_one_list() {
        let config = KernelConfig(&[&["CONFIG_A", "CONFIG_B"], &["CONFIG_C"]]);
        let met =
            |names: &[&str]| config.is_met_by(&names.iter().map(|&name| name.to_owned()).collect());
        assert!(met(&["CONFIG_A", "CONFIG_B"]) && met(&["CONFIG_C", "CONFIG_X"]));
        assert!(!met(&["CONFIG_A"]) && !met(&[]));
        assert_eq!(config.to_string(), "CONFIG_A with CONFIG_B, or CONFIG_C");
    }
}
