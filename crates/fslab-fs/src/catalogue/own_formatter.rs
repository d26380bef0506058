//! Common parts of the file systems that fslab formats itself: command, options, version.

use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{OptionRule, OptionValue, option};
use crate::{Mkfs, Tool};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["--label"], OptionValue::Text),
    option(&["--block-size"], OptionValue::Number),
    option(&["--identity"], OptionValue::Text),
];

/// The version of the formatters with which the smallest volumes were measured.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `fslab mkfs NAME DEVICE`; `words` are the first two of these.
pub(super) const fn mkfs(words: &'static [&'static str]) -> Mkfs {
    Mkfs {
        tool: Tool::FSLAB,
        subcommand: words,
        // Overwrites an old file system, which the trial may do.
        arguments: &["--force"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["--list", "--help", "--version", "-h", "-V"],
    }
}
