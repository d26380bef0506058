//! How much of the tree there is room for.
//!
//! A file system's size says little of its room when it is small: a journal, a reserve or an inode
//! table may take most of it. So the tree is halved until it fits into what is free. How often is
//! in the name of a directory of the tree, where `verify` reads it; were that another, nothing of
//! the tree would be as it must.

use std::path::{Path, PathBuf};

use fslab_model::Bytes;
use fslab_sys::FileSystemRoom;

use super::check_context::CheckContext;
use super::failure::ConformanceFailure;
use super::parameters::TreeParameters;

/// Files and directories of the tree besides those that the parameters count.
const NAMES: u64 = 150;
/// The same where the tree is thinned out.
const NAMES_THIN: u64 = 70;
/// Names that are left for what else is tried.
const NAMES_SPARE: u64 = 12;
/// The least of each.
const LARGEST_MIN: u64 = 4_096;
const FILES_MIN: u64 = 8;
const DEPTH_MIN: u32 = 3;
/// More would leave nothing of any tree.
const HALVINGS_MAX: u32 = 20;
/// What the marker's name begins with.
const MARK: &str = "scale-";

/// The tree as it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    halvings: u32,
    /// Size of the largest file.
    pub(crate) largest: u64,
    /// Files of the directory that has many.
    pub(crate) files: u64,
    /// Directories in each other.
    pub(crate) depth: u32,
    /// Only one of several similar files is made.
    pub(crate) thin: bool,
}

impl Scale {
    /// The parameters, halved so often; the last but one time the tree is also thinned out.
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

    /// The largest tree that fits; `Err` has the room that even the smallest takes.
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

    /// About the room that it takes: a name costs its file's last block, and half as much again.
    fn need(&self, block_bytes: u64) -> u64 {
        let each = block_bytes.max(1_024) / 2 * 3;
        self.largest
            .saturating_mul(3)
            .saturating_add(self.names().saturating_mul(each))
    }

    /// About how many names it has.
    fn names(&self) -> u64 {
        let names = if self.thin { NAMES_THIN } else { NAMES };
        names + self.files + u64::from(self.depth)
    }

    /// The name of the directory that says so.
    pub(crate) fn marker(&self) -> PathBuf {
        format!("{MARK}{}", self.halvings).into()
    }

    /// What the directory below `base` says.
    pub(crate) fn read(
        parameters: &TreeParameters,
        base: &Path,
        ledger: &mut CheckContext,
    ) -> Result<Self, ConformanceFailure> {
        let entries = ledger.must("list", base, std::fs::read_dir(base))?;
        let mut found = None;
        for entry in entries {
            let name = ledger.must("list", base, entry)?.file_name();
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

    /// What a reader should know of a tree that is smaller than was asked for.
    pub(crate) fn remark(&self, ledger: &mut CheckContext) {
        if self.halvings > 0 {
            ledger.note(format!(
                "for want of room the tree has a largest file of {}, {} files in a directory and \
                 {} directories in each other",
                Bytes(self.largest),
                self.files,
                self.depth
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

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
        parameters.settle(size).expect("settles");
        parameters
    }

    #[test]
    fn where_there_is_room_nothing_is_halved_and_where_there_is_little_all_is() {
        let parameters = parameters(Bytes::mib(512));
        let whole = Scale::fitting(&parameters, room(480 << 20)).expect("fits");
        assert_eq!(
            (whole.largest, whole.files, whole.depth),
            (64 << 20, 1_000, 40)
        );
        let mut before = whole;
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
    fn the_marker_leads_back_to_the_scale() {
        let folder = tempfile::tempdir().expect("a directory");
        let parameters = parameters(Bytes::mib(64));
        let scale = Scale::fitting(&parameters, room(6 << 20)).expect("fits");
        let mut ledger = CheckContext::default();
        let lost = Scale::read(&parameters, folder.path(), &mut ledger).expect_err("no marker");
        assert!(lost.to_string().contains("scale-N"), "{lost}");
        std::fs::create_dir(folder.path().join(scale.marker())).expect("made");
        let read = Scale::read(&parameters, folder.path(), &mut ledger).expect("reads");
        assert_eq!(read, scale);
    }
}
