//! Decides whether output is coloured.

use std::ffi::OsString;
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
    /// On a terminal, or with CLICOLOR_FORCE; never if NO_COLOR is set.
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
            Self::Auto => by_environment(|name| std::env::var_os(name)).unwrap_or_else(|| {
                std::io::stderr().is_terminal() && std::io::stdout().is_terminal()
            }),
        };
        owo_colors::set_override(enabled);
        let _ = ENABLED.set(enabled);
    }
}

/// What the environment demands; `None` if the terminal decides. [no-color.org;
/// bixense.com/clicolors]
fn by_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<bool> {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    if is_set("NO_COLOR") {
        return Some(false);
    }
    let is_forced = is_set("CLICOLOR_FORCE") && variable("CLICOLOR_FORCE")? != "0";
    is_forced.then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_counts_before_clicolor_force_and_both_before_the_terminal() {
        let decision = |set: &[(&str, &str)]| {
            by_environment(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(decision(&[]), None);
        assert_eq!(decision(&[("CLICOLOR_FORCE", "1")]), Some(true));
        assert_eq!(decision(&[("CLICOLOR_FORCE", "0")]), None);
        assert_eq!(
            decision(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]),
            Some(false)
        );
        assert_eq!(decision(&[("NO_COLOR", "")]), None);
    }
}
