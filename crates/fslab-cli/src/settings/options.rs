//! The options that settings may give, from clap's tree of commands.

use std::collections::{BTreeMap, BTreeSet};

use clap::{ArgAction, Command};
use fslab_model::{did_you_mean, nearest_name};

/// Options that permit something: a permission is typed with each command that needs it.
const PERMISSIONS: [&str; 5] = ["allow-commands", "allow-guest", "destroy", "force", "yes"];
/// Options that are no settings.
const NO_SETTINGS: [&str; 3] = ["help", "version", "no-config"];
/// The command that another program starts, whose result follows from its input alone.
const CLOSED: &str = "trial";

/// How an option takes values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// None: it is given or not.
    Switch,
    /// One.
    Value,
    /// One each time that it is given.
    List,
}

/// An option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The words of its command; empty for the options of all commands.
    pub(crate) command: String,
    /// Its long name.
    pub(crate) name: String,
    pub(super) kind: Kind,
    help: String,
    /// The default that clap fills in.
    default: Option<String>,
}

impl Known {
    pub(crate) fn is_switch(&self) -> bool {
        self.kind == Kind::Switch
    }

    /// The built-in default: clap's, or the one that the help names; `off` for a switch.
    pub(crate) fn built_in(&self) -> Option<String> {
        if self.is_switch() {
            return Some("off".to_owned());
        }
        let in_help = || {
            if let Some((_, rest)) = self.help.rsplit_once("[default: ") {
                return Some(rest.trim_end_matches(']').to_owned());
            }
            // Of several cases.
            let (_, rest) = self.help.rsplit_once("Default: ")?;
            Some(rest.trim_end_matches('.').to_owned())
        };
        self.default.clone().or_else(in_help)
    }
}

/// Why an option cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) problem: String,
    pub(super) hint: Option<String>,
}

/// All options that commands have.
#[derive(Clone, Debug)]
pub(crate) struct Options(Vec<Known>);

impl Options {
    /// Those of the tree below `root`, which has not been built, so that options of all commands
    /// appear once.
    pub(crate) fn of(root: &Command) -> Self {
        let mut found = Vec::new();
        collect(root, "", &mut found);
        Self(found)
    }

    /// True if there are settings for this command.
    pub(super) fn has_command(&self, command: &str) -> bool {
        self.0.iter().any(|known| known.command == command)
    }

    /// Those of a command, and those of all commands.
    pub(crate) fn of_command<'a>(&'a self, command: &'a str) -> impl Iterator<Item = &'a Known> {
        let is_its = move |known: &&Known| known.command == command || known.command.is_empty();
        self.0.iter().filter(is_its)
    }

    /// The words of the commands with options.
    pub(crate) fn commands(&self) -> BTreeSet<&str> {
        let names = self.0.iter().map(|known| known.command.as_str());
        names.filter(|name| !name.is_empty()).collect()
    }

    /// The option of a command's table.
    pub(super) fn of_table(&self, command: &str, name: &str) -> Result<&Known, Refusal> {
        permitted(name)?;
        let own = || self.0.iter().filter(|known| known.command == command);
        own()
            .find(|known| known.name == name)
            .ok_or_else(|| unknown(name, own()))
    }

    /// The option that stands at the top, for every command that has it: it must have one meaning.
    pub(super) fn of_all(&self, name: &str) -> Result<&Known, Refusal> {
        permitted(name)?;
        let mut named = self.0.iter().filter(|known| known.name == name);
        let first = named.next().ok_or_else(|| unknown(name, self.common()))?;
        if self.is_common(first) {
            return Ok(first);
        }
        let commands: Vec<_> = std::iter::once(first).chain(named).collect();
        let commands: Vec<_> = commands.iter().map(|it| it.command.as_str()).collect();
        Err(Refusal {
            problem: format!(
                "--{name} has different meanings in different commands: {}",
                commands.join(", ")
            ),
            hint: Some(format!(
                "put it below a command, for example [{}]",
                commands[0]
            )),
        })
    }

    /// The options that may stand at the top, each once.
    pub(super) fn common(&self) -> impl Iterator<Item = &Known> {
        let named = self.0.iter().map(|known| (known.name.as_str(), known));
        let by_name: BTreeMap<&str, &Known> = named.collect();
        let may = |known: &&Known| permitted(&known.name).is_ok() && self.is_common(known);
        by_name.into_values().filter(may)
    }

    /// Whether all options of this name are described in the same words.
    fn is_common(&self, known: &Known) -> bool {
        let mut alike = self.0.iter().filter(|it| it.name == known.name);
        alike.all(|it| it.help == known.help && it.kind == known.kind)
    }
}

fn collect(command: &Command, words: &str, found: &mut Vec<Known>) {
    for arg in command.get_arguments() {
        let Some(name) = arg.get_long().filter(|name| !NO_SETTINGS.contains(name)) else {
            continue;
        };
        let kind = match arg.get_action() {
            ArgAction::SetTrue => Kind::Switch,
            ArgAction::Append => Kind::List,
            _ => Kind::Value,
        };
        let default = arg.get_default_values().first();
        found.push(Known {
            command: words.to_owned(),
            name: name.to_owned(),
            kind,
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
            default: default.map(|value| value.to_string_lossy().into_owned()),
        });
    }
    for below in command.get_subcommands() {
        let name = below.get_name();
        if name != CLOSED {
            collect(below, format!("{words} {name}").trim(), found);
        }
    }
}

fn permitted(name: &str) -> Result<(), Refusal> {
    if !PERMISSIONS.contains(&name) {
        return Ok(());
    }
    Err(Refusal {
        problem: format!("--{name} is a permission, which can only be given on the command line"),
        hint: Some("remove it, and give it with each command that needs it".to_owned()),
    })
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a Known>) -> Refusal {
    let nearest = nearest_name(name, known.map(|known| known.name.as_str()));
    Refusal {
        problem: "unknown option".to_owned(),
        hint: nearest.map(did_you_mean),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn options() -> Options {
        Options::of(&crate::Cli::command())
    }

    #[test]
    fn an_option_with_two_meanings_stands_below_its_command() {
        let options = options();
        // A study to run, and a filter of a list.
        let refusal = options.of_all("study").expect_err("two meanings");
        assert!(refusal.problem.contains("compare"), "{}", refusal.problem);
        assert!(refusal.problem.contains("list"), "{}", refusal.problem);
        for name in ["store", "venue", "color", "quiet"] {
            options.of_all(name).expect(name);
        }
        options.of_table("compare", "study").expect("one command");
        options.of_table("lab build", "jobs").expect("one command");
    }

    #[test]
    fn what_permits_something_is_no_setting() {
        let options = options();
        for (command, name) in [
            ("compare", "allow-commands"),
            ("run", "destroy"),
            ("delete", "yes"),
            ("mkfs", "force"),
        ] {
            for refusal in [options.of_table(command, name), options.of_all(name)] {
                let problem = refusal.expect_err("refused").problem;
                assert!(problem.contains("permission"), "{problem}");
            }
        }
        assert!(options.common().all(|it| permitted(&it.name).is_ok()));
        assert!(!options.has_command("trial"));
    }

    #[test]
    fn built_in_defaults_are_those_of_the_help() {
        let options = options();
        let of = |command, name| {
            let known = options.of_table(command, name).expect("an option");
            known.built_in()
        };
        assert_eq!(of("compare", "study").as_deref(), Some("quick"));
        assert_eq!(of("compare", "images").as_deref(), Some("/var/tmp"));
        assert_eq!(of("compare", "json").as_deref(), Some("off"));
        assert!(of("compare", "venue").is_some_and(|it| it.starts_with("implied by")));
        assert_eq!(of("import", "run"), None);
    }
}
