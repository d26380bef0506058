//! Decides whether output is coloured.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;

static ENABLED: OnceLock<bool> = OnceLock::new();

/// Whether the process colours its output.
pub(crate) fn is_enabled() -> bool {
    ENABLED.get().copied().unwrap_or(false)
}

/// When the command uses colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Applies the choice to the process.
    pub(crate) fn apply(self) {
        let enabled = match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                std::io::stderr().is_terminal()
                    && std::io::stdout().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        owo_colors::set_override(enabled);
        let _ = ENABLED.set(enabled);
    }
}
