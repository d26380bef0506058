//! How a file system is made: our arguments, the user's behind them, and what is refused of those.
//!
//! The user's arguments are read option by option, as getopt(3) would, because a word that is no
//! option's value is a device to mkfs: `btrfs:mkfs=-f sdb` would format a disk that nobody gave up.

use crate::Tool;

/// How a file system is made.
#[derive(Clone, Copy, Debug)]
pub struct Mkfs {
    /// The program.
    pub tool: Tool,
    /// Words that stand before every option: a subcommand and what it is to make.
    pub subcommand: &'static [&'static str],
    /// What a trial always passes; the device comes last.
    pub arguments: &'static [&'static str],
    /// The program's short options that take a value.
    pub value_letters: &'static str,
    /// Options whose values are lists, and of which the program heeds only the last: the user's
    /// list is joined to ours.
    pub joined_letters: &'static str,
    /// Options that a trial does not pass on.
    pub refused: &'static [RefusedOption],
}

/// An option that a trial does not pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedOption {
    /// `-n`, `--help`, or the key of a value, such as `logdev=`.
    pub option: &'static str,
    /// A fragment.
    pub reason: &'static str,
}

/// A word that is not passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedWord {
    pub(crate) word: String,
    pub(crate) reason: &'static str,
}

/// One option of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CommandOption {
    Flag(char),
    WithValue(char, String),
    Long(String),
}

impl Mkfs {
    /// Our arguments and then the user's, whose say is the last; without the device.
    pub(crate) fn arguments_with(&self, user: &[String]) -> Result<Vec<String>, RefusedWord> {
        let ours: Vec<String> = self.arguments.iter().map(|&word| word.to_owned()).collect();
        let mut options = self.read(&ours)?;
        for option in self.read(user)? {
            self.refuse(&option)?;
            match self.partner(&mut options, &option) {
                Some((ours, users)) => {
                    ours.push(',');
                    ours.push_str(users);
                }
                None => options.push(option),
            }
        }
        let subcommand = self.subcommand.iter().map(|&word| word.to_owned());
        let options = options.into_iter().flat_map(CommandOption::words);
        Ok(subcommand.chain(options).collect())
    }

    /// The earlier value that `option` is to be joined to, and the value to join.
    fn partner<'a>(
        &self,
        options: &'a mut [CommandOption],
        option: &'a CommandOption,
    ) -> Option<(&'a mut String, &'a str)> {
        let CommandOption::WithValue(letter, users) = option else {
            return None;
        };
        let ours = options.iter_mut().find_map(|earlier| match earlier {
            CommandOption::WithValue(same, value) if same == letter => Some(value),
            _ => None,
        })?;
        self.joined_letters
            .contains(*letter)
            .then_some((ours, users.as_str()))
    }

    fn read(&self, words: &[String]) -> Result<Vec<CommandOption>, RefusedWord> {
        let refused = |word: &str, reason| RefusedWord {
            word: word.to_owned(),
            reason,
        };
        let mut options = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.starts_with("--") && word.len() > 2 {
                options.push(CommandOption::Long(word.clone()));
                continue;
            }
            let letters = word
                .strip_prefix('-')
                .filter(|letters| !letters.is_empty() && !letters.starts_with('-'))
                .ok_or_else(|| {
                    refused(
                        word,
                        "it is no option, and the device is not named here; \
                         a long option has its value behind '='",
                    )
                })?;
            for (at, letter) in letters.char_indices() {
                if !self.value_letters.contains(letter) {
                    options.push(CommandOption::Flag(letter));
                    continue;
                }
                let value = match &letters[at + letter.len_utf8()..] {
                    "" => words
                        .next()
                        .ok_or_else(|| refused(word, "its value is missing"))?,
                    attached => attached,
                };
                options.push(CommandOption::WithValue(letter, value.to_owned()));
                break;
            }
        }
        Ok(options)
    }

    fn refuse(&self, option: &CommandOption) -> Result<(), RefusedWord> {
        let word = option.clone().words().join(" ");
        let refusal = self
            .refused
            .iter()
            .find(|refused| option.is(refused.option));
        let reason = match refusal {
            Some(refused) => refused.reason,
            // A path is a device, a log device, or a folder to fill the file system with.
            None if word.contains('/') => "it names a file, and a trial formats its device alone",
            None => return Ok(()),
        };
        Err(RefusedWord { word, reason })
    }
}

impl CommandOption {
    fn words(self) -> Vec<String> {
        match self {
            Self::Flag(letter) => vec![format!("-{letter}")],
            Self::WithValue(letter, value) => vec![format!("-{letter}"), value],
            Self::Long(word) => vec![word],
        }
    }

    /// Whether a refusal of `pattern` means this option.
    fn is(&self, pattern: &str) -> bool {
        match self {
            Self::Flag(letter) => pattern == format!("-{letter}"),
            Self::WithValue(letter, value) => {
                let has_key = || value.split(',').any(|part| part.starts_with(pattern));
                pattern == format!("-{letter}") || (pattern.ends_with('=') && has_key())
            }
            // getopt_long(3) takes any beginning of a long option for the option.
            Self::Long(word) => {
                let name = word.split('=').next().unwrap_or(word);
                pattern.starts_with("--") && pattern.starts_with(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
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
        value_letters: "bE",
        joined_letters: "E",
        refused: &[
            RefusedOption {
                option: "-n",
                reason: "it formats nothing",
            },
            RefusedOption {
                option: "--help",
                reason: "it formats nothing",
            },
            RefusedOption {
                option: "logdev=",
                reason: "another device",
            },
        ],
    };

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn with(text: &str) -> Result<String, RefusedWord> {
        Ok(MAKER.arguments_with(&words(text))?.join(" "))
    }

    #[test]
    fn the_users_arguments_stand_behind_ours() {
        assert_eq!(with(""), Ok("-q -E lazy=0".into()));
        let maker = Mkfs {
            subcommand: &["mkfs", "x"],
            ..MAKER
        };
        let arguments = maker.arguments_with(&words("-b 1")).expect("accepted");
        assert_eq!(arguments.join(" "), "mkfs x -q -E lazy=0 -b 1");
        assert_eq!(
            with("-b 1024 --csum=xxhash -v"),
            Ok("-q -E lazy=0 -b 1024 --csum=xxhash -v".into())
        );
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
        assert_eq!(with("-vE a"), Ok("-q -E lazy=0,a -v".into()));
    }

    #[test]
    fn a_word_that_mkfs_would_take_for_a_device_is_refused() {
        for text in [
            "sdb",
            "-v sdb",
            "-b 1024 sdb",
            "-- sdb",
            "--csum xxhash",
            "-",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
        assert_eq!(
            with("-E size=/dev/sdb").map_err(|refused| refused.word),
            Err("-E size=/dev/sdb".into())
        );
        assert!(with("--rootdir=/etc").is_err());
    }

    #[test]
    fn what_the_entry_refuses_is_refused_in_every_spelling() {
        for text in [
            "-n",
            "-vn",
            "--help",
            "--he",
            "--help=x",
            "-E logdev=x",
            "-Esize=1,logdev=x",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
        assert!(with("-E xlogdev=1").is_ok());
        assert!(with("-b n").is_ok());
    }

    #[test]
    fn an_option_without_its_value_is_refused() {
        let refused = with("-v -b").expect_err("has no value");
        assert_eq!(refused.reason, "its value is missing");
    }

    proptest! {
        #[test]
        fn nothing_that_is_accepted_leaves_a_word_for_a_device(
            user in prop::collection::vec("[-]{0,2}[a-zE/=,]{0,4}", 0..6)
        ) {
            if let Ok(arguments) = MAKER.arguments_with(&user) {
                let mut arguments = arguments.iter();
                while let Some(word) = arguments.next() {
                    prop_assert!(word.starts_with('-') && word.len() > 1);
                    prop_assert!(!word.contains('/'));
                    if ["-b", "-E"].contains(&word.as_str()) {
                        prop_assert!(arguments.next().is_some_and(|value| !value.contains('/')));
                    }
                }
            }
        }
    }
}
