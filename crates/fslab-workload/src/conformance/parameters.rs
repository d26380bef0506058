//! Parameters of the conformance workloads. What is left out is derived from the size of the file
//! system, so that the suite fits on the smallest as well as on large ones.

use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_model::{Bytes, Need};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filling::fill;
use super::suite::{exercise, verify};
use crate::job::Job;
use crate::parameters::{Size, ensure_inside};
use crate::workload::{Finished, RunError};

/// The largest file where there is room for it.
const LARGEST: Bytes = Bytes::mib(64);
/// From here on a file system has room for [`LARGEST`].
const ROOMY: Bytes = Bytes::mib(512);
/// The smallest that the largest file may be.
const LARGEST_MIN: u64 = 4_096;
/// Files of one directory where there is room for them.
const FILES: u64 = 1_000;
/// More would be another test.
const FILES_MAX: u64 = 1_000_000;
/// Directories in each other where there is room for them.
const DEPTH: u64 = 40;
/// A path of more would be longer than Linux allows.
const DEPTH_MAX: u32 = 500;
/// Room that a file system must have for each file or directory, of which it will take a part.
const ROOM_EACH: u64 = 64 << 10;

/// The tree of `exercise` and `verify`, which must be the same for both.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TreeParameters {
    /// The tree's root below that of the file system.
    pub(crate) directory: PathBuf,
    /// Size of the largest file; 0 for what the size of the file system suggests.
    pub(crate) largest: Size,
    /// Files in the directory that has many; 0 likewise.
    pub(crate) files: u64,
    /// How many directories are in each other; 0 likewise.
    pub(crate) depth: u32,
    /// "exercise" makes the tree, "verify" compares what is left of it.
    pub(crate) part: Pass,
}

/// The two halves of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pass {
    /// Makes the tree.
    Exercise,
    /// Compares what is left of it.
    Verify,
}

impl Default for TreeParameters {
    fn default() -> Self {
        Self {
            directory: "conformance".into(),
            largest: Size::Bytes(0),
            files: 0,
            depth: 0,
            part: Pass::Exercise,
        }
    }
}

impl Job for TreeParameters {
    const NAME: &'static str = "conformance";

    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        let mut largest = self.largest.resolve(size)?;
        if largest == 0 {
            let share = if size < ROOMY { 16 } else { 8 };
            largest = (size.0 / share).clamp(LARGEST_MIN, LARGEST.0);
        }
        if largest < LARGEST_MIN {
            return Err(format!(
                "largest = {}; the largest file has at least {}",
                Bytes(largest),
                Bytes(LARGEST_MIN)
            ));
        }
        self.largest = Size::Bytes(largest);
        let places = size.0 / ROOM_EACH;
        if self.files == 0 {
            self.files = places.clamp(1, FILES);
        }
        if self.depth == 0 {
            let depth = (places / 4).clamp(1, DEPTH);
            self.depth = u32::try_from(depth).expect("at most 40");
        }
        if self.files > FILES_MAX {
            return Err(format!("files = {}; at most {FILES_MAX}", self.files));
        }
        if self.depth > DEPTH_MAX {
            return Err(format!("depth = {}; at most {DEPTH_MAX}", self.depth));
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        // One file of that size, and a dozen of an eighth of it. What of it there is no room for is
        // not made.
        let small = (self.files + u64::from(self.depth)).saturating_mul(4_096);
        Bytes(self.largest.bytes().saturating_mul(3).saturating_add(small))
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(self.largest.bytes()))]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        match self.part {
            Pass::Exercise => exercise(self, context),
            Pass::Verify => verify(self, context),
        }
    }
}

/// What `fill` takes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FillParameters {
    /// Where the files go, below the root.
    pub(crate) directory: PathBuf,
    /// The most that is taken, or a share of the file system's size: a directory of somebody's is
    /// not filled beyond it.
    pub(crate) most: Size,
    /// Size of each file; 0 for what `most` suggests.
    #[schemars(with = "Size")]
    pub(crate) file_size: Bytes,
    /// After so many seconds of writing, what is left is reserved instead, where that can be done.
    pub(crate) seconds: u32,
}

impl Default for FillParameters {
    fn default() -> Self {
        Self {
            directory: "fill".into(),
            most: Size::Written("1/1".into()),
            file_size: Bytes(0),
            seconds: 120,
        }
    }
}

impl Job for FillParameters {
    const NAME: &'static str = "fill";

    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        let most = self.most.resolve(size)?;
        self.most = Size::Bytes(most);
        if self.file_size.0 == 0 {
            // About forty files: some to keep, some to delete.
            self.file_size = Bytes((most / 40).clamp(4 << 10, 512 << 20));
        }
        if most < self.file_size.0 {
            return Err(format!(
                "most = {}, which is less than one file of {}",
                Bytes(most),
                self.file_size
            ));
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(self.most.bytes())
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        fill(self, context)
    }
}
