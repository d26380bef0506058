//! What the file systems share that fslab formats itself: the command, its options, its version.

use crate::option_rule::{OptionRule, OptionValue, option};
use crate::{Mkfs, Tool};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["--label"], OptionValue::Text),
    option(&["--block-size"], OptionValue::Number),
    option(&["--identity"], OptionValue::Text),
];

/// The version of the formatters, whose smallest volumes the entries state.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `fslab mkfs NAME DEVICE`; `words` are the first two of these.
pub(super) const fn mkfs(words: &'static [&'static str]) -> Mkfs {
    Mkfs {
        tool: Tool::FSLAB,
        subcommand: words,
        // An old file system may be on the device, and the trial may format it.
        arguments: &["--force"],
        joined: &[],
        options: MKFS_OPTIONS,
        formats_nothing: &["--list", "--help", "--version", "-h", "-V"],
    }
}
