//! For tests: a formatted image, read back little-endian, and the output of other programs on it.

use fslab_sys::os::FileExt;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_model::{Bytes, Failure};
use tempfile::TempDir;

use crate::{FormatOptions, Formatter, Volume, format};

/// 2023-11-14.
pub(super) const CREATED_UNIX_S: u64 = 1_700_000_000;
pub(super) const IDENTITY: [u8; 16] = *b"0123456789abcdef";

/// Options without a label and with the default block size.
pub(super) fn plain() -> FormatOptions {
    FormatOptions {
        label: None,
        block_bytes: None,
        identity: IDENTITY,
        created_unix_s: CREATED_UNIX_S,
    }
}

/// An image, deleted when dropped.
pub(super) struct Image {
    file: File,
    path: PathBuf,
    _directory: TempDir,
}

impl Image {
    /// A new image of `size`, formatted.
    pub(super) fn new(
        formatter: &dyn Formatter,
        size: u64,
        options: &FormatOptions,
    ) -> Result<Self, Failure> {
        Self::over(formatter, size, options, &[])
    }

    /// The same on a volume with `old` data at these offsets.
    pub(super) fn over(
        formatter: &dyn Formatter,
        size: u64,
        options: &FormatOptions,
        old: &[(u64, Vec<u8>)],
    ) -> Result<Self, Failure> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        let volume = Volume::create(&path, Bytes(size))?;
        for (offset, data) in old {
            volume.write_at(*offset, data)?;
        }
        format(formatter, &volume, options)?;
        Ok(Self {
            file: File::open(&path).unwrap(),
            path,
            _directory: directory,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset).unwrap();
        bytes
    }

    /// An integer of up to eight bytes.
    pub(super) fn le(&self, offset: u64, length: usize) -> u64 {
        little(&self.bytes(offset, length))
    }
}

/// An integer of up to eight bytes.
pub(super) fn little(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Other programs that read an image.
#[derive(Default)]
pub(super) struct OtherPrograms {
    has_answer: bool,
    /// What is to be installed for each that is missing.
    missing: Vec<String>,
}

impl OtherPrograms {
    /// The output of `program` on an image, with its path for `{}` in an argument; `None` if the
    /// program is not installed.
    ///
    /// # Panics
    /// If it fails.
    pub(super) fn ask(
        &mut self,
        program: &str,
        package: &str,
        arguments: &[&str],
        image: &Image,
    ) -> Option<String> {
        let path = image.path().to_str().unwrap();
        let output = Command::new(program)
            .args(
                arguments
                    .iter()
                    .map(|argument| argument.replace("{}", path)),
            )
            .env("LC_ALL", "C.UTF-8")
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .output();
        match output {
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                let text = String::from_utf8_lossy(&text).into_owned();
                assert!(
                    output.status.success(),
                    "{program}: {}\n{text}",
                    output.status
                );
                self.has_answer = true;
                Some(text)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let missing = format!("{program} is not installed; apt-get install {package}");
                self.missing.push(missing);
                None
            }
            Err(error) => panic!("cannot run {program}: {error}"),
        }
    }

    /// Prints what was not checked. A test in which no program was there is skipped.
    pub(super) fn finish(self) {
        let mark = match self.has_answer {
            true => "not checked",
            false => "skipped",
        };
        for missing in self.missing {
            println!("{mark}: {missing}");
        }
    }
}
