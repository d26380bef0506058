//! Fragmentation of files: the layout score of Smith and Seltzer ("File System Aging", SIGMETRICS
//! 1997), from the block addresses that the file system reports.
//!
//! The score is the share of blocks, except the first of each file, that directly follow the block
//! before: 1 if every file is contiguous, 0 if no two successive blocks are adjacent.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use fslab_engine::StopFlag;
use fslab_model::{Failure, FailureKind};
use fslab_sys::{Extent, extents, extents_by_block, map_block_bytes};

/// Limit of blocks queried one by one; above it, only every n-th file is examined.
const ASKED_BLOCKS_MAX: u64 = 1 << 17;

/// A file to examine, and its length.
pub(crate) struct FileRef {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// The ioctl that reports block addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Extents,
    Blocks,
}

/// Layout of files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// Files whose blocks have addresses.
    pub(crate) files: u64,
    pub(crate) fragments: u64,
    /// Their blocks except the first of each file.
    followers: u64,
    /// Those that directly follow the block before.
    neighbours: u64,
    /// The method.
    pub(crate) by: String,
}

impl Layout {
    /// Examines `files`, which must have been written back. The inner `Err` says why the layout is
    /// unknown.
    pub(crate) fn of(files: &[FileRef], stop: &StopFlag) -> Result<Result<Self, String>, Failure> {
        let Some(first) = files.iter().find(|file| file.bytes > 0) else {
            return Ok(Err("there are no files".into()));
        };
        let method = match choose(&open(first)?) {
            Ok(method) => method,
            Err(reason) => return Ok(Err(reason)),
        };
        let block_bytes = map_block_bytes(&open(first)?).unwrap_or(4096);
        let total: u64 = files.iter().map(|file| file.bytes / block_bytes + 1).sum();
        let step = match method {
            Method::Extents => 1,
            Method::Blocks => total.div_ceil(ASKED_BLOCKS_MAX).max(1),
        };
        let mut layout = Self {
            by: match (method, step) {
                (Method::Extents, _) => "FIEMAP".into(),
                (Method::Blocks, 1) => "FIBMAP".into(),
                (Method::Blocks, step) => format!("FIBMAP, of one file in {step}"),
            },
            ..Self::default()
        };
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        for looked in files.iter().step_by(step) {
            if stop.is_raised() {
                return Err(Failure::new(
                    FailureKind::Interrupted,
                    "interrupted while examining the layout of files",
                ));
            }
            let file = open(looked)?;
            let found = match method {
                Method::Extents => extents(&file),
                Method::Blocks => extents_by_block(&file),
            };
            let found = found.map_err(|error| cannot(looked, &error))?;
            layout.add(&found, looked.bytes, block_bytes);
        }
        Ok(Ok(layout))
    }

    /// The score; `None` if no file has two blocks.
    pub(crate) fn score(&self) -> Option<f64> {
        (self.followers > 0).then(|| self.neighbours as f64 / self.followers as f64)
    }

    /// Mean number of fragments per file; `None` if no file has a block.
    pub(crate) fn fragments_per_file(&self) -> Option<f64> {
        (self.files > 0).then(|| self.fragments as f64 / self.files as f64)
    }

    /// Adds a file, unless its data has no addresses. Blocks allocated beyond its end are ignored.
    fn add(&mut self, extents: &[Extent], bytes: u64, block_bytes: u64) {
        let mut before: Option<Extent> = None;
        for extent in extents.iter().filter(|extent| extent.logical < bytes) {
            if !extent.flags.has_address() {
                return;
            }
            let length = extent.length.min(bytes - extent.logical);
            let blocks = length.div_ceil(block_bytes);
            let Some(last) = before.replace(*extent) else {
                self.files += 1;
                self.fragments += 1;
                self.followers += blocks - 1;
                self.neighbours += blocks - 1;
                continue;
            };
            self.followers += blocks;
            self.neighbours += blocks - 1;
            if last.physical + last.length == extent.physical {
                self.neighbours += 1;
            } else {
                self.fragments += 1;
            }
        }
    }
}

fn open(looked: &FileRef) -> Result<File, Failure> {
    File::open(&looked.path).map_err(|error| cannot(looked, &error))
}

fn cannot(looked: &FileRef, error: &io::Error) -> Failure {
    Failure::at(
        FailureKind::Io,
        "examine the layout of",
        &looked.path,
        error,
    )
}

/// The ioctl that works here, or why none does.
fn choose(file: &File) -> Result<Method, String> {
    let by_extents = match extents(file) {
        Ok(found) if !found.is_empty() => return Ok(Method::Extents),
        Ok(_) => "it reports no extent".to_owned(),
        Err(error) => error.to_string(),
    };
    let by_block = match extents_by_block(file) {
        Ok(found) if !found.is_empty() => return Ok(Method::Blocks),
        Ok(_) => "it reports no block".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("FIEMAP: {by_extents}; FIBMAP: {by_block}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_sys::ExtentFlags;

    /// Extents by (blocks, device block).
    fn layout(files: &[&[(u64, u64)]]) -> Layout {
        let mut layout = Layout::default();
        for file in files {
            let mut logical = 0;
            let mut extents = Vec::new();
            for (physical, blocks) in *file {
                extents.push(Extent {
                    logical: logical * 4096,
                    physical: physical * 4096,
                    length: blocks * 4096,
                    flags: ExtentFlags::default(),
                });
                logical += blocks;
            }
            layout.add(&extents, logical * 4096, 4096);
        }
        layout
    }

    #[test]
    fn the_score_is_the_share_of_blocks_that_follow_the_block_before() {
        let whole = layout(&[&[(10, 5)], &[(100, 1)]]);
        assert_eq!((whole.score(), whole.fragments), (Some(1.0), 2));
        // Five blocks, one of them elsewhere: 3 of the 4 that follow are adjacent.
        let broken = layout(&[&[(10, 3), (20, 2)]]);
        assert_eq!(broken.score(), Some(0.75));
        assert_eq!(broken.fragments_per_file(), Some(2.0));
        let scattered = layout(&[&[(9, 1), (7, 1), (5, 1)]]);
        assert_eq!(scattered.score(), Some(0.0));
    }

    #[test]
    fn adjacent_extents_are_one_fragment() {
        let joined = layout(&[&[(10, 3), (13, 2)]]);
        assert_eq!((joined.score(), joined.fragments), (Some(1.0), 1));
    }

    #[test]
    fn files_of_one_block_have_no_score_and_blocks_beyond_the_end_do_not_count() {
        assert_eq!(layout(&[&[(1, 1)], &[(5, 1)]]).score(), None);
        let mut beyond = Layout::default();
        let extent = |logical, physical| Extent {
            logical,
            physical,
            length: 8192,
            flags: ExtentFlags::default(),
        };
        beyond.add(&[extent(0, 0), extent(8192, 65_536)], 8192, 4096);
        assert_eq!((beyond.score(), beyond.fragments), (Some(1.0), 1));
    }

    #[test]
    fn data_without_addresses_is_left_out() {
        let mut layout = Layout::default();
        let inline = Extent {
            logical: 0,
            physical: 0,
            length: 600,
            flags: ExtentFlags(0x201),
        };
        layout.add(&[inline], 600, 4096);
        assert_eq!((layout.files, layout.score()), (0, None));
    }
}
