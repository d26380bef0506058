//! UDF, the file system of optical discs.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::{
    Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize, Mkfs, OutputStream, Tool,
    VersionSource,
};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-b", "--blocksize"], OptionValue::Number),
    option(&["-l", "--label"], OptionValue::Text),
    option(&["-m", "--media-type"], OptionValue::Word),
    option(&["-r", "--udfrev"], OptionValue::Number),
    option(&["-u", "--uuid"], OptionValue::Text),
    option(&["--lvid"], OptionValue::Text),
    option(&["--vid"], OptionValue::Text),
    option(&["--vsid"], OptionValue::Text),
    option(&["--fsid"], OptionValue::Text),
    option(&["--fullvsid"], OptionValue::Text),
    option(&["--owner"], OptionValue::Text),
    option(&["--organization"], OptionValue::Text),
    option(&["--contact"], OptionValue::Text),
    option(&["--appid"], OptionValue::Text),
    option(&["--impid"], OptionValue::Text),
    option(&["--uid"], OptionValue::Number),
    option(&["--gid"], OptionValue::Number),
    option(&["--mode"], OptionValue::Number),
    option(
        &["--bootarea"],
        OptionValue::OneOf(&["preserve", "erase", "mbr"]),
    ),
    option(&["--strategy"], OptionValue::Number),
    option(&["--spartable"], OptionValue::Nothing),
    option(&["--sparspace"], OptionValue::Number),
    option(&["--packetlen"], OptionValue::Number),
    option(&["--space"], OptionValue::Word),
    option(&["--ad"], OptionValue::Word),
    option(&["--noefe"], OptionValue::Nothing),
    option(&["--locale"], OptionValue::Nothing),
    option(&["--u8"], OptionValue::Nothing),
    option(&["--u16"], OptionValue::Nothing),
    option(&["--utf8"], OptionValue::Nothing),
];

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Word),
    key("gid", OptionValue::Word),
    key("umask", OptionValue::Number),
    key("mode", OptionValue::Number),
    key("dmode", OptionValue::Number),
    key("bs", OptionValue::Number),
    key("session", OptionValue::Number),
    key("anchor", OptionValue::Number),
    key("lastblock", OptionValue::Number),
    key("iocharset", OptionValue::Word),
];

const UDFTOOLS: Tool = Tool {
    program: "mkudffs",
    package: "udftools",
    version: VersionSource::Asked {
        argument: "--help",
        stream: OutputStream::Error,
    },
};

pub(crate) static UDF: FileSystem = FileSystem {
    name: "udf",
    title: "UDF",
    history: "The Optical Storage Technology Association published it in 1995 as a subset of \
              ISO/IEC 13346, for discs that are written more than once. DVDs carry it, and it is \
              among the few that Windows, macOS and Linux all write on a disk.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "udf",
        served_by: &["udf"],
        config: KernelConfig(&[&["CONFIG_UDF_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: UDFTOOLS,
        subcommand: &[],
        arguments: &["--utf8", "--media-type=hd"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["-n", "--no-write", "-h", "--help"],
    }),
    check: None,
    minimum: MinimumSize {
        size: Bytes(47_616),
        mkfs_version: "2.3",
        below: "refuses",
    },
    capabilities: Capabilities {
        hard_links_max: 65_535,
        name_bytes_max: 254,
        file_bytes_max: Bytes(1 << 42),
        // 32-bit block numbers, blocks of 512 bytes, as the device's sectors.
        volume_bytes_max: Some(Bytes((u32::MAX as u64) << 9)),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "Windows since Vista, Mac OS X since 10.5 and Linux read and write it; on a \
             partition macOS does not mount it automatically, and without a partition table \
             Windows finds it only on removable disks.",
        "mkudffs(8), COMPATIBILITY",
    )],
    signature: Some("udf"),
    bugs: &[],
    deviations: &[
        "--media-type=hd: what mkudffs finds by itself on a disk, and cannot find on others. \
         --utf8 must stand before all other options.",
    ],
};
