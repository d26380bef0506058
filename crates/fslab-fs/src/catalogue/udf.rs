//! UDF: what optical discs carry.

use fslab_model::{Bytes, Capabilities, CaseRule, CrashSafety};

use crate::{
    Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize, Mkfs, OutputStream,
    RefusedOption, Tool, VersionSource,
};

const DRY_RUN: &str = "nothing would be formatted";

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
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: UDFTOOLS,
        subcommand: &[],
        arguments: &["--utf8", "--media-type=hd"],
        value_letters: "lubmr",
        joined_letters: "",
        refused: &[
            RefusedOption {
                option: "-n",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "--no-write",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "-h",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "--help",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "--new-file",
                reason: "it makes a file, and a trial has a device",
            },
            RefusedOption {
                option: "--read-only",
                reason: "nothing could be written to it",
            },
        ],
    }),
    check: None,
    minimum: MinimumSize {
        size: Bytes(47_616),
        mkfs_version: "2.3",
        below: "refuses",
    },
    capabilities: Capabilities {
        persistent: true,
        permissions: true,
        symlinks: true,
        hard_links_max: 65_535,
        case: CaseRule::Sensitive,
        sparse_files: true,
        extended_attributes: false,
        reflinks: false,
        compression: false,
        metadata_checksums: false,
        data_checksums: false,
        crash_safety: CrashSafety::None,
        name_bytes_max: 254,
        file_bytes_max: Bytes(1 << 42),
        // 32-bit block numbers, blocks of 512 bytes as those of the sectors.
        volume_bytes_max: Some(Bytes((u32::MAX as u64) << 9)),
    },
    given_by_options: &[],
    signature: Some("udf"),
    bugs: &[],
    deviations: &[
        "--media-type=hd: what mkudffs finds by itself on a disk, and cannot find on others. \
         --utf8 must stand before all other options.",
    ],
};
