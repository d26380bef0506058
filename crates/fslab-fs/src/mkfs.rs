//! mkfs commands: fslab's arguments, then the user's.
//!
//! The user's arguments are parsed like getopt_long(3), because mkfs takes any word that is not an
//! option's value as a device: `btrfs:mkfs=-f sdb` would format a disk that was not named for it.
//! Only options listed in the entry are passed on, in the entry's spelling, so that the program
//! reads what was checked.

use crate::Tool;
use crate::features::FeatureTable;
use crate::mkfs_defaults::{DefaultsHistory, expand};
use crate::option_rule::{OptionRule, OptionValue, usage};

/// The mkfs of a file system.
#[derive(Clone, Copy, Debug)]
pub struct Mkfs {
    /// The program.
    pub tool: Tool,
    /// Words before every option: a subcommand with its object.
    pub subcommand: &'static [&'static str],
    /// The arguments of every trial; the device comes last.
    pub arguments: &'static [&'static str],
    /// Options with lists as values of which the program uses only the last: the user's list is
    /// joined to fslab's.
    pub joined: &'static [&'static str],
    /// The options that a subject may pass.
    pub options: &'static [OptionRule],
    /// What it made by default earlier.
    pub defaults: DefaultsHistory,
    /// Where a made file system has its features; `None` if it has none to choose.
    pub features: Option<&'static FeatureTable>,
    /// Options with which it formats nothing: the most common of those that are refused.
    pub formats_nothing: &'static [&'static str],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedWord {
    pub(crate) word: String,
    /// The reason, a fragment.
    pub(crate) reason: String,
    /// What may be passed instead.
    pub(crate) allowed: Option<String>,
}

/// One option of a command line, in the entry's spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CommandOption {
    name: &'static str,
    value: Option<String>,
}

/// The rule of the option found, and its value's place.
struct FoundRule<'a> {
    rule: &'static OptionRule,
    name: &'static str,
    attached: Option<&'a str>,
}

impl Mkfs {
    /// fslab's arguments and then the user's, which override them; without the device. They are for
    /// an mkfs that prints `version`, or for a plan.
    pub(crate) fn arguments_with(
        &self,
        user: &[String],
        version: Option<&str>,
    ) -> Result<Vec<String>, RefusedWord> {
        let user = expand(&self.defaults, user, version)
            .map_err(|(word, reason)| self.no_defaults(word, reason))?;
        let mut words: Vec<String> = self.arguments.iter().map(|&it| it.to_owned()).collect();
        for option in self.read(&user)? {
            let earlier = words.iter().position(|word| word == option.name);
            match (earlier, &option.value) {
                (Some(at), Some(list)) if self.joined.contains(&option.name) => {
                    words[at + 1].push(',');
                    words[at + 1].push_str(list);
                }
                _ => words.extend(option.words()),
            }
        }
        let subcommand = self.subcommand.iter().map(|&word| word.to_owned());
        Ok(subcommand.chain(words).collect())
    }

    fn read(&self, words: &[String]) -> Result<Vec<CommandOption>, RefusedWord> {
        let mut options = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.starts_with("--") && word.len() > 2 {
                let found = self.long_rule(word)?;
                options.push(self.option(word, &found, &mut words)?);
                continue;
            }
            let letters = word
                .strip_prefix('-')
                .filter(|letters| !letters.is_empty() && !letters.starts_with('-'))
                .ok_or_else(|| {
                    self.refused(
                        word,
                        "it is not an option, and the device must not be named here",
                    )
                })?;
            for (at, letter) in letters.char_indices() {
                let found = self.letter_rule(letter, &letters[at + letter.len_utf8()..])?;
                let takes_value = found.rule.value != OptionValue::Nothing;
                options.push(self.option(word, &found, &mut words)?);
                if takes_value {
                    break;
                }
            }
        }
        Ok(options)
    }

    /// Reads an option with its value, attached or the next of `words`.
    fn option<'a>(
        &self,
        word: &str,
        found: &FoundRule<'_>,
        words: &mut impl Iterator<Item = &'a String>,
    ) -> Result<CommandOption, RefusedWord> {
        let FoundRule {
            rule,
            name,
            attached,
        } = *found;
        if rule.value == OptionValue::Nothing && attached.is_none() {
            return Ok(CommandOption { name, value: None });
        }
        let value = match attached {
            Some(value) => value,
            None => words
                .next()
                .ok_or_else(|| self.refused(word, "its value is missing"))?,
        };
        match rule.value.refusal(value) {
            None => Ok(CommandOption {
                name,
                value: Some(value.to_owned()),
            }),
            Some(reason) => Err(self.refused(&format!("{name} {value}"), reason)),
        }
    }

    fn letter_rule<'a>(&self, letter: char, rest: &'a str) -> Result<FoundRule<'a>, RefusedWord> {
        let spelled = format!("-{letter}");
        let (rule, name) = self
            .names()
            .find(|(_, name)| *name == spelled)
            .ok_or_else(|| self.unlisted(&spelled))?;
        let takes_value = rule.value != OptionValue::Nothing;
        Ok(FoundRule {
            rule,
            name,
            attached: (takes_value && !rest.is_empty()).then_some(rest),
        })
    }

    /// The option that `word` spells or abbreviates, as in getopt_long(3).
    fn long_rule<'a>(&self, word: &'a str) -> Result<FoundRule<'a>, RefusedWord> {
        let (spelled, attached) = match word.split_once('=') {
            Some((spelled, value)) => (spelled, Some(value)),
            None => (word, None),
        };
        let long = || self.names().filter(|(_, name)| name.starts_with("--"));
        let exact = long().find(|(_, name)| *name == spelled);
        let mut begun = long().filter(|(_, name)| name.starts_with(spelled));
        let only = || {
            let first = begun.next()?;
            begun.next().is_none().then_some(first)
        };
        let (rule, name) = exact.or_else(only).ok_or_else(|| self.unlisted(word))?;
        Ok(FoundRule {
            rule,
            name,
            attached,
        })
    }

    fn names(&self) -> impl Iterator<Item = (&'static OptionRule, &'static str)> {
        let names = |rule: &'static OptionRule| rule.names.iter().map(move |&name| (rule, name));
        self.options.iter().flat_map(names)
    }

    fn unlisted(&self, word: &str) -> RefusedWord {
        let program = self.tool.program;
        let spelled = word.split('=').next().unwrap_or(word);
        let begins = |name: &&str| name.starts_with("--") && name.starts_with(spelled);
        let mut nothing = self.formats_nothing.iter();
        if nothing.any(|name| *name == spelled || begins(name)) {
            return self.refused(word, "nothing would be formatted");
        }
        self.refused(
            word,
            format!("it is not among the options that a subject may pass to {program}"),
        )
    }

    fn no_defaults(&self, word: String, reason: &str) -> RefusedWord {
        let known = self.defaults.versions.iter();
        let known = known.map(|since| format!("@{since}"));
        let known: Vec<String> = known.collect();
        let allowed = (!known.is_empty()).then(|| {
            let program = self.tool.program;
            format!("known defaults of {program} are {}", known.join(", "))
        });
        RefusedWord {
            word,
            reason: reason.to_owned(),
            allowed,
        }
    }

    fn refused(&self, word: &str, reason: impl Into<String>) -> RefusedWord {
        RefusedWord {
            word: word.to_owned(),
            reason: reason.into(),
            allowed: Some(match self.options {
                [] => format!("{} takes no options from a subject", self.tool.program),
                options => format!(
                    "allowed options of {} are {}",
                    self.tool.program,
                    usage(options)
                ),
            }),
        }
    }
}

impl CommandOption {
    fn words(self) -> Vec<String> {
        match self.value {
            None => vec![self.name.to_owned()],
            Some(value) if self.name.starts_with("--") => vec![format!("{}={value}", self.name)],
            Some(value) => vec![self.name.to_owned(), value],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::option_rule::{key, option};
    use crate::{OutputStream, VersionSource};

    const MAKER: Mkfs = Mkfs {
        tool: Tool {
            program: "mkfs.maker",
            package: "maker",
            version: VersionSource::Asked {
                argument: "-V",
                stream: OutputStream::Output,
            },
        },
        subcommand: &[],
        arguments: &["-q", "-E", "lazy=0"],
        joined: &["-E"],
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["-n", "--help"],
        options: &[
            option(&["-b", "--block"], OptionValue::Number),
            option(&["-v", "--verbose"], OptionValue::Nothing),
            option(&["-L", "--label"], OptionValue::Text),
            option(&["--csum"], OptionValue::OneOf(&["xxhash", "crc32c"])),
            option(
                &["-E"],
                OptionValue::Keys(&[
                    key("lazy", OptionValue::Number),
                    key("stride", OptionValue::Number),
                ]),
            ),
        ],
    };

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn with(text: &str) -> Result<String, RefusedWord> {
        Ok(MAKER.arguments_with(&words(text), None)?.join(" "))
    }

    #[test]
    fn the_users_arguments_stand_behind_ours() {
        assert_eq!(with(""), Ok("-q -E lazy=0".into()));
        let maker = Mkfs {
            subcommand: &["mkfs", "x"],
            ..MAKER
        };
        let arguments = maker
            .arguments_with(&words("-b 1"), None)
            .expect("accepted");
        assert_eq!(arguments.join(" "), "mkfs x -q -E lazy=0 -b 1");
        assert_eq!(
            with("-b 1024 --csum=xxhash -v"),
            Ok("-q -E lazy=0 -b 1024 --csum=xxhash -v".into())
        );
    }

    #[test]
    fn every_spelling_of_a_listed_option_is_read() {
        for (text, read) in [
            ("-b1024", "-b 1024"),
            ("-vb 1024", "-v -b 1024"),
            ("-vb1024", "-v -b 1024"),
            ("--block=1024", "--block=1024"),
            ("--block 1024", "--block=1024"),
            ("--bl 1024", "--block=1024"),
            ("--verb", "--verbose"),
            ("-Letc", "-L etc"),
        ] {
            assert_eq!(with(text), Ok(format!("-q -E lazy=0 {read}")), "{text}");
        }
    }

    #[test]
    fn lists_of_which_only_the_last_counts_are_joined() {
        for text in [
            "-E stride=8,lazy=1",
            "-Estride=8,lazy=1",
            "-E stride=8 -E lazy=1",
        ] {
            assert_eq!(
                with(text),
                Ok("-q -E lazy=0,stride=8,lazy=1".into()),
                "{text}"
            );
        }
        assert_eq!(with("-vE stride=1"), Ok("-q -E lazy=0,stride=1 -v".into()));
    }

    #[test]
    fn a_word_that_mkfs_would_take_for_a_device_is_refused() {
        for text in [
            "sdb",
            "-v sdb",
            "-b 1024 sdb",
            "-- sdb",
            "-",
            "--verbose sdb",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
        assert_eq!(
            with("-E stride=/dev/sdb").map_err(|refused| refused.word),
            Err("-E stride=/dev/sdb".into())
        );
    }

    /// A list of refused options lacked `-z undo.e2undo`, `-d DIR`, `-l FILE` and more.
    #[test]
    fn what_the_entry_does_not_list_is_refused_in_every_spelling() {
        for text in [
            "-n",
            "-vn",
            "-nv",
            "-z undo",
            "-zundo",
            "-d.",
            "--help",
            "--rootdir=etc",
            "--root etc",
            "-E logdev=x",
            "-Estride=1,logdev=x",
            "--csum=etc",
            "--c=etc",
            "-b etc",
            "--verbose=etc",
            "-L \"/etc\"",
            "-L ../x",
            "-L -n",
            "--label=-n",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
        for dry in ["-vn", "--he", "--help=x"] {
            let refused = with(dry).expect_err("not listed");
            assert_eq!(refused.reason, "nothing would be formatted", "{dry}");
        }
        let refused = with("-vz").expect_err("not listed");
        assert_eq!(refused.word, "-z");
        assert!(refused.reason.contains("mkfs.maker"), "{}", refused.reason);
        assert!(
            refused
                .allowed
                .is_some_and(|it| it.contains("-b|--block NUMBER"))
        );
    }

    #[test]
    fn an_option_without_its_value_is_refused() {
        for text in ["-v -b", "--block"] {
            let refused = with(text).expect_err("has no value");
            assert_eq!(refused.reason, "its value is missing");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_accepted_leaves_a_word_for_a_device(
            user in prop::collection::vec("[-]{0,2}[a-zE/=,]{0,4}", 0..6)
        ) {
            if let Ok(arguments) = MAKER.arguments_with(&user, None) {
                let mut arguments = arguments.iter();
                while let Some(word) = arguments.next() {
                    prop_assert!(word.starts_with('-') && word.len() > 1);
                    prop_assert!(!word.contains('/'));
                    if ["-b", "-E", "-L"].contains(&word.as_str()) {
                        prop_assert!(arguments.next().is_some_and(|value| !value.contains('/')));
                    }
                }
            }
        }
    }
}
