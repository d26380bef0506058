//! The files of a site: their names and what is in them.

use std::path::PathBuf;

use fslab_model::Bytes;

use fslab_stats::mix;

use crate::conformance::generate;

/// Why a seed is drawn from here.
const PURPOSE: u64 = 0x51_7e00;

/// The files that a server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Below the file system's root.
    pub(super) directory: PathBuf,
    pub(super) files: u64,
    pub(super) file_bytes: u64,
    /// 0: all are in one.
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

    /// All files, as the file system's root sees them.
    pub(super) fn files_below_root(&self) -> Vec<PathBuf> {
        (0..self.files)
            .map(|file| self.directory.join(self.path(file)))
            .collect()
    }

    /// The bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.saturating_mul(self.file_bytes)
    }

    /// Bytes of all files, and a block for each name.
    pub(super) fn footprint(&self) -> Bytes {
        Bytes(
            self.bytes()
                .saturating_add(self.files.saturating_mul(4_096)),
        )
    }
}

/// Fills `into` with what file `file` of `seed` has from `offset` on.
pub(super) fn content(seed: u64, file: u64, offset: u64, into: &mut [u8]) {
    generate(mix(mix(seed, PURPOSE), file), offset, into);
}
