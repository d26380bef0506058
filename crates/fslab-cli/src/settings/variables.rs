//! The variables of the environment: settings, and those that fslab knows besides.

use std::ffi::OsString;

use fslab_model::{Failure, FailureKind, did_you_mean, nearest_name};

use super::options::{Kind, Options};
use super::setting::{Origin, Setting};

/// The prefix of the names of settings.
const PREFIX: &str = "FSLAB_";
/// Variables with this prefix are for the tests of fslab.
const OF_TESTS: &str = "FSLAB_TEST_";

/// Variables that are no settings, with what they do; docs/configuration.md and the manual have
/// them.
pub(crate) const VARIABLES: [(&str, &str); 12] = [
    (
        "FSLAB_OPTION",
        "Default of an option that means the same in every command: FSLAB_STORE=FILE is --store \
         FILE, FSLAB_TRIAL_LIMIT=10min is --trial-limit 10min. A switch is on with 1 or true, off \
         with 0 or false.",
    ),
    (
        "HOME",
        "Where the directories below are, if their variables are not set.",
    ),
    (
        "XDG_CONFIG_HOME",
        "Directory of fslab/config.toml; $HOME/.config if not set.",
    ),
    (
        "XDG_DATA_HOME",
        "Directory of the store, fslab/fslab.db; $HOME/.local/share if not set.",
    ),
    (
        "XDG_STATE_HOME",
        "Directory of leases and locks; $HOME/.local/state if not set.",
    ),
    (
        "XDG_CACHE_HOME",
        "Directory of labs and layers; $HOME/.cache if not set.",
    ),
    ("TMPDIR", "Directory of mount points; /tmp if not set."),
    ("PATH", "Where mkfs, fsck and other programs are searched."),
    (
        "NO_COLOR",
        "No colours, if it is not empty; see no-color.org.",
    ),
    (
        "CLICOLOR_FORCE",
        "Colours also where output is no terminal, if it is neither empty nor 0.",
    ),
    (
        "COLUMNS",
        "Columns of tables where standard output is no terminal.",
    ),
    (
        "SOURCE_DATE_EPOCH",
        "The time that `fslab mkfs` writes, in seconds since 1970.",
    ),
];

/// The settings of the environment, and a warning for each variable that looks like one.
///
/// # Errors
/// A variable of a permission, of an option with several meanings, or without a usable value.
pub(super) fn read(
    options: &Options,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<(Vec<Setting>, Vec<String>), Failure> {
    let (mut settings, mut warnings) = (Vec::new(), Vec::new());
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| is_setting(name)) else {
            continue;
        };
        let option = name[PREFIX.len()..].to_ascii_lowercase().replace('_', "-");
        let known = match options.of_all(&option) {
            Ok(known) => known,
            Err(refusal) if refusal.problem == "unknown option" => {
                let names = names(options);
                let nearest = nearest_name(name, names.iter().map(String::as_str));
                let hint = nearest.map(did_you_mean).unwrap_or_default();
                warnings.push(format!("{name} is not a variable of fslab. {hint}"));
                continue;
            }
            Err(refusal) => {
                let text = format!("cannot use the variable {name}: {}", refusal.problem);
                let hint = "unset it, and give the option with the command";
                return Err(Failure::new(FailureKind::BadInput, text).hint(hint));
            }
        };
        let bad = |problem: &str| {
            let text = format!("the variable {name} {problem}");
            Failure::new(FailureKind::BadInput, text)
        };
        let value = value.to_str().ok_or_else(|| bad("is not UTF-8"))?;
        let values = match known.kind {
            Kind::Switch => vec![switch(value).ok_or_else(|| bad("must be 0 or 1"))?],
            Kind::Value | Kind::List => vec![value.to_owned()],
        };
        settings.push(Setting {
            command: None,
            option,
            values,
            origin: Origin::Variable(name.to_owned()),
        });
    }
    settings.sort_by(|a, b| a.option.cmp(&b.option));
    Ok((settings, warnings))
}

fn is_setting(name: &str) -> bool {
    name.starts_with(PREFIX) && !name.starts_with(OF_TESTS)
}

/// The variable of each option that may have one.
fn names(options: &Options) -> Vec<String> {
    let name = |option: &str| format!("{PREFIX}{}", option.to_ascii_uppercase().replace('-', "_"));
    options.common().map(|known| name(&known.name)).collect()
}

fn switch(value: &str) -> Option<String> {
    match value {
        "1" | "true" => Some("true".to_owned()),
        "" | "0" | "false" => Some("false".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<(Vec<Setting>, Vec<String>), Failure> {
        let options = Options::of(&crate::Cli::command());
        let variables = variables.iter();
        read(
            &options,
            variables.map(|(name, value)| (name.into(), value.into())),
        )
    }

    #[test]
    fn a_variable_is_an_option_in_capitals() {
        let (settings, warnings) = of(&[
            ("FSLAB_TRIAL_LIMIT", "10min"),
            ("FSLAB_QUIET", "1"),
            ("FSLAB_TEST_GUEST", "required"),
            ("OTHER", "x"),
        ])
        .expect("settings");
        assert!(warnings.is_empty(), "{warnings:?}");
        let found: Vec<_> = settings
            .iter()
            .map(|it| (&*it.option, &*it.values[0]))
            .collect();
        assert_eq!(found, [("quiet", "true"), ("trial-limit", "10min")]);
    }

    #[test]
    fn a_mistyped_variable_is_a_warning_and_a_permission_an_error() {
        let (settings, warnings) = of(&[("FSLAB_STOER", "x")]).expect("a warning");
        assert!(settings.is_empty());
        assert!(warnings[0].contains("FSLAB_STORE"), "{warnings:?}");
        for (name, what) in [
            ("FSLAB_ALLOW_COMMANDS", "permission"),
            ("FSLAB_DESTROY", "permission"),
            ("FSLAB_STUDY", "meaning"),
            ("FSLAB_QUIET", "must be 0 or 1"),
        ] {
            let failure = of(&[(name, "x")]).expect_err(name);
            assert!(failure.message.contains(what), "{failure}");
        }
    }
}
