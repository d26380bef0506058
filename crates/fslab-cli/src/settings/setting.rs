//! A setting, its origin, and which of several counts.

use std::fmt;
use std::path::PathBuf;

/// A default that the user gave for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The words of the command, such as `lab build`; `None` for every command with the option.
    pub(crate) command: Option<String>,
    /// The option's long name.
    pub(crate) option: String,
    /// Its values as on the command line: one; or any number, if the option may be repeated.
    pub(crate) values: Vec<String>,
    /// Where it is given.
    pub(crate) origin: Origin,
}

/// Where a setting is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A line of the configuration file.
    Line(usize),
    /// A variable of the environment.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// All settings of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The configuration file that was read; `None` without one.
    pub(crate) file: Option<PathBuf>,
    /// Those of the file in its order, then those of the environment.
    pub(crate) all: Vec<Setting>,
}

impl Settings {
    /// The setting of `option` that counts for `command`: the environment's; else the file's for
    /// this command; else the file's for all.
    pub(crate) fn of(&self, command: &str, option: &str) -> Option<&Setting> {
        let applies = |setting: &&Setting| {
            let is_for_it = setting.command.as_deref().is_none_or(|it| it == command);
            setting.option == option && is_for_it
        };
        self.all.iter().filter(applies).max_by_key(|setting| {
            let is_variable = matches!(setting.origin, Origin::Variable(_));
            (is_variable, setting.command.is_some())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(command: Option<&str>, value: &str, origin: Origin) -> Setting {
        Setting {
            command: command.map(str::to_owned),
            option: "store".to_owned(),
            values: vec![value.to_owned()],
            origin,
        }
    }

    #[test]
    fn the_environment_counts_before_the_command_s_table_and_that_before_the_top() {
        let mut settings = Settings {
            file: None,
            all: vec![
                setting(Some("list"), "of-list", Origin::Line(4)),
                setting(None, "of-all", Origin::Line(1)),
            ],
        };
        let value = |settings: &Settings, command: &str| {
            let found = settings.of(command, "store");
            found.map(|setting| setting.values[0].clone())
        };
        assert_eq!(value(&settings, "list").as_deref(), Some("of-list"));
        assert_eq!(value(&settings, "show").as_deref(), Some("of-all"));
        let variable = Origin::Variable("FSLAB_STORE".to_owned());
        settings.all.push(setting(None, "of-env", variable));
        assert_eq!(value(&settings, "list").as_deref(), Some("of-env"));
        assert_eq!(settings.of("list", "json"), None);
    }
}
