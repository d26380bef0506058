//! Parses strace's lines into calls. The two lines of an interrupted call (`unfinished`,
//! `resumed`) become one.

use fslab_model::Failure;
use std::collections::HashMap;

use crate::error;

use crate::line::{Line, LineText, nanoseconds};

/// One item of strace's output. Items are in the order in which they take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StraceItem {
    Call(Call),
    /// A thread ended.
    Ended {
        thread: u32,
        at_ns: u64,
    },
    /// execve(2) in the thread `by` ended `thread`; `by` continues with its id.
    Superseded {
        thread: u32,
        by: u32,
        at_ns: u64,
    },
}

/// One system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) thread: u32,
    pub(crate) at_ns: u64,
    pub(crate) took_ns: u64,
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) returned: ReturnValue,
}

/// Value that a call returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReturnValue {
    /// A number, with the path in `<>` after it.
    Number(i64, Option<Vec<u8>>),
    /// An address, or a value that is no decimal number.
    Word,
    /// The errno's name.
    Error(String),
    /// The call did not return, or is restarted.
    None,
}

/// An unfinished call.
struct Pending {
    text: String,
    at_ns: u64,
    /// Line index.
    order: usize,
}

/// Parses strace's output.
///
/// A call is placed at its end. A close and the creation of a thread are placed at their start,
/// since other threads see the effect before the call returns.
pub(crate) fn parse_output(output: &str) -> Result<Vec<StraceItem>, Failure> {
    let mut pending: HashMap<u32, Pending> = HashMap::new();
    let mut ordered: Vec<(usize, StraceItem)> = Vec::new();
    for (index, text) in output.lines().enumerate() {
        let unreadable = || error::of_line(index + 1, text);
        let line = Line::parse(index + 1, text)?;
        let (thread, at_ns) = (line.thread, line.at_ns);
        match line.text {
            LineText::Call(text) => {
                let call = Call::parse(thread, at_ns, text).ok_or_else(unreadable)?;
                ordered.push((index, StraceItem::Call(call)));
            }
            LineText::Unfinished(text) => {
                let text = text.to_owned();
                let order = index;
                pending.insert(thread, Pending { text, at_ns, order });
            }
            LineText::Resumed(rest) => {
                let begun = pending.remove(&thread).ok_or_else(unreadable)?;
                let text = format!("{} {rest}", begun.text);
                let mut call = Call::parse(thread, begun.at_ns, &text).ok_or_else(unreadable)?;
                if call.name.starts_with("wait") {
                    // strace writes the child's end before this line, while the measured duration
                    // may end earlier: the wait must not end before the child.
                    call.took_ns = call.took_ns.max(at_ns.saturating_sub(begun.at_ns));
                }
                let order = if call.takes_effect_at_start() {
                    begun.order
                } else {
                    index
                };
                ordered.push((order, StraceItem::Call(call)));
            }
            LineText::Ended => ordered.push((index, StraceItem::Ended { thread, at_ns })),
            LineText::Superseded(by) => {
                if let Some(begun) = pending.remove(&by) {
                    pending.insert(thread, begun);
                }
                ordered.push((index, StraceItem::Superseded { thread, by, at_ns }));
            }
            LineText::Other => {}
        }
    }
    ordered.sort_by_key(|(order, _)| *order);
    Ok(ordered.into_iter().map(|(_, item)| item).collect())
}

impl Call {
    fn parse(thread: u32, at_ns: u64, text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('(')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let (arguments, rest) = split_arguments(rest)?;
        let rest = rest.trim_start().strip_prefix('=')?.trim();
        let (returned, took_ns) = match rest.rsplit_once(" <") {
            Some((returned, took)) if took.ends_with('>') && !took.starts_with('\\') => {
                (returned, nanoseconds(&took[..took.len() - 1])?)
            }
            _ => (rest, 0),
        };
        Some(Self {
            thread,
            at_ns,
            took_ns,
            name: name.to_owned(),
            arguments,
            returned: ReturnValue::parse(returned.trim())?,
        })
    }

    fn takes_effect_at_start(&self) -> bool {
        matches!(self.name.as_str(), "close" | "close_range") || self.creates_thread()
    }

    /// True if the call creates a thread or a process.
    pub(crate) fn creates_thread(&self) -> bool {
        matches!(self.name.as_str(), "clone" | "clone3" | "fork" | "vfork")
    }

    /// The argument at `index`; empty if absent.
    pub(crate) fn argument(&self, index: usize) -> &str {
        self.arguments.get(index).map_or("", String::as_str)
    }
}

impl ReturnValue {
    fn parse(text: &str) -> Option<Self> {
        if text.starts_with('?') {
            return Some(Self::None);
        }
        if let Some(error) = text.strip_prefix("-1 ") {
            let name = error.split_whitespace().next()?;
            return Some(Self::Error(name.to_owned()));
        }
        if text.starts_with("0x") {
            return Some(Self::Word);
        }
        let digits = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        match text[..digits].parse() {
            Ok(number) => Some(Self::Number(number, angled_path(&text[digits..]))),
            Err(_) => Some(Self::Word),
        }
    }
}

/// Splits at commas up to the closing parenthesis; returns the arguments and the rest of the line.
/// Strings are hexadecimal (`strace -xx`), so they contain no bracket or comma.
fn split_arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let mut arguments = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    let mut take = |from: usize, to: usize| {
        let argument = text[from..to].trim();
        if !argument.is_empty() {
            arguments.push(argument.to_owned());
        }
    };
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                take(start, at);
                return Some((arguments, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                take(start, at);
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Decodes `\x61\x62...`; `None` for any other character.
pub(crate) fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    text.as_bytes()
        .chunks(4)
        .map(|chunk| {
            let digits = chunk.strip_prefix(b"\\x")?;
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        })
        .collect()
}

/// The absolute path in `<...>` at the start of `text`.
pub(crate) fn angled_path(text: &str) -> Option<Vec<u8>> {
    let (inside, _) = text.strip_prefix('<')?.split_once('>')?;
    hexadecimal(inside).filter(|path| path.starts_with(b"/"))
}

/// The string in quotes; `None` if strace truncated it.
pub(crate) fn quoted(text: &str) -> Option<Vec<u8>> {
    hexadecimal(text.strip_prefix('"')?.strip_suffix('"')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Call {
        let line = format!("1 2.0 {text}");
        match parse_output(&line).expect(text).pop() {
            Some(StraceItem::Call(call)) => call,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_are_split_outside_of_brackets_and_returned_descriptors_have_paths() {
        let call = call(
            "copy_file_range(3<\\x2f\\x61>, [0], 6<\\x2f\\x62>, [10], 50, 0) = 50 <0.000010747>",
        );
        assert_eq!(call.arguments.len(), 6);
        assert_eq!(call.argument(1), "[0]");
        assert_eq!(call.argument(9), "");
        assert_eq!(
            (&call.returned, call.took_ns),
            (&ReturnValue::Number(50, None), 10_747)
        );
        let call =
            self::call("openat(AT_FDCWD<\\x2f>, \"\\x61\", O_RDONLY) = 3<\\x2f\\x61> <0.000010>");
        assert_eq!(call.returned, ReturnValue::Number(3, Some(b"/a".to_vec())));
        assert_eq!(quoted(call.argument(1)), Some(b"a".to_vec()));
        assert_eq!(angled_path("<\\x2f\\x61>(deleted)"), Some(b"/a".to_vec()));
    }

    #[test]
    fn errors_addresses_and_calls_that_never_return_are_distinguished() {
        let cases = [
            (
                "stat(\"\\x61\", 0x7f) = -1 ENOENT (No such file or directory) <0.1>",
                ReturnValue::Error("ENOENT".into()),
            ),
            (
                "mmap(NULL, 6, PROT_READ, MAP_SHARED, 3, 0) = 0x7f6f <0.1>",
                ReturnValue::Word,
            ),
            ("exit_group(0) = ?", ReturnValue::None),
            (
                "read(3, 0x1, 5) = ? ERESTARTSYS (To be restarted) <0.1>",
                ReturnValue::None,
            ),
        ];
        for (text, returned) in cases {
            assert_eq!(call(text).returned, returned, "{text}");
        }
    }

    #[test]
    fn an_interrupted_call_is_joined_and_placed_at_its_end() {
        let output = "1 1.0 read(3, <unfinished ...>\n\
                      2 1.1 close(4) = 0 <0.1>\n\
                      1 1.2 <... read resumed>\"\"..., 10) = 10 <0.2>\n\
                      1 1.3 clone(flags=SIGCHLD <unfinished ...>\n\
                      5 1.4 close(3) = 0 <0.1>\n\
                      1 1.5 <... clone resumed>) = 5 <0.2>\n";
        let names: Vec<_> = parse_output(output)
            .expect("readable")
            .into_iter()
            .map(|item| match item {
                StraceItem::Call(call) => format!("{} {}", call.thread, call.name),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names, ["2 close", "1 read", "1 clone", "5 close"]);
    }

    #[test]
    fn a_call_without_an_end_or_a_beginning_is_an_error() {
        for bad in [
            "1 1.0 read(3, 4",
            "1 1.0 <... read resumed>) = 0",
            "1 1.0 ?()",
        ] {
            assert!(parse_output(bad).is_err(), "{bad}");
        }
    }
}
