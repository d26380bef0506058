//! Other tools' lists of operations, known by their first lines, and the traces of them.

use crate::{Trace, block_trace, iolog, strace_text};

/// A list of operations of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignTrace {
    /// What fio writes with `write_iolog`.
    Iolog,
    /// The output of strace(1).
    Strace,
    /// The text of blkparse(1).
    Blkparse,
}

impl ForeignTrace {
    /// The kind of `text`, if it is one.
    pub fn of(text: &str) -> Option<Self> {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        if iolog::version(first).is_some() {
            return Some(Self::Iolog);
        }
        if block_trace::is_line(first) {
            return Some(Self::Blkparse);
        }
        // An output can begin with a line that is no call, for example of a signal.
        text.lines()
            .take(LOOKED_AT)
            .any(is_call)
            .then_some(Self::Strace)
    }

    /// The trace of `text`; an error in words.
    pub(crate) fn trace(self, text: &str) -> Result<Trace, String> {
        match self {
            Self::Iolog => iolog::trace(text),
            Self::Strace => strace_text::trace(text),
            Self::Blkparse => block_trace::trace(text),
        }
    }

    /// Its name in errors.
    pub fn title(self) -> &'static str {
        match self {
            Self::Iolog => "an iolog of fio (write_iolog)",
            Self::Strace => "an output of strace",
            Self::Blkparse => "a text of blkparse",
        }
    }

    /// How it is made so that it can be replayed.
    pub(crate) fn hint(self) -> String {
        match self {
            Self::Iolog => "write it with fio --write_iolog=FILE".to_owned(),
            Self::Strace => format!(
                "run {}, or record the program with `fslab trace record`",
                strace_text::COMMAND
            ),
            Self::Blkparse => "print it with blkparse -i NAME, without -f".to_owned(),
        }
    }
}

/// Lines that are looked at for a call.
const LOOKED_AT: usize = 20;

/// `1234 1700000000.000001 openat(AT_FDCWD, "a", O_RDONLY) = 3 <0.000010>`.
fn is_call(line: &str) -> bool {
    let line = line.trim();
    let Some((front, result)) = line.rsplit_once(" = ") else {
        return false;
    };
    let Some((before, _)) = front.split_once('(') else {
        return false;
    };
    let name = before.rsplit(' ').next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    front.trim_end().ends_with(')')
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(is_name)
        && result.starts_with(|c: char| c.is_ascii_digit() || "-?".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_operations_are_known_by_their_first_line() {
        for (text, kind) in [
            ("fio version 3 iolog\n1 a add\n", Some(ForeignTrace::Iolog)),
            (
                "1 2.0 read(3, \"x\", 1) = 1 <0.1>\n",
                Some(ForeignTrace::Strace),
            ),
            ("[pid 7] close(3) = -1 EBADF\n", Some(ForeignTrace::Strace)),
            (
                "  8,0    3        1     0.000000000   697  Q   W 2234 + 8 [a]\n",
                Some(ForeignTrace::Blkparse),
            ),
            ("call me (please) = now\n", None),
            ("{\"fslab_trace\":1}\n", None),
            ("", None),
        ] {
            assert_eq!(ForeignTrace::of(text), kind, "{text}");
        }
    }
}
