//! What the file systems share that fslab formats itself: the command, its options, its version.

use crate::{Mkfs, RefusedOption, Tool};

/// The version of the formatters, whose smallest volumes the entries state.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

const NOTHING_FORMATTED: &str = "nothing would be formatted";

/// `fslab mkfs NAME DEVICE`; `words` are the first two of these.
pub(super) const fn mkfs(words: &'static [&'static str]) -> Mkfs {
    Mkfs {
        tool: Tool::FSLAB,
        subcommand: words,
        // An old file system may be on the device, and the trial may format it.
        arguments: &["--force"],
        value_letters: "",
        joined_letters: "",
        refused: &[
            RefusedOption {
                option: "--list",
                reason: NOTHING_FORMATTED,
            },
            RefusedOption {
                option: "--help",
                reason: NOTHING_FORMATTED,
            },
            RefusedOption {
                option: "--version",
                reason: NOTHING_FORMATTED,
            },
            RefusedOption {
                option: "-h",
                reason: NOTHING_FORMATTED,
            },
            RefusedOption {
                option: "-V",
                reason: NOTHING_FORMATTED,
            },
        ],
    }
}
