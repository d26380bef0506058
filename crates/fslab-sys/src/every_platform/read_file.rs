//! Reads files whose paths come from untrusted input, so that they can neither hang nor exhaust
//! memory: pipes, terminals and /dev/zero are refused.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::{open_named, open_untrusted};

/// The contents of the regular file at `path`, at most `bytes_max` bytes.
///
/// # Errors
/// Those of open(2) and read(2); `InvalidInput` if it is no regular file, and `FileTooLarge`.
pub fn read_regular_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_at_most(open_untrusted(path)?, bytes_max)
}

/// Reads a file or pipe until its end, at most `bytes_max` bytes. The file's length is not used:
/// files of /proc have none, and others grow.
pub fn read_at_most(file: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut content)?;
    if content.len() as u64 > bytes_max {
        let why = format!("it has more than {bytes_max} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(content)
}

/// The contents as text.
///
/// # Errors
/// As [`read_regular_file`]; `InvalidData` if it is not UTF-8.
pub fn read_text_file(path: &Path, bytes_max: u64) -> io::Result<String> {
    text(read_regular_file(path, bytes_max)?)
}

/// The contents of a file named by the user, which may be a shell's pipe.
///
/// # Errors
/// As [`read_regular_file`], except for the kind of file.
pub fn read_named_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_at_most(open_named(path)?, bytes_max)
}

/// As text.
///
/// # Errors
/// As [`read_named_file`]; `InvalidData` if it is not UTF-8.
pub fn read_named_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    text(read_named_file(path, bytes_max)?)
}

fn text(content: Vec<u8>) -> io::Result<String> {
    String::from_utf8(content)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A study with `/dev/zero` as its disk or trace was read until memory was exhausted.
    #[test]
    fn endless_and_too_long_files_are_refused() {
        let folder = tempfile::tempdir().expect("a directory");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        for path in [Path::new("/dev/zero"), &pipe] {
            let refused = read_regular_file(path, 1 << 20).expect_err("no file");
            assert_eq!(
                refused.kind(),
                ErrorKind::InvalidInput,
                "{}",
                path.display()
            );
        }
        let file = folder.path().join("file");
        std::fs::write(&file, b"12345").expect("is written");
        assert_eq!(read_text_file(&file, 5).expect("fits"), "12345");
        let refused = read_regular_file(&file, 4).expect_err("too long");
        assert_eq!(refused.kind(), ErrorKind::FileTooLarge);
        std::fs::write(&file, b"\xff").expect("is written");
        let refused = read_text_file(&file, 5).expect_err("no text");
        assert_eq!(refused.kind(), ErrorKind::InvalidData);
        assert!(read_regular_file(folder.path(), 5).is_err());
        let refused = read_named_text(Path::new("/dev/zero"), 4).expect_err("a device");
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        let refused = read_at_most(io::repeat(0), 4).expect_err("has no end");
        assert_eq!(refused.kind(), ErrorKind::FileTooLarge);
        let missing = read_text_file(&folder.path().join("none"), 5).expect_err("missing");
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
}
