//! The files of a site: names and content.

use std::path::PathBuf;

use fslab_job::generate_content;
use fslab_model::Bytes;

use fslab_stats::mix;

/// Random stream of the content.
const PURPOSE: u64 = 0x51_7e00;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Its root, below that of the file system.
    pub(super) directory: PathBuf,
    pub(super) files: u64,
    pub(super) file_bytes: u64,
    /// 0 for all in one.
    pub(super) files_per_directory: u64,
}

impl Site {
    /// The path of a file below the site's directory: `d000/f00042`.
    pub(super) fn path(&self, file: u64) -> PathBuf {
        self.directory_of(file).join(format!("f{file:05}"))
    }

    /// The directory of a file below the site's directory.
    pub(super) fn directory_of(&self, file: u64) -> PathBuf {
        let number = file.checked_div(self.files_per_directory).unwrap_or(0);
        format!("d{number:03}").into()
    }

    /// Paths of all files below the file system's root.
    pub(super) fn files_below_root(&self) -> Vec<PathBuf> {
        (0..self.files)
            .map(|file| self.directory.join(self.path(file)))
            .collect()
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.saturating_mul(self.file_bytes)
    }

    /// Bytes of all files, and 4 KiB for each name.
    pub(super) fn footprint(&self) -> Bytes {
        Bytes(
            self.bytes()
                .saturating_add(self.files.saturating_mul(4_096)),
        )
    }
}

/// Fills `into` with the content of file `file` of `seed` from `offset` on.
pub(super) fn content(seed: u64, file: u64, offset: u64, into: &mut [u8]) {
    generate_content(mix(mix(seed, PURPOSE), file), offset, into);
}
