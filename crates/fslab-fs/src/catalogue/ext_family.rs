//! Common parts of ext2, ext3 and ext4: e2fsprogs, the ext4 driver, and most limits.
//!
//! Limits were measured with e2fsprogs 1.47.0 under Linux 6.18, whose ext4 driver serves all three.

use fslab_model::{Bytes, Capabilities, CrashSafety};

use crate::check::judge_bits;
use crate::features;
use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::{CheckCommand, Mkfs, OutputStream, Tool, VersionSource};

/// `journal_dev` would make a journal for another file system.
const FEATURES: OptionValue = OptionValue::WordsBut(&["journal_dev"]);
const EXTENDED: &[KeyRule] = &[
    key("assume_storage_prezeroed", OptionValue::Number),
    key("desc_size", OptionValue::Number),
    key("discard", OptionValue::Nothing),
    key("encoding", OptionValue::Word),
    key("encoding_flags", OptionValue::Word),
    key("hash_seed", OptionValue::Text),
    key("lazy_itable_init", OptionValue::Number),
    key("lazy_journal_init", OptionValue::Number),
    key("mmp_update_interval", OptionValue::Number),
    key("nodiscard", OptionValue::Nothing),
    key("num_backup_sb", OptionValue::Number),
    key("orphan_file_size", OptionValue::Number),
    key("packed_meta_blocks", OptionValue::Number),
    key("quotatype", OptionValue::Word),
    key("resize", OptionValue::Number),
    key("revision", OptionValue::Number),
    key("root_owner", OptionValue::Word),
    key("root_perms", OptionValue::Number),
    key("stride", OptionValue::Number),
    key("stripe_width", OptionValue::Number),
    key("stripe-width", OptionValue::Number),
    key("test_fs", OptionValue::Nothing),
];
const JOURNAL: &[KeyRule] = &[
    key("fast_commit_size", OptionValue::Number),
    key("location", OptionValue::Number),
    key("size", OptionValue::Number),
];
/// The list in mke2fs.conf(5); another word would be looked up there, too.
const USAGE_TYPES: OptionValue = OptionValue::WordsBut(&[]);

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-b"], OptionValue::Number),
    option(&["-C"], OptionValue::Number),
    option(&["-c"], OptionValue::Nothing),
    option(&["-D"], OptionValue::Nothing),
    option(&["-e"], OptionValue::OneOf(&["continue", "remount-ro"])),
    option(&["-E"], OptionValue::Keys(EXTENDED)),
    option(&["-F"], OptionValue::Nothing),
    option(&["-g"], OptionValue::Number),
    option(&["-G"], OptionValue::Number),
    option(&["-i"], OptionValue::Number),
    option(&["-I"], OptionValue::Number),
    option(&["-j"], OptionValue::Nothing),
    option(&["-J"], OptionValue::Keys(JOURNAL)),
    option(&["-L"], OptionValue::Text),
    option(&["-m"], OptionValue::Number),
    option(&["-N"], OptionValue::Number),
    option(&["-o"], OptionValue::Word),
    option(&["-O"], FEATURES),
    option(&["-q"], OptionValue::Nothing),
    option(&["-r"], OptionValue::Number),
    option(&["-T"], USAGE_TYPES),
    option(&["-U"], OptionValue::Text),
    option(&["-v"], OptionValue::Nothing),
];

/// The options of the ext4 driver, which mounts all three.
pub(super) const MOUNT_KEYS: &[KeyRule] = &[
    key("barrier", OptionValue::Number),
    key("commit", OptionValue::Number),
    key("stripe", OptionValue::Number),
    key("inode_readahead_blks", OptionValue::Number),
    key("min_batch_time", OptionValue::Number),
    key("max_batch_time", OptionValue::Number),
    key("max_dir_size_kb", OptionValue::Number),
    key("journal_ioprio", OptionValue::Number),
    key("init_itable", OptionValue::Number),
    key("resuid", OptionValue::Number),
    key("resgid", OptionValue::Number),
    key("sb", OptionValue::Number),
    key("debug_want_extra_isize", OptionValue::Number),
    key("fc_debug_max_replay", OptionValue::Number),
    key("auto_da_alloc", OptionValue::Number),
    key("mb_optimize_scan", OptionValue::Number),
    key(
        "data",
        OptionValue::OneOf(&["journal", "ordered", "writeback"]),
    ),
    key("data_err", OptionValue::OneOf(&["ignore", "abort"])),
    key("errors", OptionValue::OneOf(&["continue", "remount-ro"])),
    key("jqfmt", OptionValue::OneOf(&["vfsold", "vfsv0", "vfsv1"])),
    key("dax", OptionValue::OneOf(&["always", "never", "inode"])),
];

/// 32-bit block numbers, blocks of 4 KiB.
pub(super) const VOLUME_OF_32_BIT_BLOCKS: Bytes = Bytes(1 << 44);
/// The limit of ext2's and ext3's indirect blocks and of their 32-bit count of sectors.
pub(super) const FILE_OF_INDIRECT_BLOCKS: Bytes = Bytes(2_196_873_666_560);

const fn e2fsprogs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "e2fsprogs",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Error,
        },
    }
}

/// `program` with `arguments`, which must begin with [`MKFS_ARGUMENTS`].
pub(super) const fn mkfs(
    program: &'static str,
    arguments: &'static [&'static str],
    defaults: DefaultsHistory,
) -> Mkfs {
    Mkfs {
        tool: e2fsprogs(program),
        subcommand: &[],
        arguments,
        joined: &["-E"],
        options: MKFS_OPTIONS,
        defaults,
        features: Some(&features::EXT),
        formats_nothing: &["-n", "-V"],
    }
}

/// Quiet, because progress is drawn with backspaces; forced, because it asks about an old signature
/// or an image in place of a device.
pub(super) const MKFS_ARGUMENTS: &[&str] = &["-q", "-F"];

/// `-f`, because a clean mark in the superblock would end the check at once; `-n` is read-only.
pub(super) const CHECK: CheckCommand = CheckCommand {
    tool: e2fsprogs("e2fsck"),
    arguments: &["-f", "-n"],
    judge: judge_bits,
    blind_to: None,
};

/// Of ext2 and ext3; ext4 overrides some.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    hard_links_max: 65_000,
    extended_attributes: true,
    crash_safety: CrashSafety::Journal,
    file_bytes_max: FILE_OF_INDIRECT_BLOCKS,
    volume_bytes_max: Some(VOLUME_OF_32_BIT_BLOCKS),
    ..Capabilities::POSIX
};
