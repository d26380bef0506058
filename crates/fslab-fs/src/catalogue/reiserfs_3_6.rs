//! ReiserFS 3.6: one balanced tree for everything.

use fslab_model::Bytes;

use super::reiserfs_family::{self, reiserfsprogs};
use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{OptionRule, OptionValue, option};
use crate::{Class, Driver, Feature, FileSystem, MinimumSize, Mkfs};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-b", "--block-size"], OptionValue::Number),
    option(&["-d", "--debug"], OptionValue::Nothing),
    option(&["-f", "--force"], OptionValue::Nothing),
    option(
        &["-h", "--hash"],
        OptionValue::OneOf(&["rupasov", "tea", "r5"]),
    ),
    option(&["-l", "--label"], OptionValue::Text),
    option(&["-q", "--quiet"], OptionValue::Nothing),
    option(&["-s", "--journal-size"], OptionValue::Number),
    option(&["-t", "--transaction-max-size"], OptionValue::Number),
    option(&["-u", "--uuid"], OptionValue::Text),
];

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
        // With a single -f it still asks.
        arguments: &["-f", "-f", "-q", "--format=3.6"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["-V"],
    }),
    check: Some(reiserfs_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::kib(32_848),
        mkfs_version: "3.6.27",
        below: "refuses",
    },
    capabilities: reiserfs_family::CAPABILITIES,
    spread: None,
    given_by_options: &[("user_xattr", Feature::ExtendedAttributes)],
    reservations: reiserfs_family::RESERVATIONS,
    signature: Some("reiserfs-3.6"),
    bugs: &[reiserfs_family::BUG_OF_JOURNAL],
    deviations: &[],
};
