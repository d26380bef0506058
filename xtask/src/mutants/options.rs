//! What was typed behind `cargo xtask mutants`.

use std::path::PathBuf;

/// The help of the command.
pub(crate) const USAGE: &str = "usage: cargo xtask mutants [NAME...] [OPTIONS]

Plants each fault of tests/mutants/ in the guest's kernel, records a study with it, judges the crash
states, and compares them with the unchanged kernel's. Exit code 1: a fault was not found, or the
unchanged kernel breaks a promise without an explanation; 2: nothing could be run. Source, objects
and labs are in target/mutants.

  --list             List the faults, one per line
  --max-states N     Maximum number of crash states to test per log [default: 300]
  --fslab FILE       Use this program [default: built in the dev profile]
  --keep             Keep logs and labs, for `fslab crash replay`
";

/// States of a log, unless another number is asked for.
const STATES_MAX: usize = 300;

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The faults; all of them if there is none.
    pub(crate) names: Vec<String>,
    pub(crate) is_list: bool,
    pub(crate) states_max: usize,
    pub(crate) fslab: Option<PathBuf>,
    pub(crate) keep: bool,
}

impl Options {
    /// Reads `words`; an error says which word is wrong.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            names: Vec::new(),
            is_list: false,
            states_max: STATES_MAX,
            fslab: None,
            keep: false,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || {
                let value = words.next().filter(|value| !value.starts_with("--"));
                value.ok_or_else(|| format!("{word} wants a value"))
            };
            match word {
                "--list" => options.is_list = true,
                "--keep" => options.keep = true,
                "--fslab" => options.fslab = Some(value()?.into()),
                "--max-states" => {
                    let number = value()?.parse();
                    options.states_max = number.map_err(|_| format!("{word} wants a number"))?;
                }
                _ if word.starts_with('-') => return Err(format!("no option {word}")),
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_read_and_what_is_not_known_is_named() {
        let options = Options::parse(&["a", "--max-states", "9", "b", "--keep"]).expect("right");
        assert_eq!(options.names, ["a", "b"]);
        assert!(options.keep && options.states_max == 9 && !options.is_list);
        let wrong = |words: &[&str]| Options::parse(words).expect_err("wrong");
        assert_eq!(wrong(&["--fast"]), "no option --fast");
        assert_eq!(wrong(&["--max-states", "x"]), "--max-states wants a number");
        assert_eq!(wrong(&["--fslab"]), "--fslab wants a value");
    }
}
