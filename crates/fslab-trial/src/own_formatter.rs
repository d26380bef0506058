//! `fslab mkfs` inside the trial's process: a second process would take an amount of the measured
//! memory that depends on its build, and the program that guests run has no such command.

use std::io;
use std::path::Path;

use fslab_format::{FormatOptions, Volume};
use fslab_fs::CommandLine;
use fslab_model::{Failure, FailureKind};

/// Parsed arguments of `fslab mkfs`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments<'a> {
    name: &'a str,
    device: &'a str,
    label: Option<&'a str>,
    block_size: Option<&'a str>,
    identity: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    /// Parses `mkfs NAME --force [OPTIONS] DEVICE`; `None` for any other arguments.
    fn of(arguments: &'a [String]) -> Option<Self> {
        let (device, words) = arguments.split_last()?;
        let mut words = words.iter().map(String::as_str);
        let mut found = Self {
            device,
            ..Self::default()
        };
        if words.next() != Some("mkfs") {
            return None;
        }
        found.name = words.next()?;
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, None),
            };
            match option {
                "--force" if value.is_none() => {}
                "--label" => found.label = Some(value.or_else(|| words.next())?),
                "--block-size" => found.block_size = Some(value.or_else(|| words.next())?),
                "--identity" => found.identity = Some(value.or_else(|| words.next())?),
                _ => return None,
            }
        }
        Some(found)
    }

    fn options(&self) -> Option<FormatOptions> {
        let identity = match self.identity {
            Some(text) => fslab_format::parse_identity(text).ok()?,
            None => fslab_sys::random_bytes().ok()?,
        };
        Some(FormatOptions {
            label: self.label.map(str::to_owned),
            block_bytes: self.block_size.map(str::parse).transpose().ok()?,
            identity,
            created_unix_s: fslab_sys::unix_seconds(),
        })
    }
}

/// Refuses a device that is mounted or otherwise in use. A guest in virtual time has no other user,
/// and the calls of this check would be part of its records.
fn ensure_free(device: &Path) -> io::Result<()> {
    if fslab_sys::is_memory_locked() {
        return Ok(());
    }
    match fslab_sys::file_in_use(device)? {
        Some(user) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            user.to_string(),
        )),
        None => Ok(()),
    }
}

/// Formats as requested by `line`; returns what the command would print.
pub(crate) fn run(line: &CommandLine) -> Result<String, Failure> {
    let parsed = Arguments::of(&line.arguments);
    let options = parsed.as_ref().and_then(Arguments::options);
    let (Some(parsed), Some(options)) = (parsed, options) else {
        let text = format!("cannot understand `{}`", line.words().join(" "));
        return Err(Failure::new(FailureKind::BadInput, text));
    };
    let failed = |error: &(dyn std::error::Error + 'static)| {
        let text = format!("`{}` failed", line.words().join(" "));
        Failure::new(FailureKind::Format, text).because(error)
    };
    let formatter = fslab_format::find(parsed.name).map_err(|error| failed(&error))?;
    let device = Path::new(parsed.device);
    ensure_free(device).map_err(|error| failed(&error))?;
    let volume = Volume::open(device).map_err(|error| failed(&error))?;
    fslab_format::format(formatter, &volume, &options).map_err(|error| failed(&error))?;
    let (title, size) = (formatter.title(), volume.size());
    Ok(format!("{title} on {}, {size}\n", parsed.device))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_are_parsed_in_both_forms_and_no_others() {
        let given = words("mkfs hfs+ --force --label=A --block-size 4096 /dev/x");
        let found = Arguments::of(&given).expect("understood");
        assert_eq!((found.name, found.device), ("hfs+", "/dev/x"));
        assert_eq!((found.label, found.block_size), (Some("A"), Some("4096")));
        assert!(found.options().is_some());
        for wrong in ["mkfs hfs+ --list /dev/x", "trial hfs+ /dev/x", "mkfs"] {
            assert_eq!(Arguments::of(&words(wrong)), None, "{wrong}");
        }
    }

    #[test]
    fn an_image_is_formatted_and_a_missing_one_is_a_failure() {
        let image = tempfile::NamedTempFile::new().expect("a file");
        image.as_file().set_len(64 << 20).expect("sparse");
        let line = |device: &str| CommandLine {
            tool: fslab_fs::Tool::FSLAB,
            arguments: words(&format!("mkfs affs --force {device}")),
        };
        let said = run(&line(&image.path().to_string_lossy())).expect("formatted");
        assert!(said.contains("64 MiB"), "{said}");
        run(&line("/nonexistent/image")).expect_err("it is not there");
    }
}
