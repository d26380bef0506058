//! Drivers of file systems: the kernel's, a FUSE program, a pool, or none.
//!
//! ```text
//!     Driver --+-- Kernel   mount(2); some with a companion program
//!              +-- Fuse     a program that mounts, and serves until it is unmounted
//!              +-- Pool     ZFS: a pool is created, imported and exported
//!              +-- BuiltIn  fslab replaces it
//!              +-- Nowhere  none exists, and why
//! ```

use std::collections::BTreeSet;
use std::path::Path;
use std::{fmt, fs};

use crate::Tool;
use crate::option_rule::KeyRule;

/// Directories of drivers, with one of each mounted device.
const SYSFS: &str = "/sys/fs";
/// The loaded modules, a directory each.
const MODULES: &str = "/sys/module";
/// In a module's file `taint`: it was not built with the kernel.
const OUT_OF_TREE: char = 'O';

/// The kernel configuration required: all options of one of these lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelConfig(pub &'static [&'static [&'static str]]);

impl KernelConfig {
    /// True if `names`, the options that are set, include one of the lists.
    pub fn is_met_by(self, names: &BTreeSet<String>) -> bool {
        let has_all = |list: &[&str]| list.iter().all(|&name| names.contains(name));
        self.0.iter().any(|list| has_all(list))
    }
}

impl fmt::Display for KernelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists: Vec<_> = self.0.iter().map(|list| list.join(" and ")).collect();
        f.pad(&lists.join(", or "))
    }
}

/// The storage of a kernel driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountSource {
    /// A block device.
    Device,
    /// Memory, of the size of the device.
    Memory,
}

/// A daemon that runs beside a mounted file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Companion {
    /// The program; it gets the device and the mount point.
    pub tool: Tool,
    /// The arguments of every trial, before the user's.
    pub arguments: &'static [&'static str],
    /// The mount option that disables it.
    pub off: &'static str,
    /// Mount options for the program, with its own option that takes the value.
    pub options: &'static [(&'static str, &'static str)],
    /// The text before its process id in its output.
    pub pid_prefix: &'static str,
}

/// One of several drivers of the kernel for a format, by the mount option `driver=NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverChoice {
    /// Its name, which is also the type to mount by.
    pub name: &'static str,
    /// Options of every mount by it.
    pub options: &'static [&'static str],
}

/// The mount option that chooses a driver.
pub(crate) const DRIVER_KEY: &str = "driver";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDriver {
    /// The type to mount by, as in /proc/filesystems.
    pub fs_type: &'static str,
    /// The drivers that a subject chooses from, the default first; empty if there is one.
    pub choices: &'static [DriverChoice],
    /// The drivers that may serve that name, the usual one first; the last one leaves no trace in
    /// /sys/fs.
    pub served_by: &'static [&'static str],
    /// The kernel configuration that includes it.
    pub config: KernelConfig,
    /// Options of every mount, before the user's.
    pub options: &'static [&'static str],
    /// Options with a value that a subject may set.
    pub mount_keys: &'static [KeyRule],
    /// Its storage.
    pub source: MountSource,
    /// A program that runs beside it.
    pub companion: Option<Companion>,
    /// The releases of Linux that have it, where a kernel in use may lack it.
    pub releases: Option<DriverReleases>,
}

/// A version of Linux: its first two numbers.
pub(crate) type Series = (u32, u32);

/// The version of a kernel's release, such as `7.2.13-amd64`; `None` if it begins with no version.
pub(crate) fn series_of(release: &str) -> Option<Series> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next()?.parse::<u32>().ok();
    Some((next()?, next()?))
}

/// The releases of Linux that have a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverReleases {
    /// The first one.
    pub first: Series,
    /// The first one without it again, with what takes its place as a sentence.
    pub gone: Option<(Series, &'static str)>,
}

impl DriverReleases {
    /// Why the kernel `release`, such as `7.2.13-amd64`, has no such driver; `None` if its version
    /// is not the reason.
    fn why_lacking(&self, release: &str) -> Option<String> {
        let series = series_of(release)?;
        let text = |(major, minor): Series| format!("{major}.{minor}");
        if series < self.first {
            let first = text(self.first);
            return Some(format!(
                "the driver came with Linux {first}: take a kernel or lab of that or a later version"
            ));
        }
        let (gone, instead) = self.gone.filter(|(gone, _)| series >= *gone)?;
        let gone = text(gone);
        Some(format!(
            "Linux {gone} removed the driver: take a kernel or lab of an earlier version; {instead}"
        ))
    }
}

impl KernelDriver {
    /// The common case: on a device, without options, without a companion.
    pub(crate) const PLAIN: Self = Self {
        fs_type: "",
        choices: &[],
        served_by: &[],
        config: KernelConfig(&[]),
        options: &[],
        mount_keys: &[],
        source: MountSource::Device,
        companion: None,
        releases: None,
    };
}

/// A program that mounts a file system through FUSE, and serves it until it is unmounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseDriver {
    /// The program; it gets the device, the mount point and `-o OPTIONS`.
    pub tool: Tool,
    /// The type of its mounts, as in /proc/self/mountinfo.
    pub fs_type: &'static str,
    /// The kernel configuration required.
    pub config: KernelConfig,
    /// Options of every mount, before the user's.
    pub options: &'static [&'static str],
    /// Options with a value that a subject may set.
    pub mount_keys: &'static [KeyRule],
}

/// Programs that keep file systems in pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolDriver {
    /// Creates, imports, exports and scrubs pools.
    pub tool: Tool,
    /// The kernel's own driver, which needs no daemon.
    pub kernel_fs_type: &'static str,
    /// Serves pools through FUSE if the kernel cannot.
    pub daemon: Tool,
    /// The daemon's arguments that keep it in the foreground.
    pub daemon_arguments: &'static [&'static str],
    /// The types of its mounts, as in /proc/self/mountinfo.
    pub fs_types: &'static [&'static str],
    /// The kernel configuration that the daemon needs.
    pub config: KernelConfig,
    /// Options with a value that a subject may set at the import.
    pub mount_keys: &'static [KeyRule],
}

/// The driver of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    Kernel(KernelDriver),
    /// A program, through FUSE.
    Fuse(FuseDriver),
    /// A pool's programs, through the kernel or FUSE.
    Pool(PoolDriver),
    /// None is needed: fslab itself replaces it.
    BuiltIn,
    /// None exists; the reason as a fragment.
    Nowhere(&'static str),
}

impl Driver {
    /// True if a driver exists.
    pub fn is_mountable(&self) -> bool {
        match self {
            Self::Kernel(_) | Self::Fuse(_) | Self::Pool(_) => true,
            Self::BuiltIn | Self::Nowhere(_) => false,
        }
    }

    /// The types of its mounts in /proc/self/mountinfo, the usual one first.
    pub fn mounted_types(&self) -> Vec<&'static str> {
        match self {
            Self::Kernel(driver) => vec![driver.fs_type],
            Self::Fuse(driver) => vec![driver.fs_type],
            Self::Pool(driver) => driver.fs_types.to_vec(),
            Self::BuiltIn | Self::Nowhere(_) => Vec::new(),
        }
    }

    /// The name of its driver in the kernel; of a pool, that of the driver which replaces its
    /// daemon. `None` if only a program mounts it.
    pub fn kernel_name(&self) -> Option<&'static str> {
        match self {
            Self::Kernel(driver) => Some(driver.fs_type),
            Self::Pool(driver) => Some(driver.kernel_fs_type),
            Self::Fuse(_) | Self::BuiltIn | Self::Nowhere(_) => None,
        }
    }

    /// The directory below `fs/` of the kernel's source that has its usual driver; `None` if a
    /// program mounts it, or its driver is elsewhere.
    pub(crate) fn directory(&self) -> Option<&'static str> {
        let Self::Kernel(driver) = self else {
            return None;
        };
        Some(match driver.served_by.first().copied()? {
            "vfat" => "fat",
            name => name,
        })
    }

    /// File name and version of its loaded module, if that is not part of the kernel: OpenZFS, or
    /// one of the user's.
    pub fn outside_module(&self) -> Option<(String, String)> {
        let name = self.kernel_name()?;
        outside_module(Path::new(MODULES), name).map(|version| (format!("{name}.ko"), version))
    }

    /// The kernel's driver that mounted the device of this kernel name, and where it came from;
    /// `None` if a program did.
    pub fn serving(&self, device: &str) -> Option<ServingDriver> {
        match self {
            Self::Kernel(driver) => driver.serving(Path::new(SYSFS), Path::new(MODULES), device),
            Self::Fuse(_) | Self::Pool(_) | Self::BuiltIn | Self::Nowhere(_) => None,
        }
    }

    /// Why the kernel `release` lacks its driver, and what to do, as a fragment; `None` if its
    /// version is not the reason.
    pub fn why_lacking(&self, release: &str) -> Option<String> {
        match self {
            Self::Kernel(driver) => driver.releases?.why_lacking(release),
            Self::Fuse(_) | Self::Pool(_) | Self::BuiltIn | Self::Nowhere(_) => None,
        }
    }

    /// The kernel configuration required.
    pub fn config(&self) -> Option<KernelConfig> {
        match self {
            Self::Kernel(driver) => Some(driver.config),
            Self::Fuse(driver) => Some(driver.config),
            Self::Pool(driver) => Some(driver.config),
            Self::BuiltIn | Self::Nowhere(_) => None,
        }
    }

    /// The programs that mount it and run while it is mounted.
    pub fn tools(&self) -> Vec<Tool> {
        match self {
            Self::Kernel(driver) => driver.companion.map(|it| it.tool).into_iter().collect(),
            Self::Fuse(driver) => vec![driver.tool],
            Self::Pool(driver) => vec![driver.tool, driver.daemon],
            Self::BuiltIn | Self::Nowhere(_) => Vec::new(),
        }
    }
}

/// The driver that mounted a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingDriver {
    pub name: &'static str,
    /// "built in", or "module" with its version, if it has one.
    pub origin: String,
}

impl KernelDriver {
    fn serving(&self, sysfs: &Path, modules: &Path, device: &str) -> Option<ServingDriver> {
        let (last, others) = self.served_by.split_last()?;
        let has_device = |name: &&&str| sysfs.join(name).join(device).exists();
        let name = others.iter().find(has_device).unwrap_or(last);
        let module = modules.join(name);
        // Only what was loaded has this file.
        let origin = if module.join("initstate").exists() {
            let version = fs::read_to_string(module.join("version"));
            version.map_or_else(
                |_| "module".to_owned(),
                |it| format!("module {}", it.trim()),
            )
        } else {
            "built in".to_owned()
        };
        Some(ServingDriver { name, origin })
    }
}

/// The version of the module `name`, or the digest of its source.
fn outside_module(modules: &Path, name: &str) -> Option<String> {
    let folder = modules.join(name);
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
    if !read("taint")?.contains(OUT_OF_TREE) {
        return None;
    }
    let version = read("version").or_else(|| read("srcversion"))?;
    Some(version.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_not_the_kernels_has_a_version() {
        let modules = tempfile::tempdir().expect("a directory");
        for (name, file, text) in [
            ("zfs", "taint", "PO\n"),
            ("zfs", "version", "2.3.2-2\n"),
            ("zfs", "srcversion", "AB12\n"),
            ("ext4", "taint", "OE\n"),
            ("ext4", "srcversion", "CD34\n"),
            ("xfs", "taint", "\n"),
            ("xfs", "srcversion", "EF56\n"),
        ] {
            let folder = modules.path().join(name);
            fs::create_dir_all(&folder).expect("is made");
            fs::write(folder.join(file), text).expect("written");
        }
        let version = |name| outside_module(modules.path(), name);
        assert_eq!(version("zfs").as_deref(), Some("2.3.2-2"));
        assert_eq!(version("ext4").as_deref(), Some("CD34"));
        assert_eq!([version("xfs"), version("jfs")], [None, None]);
    }

    #[test]
    fn the_driver_that_mounted_is_the_one_with_the_device() {
        let folder = tempfile::tempdir().expect("a directory");
        let (sysfs, modules) = (folder.path().join("fs"), folder.path().join("module"));
        let made = |path: &Path| fs::create_dir_all(path).expect("is made");
        made(&sysfs.join("ext4/sda1"));
        made(&modules.join("ext4"));
        made(&modules.join("ext2"));
        let driver = KernelDriver {
            served_by: &["ext4", "ext2"],
            ..KernelDriver::PLAIN
        };
        let of = |device| driver.serving(&sysfs, &modules, device).expect("a driver");
        assert_eq!((of("sda1").name, of("sdb1").name), ("ext4", "ext2"));
        assert_eq!(of("sda1").origin, "built in");
        fs::write(modules.join("ext2/initstate"), "live\n").expect("written");
        assert_eq!(of("sdb1").origin, "module");
        fs::write(modules.join("ext2/version"), "2.1\n").expect("written");
        assert_eq!(of("sdb1").origin, "module 2.1");
    }

    #[test]
    fn a_kernel_lacks_a_driver_before_it_came_and_after_it_went() {
        let releases = DriverReleases {
            first: (6, 7),
            gone: Some(((6, 18), "build its module")),
        };
        let why = |release| releases.why_lacking(release);
        assert!(why("6.1.0-57-amd64").is_some_and(|it| it.contains("came with Linux 6.7")));
        assert_eq!(
            [why("6.7.0"), why("6.12.117-fslab"), why("6.17")],
            [const { None }; 3]
        );
        for release in ["6.18.5+deb13-amd64", "7.2.13"] {
            let why = why(release).expect("it is gone");
            assert!(why.starts_with("Linux 6.18 removed the driver"), "{why}");
            assert!(why.ends_with("; build its module"), "{why}");
        }
        assert_eq!(why("unknown"), None);
    }

    #[test]
    fn a_configuration_is_met_by_all_of_one_list() {
        let config = KernelConfig(&[&["CONFIG_A", "CONFIG_B"], &["CONFIG_C"]]);
        let met =
            |names: &[&str]| config.is_met_by(&names.iter().map(|&name| name.to_owned()).collect());
        assert!(met(&["CONFIG_A", "CONFIG_B"]) && met(&["CONFIG_C", "CONFIG_X"]));
        assert!(!met(&["CONFIG_A"]) && !met(&[]));
        assert_eq!(config.to_string(), "CONFIG_A and CONFIG_B, or CONFIG_C");
    }
}
