//! Writes the paths of a tree's files and directories into a buffer.

use fslab_sys::os::OsStrExt;
use std::ffi::{CStr, OsStr};
use std::ops::Range;
use std::path::PathBuf;

use fslab_sys::NameBuffer;

use crate::jobs::{DirectoryNumber, MetadataJob, NameStyle, Names, TreeShape};
use fslab_stats::mix;

/// Capacity of the buffer, so that writing a path never allocates.
const PATH_BYTES: usize = 8192;
/// Minimum of digits in a file's number.
const FILE_DIGITS: usize = 8;
/// Minimum of digits in a directory's number.
const DIRECTORY_DIGITS: usize = 4;
/// Digits of a file's number in a name with a random part.
const STYLED_DIGITS: usize = 7;
/// Most random characters in such a name.
const RANDOM_CHARACTERS_MAX: usize = 12;
/// Alphabet of the random part.
const RANDOM_CHARACTERS: &[u8; 62] =
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Naming of a tree's files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naming {
    pub(crate) style: NameStyle,
    /// Seed of the random part.
    pub(crate) seed: u64,
}

impl Naming {
    /// Replaces what follows `start` in `path` by the name of file `number`, of the kind `names`.
    #[inline(always)]
    fn write(self, path: &mut NameBuffer, start: usize, number: u64, names: Names) {
        if self.style == NameStyle::Number {
            path.renumber(start, names.letter(), number, FILE_DIGITS);
        } else {
            self.write_with_random(path, start, number);
        }
    }

    /// As `write`, for a name with a random part.
    fn write_with_random(self, path: &mut NameBuffer, start: usize, number: u64) {
        path.truncate(start);
        if self.style == NameStyle::RandomNumber {
            self.push_random(path, number);
        }
        path.push_number(number, STYLED_DIGITS);
        if self.style == NameStyle::NumberRandom {
            self.push_random(path, number);
        }
    }

    /// Appends 0 to 12 random characters; every length has the same probability.
    fn push_random(self, path: &mut NameBuffer, number: u64) {
        let draw = mix(self.seed ^ 0x6e61_6d65, number);
        let count = draw % (RANDOM_CHARACTERS_MAX as u64 + 1);
        let mut characters = [0; RANDOM_CHARACTERS_MAX];
        let mut rest = 0;
        for (turn, character) in (0..count).zip(&mut characters) {
            // 62^6 is far below 2^64: the bias per character is below 10^-8.
            if turn.is_multiple_of(6) {
                rest = mix(draw, turn + 1);
            }
            *character = RANDOM_CHARACTERS[(rest % 62) as usize];
            rest /= 62;
        }
        path.push(&characters[..count as usize]);
    }

    /// Parses the number of file `name`, if it has the kind `names`. The other characters are not
    /// compared, since some file systems change their case.
    pub(crate) fn number(self, name: &CStr, names: Names) -> Option<u64> {
        let name = name.to_bytes();
        let digits = match self.style {
            NameStyle::Number => {
                let (letter, digits) = name.split_first()?;
                (*letter == names.letter() && (1..=19).contains(&digits.len())).then_some(digits)?
            }
            NameStyle::NumberRandom => {
                let (digits, random) = name.split_at_checked(STYLED_DIGITS)?;
                is_random_part(random).then_some(digits)?
            }
            NameStyle::RandomNumber => {
                let (random, digits) =
                    name.split_at_checked(name.len().checked_sub(STYLED_DIGITS)?)?;
                is_random_part(random).then_some(digits)?
            }
        };
        digits.iter().try_fold(0, |number: u64, digit| {
            digit
                .is_ascii_digit()
                .then(|| number * 10 + u64::from(digit - b'0'))
        })
    }
}

fn is_random_part(bytes: &[u8]) -> bool {
    bytes.len() <= RANDOM_CHARACTERS_MAX && bytes.iter().all(u8::is_ascii_alphanumeric)
}

/// Writes paths with a fixed prefix.
#[derive(Clone, Debug)]
pub(crate) struct PathWriter {
    path: NameBuffer,
    naming: Naming,
    /// Length of the prefix.
    fixed: usize,
    /// The files of the leaf directory in the buffer, and where its path ends.
    entered: Range<u64>,
    leaf_end: usize,
}

impl PathWriter {
    /// A writer of paths with the prefix `beginning`: empty, or an absolute path and a slash.
    pub(crate) fn new(beginning: &[u8], naming: Naming) -> Self {
        let mut path = NameBuffer::with_capacity(PATH_BYTES + beginning.len());
        path.push(beginning);
        Self {
            fixed: path.length(),
            leaf_end: path.length(),
            path,
            naming,
            entered: 0..0,
        }
    }

    /// The naming of files.
    pub(crate) fn naming(&self) -> Naming {
        self.naming
    }

    /// The path of file `number` of `tree`, of the kind `names`.
    #[inline(always)]
    pub(crate) fn file(&mut self, tree: &TreeShape, number: u64, names: Names) -> &CStr {
        if !self.entered.contains(&number) {
            self.enter(tree, number);
        }
        self.naming
            .write(&mut self.path, self.leaf_end, number, names);
        self.path.as_c_str()
    }

    /// The path of a directory of `tree`; `.` for the base, if paths are relative to it.
    pub(crate) fn directory(&mut self, tree: &TreeShape, number: Option<DirectoryNumber>) -> &CStr {
        self.entered = 0..0;
        self.path.truncate(self.fixed);
        match number {
            None => self.path.push(b"."),
            Some(number) => {
                push_directory(&mut self.path, tree, number);
                // Without the slash at its end.
                self.path.truncate(self.path.length() - 1);
            }
        }
        self.path.as_c_str()
    }

    /// Writes the path of the directory of file `number`.
    #[cold]
    fn enter(&mut self, tree: &TreeShape, number: u64) {
        self.path.truncate(self.fixed);
        let leaf = tree.leaf_of(number);
        if let Some(index) = leaf {
            let level = tree.levels();
            push_directory(&mut self.path, tree, DirectoryNumber { level, index });
        }
        self.entered = tree.numbers_of(leaf);
        self.leaf_end = self.path.length();
    }
}

impl MetadataJob {
    /// The paths below the root of all files of a job with default names and one base, by number.
    pub fn paths(&self) -> Vec<PathBuf> {
        let naming = Naming {
            style: NameStyle::Number,
            seed: 0,
        };
        let mut paths = PathWriter::new(b"", naming);
        let path = |number| {
            let name = paths.file(&self.tree(), number, self.names);
            self.directory.join(OsStr::from_bytes(name.to_bytes()))
        };
        (0..self.files).map(path).collect()
    }
}

/// Appends the path of a directory, with a trailing slash.
fn push_directory(path: &mut NameBuffer, tree: &TreeShape, number: DirectoryNumber) {
    for level in 1..=number.level {
        let above = tree.fan_out.saturating_pow(number.level - level).max(1);
        let index = number.index / above;
        let digit = if level == 1 || tree.fan_out == 0 {
            index
        } else {
            index % tree.fan_out
        };
        path.push_numbered(b'd', digit, DIRECTORY_DIGITS);
        path.push(b"/");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::ffi::CString;

    const NUMBERS: Naming = Naming {
        style: NameStyle::Number,
        seed: 42,
    };

    #[test]
    fn names_are_made_from_numbers_and_parsed_back() {
        let tree = TreeShape::flat("t", 1000, 200);
        let mut paths = PathWriter::new(b"", NUMBERS);
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
        assert_eq!(NUMBERS.number(c"f00000400", Names::Files), Some(400));
        assert_eq!(NUMBERS.number(c"l00000400", Names::Files), None);
        assert_eq!(NUMBERS.number(c"fx", Names::Files), None);
    }

    #[test]
    fn deep_trees_have_a_component_for_each_level() {
        let tree = TreeShape::full("t", 3, 3, 2).expect("countable");
        let mut paths = PathWriter::new(b"/base/", NUMBERS);
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
    fn all_files_of_one_directory_are_in_the_base() {
        let tree = TreeShape::flat("t", 10, 0);
        assert_eq!(
            PathWriter::new(b"", NUMBERS).file(&tree, 3, Names::Symlinks),
            c"s00000003"
        );
    }

    #[test]
    fn random_names_are_parsed_back_and_differ_without_case() {
        let tree = TreeShape::flat("t", 20_000, 0);
        for style in [NameStyle::NumberRandom, NameStyle::RandomNumber] {
            let naming = Naming { style, seed: 7 };
            let mut paths = PathWriter::new(b"", naming);
            let mut met = HashSet::new();
            let mut lengths = HashSet::new();
            for number in 0..tree.files {
                let name = paths.file(&tree, number, Names::Files).to_owned();
                let folded = name.to_str().expect("ASCII").to_ascii_lowercase();
                lengths.insert(folded.len());
                let shouted = CString::new(folded.to_ascii_uppercase()).expect("no zero");
                assert_eq!(naming.number(&name, Names::Files), Some(number), "{name:?}");
                assert_eq!(naming.number(&shouted, Names::Files), Some(number));
                assert!(met.insert(folded), "{name:?} twice");
            }
            assert_eq!(lengths.len(), RANDOM_CHARACTERS_MAX + 1, "{lengths:?}");
            assert!(lengths.contains(&7) && lengths.contains(&19), "{lengths:?}");
        }
    }

    #[test]
    fn other_names_are_no_numbers() {
        for style in [NameStyle::NumberRandom, NameStyle::RandomNumber] {
            let naming = Naming { style, seed: 7 };
            for name in [
                c"",
                c"lost+found",
                c"123456",
                c"0000001aaaaaaaaaaaaa",
                c"d0000",
            ] {
                assert_eq!(naming.number(name, Names::Files), None, "{name:?}");
            }
        }
        let naming = Naming {
            style: NameStyle::RandomNumber,
            seed: 7,
        };
        assert_eq!(naming.number(c"99990000003", Names::Files), Some(3));
        assert_eq!(naming.number(c"ab/0000003", Names::Files), None);
    }
}
