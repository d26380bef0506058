//! The output of strace(1) as others run it, in the form that the recorder's own strace has:
//! strings and paths in hexadecimal, a thread before each line.
//!
//! What a replay needs is demanded by the option that prints it. The traced directory is the one in
//! which the program started, as for `fslab trace record`.

use std::path::Path;

use fslab_sys::os::OsStrExt;

use crate::inferred::files_before;
use crate::{Header, Trace, TracePath, translate};

/// The command that prints all that is needed.
pub(crate) const COMMAND: &str = "strace -f -ttt -T -y -o FILE COMMAND";
/// The thread of an output without `-f`.
const ONLY_THREAD: &str = "1";

/// The trace of strace's text; an error in words.
pub(crate) fn trace(text: &str) -> Result<Trace, String> {
    let mut plain = String::with_capacity(text.len());
    let mut directory: Option<Vec<u8>> = None;
    let mut has_durations = false;
    let mut threads: [bool; 2] = [false; 2];
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let (thread, rest) = thread(line);
        threads[usize::from(thread.is_some())] = true;
        let (time, call) = rest.split_once(' ').unwrap_or((rest, ""));
        if !is_unix_time(time) {
            let shown: String = line.chars().take(60).collect();
            return Err(format!(
                "line {number} has no time in seconds since 1970, which -ttt prints: {shown:?}"
            ));
        }
        has_durations |= call.trim_end().ends_with('>') && call.contains(" <");
        let call = hexadecimal(call);
        if directory.is_none() {
            directory = working_directory(&call);
        }
        plain.push_str(thread.unwrap_or(ONLY_THREAD));
        plain.extend([" ", time, " ", &*call, "\n"]);
    }
    if threads == [true, true] {
        return Err(
            "some lines have a thread and others do not, which -f with -o prints".to_owned(),
        );
    }
    if !has_durations {
        return Err("its calls have no durations, which -T prints".to_owned());
    }
    let Some(directory) = directory else {
        return Err(
            "no call shows the working directory (AT_FDCWD</path>), which -y prints".to_owned(),
        );
    };
    let root = Path::new(std::ffi::OsStr::from_bytes(&directory));
    let translation = translate(&plain, root, root).map_err(|error| error.to_string())?;
    if translation.events.is_empty() {
        return Err(format!("it has no call on a file below {}", root.display()));
    }
    let took_ns = translation
        .events
        .iter()
        .map(crate::TraceEvent::end_ns)
        .max();
    Ok(Trace {
        files: files_before(&translation.events),
        header: Header {
            root: root.to_string_lossy().into_owned(),
            directory: Some(TracePath::default()),
            recorder: "strace".to_owned(),
            took_ns: took_ns.unwrap_or_default(),
            threads: translation.threads,
            handles: translation.handles,
            unseen: translation.unseen,
            ..Header::default()
        },
        events: translation.events,
        final_files: Vec::new(),
    })
}

/// The thread before a line, as `-o` or as a terminal has it: `1234  ` or `[pid  1234] `.
fn thread(line: &str) -> (Option<&str>, &str) {
    if let Some((thread, rest)) = line
        .strip_prefix("[pid ")
        .and_then(|it| it.split_once("] "))
    {
        return (Some(thread.trim()), rest.trim_start());
    }
    match line.split_once(' ') {
        Some((thread, rest)) if thread.bytes().all(|byte| byte.is_ascii_digit()) => {
            (Some(thread), rest.trim_start())
        }
        _ => (None, line),
    }
}

/// `1700000000.000001`.
fn is_unix_time(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let parts = text.split_once('.');
    // A shorter one is a difference (`-r`) or a time of day.
    parts.is_some_and(|(whole, rest)| digits(whole) && digits(rest) && whole.len() >= 9)
}

/// The path in the first `AT_FDCWD<...>` of a call.
fn working_directory(call: &str) -> Option<Vec<u8>> {
    let (_, behind) = call.split_once("AT_FDCWD")?;
    crate::calls::angled_path(behind)
}

/// Strings and paths of descriptors in hexadecimal, as `-xx` prints them.
fn hexadecimal(call: &str) -> String {
    let mut plain = String::with_capacity(call.len() * 2);
    let mut rest = call;
    while let Some(at) = rest.find(['"', '<']) {
        let (before, behind) = rest.split_at(at);
        plain.push_str(before);
        let is_string = behind.starts_with('"');
        let is_path =
            before.ends_with(|c: char| c.is_ascii_digit()) || before.ends_with("AT_FDCWD");
        if !is_string && !is_path {
            plain.push('<');
            rest = &behind[1..];
            continue;
        }
        let (open, close) = if is_string { ('"', '"') } else { ('<', '>') };
        let (bytes, length) = decoded(&behind.as_bytes()[1..], is_string);
        plain.push(open);
        bytes
            .iter()
            .for_each(|byte| plain.push_str(&format!("\\x{byte:02x}")));
        plain.push(close);
        // Ends inside of the text only at ASCII.
        rest = behind.get(1 + length..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// The bytes up to the end of a string or of a path, and the length of its text with the end.
/// Inside of a path `<` begins what `-yy` adds to it.
fn decoded(text: &[u8], is_string: bool) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = text.get(at).copied() {
        at += 1;
        match byte {
            b'"' if is_string => return (bytes, at),
            b'>' if !is_string && depth == 0 => return (bytes, at),
            b'<' if !is_string => depth += 1,
            b'>' if !is_string => depth -= 1,
            b'\\' => {
                let (byte, length) = escape(&text[at..]);
                at += length;
                bytes.push(byte);
            }
            _ if depth == 0 => bytes.push(byte),
            _ => {}
        }
    }
    (bytes, at)
}

/// The byte of an escape of C after its backslash, and the length of its text.
fn escape(text: &[u8]) -> (u8, usize) {
    let number = |digits: &[u8], radix: u32| {
        let text = std::str::from_utf8(digits).ok()?;
        u8::from_str_radix(text, radix).ok()
    };
    match text.first() {
        Some(b'n') => (b'\n', 1),
        Some(b't') => (b'\t', 1),
        Some(b'r') => (b'\r', 1),
        Some(b'v') => (0x0b, 1),
        Some(b'f') => (0x0c, 1),
        Some(b'x') => match text.get(1..3).and_then(|it| number(it, 16)) {
            Some(byte) => (byte, 3),
            None => (b'x', 1),
        },
        Some(b'0'..=b'7') => {
            let digits = text
                .iter()
                .take(3)
                .take_while(|it| (b'0'..=b'7').contains(it))
                .count();
            (number(&text[..digits], 8).unwrap_or(b'?'), digits)
        }
        Some(other) => (*other, 1),
        None => (b'\\', 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_paths_become_hexadecimal() {
        for (text, expected) in [
            (
                "open(\"a,\\\"(\\101\", 0)",
                "open(\"\\x61\\x2c\\x22\\x28\\x41\", 0)",
            ),
            (
                "read(3</a\\76b>, \"\"..., 9)",
                "read(3<\\x2f\\x61\\x3e\\x62>, \"\"..., 9)",
            ),
            (
                "close(1</dev/null<char 1:3>>) = 0 <0.01>",
                "close(1<\\x2f\\x64\\x65\\x76\\x2f\\x6e\\x75\\x6c\\x6c>) = 0 <0.01>",
            ),
            ("<... read resumed>, \"a", "<... read resumed>, \"\\x61\""),
        ] {
            assert_eq!(hexadecimal(text), expected);
        }
    }

    #[test]
    fn a_thread_can_be_before_a_line() {
        assert_eq!(thread("12  1.5 a()"), (Some("12"), "1.5 a()"));
        assert_eq!(thread("[pid  12] 1.5 a()"), (Some("12"), "1.5 a()"));
        assert_eq!(thread("1.5 a()"), (None, "1.5 a()"));
    }
}
