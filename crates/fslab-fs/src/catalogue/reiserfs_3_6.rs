//! ReiserFS 3.6: one balanced tree for everything.

use fslab_model::Bytes;

use super::reiserfs_family::{self, reiserfsprogs};
use crate::{Class, Driver, Feature, FileSystem, MinimumSize, Mkfs, RefusedOption};

const ANOTHER_DEVICE: &str = "it names another device, and a trial has one";
const A_FILE: &str = "it names a file";
const DRY_RUN: &str = "nothing would be formatted";

pub(crate) static REISERFS_3_6: FileSystem = FileSystem {
    name: "reiserfs-3.6",
    title: "ReiserFS 3.6",
    history: "Hans Reiser's company Namesys wrote it, and with Linux 2.4.1 of January 2001 it \
              became the first journaling file system of the kernel, in this format with files \
              beyond 2 GiB. The driver left the kernel with Linux 6.13 in January 2025.",
    class: Class::Native,
    driver: Driver::Kernel(reiserfs_family::DRIVER),
    mkfs: Some(Mkfs {
        tool: reiserfsprogs("mkreiserfs"),
        subcommand: &[],
        // Twice -f, because with one it still asks.
        arguments: &["-f", "-f", "-q", "--format=3.6"],
        value_letters: "bhuljostB",
        joined_letters: "",
        refused: &[
            RefusedOption {
                option: "-j",
                reason: ANOTHER_DEVICE,
            },
            RefusedOption {
                option: "--journal-device",
                reason: ANOTHER_DEVICE,
            },
            RefusedOption {
                option: "-B",
                reason: A_FILE,
            },
            RefusedOption {
                option: "--badblocks",
                reason: A_FILE,
            },
            RefusedOption {
                option: "--format",
                reason: "the subject's name says which format is made",
            },
            RefusedOption {
                option: "-V",
                reason: DRY_RUN,
            },
        ],
    }),
    check: Some(reiserfs_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::kib(32_848),
        mkfs_version: "3.6.27",
        below: "refuses",
    },
    capabilities: reiserfs_family::CAPABILITIES,
    given_by_options: &[("user_xattr", Feature::ExtendedAttributes)],
    signature: Some("reiserfs-3.6"),
    bugs: &[reiserfs_family::BUG_OF_JOURNAL],
    deviations: &[],
};
