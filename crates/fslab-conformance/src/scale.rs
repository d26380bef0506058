//! The scale of the tree: how much of it fits.
//!
//! On a small file system the journal, reserves or inode tables may take most of the size. So the
//! tree is halved until it fits into the free space. The number of halvings is in the name of a
//! directory of the tree, where `verify` reads it; a wrong number would fail the comparison.

use std::path::{Path, PathBuf};

use fslab_model::Bytes;
use fslab_sys::FileSystemRoom;

use super::check_context::CheckContext;
use super::failure::ConformanceFailure;
use super::parameters::TreeParameters;

/// Files and directories of the tree besides those of the parameters.
const NAMES: u64 = 150;
/// The same for a thinned tree.
const NAMES_THIN: u64 = 70;
/// Spare names, for the other tests.
const NAMES_SPARE: u64 = 12;
/// Lower limits of a halved tree.
const LARGEST_MIN: u64 = 4_096;
const FILES_MIN: u64 = 8;
const DEPTH_MIN: u32 = 3;
/// Limit of halvings.
const HALVINGS_MAX: u32 = 20;
/// Prefix of the marker directory's name.
const MARK: &str = "scale-";

/// The dimensions of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    halvings: u32,
    /// Size of the largest file.
    pub(crate) largest: u64,
    /// Files in the directory with many files.
    pub(crate) files: u64,
    /// Depth of nested directories.
    pub(crate) depth: u32,
    /// Only one of several similar files is created.
    pub(crate) thin: bool,
}

impl Scale {
    /// The parameters after `halvings`; with the most halvings the tree is also thinned.
    fn of(parameters: &TreeParameters, halvings: u32) -> Self {
        let files = parameters.files;
        Self {
            halvings,
            largest: (parameters.largest.bytes() >> halvings).max(LARGEST_MIN),
            files: (files >> halvings).max(FILES_MIN.min(files)),
            depth: (parameters.depth >> halvings).max(DEPTH_MIN.min(parameters.depth)),
            thin: halvings == HALVINGS_MAX,
        }
    }

    /// The largest scale that fits; `Err` has the space that the smallest needs.
    pub(crate) fn fitting(
        parameters: &TreeParameters,
        room: FileSystemRoom,
    ) -> Result<Self, Bytes> {
        let scales = (0..=HALVINGS_MAX).map(|halvings| Self::of(parameters, halvings));
        let most = room.available_bytes / 3 * 2;
        let files = room.free_files.unwrap_or(u64::MAX);
        let mut fitting = scales
            .filter(|scale| scale.need(room.block_bytes) <= most)
            .filter(|scale| scale.names() + NAMES_SPARE <= files);
        let smallest = Self::of(parameters, HALVINGS_MAX).need(room.block_bytes);
        fitting.next().ok_or(Bytes(smallest / 2 * 3))
    }

    /// Estimate of its space: per name, a partial block and half a block of metadata.
    fn need(&self, block_bytes: u64) -> u64 {
        let each = block_bytes.max(1_024) / 2 * 3;
        self.largest
            .saturating_mul(3)
            .saturating_add(self.names().saturating_mul(each))
    }

    /// Estimate of its number of names.
    fn names(&self) -> u64 {
        let names = if self.thin { NAMES_THIN } else { NAMES };
        names + self.files + u64::from(self.depth)
    }

    /// The marker directory, whose name has the number of halvings.
    pub(crate) fn marker(&self) -> PathBuf {
        format!("{MARK}{}", self.halvings).into()
    }

    /// Reads the scale from the marker directory below `base`.
    pub(crate) fn read(
        parameters: &TreeParameters,
        base: &Path,
        checker: &mut CheckContext,
    ) -> Result<Self, ConformanceFailure> {
        let entries = checker.must("list", base, std::fs::read_dir(base))?;
        let mut found = None;
        for entry in entries {
            let name = checker.must("list", base, entry)?.file_name();
            let halvings = name.to_str().and_then(|name| name.strip_prefix(MARK));
            found = found.or(halvings.and_then(|text| text.parse().ok()));
        }
        match found {
            Some(halvings) if halvings <= HALVINGS_MAX => Ok(Self::of(parameters, halvings)),
            _ => Err(ConformanceFailure::corrupt(
                base,
                format!("lacks the directory {MARK}N that was made first"),
            )),
        }
    }

    /// Adds a note if the tree is smaller than its parameters.
    pub(crate) fn note(&self, checker: &mut CheckContext) {
        if self.halvings > 0 {
            checker.note(format!(
                "for lack of space the tree has a largest file of {}, {} files in a directory and \
                {} nested directories",
                Bytes(self.largest),
                self.files,
                self.depth
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use fslab_job::Job;

    use super::*;

    fn room(available_bytes: u64) -> FileSystemRoom {
        FileSystemRoom {
            block_bytes: 4_096,
            total_bytes: available_bytes,
            free_bytes: available_bytes,
            available_bytes,
            free_files: None,
            name_bytes_max: 255,
        }
    }

    fn parameters(size: Bytes) -> TreeParameters {
        let mut parameters = TreeParameters::default();
        parameters.resolve(size).expect("resolves");
        parameters
    }

    #[test]
    fn the_tree_is_halved_until_it_fits() {
        let parameters = parameters(Bytes::mib(512));
        let full = Scale::fitting(&parameters, room(480 << 20)).expect("fits");
        assert_eq!(
            (full.largest, full.files, full.depth),
            (64 << 20, 1_000, 40)
        );
        let mut before = full;
        for available in [100 << 20, 20 << 20, 5 << 20, 2 << 20, 1 << 20] {
            let scale = Scale::fitting(&parameters, room(available)).expect("fits");
            assert!(scale.need(4_096) <= available);
            assert!(scale.halvings > before.halvings);
            before = scale;
        }
        let least = Scale::fitting(&parameters, room(100 << 10)).expect_err("too little");
        assert!(least > Bytes(100 << 10));
    }

    #[test]
    fn the_marker_identifies_the_scale() {
        let folder = tempfile::tempdir().expect("a directory");
        let parameters = parameters(Bytes::mib(64));
        let scale = Scale::fitting(&parameters, room(6 << 20)).expect("fits");
        let mut checker = CheckContext::default();
        let lost = Scale::read(&parameters, folder.path(), &mut checker).expect_err("no marker");
        assert!(lost.0.to_string().contains("scale-N"), "{lost:?}");
        std::fs::create_dir(folder.path().join(scale.marker())).expect("made");
        let read = Scale::read(&parameters, folder.path(), &mut checker).expect("reads");
        assert_eq!(read, scale);
    }
}
