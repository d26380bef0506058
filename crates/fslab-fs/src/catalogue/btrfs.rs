//! Btrfs: copy on write, checksums of everything, snapshots.

use fslab_model::{Bytes, Capabilities, CrashSafety};

use crate::check::judge_one;
use crate::features;
use crate::mkfs_defaults::{DefaultsHistory, change};
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::reservations::LINUX_ONLY;
use crate::spread::{MkfsDevices, MountDevices, SpreadRule, profile};
use crate::{
    CheckCommand, Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize, Mkfs,
    OutputStream, Tool, VersionSource,
};

/// `list-all` prints the features and formats nothing.
const FEATURES: OptionValue = OptionValue::WordsBut(&["list-all"]);
/// The profiles of mkfs.btrfs, which itself refuses those that need several devices.
const PROFILE: OptionValue = OptionValue::OneOf(&[
    "single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid5", "raid6", "raid10",
]);

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-b", "--byte-count"], OptionValue::Number),
    option(&["-d", "--data"], PROFILE),
    option(&["-m", "--metadata"], PROFILE),
    option(&["-M", "--mixed"], OptionValue::Nothing),
    option(&["-l", "--leafsize"], OptionValue::Number),
    option(&["-n", "--nodesize"], OptionValue::Number),
    option(&["-s", "--sectorsize"], OptionValue::Number),
    option(&["-L", "--label"], OptionValue::Text),
    option(&["-U", "--uuid"], OptionValue::Text),
    option(&["-O", "--features"], FEATURES),
    option(&["-R", "--runtime-features"], FEATURES),
    option(&["--csum", "--checksum"], OptionValue::Word),
    option(&["-K", "--nodiscard"], OptionValue::Nothing),
    option(&["-f", "--force"], OptionValue::Nothing),
    option(&["-q", "--quiet"], OptionValue::Nothing),
    option(&["-v", "--verbose"], OptionValue::Nothing),
];

/// The free-space tree has a separate option until 6.3, which later versions still take.
const DEFAULTS: DefaultsHistory = DefaultsHistory {
    versions: &["3.18", "5.15", "6.19"],
    changes: &[
        change("5.15", "-O", "^no-holes", "no-holes"),
        change("6.19", "-O", "^block-group-tree", "block-group-tree").known_since("6.3"),
        change("5.15", "-R", "^free-space-tree", "free-space-tree"),
    ],
    source: "mkfs.btrfs(8) of btrfs-progs 7.3",
};

const MOUNT_KEYS: &[KeyRule] = &[
    key("compress", OptionValue::Word),
    key("compress-force", OptionValue::Word),
    key("commit", OptionValue::Number),
    key("thread_pool", OptionValue::Number),
    key("max_inline", OptionValue::Number),
    key("metadata_ratio", OptionValue::Number),
    key("check_int_print_mask", OptionValue::Number),
    key("subvolid", OptionValue::Number),
    key("space_cache", OptionValue::OneOf(&["v1", "v2"])),
    key("discard", OptionValue::OneOf(&["sync", "async"])),
    key("fragment", OptionValue::OneOf(&["data", "metadata", "all"])),
    key("rescue", OptionValue::Word),
];

/// Parity is for data only: metadata is mirrored, as btrfs(5) advises.
const SPREAD: SpreadRule = SpreadRule {
    profiles: &[
        profile("single", 2, &["-d", "single", "-m", "raid1"]),
        profile("raid0", 2, &["-d", "raid0", "-m", "raid1"]),
        profile("raid1", 2, &["-d", "raid1", "-m", "raid1"]),
        profile("raid1c3", 3, &["-d", "raid1c3", "-m", "raid1c3"]),
        profile("raid1c4", 4, &["-d", "raid1c4", "-m", "raid1c4"]),
        profile("raid10", 2, &["-d", "raid10", "-m", "raid10"]),
        profile("raid5", 2, &["-d", "raid5", "-m", "raid1"]),
        profile("raid6", 3, &["-d", "raid6", "-m", "raid1c3"]),
    ],
    mkfs: MkfsDevices::Listed,
    mount: MountDevices::Option("device"),
};

const fn btrfs_progs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "btrfs-progs",
        version: VersionSource::Asked {
            argument: "--version",
            stream: OutputStream::Output,
        },
    }
}

pub(crate) static BTRFS: FileSystem = FileSystem {
    name: "btrfs",
    title: "Btrfs",
    history: "Chris Mason began it at Oracle in 2007 on Ohad Rodeh's B-trees, which are copied and \
              never overwritten, and it entered Linux 2.6.29 in March 2009. It brought checksums \
              of data, snapshots and several devices under one file system to Linux.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "btrfs",
        served_by: &["btrfs"],
        config: KernelConfig(&[&["CONFIG_BTRFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: btrfs_progs("mkfs.btrfs"),
        subcommand: &[],
        arguments: &["-f"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DEFAULTS,
        features: Some(&features::BTRFS),
        formats_nothing: &["-V", "--version", "--help"],
    }),
    check: Some(CheckCommand {
        tool: btrfs_progs("btrfs"),
        arguments: &["check", "--readonly"],
        // btrfs-check(8): 129 is a wrong command line.
        judge: judge_one,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes::mib(109),
        mkfs_version: "6.2",
        below: "refuses, with metadata kept twice on one device",
    },
    capabilities: Capabilities {
        hard_links_max: 65_535,
        extended_attributes: true,
        reflinks: true,
        compression: true,
        metadata_checksums: true,
        data_checksums: true,
        crash_safety: CrashSafety::CopyOnWrite,
        volume_bytes_max: Some(Bytes(u64::MAX)),
        ..Capabilities::POSIX
    },
    spread: Some(&SPREAD),
    given_by_options: &[],
    reservations: &[LINUX_ONLY],
    signature: Some("btrfs"),
    bugs: &[],
    deviations: &[],
};
