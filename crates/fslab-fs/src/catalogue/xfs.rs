//! XFS: allocation groups and B-trees everywhere.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use crate::check::judge_one;
use crate::features;
use crate::mkfs_defaults::{DefaultsHistory, change};
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::reservations::LINUX_ONLY;
use crate::{
    CheckCommand, Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize, Mkfs,
    OutputStream, Tool, VersionSource,
};

const BLOCK_KEYS: &[KeyRule] = &[
    key("size", OptionValue::Number),
    key("log", OptionValue::Number),
];
const DATA_KEYS: &[KeyRule] = &[
    key("agcount", OptionValue::Number),
    key("agsize", OptionValue::Number),
    key("agnum", OptionValue::Number),
    key("concurrency", OptionValue::Number),
    key("cowextsize", OptionValue::Number),
    key("extszinherit", OptionValue::Number),
    key("projinherit", OptionValue::Number),
    key("rtinherit", OptionValue::Number),
    key("daxinherit", OptionValue::Number),
    key("sectlog", OptionValue::Number),
    key("sectsize", OptionValue::Number),
    key("size", OptionValue::Number),
    key("su", OptionValue::Number),
    key("sunit", OptionValue::Number),
    key("sw", OptionValue::Number),
    key("swidth", OptionValue::Number),
    key("unwritten", OptionValue::Number),
    key("noalign", OptionValue::Number),
];
const INODE_KEYS: &[KeyRule] = &[
    key("align", OptionValue::Number),
    key("attr", OptionValue::Number),
    key("exchange", OptionValue::Number),
    key("log", OptionValue::Number),
    key("maxpct", OptionValue::Number),
    key("nrext64", OptionValue::Number),
    key("perblock", OptionValue::Number),
    key("projid32bit", OptionValue::Number),
    key("size", OptionValue::Number),
    key("sparse", OptionValue::Number),
];
const LOG_KEYS: &[KeyRule] = &[
    key("agnum", OptionValue::Number),
    key("concurrency", OptionValue::Number),
    key("internal", OptionValue::Number),
    key("lazy-count", OptionValue::Number),
    key("sectlog", OptionValue::Number),
    key("sectsize", OptionValue::Number),
    key("size", OptionValue::Number),
    key("su", OptionValue::Number),
    key("sunit", OptionValue::Number),
    key("version", OptionValue::Number),
];
const METADATA_KEYS: &[KeyRule] = &[
    key("autofsck", OptionValue::Number),
    key("bigtime", OptionValue::Number),
    key("crc", OptionValue::Number),
    key("finobt", OptionValue::Number),
    key("inobtcount", OptionValue::Number),
    key("metadir", OptionValue::Number),
    key("reflink", OptionValue::Number),
    key("rmapbt", OptionValue::Number),
    key("uuid", OptionValue::Text),
];
const NAMING_KEYS: &[KeyRule] = &[
    key("ftype", OptionValue::Number),
    key("log", OptionValue::Number),
    key("parent", OptionValue::Number),
    key("size", OptionValue::Number),
    key("version", OptionValue::Word),
];
const REALTIME_KEYS: &[KeyRule] = &[
    key("extsize", OptionValue::Number),
    key("noalign", OptionValue::Number),
];
const SECTOR_KEYS: &[KeyRule] = &[
    key("log", OptionValue::Number),
    key("size", OptionValue::Number),
];

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-b"], OptionValue::Keys(BLOCK_KEYS)),
    option(&["-d"], OptionValue::Keys(DATA_KEYS)),
    option(&["-f"], OptionValue::Nothing),
    option(&["-i"], OptionValue::Keys(INODE_KEYS)),
    option(&["-K"], OptionValue::Nothing),
    option(&["-l"], OptionValue::Keys(LOG_KEYS)),
    option(&["-L"], OptionValue::Text),
    option(&["-m"], OptionValue::Keys(METADATA_KEYS)),
    option(&["-n"], OptionValue::Keys(NAMING_KEYS)),
    option(&["-q"], OptionValue::Nothing),
    option(&["-r"], OptionValue::Keys(REALTIME_KEYS)),
    option(&["-s"], OptionValue::Keys(SECTOR_KEYS)),
];

const DEFAULTS: DefaultsHistory = DefaultsHistory {
    versions: &["4.19", "5.4", "5.15", "6.6", "6.18"],
    changes: &[
        change("5.4", "-m", "reflink=0", "reflink=1"),
        change("6.6", "-m", "rmapbt=0", "rmapbt=1"),
        change("5.15", "-m", "bigtime=0", "bigtime=1").known_since("5.10"),
        change("5.15", "-m", "inobtcount=0", "inobtcount=1").known_since("5.10"),
        change("6.6", "-i", "nrext64=0", "nrext64=1").known_since("5.19"),
        change("6.18", "-i", "exchange=0", "exchange=1").known_since("6.10"),
        change("6.18", "-n", "parent=0", "parent=1").known_since("6.10"),
    ],
    source: "mkfs/lts_*.conf of xfsprogs 7.2.0",
};

const MOUNT_KEYS: &[KeyRule] = &[
    key("allocsize", OptionValue::Number),
    key("logbufs", OptionValue::Number),
    key("logbsize", OptionValue::Number),
    key("sunit", OptionValue::Number),
    key("swidth", OptionValue::Number),
    key("dax", OptionValue::OneOf(&["always", "never", "inode"])),
];

const fn xfsprogs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "xfsprogs",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Output,
        },
    }
}

pub(crate) static XFS: FileSystem = FileSystem {
    name: "xfs",
    title: "XFS",
    history: "Silicon Graphics designed it in 1993 for large files on many disks, and shipped it \
              with IRIX 5.3 in 1994. SGI ported it to Linux, whose development series took it in \
              with 2.5.36 in 2002, and Red Hat Enterprise Linux made it the default with its 7.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "xfs",
        served_by: &["xfs"],
        config: KernelConfig(&[&["CONFIG_XFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: xfsprogs("mkfs.xfs"),
        subcommand: &[],
        arguments: &["-f"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DEFAULTS,
        features: Some(&features::XFS),
        formats_nothing: &["-N", "-V"],
    }),
    check: Some(CheckCommand {
        tool: xfsprogs("xfs_repair"),
        arguments: &["-n"],
        // xfs_repair(8): 1 is also a device that cannot be opened, 2 a log that must first be
        // replayed by a mount.
        judge: judge_one,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes::mib(300),
        mkfs_version: "6.1.0",
        below: "refuses; older versions take less",
    },
    capabilities: Capabilities {
        hard_links_max: (1 << 31) - 1,
        extended_attributes: true,
        reflinks: true,
        metadata_checksums: true,
        crash_safety: CrashSafety::Journal,
        volume_bytes_max: Some(Bytes((1 << 63) - 1)),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[
        LINUX_ONLY,
        Reservation::stated(
            ReservationKind::Limit,
            "It can hardly be made smaller: space is removed only at its end, and two allocation \
             groups stay.",
            "xfs_growfs(8), -D",
        ),
    ],
    signature: Some("xfs"),
    bugs: &[],
    deviations: &[],
};
