//! ZFS: pools, copy on write, checksums; through FUSE, or the module of OpenZFS.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::reservations::LINUX_ONLY;
use crate::spread::{MkfsDevices, MountDevices, SpreadRule, profile};
use crate::{
    CheckCommand, CheckVerdict, Class, Driver, FileSystem, KernelConfig, MinimumSize, Mkfs,
    PoolDriver, Tool, VersionSource,
};

/// Properties of the pool's file system, except those that share it, mount it or read a key.
const PROPERTIES: &[KeyRule] = &[
    key("atime", OptionValue::Word),
    key("casesensitivity", OptionValue::Word),
    key("checksum", OptionValue::Word),
    key("compression", OptionValue::Word),
    key("dedup", OptionValue::Word),
    key("dnodesize", OptionValue::Word),
    key("logbias", OptionValue::Word),
    key("normalization", OptionValue::Word),
    key("primarycache", OptionValue::Word),
    key("redundant_metadata", OptionValue::Word),
    key("relatime", OptionValue::Word),
    key("secondarycache", OptionValue::Word),
    key("snapdir", OptionValue::Word),
    key("sync", OptionValue::Word),
    key("utf8only", OptionValue::Word),
    key("xattr", OptionValue::Word),
    key("copies", OptionValue::Number),
    key("recordsize", OptionValue::Number),
    key("version", OptionValue::Number),
];
/// Properties of the pool, except those that name a file or a directory.
const POOL_PROPERTIES: &[KeyRule] = &[
    key("ashift", OptionValue::Number),
    key("version", OptionValue::Number),
    key("autoexpand", OptionValue::OneOf(&["on", "off"])),
    key("autoreplace", OptionValue::OneOf(&["on", "off"])),
    key("delegation", OptionValue::OneOf(&["on", "off"])),
    key("listsnapshots", OptionValue::OneOf(&["on", "off"])),
    key("failmode", OptionValue::OneOf(&["wait", "continue"])),
];

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-d"], OptionValue::Nothing),
    option(&["-f"], OptionValue::Nothing),
    option(&["-o"], OptionValue::Keys(POOL_PROPERTIES)),
    option(&["-O"], OptionValue::Keys(PROPERTIES)),
];

const MOUNT_KEYS: &[KeyRule] = &[
    key("readonly", OptionValue::OneOf(&["on", "off"])),
    key("autoreplace", OptionValue::OneOf(&["on", "off"])),
    key("delegation", OptionValue::OneOf(&["on", "off"])),
    key("listsnapshots", OptionValue::OneOf(&["on", "off"])),
    key("failmode", OptionValue::OneOf(&["wait", "continue"])),
];

const SPREAD: SpreadRule = SpreadRule {
    profiles: &[
        profile("", 2, &[]),
        profile("mirror", 2, &["mirror"]),
        profile("raidz1", 2, &["raidz1"]),
        profile("raidz2", 3, &["raidz2"]),
        profile("raidz3", 4, &["raidz3"]),
    ],
    mkfs: MkfsDevices::Listed,
    mount: MountDevices::First,
};

/// Of zfs-fuse; with the module, OpenZFS's.
const ZPOOL: Tool = Tool {
    program: "zpool",
    package: "zfs-fuse",
    version: VersionSource::PackageOr("zfsutils-linux"),
};
const DAEMON: Tool = Tool {
    program: "zfs-fuse",
    package: "zfs-fuse",
    version: VersionSource::Package,
};

pub(crate) static ZFS: FileSystem = FileSystem {
    name: "zfs",
    title: "ZFS",
    history: "Jeff Bonwick and Matthew Ahrens designed it at Sun, which published it with \
              OpenSolaris in November 2005: volumes and file systems in one, checksums of \
              everything, snapshots. Its licence keeps it out of Linux, so that it is a FUSE \
              daemon, begun by Ricardo Correia in 2006, or OpenZFS's module.",
    class: Class::ForeignSupported,
    driver: Driver::Pool(PoolDriver {
        tool: ZPOOL,
        kernel_fs_type: "zfs",
        daemon: DAEMON,
        daemon_arguments: &["--no-daemon", "--no-kstat-mount"],
        fs_types: &["zfs", "fuse.zfs"],
        config: KernelConfig(&[&["CONFIG_FUSE_FS"]]),
        mount_keys: MOUNT_KEYS,
    }),
    mkfs: Some(Mkfs {
        tool: ZPOOL,
        subcommand: &["create"],
        arguments: &["-f", "-o", "cachefile=none"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["-n"],
    }),
    check: Some(CheckCommand {
        tool: ZPOOL,
        arguments: &["status", "-v"],
        judge: judge_status,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes::mib(64),
        mkfs_version: "0.7.0",
        below: "refuses",
    },
    capabilities: Capabilities {
        hard_links_max: u32::MAX as u64,
        // Only with zfs-fuse's option -x.
        extended_attributes: false,
        compression: true,
        metadata_checksums: true,
        data_checksums: true,
        crash_safety: CrashSafety::CopyOnWrite,
        volume_bytes_max: Some(Bytes((1 << 63) - 1)),
        ..Capabilities::POSIX
    },
    spread: Some(&SPREAD),
    given_by_options: &[],
    reservations: &[
        LINUX_ONLY,
        Reservation::stated(
            ReservationKind::Maturity,
            "It is not part of Linux: a module has to be built for each kernel, or it runs as a \
             program (FUSE).",
            "OpenZFS, License, openzfs.github.io/openzfs-docs/License.html",
        ),
    ],
    signature: Some("zfs"),
    bugs: &[],
    deviations: &[
        "-o cachefile=none: the pool is not noted in /etc/zfs, and no other daemon would import \
         it. Formatting creates the pool and exports it, mounting imports it, unmounting exports \
         it.",
        "-d DIR: the pool is looked for in a directory with links to its devices alone, not in \
         all of /dev.",
    ],
};

/// zpool(8), `status` after a completed scrub: a pool with a problem has a paragraph `status:`.
fn judge_status(exit_code: i32, output: &str) -> CheckVerdict {
    let mut lines = output.lines().map(str::trim);
    let is_scrubbed = output.contains("with 0 errors");
    let is_intact = output.contains("errors: No known data errors");
    let has_status = lines.any(|line| line.starts_with("status:"));
    match exit_code {
        0 if is_scrubbed && is_intact && !has_status => CheckVerdict::Clean,
        0 if output.contains("scrub") => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_clean_behind_a_scrub_that_found_nothing() {
        let clean = " scrub: scrub completed after 0h0m with 0 errors on Sat\n\
                     errors: No known data errors\n";
        let damaged = "status: One or more devices has experienced an error\n \
                       scrub: scrub completed after 0h0m with 147 errors on Sat\n\
                       errors: Permanent errors have been detected in the following files:\n";
        let unasked = " scrub: none requested\nerrors: No known data errors\n";
        assert_eq!(judge_status(0, clean), CheckVerdict::Clean);
        assert_eq!(judge_status(0, damaged), CheckVerdict::Errors);
        assert_ne!(judge_status(0, unasked), CheckVerdict::Clean);
        assert_eq!(judge_status(1, "no such pool"), CheckVerdict::CouldNotRun);
    }
}
