//! Writes the names of a tree's files and directories in place, one after the other.

use std::ffi::CStr;

use crate::jobs::{DirectoryNumber, Names, TreeShape};

/// Room for a path, so that writing one never allocates.
const PATH_BYTES: usize = 8192;
/// Digits of a file's number at least.
const FILE_DIGITS: usize = 8;
/// Digits of a directory's number at least.
const DIRECTORY_DIGITS: usize = 4;

/// Writes paths below a fixed beginning.
#[derive(Clone, Debug)]
pub(crate) struct PathWriter {
    bytes: Vec<u8>,
    /// Length of the beginning that all paths share.
    fixed: usize,
    /// The directory that is written after it, and where it ends.
    leaf: Option<u64>,
    leaf_end: usize,
}

impl PathWriter {
    /// Paths that begin with `beginning`: nothing, or an absolute path with a slash at its end.
    pub(crate) fn new(beginning: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(PATH_BYTES + beginning.len());
        bytes.extend_from_slice(beginning);
        Self {
            fixed: bytes.len(),
            leaf_end: bytes.len(),
            bytes,
            leaf: None,
        }
    }

    /// The path of file `number` of `tree`, by the name of the kind `names`.
    #[inline]
    pub(crate) fn file(&mut self, tree: &TreeShape, number: u64, names: Names) -> &CStr {
        let leaf = tree.leaf_of(number);
        if leaf != self.leaf {
            self.enter(tree, leaf);
        }
        self.bytes.truncate(self.leaf_end);
        self.bytes.push(names.letter());
        push_digits(&mut self.bytes, number, FILE_DIGITS);
        self.finish()
    }

    /// The path of a directory of `tree`; `.` for the base where paths are relative to it.
    pub(crate) fn directory(&mut self, tree: &TreeShape, number: Option<DirectoryNumber>) -> &CStr {
        self.leaf = None;
        self.leaf_end = self.fixed;
        self.bytes.truncate(self.fixed);
        match number {
            None => self.bytes.push(b'.'),
            Some(number) => {
                push_directory(&mut self.bytes, tree, number);
                self.bytes.pop();
            }
        }
        self.finish()
    }

    fn enter(&mut self, tree: &TreeShape, leaf: Option<u64>) {
        self.bytes.truncate(self.fixed);
        if let Some(index) = leaf {
            let level = tree.levels();
            push_directory(&mut self.bytes, tree, DirectoryNumber { level, index });
        }
        self.leaf = leaf;
        self.leaf_end = self.bytes.len();
    }

    #[inline]
    fn finish(&mut self) -> &CStr {
        self.bytes.push(0);
        CStr::from_bytes_with_nul(&self.bytes).expect("names of trees hold no zero byte")
    }
}

/// Appends the path of a directory, with a slash at its end.
fn push_directory(bytes: &mut Vec<u8>, tree: &TreeShape, number: DirectoryNumber) {
    for level in 1..=number.level {
        let above = tree.fan_out.saturating_pow(number.level - level).max(1);
        let index = number.index / above;
        let digit = if level == 1 || tree.fan_out == 0 {
            index
        } else {
            index % tree.fan_out
        };
        bytes.push(b'd');
        push_digits(bytes, digit, DIRECTORY_DIGITS);
        bytes.push(b'/');
    }
}

/// Appends `number` with leading zeros up to `width` digits.
#[inline]
fn push_digits(bytes: &mut Vec<u8>, number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let (mut rest, mut at) = (number, digits.len());
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    bytes.extend_from_slice(&digits[at.min(digits.len() - width)..]);
}

/// The number of the file `name` if it is a name of the kind `names`.
pub(crate) fn file_number(name: &CStr, names: Names) -> Option<u64> {
    let (letter, digits) = name.to_bytes().split_first()?;
    if *letter != names.letter() || digits.is_empty() || digits.len() > 19 {
        return None;
    }
    digits.iter().try_fold(0, |number: u64, digit| {
        digit
            .is_ascii_digit()
            .then(|| number * 10 + u64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_numbers_and_lead_back_to_them() {
        let tree = TreeShape::flat("t", 1000, 200);
        let mut paths = PathWriter::new(b"");
        assert_eq!(paths.file(&tree, 0, Names::Files), c"d0000/f00000000");
        assert_eq!(paths.file(&tree, 399, Names::Links), c"d0001/l00000399");
        assert_eq!(paths.file(&tree, 400, Names::Files), c"d0002/f00000400");
        let directory = DirectoryNumber {
            level: 1,
            index: 12,
        };
        assert_eq!(paths.directory(&tree, Some(directory)), c"d0012");
        assert_eq!(paths.file(&tree, 400, Names::Files), c"d0002/f00000400");
        assert_eq!(paths.directory(&tree, None), c".");
        assert_eq!(file_number(c"f00000400", Names::Files), Some(400));
        assert_eq!(file_number(c"l00000400", Names::Files), None);
        assert_eq!(file_number(c"fx", Names::Files), None);
    }

    #[test]
    fn deep_trees_have_a_component_for_each_level() {
        let tree = TreeShape::full("t", 3, 3, 2).expect("countable");
        let mut paths = PathWriter::new(b"/base/");
        let last = tree.files - 1;
        assert_eq!(
            paths.file(&tree, last, Names::Files),
            c"/base/d0002/d0002/d0002/f00000053"
        );
        assert_eq!(
            paths.file(&tree, 8, Names::Files),
            c"/base/d0000/d0001/d0001/f00000008"
        );
        let second = DirectoryNumber { level: 2, index: 5 };
        assert_eq!(paths.directory(&tree, Some(second)), c"/base/d0001/d0002");
    }

    #[test]
    fn all_files_of_one_directory_stand_in_the_base() {
        let tree = TreeShape::flat("t", 10, 0);
        assert_eq!(
            PathWriter::new(b"").file(&tree, 3, Names::Symlinks),
            c"s00000003"
        );
    }
}
