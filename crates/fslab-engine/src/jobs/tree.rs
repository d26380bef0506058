//! The shape of a tree of files. Names follow from numbers, so that a later job with the same shape
//! finds the files of an earlier one.
//!
//! ```text
//!     flat                          fan_out 2, depth 2
//!     base/d0000/f00000000          base/d0000/d0000/f00000000
//!     base/d0000/f00000001          base/d0000/d0001/f00000001
//!     base/d0001/f00000002          base/d0001/d0000/f00000002
//! ```

use std::path::Path;

use super::data::is_outside;
use super::limits::{TREE_FILES_MAX, TREE_LEVELS_MAX};

/// The shape of a tree: files are in its deepest directories, filled in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape<'a> {
    /// The directory of the tree, below the root; made if missing.
    pub base: &'a Path,
    /// Number of files.
    pub files: u64,
    /// Files per directory, except in the last; 0: all files are in the base.
    pub files_per_directory: u64,
    /// Limit of subdirectories per directory; 0: all directories are in the base.
    pub fan_out: u64,
    /// Levels of directories below the base; 0: as many as the fan-out requires.
    pub depth: u32,
}

/// A directory of a tree: `index` counts those of its `level`, which starts at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryNumber {
    pub(crate) level: u32,
    pub(crate) index: u64,
}

impl<'a> TreeShape<'a> {
    /// `files` files in directories of `files_per_directory` in `base`.
    pub fn flat(
        base: &'a (impl AsRef<Path> + ?Sized),
        files: u64,
        files_per_directory: u64,
    ) -> Self {
        Self {
            base: base.as_ref(),
            files,
            files_per_directory,
            fan_out: 0,
            depth: 0,
        }
    }

    /// A full tree: `fan_out` directories per directory, `depth` levels of them, and
    /// `files_per_directory` files in each of the deepest. `None` on overflow.
    pub fn full(
        base: &'a (impl AsRef<Path> + ?Sized),
        fan_out: u64,
        depth: u32,
        files_per_directory: u64,
    ) -> Option<Self> {
        let leaves = fan_out.checked_pow(depth)?;
        let files = leaves.checked_mul(files_per_directory)?;
        Some(Self {
            base: base.as_ref(),
            files,
            files_per_directory,
            fan_out,
            depth,
        })
    }

    /// Number of directories below the base.
    pub fn directories(&self) -> u64 {
        (1..=self.levels())
            .map(|level| self.directories_at(level))
            .fold(0, u64::saturating_add)
    }

    /// Levels of directories below the base.
    pub(crate) fn levels(&self) -> u32 {
        let leaves = self.leaves();
        if leaves == 0 {
            return 0;
        }
        if self.fan_out == 0 {
            return 1;
        }
        if self.depth > 0 {
            return self.depth;
        }
        let mut levels = 1;
        // A fan-out of 1 never suffices; this invalid shape is bounded by the limit.
        while levels < TREE_LEVELS_MAX && self.span(levels) < leaves {
            levels += 1;
        }
        levels
    }

    /// Number of directories at `level`, from 1 to the number of levels.
    pub(crate) fn directories_at(&self, level: u32) -> u64 {
        if self.fan_out == 0 {
            return self.leaves();
        }
        self.leaves().div_ceil(self.span(self.levels() - level))
    }

    /// The directory of file `number`; `None` for the base.
    #[inline]
    pub(crate) fn leaf_of(&self, number: u64) -> Option<u64> {
        (self.files_per_directory > 0).then(|| number / self.files_per_directory)
    }

    /// The files of the leaf directory `leaf`, or of the base.
    pub(crate) fn files_of(&self, leaf: Option<u64>) -> std::ops::Range<u64> {
        let numbers = self.numbers_of(leaf);
        numbers.start..numbers.end.min(self.files)
    }

    /// The numbers whose files are in the leaf directory `leaf`, or in the base, whether the tree
    /// has so many files or not.
    pub(crate) fn numbers_of(&self, leaf: Option<u64>) -> std::ops::Range<u64> {
        let Some(leaf) = leaf else {
            return 0..u64::MAX;
        };
        let start = leaf * self.files_per_directory;
        start..start.saturating_add(self.files_per_directory)
    }

    /// Number of directories with files, except the base.
    pub(crate) fn leaves(&self) -> u64 {
        if self.files_per_directory == 0 {
            0
        } else {
            self.files.div_ceil(self.files_per_directory)
        }
    }

    /// Why the shape is invalid; `None` if it is valid.
    pub(crate) fn fault(&self) -> Option<String> {
        if is_outside(self.base) {
            return Some("a base that leaves the root".into());
        }
        if self.files == 0 {
            return Some("no files".into());
        }
        if self.files > TREE_FILES_MAX {
            return Some(format!("{} files, more than {TREE_FILES_MAX}", self.files));
        }
        if self.fan_out == 1 && self.depth == 0 && self.leaves() > 1 {
            return Some("a fan-out of 1, which is unbounded".into());
        }
        if self.depth > TREE_LEVELS_MAX {
            return Some(format!(
                "{} levels, not at most {TREE_LEVELS_MAX}",
                self.depth
            ));
        }
        let room = self.span(self.depth);
        (self.fan_out > 0 && self.depth > 0 && room < self.leaves()).then(|| {
            format!(
                "{} directories where its fan-out and depth give {room}",
                self.leaves()
            )
        })
    }

    /// Deepest directories below a directory `levels` above them.
    fn span(&self, levels: u32) -> u64 {
        self.fan_out.saturating_pow(levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_tree_has_a_directory_for_each_portion_of_files() {
        let tree = TreeShape::flat("t", 10_001, 200);
        assert_eq!((tree.directories(), tree.levels()), (51, 1));
        assert_eq!(tree.leaf_of(399), Some(1));
        assert_eq!(tree.files_of(Some(50)), 10_000..10_001);
        let single = TreeShape::flat("t", 7, 0);
        assert_eq!((single.directories(), single.leaf_of(6)), (0, None));
        assert_eq!(single.files_of(None), 0..7);
    }

    #[test]
    fn a_deep_tree_has_all_parent_directories() {
        let tree = TreeShape::full("t", 3, 2, 5).expect("countable");
        assert_eq!((tree.files, tree.directories()), (45, 3 + 9));
        let ragged = TreeShape {
            fan_out: 3,
            ..TreeShape::flat("t", 10, 1)
        };
        assert_eq!(ragged.levels(), 3);
        assert_eq!(
            (1..=3)
                .map(|l| ragged.directories_at(l))
                .collect::<Vec<_>>(),
            [2, 4, 10]
        );
    }

    #[test]
    fn unbounded_and_too_small_shapes_are_refused() {
        let is_refused = |fan_out, depth, files| {
            let shape = TreeShape {
                fan_out,
                depth,
                ..TreeShape::flat("t", files, 1)
            };
            shape.fault().is_some()
        };
        assert!(is_refused(1, 0, 10));
        assert!(is_refused(2, 3, 9));
        assert!(!is_refused(2, 3, 8));
        assert!(TreeShape::flat("../t", 1, 1).fault().is_some());
        assert!(TreeShape::flat("t", 0, 1).fault().is_some());
    }
}
