//! The conformance workloads as jobs: their defaults, what they need, and what runs them.

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::{Bytes, Need, Size};

use super::filling::fill;
use super::parameters::{FillParameters, Pass, TreeParameters};
use super::suite::{exercise, verify};

/// Default size of the largest file on a large file system.
const LARGEST: Bytes = Bytes::mib(64);

/// Size of a file system from which the largest file is an eighth of it, not a sixteenth.
const ROOMY: Bytes = Bytes::mib(512);

/// Least size of the largest file.
const LARGEST_MIN: u64 = 4_096;

/// Default of files in one directory on a large file system.
const FILES: u64 = 1_000;

/// Default depth of directories on a large file system.
const DEPTH: u64 = 40;

/// Size of the file system per default file or directory.
const ROOM_EACH: u64 = 64 << 10;

impl Job for TreeParameters {
    const NAME: &'static str = "conformance";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
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
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        // One file of that size, and a dozen of an eighth of it. The tree is reduced if space is
        // short.
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

impl Job for FillParameters {
    const NAME: &'static str = "fill";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        let most = self.most.resolve(size)?;
        self.most = Size::Bytes(most);
        if self.file_size.0 == 0 {
            // About forty files, half of which are deleted.
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
