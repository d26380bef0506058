//! What was typed behind `cargo xtask exact`.

use std::path::PathBuf;

/// The help of the command.
pub(crate) const USAGE: &str = "usage: cargo xtask exact [OPTIONS] [-- WORDS]

Runs all file systems in virtual time, once on the unchanged host and once under each perturbation
of it, and compares the exact records byte for byte. Exit code 1: a record differs or a run failed;
2: nothing could be run.

  --list             List the perturbations, one per line
  --together         Combine many perturbations per run, for as few runs as possible
  --sample           Run four subjects under all perturbations that need no further build, combined
  --only NAMES       Run only these perturbations, separated by commas; join several with + to
                     apply them in one run
  --subjects NAMES   Run these subjects, separated by commas [default: all]
  --study STUDY      Run this study [default: quick]
  --fslab FILE       Use this program [default: built in the dev profile]
  --lab NAME         Use this lab [default: default]
  --keep             Keep the directory of the runs
  --ready            Run nothing; exit with 0 if there is a lab, or if there must be one
  -- WORDS           Pass further options to `fslab compare`, for example
                     --study small-files --scale 1/100
";

/// The subjects of a sample: those whose figures changed when the guest still saw its host's files,
/// and the two that are used most.
const SAMPLE: [&str; 4] = ["ext4", "btrfs", "xfs", "hfs+"];

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) task: Task,
    pub(crate) is_sample: bool,
    pub(crate) is_together: bool,
    /// The names of each run.
    pub(crate) only: Vec<Vec<String>>,
    pub(crate) subjects: Vec<String>,
    pub(crate) study: Option<String>,
    pub(crate) fslab: Option<PathBuf>,
    pub(crate) kernel: String,
    pub(crate) keep: bool,
    /// For `fslab compare`, as they were typed.
    pub(crate) further: Vec<String>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Run,
    List,
    Ready,
}

impl Options {
    /// Reads `words`; an error says which word is wrong.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            task: Task::Run,
            is_sample: false,
            is_together: false,
            only: Vec::new(),
            subjects: Vec::new(),
            study: None,
            fslab: None,
            kernel: "default".into(),
            keep: false,
            further: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || {
                let value = words.next().filter(|value| !value.starts_with("--"));
                value.ok_or_else(|| format!("{word} wants a value"))
            };
            match word {
                "--list" => options.task = Task::List,
                "--ready" => options.task = Task::Ready,
                "--sample" => options.is_sample = true,
                "--together" => options.is_together = true,
                "--keep" => options.keep = true,
                "--" => options
                    .further
                    .extend(words.by_ref().map(|&word| word.to_owned())),
                "--only" => {
                    let runs = names(value()?, ',').map(|run| names(&run, '+').collect());
                    options.only.extend(runs);
                }
                "--subjects" => options.subjects.extend(names(value()?, ',')),
                "--study" => options.study = Some(value()?.to_string()),
                "--fslab" => options.fslab = Some(value()?.into()),
                "--lab" => options.kernel = value()?.to_string(),
                _ => return Err(format!("no option {word}")),
            }
        }
        if options.subjects.is_empty() {
            let all: &[&str] = if options.is_sample { &SAMPLE } else { &["all"] };
            options.subjects = all.iter().map(|&name| name.to_owned()).collect();
        }
        Ok(options)
    }
}

fn names(list: &str, separator: char) -> impl Iterator<Item = String> {
    list.split(separator)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_read_and_what_is_not_known_is_named() {
        let words = "--only user,limits+load --subjects ext4 --keep -- --scale 1/9";
        let words: Vec<_> = words.split(' ').collect();
        let options = Options::parse(&words).expect("right");
        assert_eq!(options.further, ["--scale", "1/9"]);
        assert_eq!(options.only, [vec!["user"], vec!["limits", "load"]]);
        assert_eq!(options.subjects, ["ext4"]);
        assert!(options.keep && options.task == Task::Run);
        let wrong = |words: &[&str]| Options::parse(words).expect_err("wrong");
        assert_eq!(wrong(&["--fast"]), "no option --fast");
        assert_eq!(wrong(&["--only"]), "--only wants a value");
        assert_eq!(wrong(&["--only", "--keep"]), "--only wants a value");
    }

    #[test]
    fn without_subjects_it_is_the_catalogue_and_of_a_sample_four() {
        let subjects = |words: &[&str]| Options::parse(words).expect("right").subjects;
        assert_eq!(subjects(&[]), ["all"]);
        assert_eq!(subjects(&["--sample"]), SAMPLE);
        assert_eq!(subjects(&["--sample", "--subjects", "jfs"]), ["jfs"]);
    }
}
