//! What a contender is to the bench.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BenchError;
use crate::work::{Amounts, FILES_FOLDER, Figure, Work};

/// Rates per second by figure: operations, or bytes for the stream. `None` where the program says
/// that it does not know.
pub(crate) type Rates = Vec<(Figure, Option<f64>)>;

/// What is to be done, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    /// The row.
    pub(crate) work: Work,
    /// How much of it.
    pub(crate) amounts: Amounts,
    /// A directory with only the file that records are read from, the directory that files are made
    /// in, or nothing.
    pub(crate) directory: &'a Path,
}

impl Task<'_> {
    /// Operations of one figure.
    pub(crate) fn operations(&self) -> u64 {
        self.work.operations(&self.amounts)
    }

    /// The directory that many files are made in.
    pub(crate) fn files(&self) -> PathBuf {
        self.directory.join(FILES_FOLDER)
    }

    /// Where commands are started: programs without an option for it make their files there.
    pub(crate) fn start(&self) -> PathBuf {
        if self.work.makes_files() {
            self.files()
        } else {
            self.directory.to_owned()
        }
    }
}

/// A command, and the reader of what it prints.
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// What it reads on standard input.
    pub(crate) input: Option<String>,
    /// What it does the operations of; `None` for a preparation, or for several figures at once.
    pub(crate) figure: Option<Figure>,
    /// Reads its standard output.
    pub(crate) read: Reader,
}

type Reader = Box<dyn Fn(&str) -> Result<Rates, BenchError>>;

/// A program that takes part.
pub(crate) trait Contender {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Its version, or why it does not take part.
    fn version(&self) -> Result<String, String>;

    /// The commands for `task`, in order; none where it cannot do that work.
    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation>;

    /// What a reader of its figures must know.
    fn remark(&self, work: Work) -> Option<&'static str>;

    /// The options that make it faster than its defaults do, which it is given; `None` where the
    /// defaults are best.
    fn setting(&self, work: Work) -> Option<&'static str>;

    /// Whether one process does several figures, so that nothing is counted per operation.
    fn is_one_process(&self) -> bool {
        false
    }
}

impl Invocation {
    /// `program` with `arguments`, which does the operations of one figure.
    pub(crate) fn of_figure(
        program: impl Into<PathBuf>,
        arguments: Vec<String>,
        figure: Figure,
        read: impl Fn(&str) -> Result<f64, BenchError> + 'static,
    ) -> Self {
        Self {
            program: program.into(),
            arguments,
            input: None,
            figure: Some(figure),
            read: Box::new(move |text| Ok(vec![(figure, Some(read(text)?))])),
        }
    }

    /// A command that is not measured.
    pub(crate) fn preparation(program: impl Into<PathBuf>, arguments: Vec<String>) -> Self {
        Self {
            program: program.into(),
            arguments,
            input: None,
            figure: None,
            read: Box::new(|_| Ok(Rates::new())),
        }
    }

    /// The command as it would be typed.
    pub(crate) fn command_line(&self) -> String {
        let words = std::iter::once(self.program.to_string_lossy().into_owned());
        let mut line = words
            .chain(self.arguments.iter().cloned())
            .map(|word| quoted(&word))
            .collect::<Vec<_>>()
            .join(" ");
        if let Some(input) = &self.input {
            line = format!("{line} <<'EOF'\n{input}\nEOF");
        }
        line
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The first line that `program --version`, or what else `arguments` say, prints.
pub(crate) fn ask_version(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let text = if output.stdout.is_empty() {
        output.stderr
    } else {
        output.stdout
    };
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    Ok(line.unwrap_or("a version it does not print").to_owned())
}

/// Arguments from words that need formatting.
pub(crate) fn words<const N: usize>(words: [String; N]) -> Vec<String> {
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let mut invocation =
            Invocation::preparation("fio", vec!["--filename_format=f$filenum".into()]);
        assert_eq!(
            invocation.command_line(),
            "fio '--filename_format=f$filenum'"
        );
        invocation.input = Some("{}".into());
        assert!(invocation.command_line().ends_with(" <<'EOF'\n{}\nEOF"));
    }

    #[test]
    fn a_program_that_is_not_there_has_a_reason_and_not_a_version() {
        assert!(ask_version(Path::new("no-such-program"), &[]).is_err());
        assert!(ask_version(Path::new("cc"), &["--version"]).is_ok());
    }
}
