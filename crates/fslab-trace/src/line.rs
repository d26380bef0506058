//! Parses a line of strace's output: thread, time, and a call or the end of a thread.

use fslab_model::Failure;

use crate::error;

/// One line of strace's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Thread id.
    pub(crate) thread: u32,
    /// Time of the line, or start of its call, in nanoseconds since 1970.
    pub(crate) at_ns: u64,
    pub(crate) text: LineText<'a>,
}

/// Content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineText<'a> {
    /// A complete call, from its name to its duration.
    Call(&'a str),
    /// The first part of an interrupted call.
    Unfinished(&'a str),
    /// The rest of an interrupted call.
    Resumed(&'a str),
    /// The thread ended.
    Ended,
    /// Another thread of the process continues with this thread's id: execve(2).
    Superseded(u32),
    /// A signal, or anything else that is no call.
    Other,
}

impl<'a> Line<'a> {
    /// Parses `text`, line `number` of the output.
    pub(crate) fn parse(number: usize, text: &'a str) -> Result<Self, Failure> {
        Self::try_parse(text).ok_or_else(|| error::of_line(number, text))
    }

    fn try_parse(text: &'a str) -> Option<Self> {
        let (thread, rest) = text.split_once(' ')?;
        let (time, rest) = rest.trim_start().split_once(' ')?;
        Some(Self {
            thread: thread.parse().ok()?,
            at_ns: nanoseconds(time)?,
            text: LineText::parse(rest.trim())?,
        })
    }
}

impl<'a> LineText<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if let Some(ending) = text.strip_prefix("+++ ") {
            if let Some(by) = ending.strip_prefix("superseded by execve in pid ") {
                let number = by.split_whitespace().next()?;
                return Some(Self::Superseded(number.parse().ok()?));
            }
            let ended = ending.starts_with("exited") || ending.starts_with("killed");
            return Some(if ended { Self::Ended } else { Self::Other });
        }
        if text.starts_with("---") {
            return Some(Self::Other);
        }
        if let Some(rest) = text.strip_prefix("<... ") {
            let (_, rest) = rest.split_once(" resumed>")?;
            return Some(Self::Resumed(rest));
        }
        if let Some(beginning) = text.strip_suffix("<unfinished ...>") {
            return Some(Self::Unfinished(beginning.trim_end()));
        }
        Some(Self::Call(text))
    }
}

/// Decimal seconds as nanoseconds.
pub(crate) fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let seconds: u64 = seconds.parse().ok()?;
    let width = u32::try_from(fraction.len())
        .ok()
        .filter(|width| *width <= 9)?;
    let fraction: u64 = fraction.parse().ok()?;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(fraction * 10_u64.pow(9 - width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Line<'_> {
        Line::parse(1, text).expect(text)
    }

    #[test]
    fn each_kind_of_line_is_recognized() {
        let call =
            parse("21675 1795298443.635289987 fallocate(3<\\x2f>, 0, 0, 500) = 0 <0.000021>");
        assert_eq!(
            (call.thread, call.at_ns),
            (21_675, 1_795_298_443_635_289_987)
        );
        assert!(matches!(call.text, LineText::Call(text) if text.starts_with("fallocate(")));
        let texts = [
            (
                "1 2.5 wait4(21723,  <unfinished ...>",
                LineText::Unfinished("wait4(21723,"),
            ),
            ("1 2.5 <... exit resumed>) = ?", LineText::Resumed(") = ?")),
            ("1 2.5 +++ exited with 0 +++", LineText::Ended),
            ("1 2.5 +++ killed by SIGKILL +++", LineText::Ended),
            (
                "1 2.5 +++ superseded by execve in pid 9 +++",
                LineText::Superseded(9),
            ),
            ("1 2.5 --- SIGCHLD {si_signo=SIGCHLD} ---", LineText::Other),
        ];
        for (text, expected) in texts {
            assert_eq!(parse(text).text, expected, "{text}");
        }
    }

    #[test]
    fn a_malformed_line_is_an_error_with_its_number() {
        for bad in ["", "x 1.0 a()", "1 1,0 a()", "1 1.0"] {
            let error = Line::parse(7, bad).expect_err(bad);
            assert!(error.to_string().contains("line 7"), "{error}");
        }
    }
}
