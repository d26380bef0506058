//! Other tools' lists of operations, which are not traces of fslab: known by their first line.

/// A list of operations of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignTrace {
    /// What fio writes with `write_iolog`.
    Iolog,
    /// The output of strace(1).
    Strace,
}

impl ForeignTrace {
    /// The kind of `text`, if it is one.
    pub fn of(text: &str) -> Option<Self> {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        let iolog = first.strip_prefix("fio version ");
        if iolog.is_some_and(|rest| rest.ends_with(" iolog")) {
            return Some(Self::Iolog);
        }
        is_call(first).then_some(Self::Strace)
    }

    /// Its name in errors.
    pub fn title(self) -> &'static str {
        match self {
            Self::Iolog => "an iolog of fio (write_iolog)",
            Self::Strace => "an output of strace",
        }
    }

    /// How its operations are recorded as a trace, or issued again.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Iolog => {
                "fio issues the operations again with --read_iolog; `fslab trace record` records \
                 those of a program"
            }
            Self::Strace => {
                "record the program with `fslab trace record`, which runs strace and keeps what a \
                 replay needs"
            }
        }
    }
}

/// `1234 1700000000.000001 openat(AT_FDCWD, "a", O_RDONLY) = 3 <0.000010>`.
fn is_call(line: &str) -> bool {
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
            ("call me (please) = now\n", None),
            ("{\"fslab_trace\":1}\n", None),
            ("", None),
        ] {
            assert_eq!(ForeignTrace::of(text), kind, "{text}");
        }
    }
}
