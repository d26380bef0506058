//! Validation of data jobs.

use super::data::is_outside;
use super::limits::{
    DATA_FILES_MAX, RANK_THREADS_MAX, RECORD_BYTES_MAX, SEGMENTS_MAX, THREADS_MAX,
};
use super::{Amount, DataJob, Direction, OpenMode, Sharing, SyncEvery, Workers};
use crate::EngineError;

/// Block size of verification.
const VERIFIED_BYTES: u64 = 4096;

impl DataJob {
    /// Checks the job, independent of its engine.
    pub fn validate(&self) -> Result<(), EngineError> {
        self.validate_up_to(THREADS_MAX)
    }

    /// Checks a job with the threads of all ranks.
    pub(crate) fn validate_of_ranks(&self) -> Result<(), EngineError> {
        self.validate_up_to(RANK_THREADS_MAX)
    }

    fn validate_up_to(&self, threads_max: u32) -> Result<(), EngineError> {
        let name = self.file.display();
        // In order: later checks rely on the ranges checked before.
        let fault = (self.fault_in_numbers(threads_max))
            .or_else(|| self.access.fault())
            .or_else(|| self.pace.fault())
            .or_else(|| self.content.fault())
            .or_else(|| self.fault_in_combination())
            .or_else(|| self.fault_in_shares())
            .or_else(|| self.fault_in_update())
            .or_else(|| self.fault_in_stonewall())
            .or_else(|| self.fault_in_segments());
        match fault {
            None => Ok(()),
            Some(fault) => Err(EngineError::bad_input(format!(
                "the job on {name} has {fault}"
            ))),
        }
    }

    fn fault_in_numbers(&self, threads_max: u32) -> Option<String> {
        if is_outside(&self.file) {
            return Some("a path that leaves the root".to_owned());
        }
        if self.file_size.bytes() == 0 {
            return Some("a file of 0 bytes".to_owned());
        }
        if self.record.0 == 0 || self.record.0 > RECORD_BYTES_MAX {
            return Some(format!(
                "records of {} bytes, not of 1 byte to 128 MiB",
                self.record.0
            ));
        }
        if self.stdio.buffer_bytes as u64 > RECORD_BYTES_MAX {
            return Some(format!(
                "a stream's buffer of {} bytes, more than 128 MiB",
                self.stdio.buffer_bytes
            ));
        }
        let end = self.offset.checked_add(self.file_size.bytes());
        if end.is_none_or(|end| end > 1 << 62) {
            return Some("an end beyond 4 EiB".to_owned());
        }
        (!(1..=threads_max).contains(&self.threads))
            .then(|| format!("{} threads, not 1 to {threads_max}", self.threads))
    }

    fn fault_in_combination(&self) -> Option<String> {
        let whole_blocks = self.record.0.is_multiple_of(VERIFIED_BYTES)
            && self.offset.is_multiple_of(VERIFIED_BYTES);
        if self.verify && !whole_blocks {
            return Some(format!(
                "verification of records of {} bytes at {}, which are no full blocks of 4 KiB",
                self.record.0, self.offset
            ));
        }
        if self.verify && self.direction != Direction::Read {
            return Some("verification of operations other than reads".into());
        }
        if let Direction::Mix { read_percent } = self.direction
            && read_percent > 100
        {
            return Some(format!("{read_percent} % reads"));
        }
        if matches!(self.sync.every, Some(SyncEvery { operations: 0, .. })) {
            return Some("a sync every 0 operations".into());
        }
        if self.sync.updated.is_some() && self.sync.every.is_some() {
            return Some("a sync after each update and another every so many writes".into());
        }
        if self.sharing == Sharing::Interleaved
            && !self.file_size.bytes().is_multiple_of(self.record.0.max(1))
        {
            return Some("records to deal out in turn, and the last is short".into());
        }
        if self.sharing != Sharing::Own
            && self.file_size.bytes().div_ceil(self.record.0.max(1)) < u64::from(self.threads)
        {
            return Some("fewer records than threads that share them".into());
        }
        None
    }

    fn fault_in_update(&self) -> Option<String> {
        if self.sync.updated.is_some() && !self.updates() {
            return Some("a sync after each update, of which there is none".into());
        }
        if matches!(self.direction, Direction::ReadUpdate { every: 0 }) {
            return Some("an update in every 0 operations".into());
        }
        let is_new = self.open == OpenMode::Replace;
        (self.updates() && is_new).then(|| "an update of a file that was emptied before".into())
    }

    fn fault_in_stonewall(&self) -> Option<String> {
        if self.stonewall_ns? == 0 {
            return Some("a stonewall at once".into());
        }
        if self.workers == Workers::Processes {
            return Some("a stonewall for processes; threads have one".into());
        }
        if matches!(self.amount, Amount::TimeNs(_) | Amount::TotalOperations(_)) {
            return Some("a stonewall and an amount that is no number for each thread".into());
        }
        if self.time_limit_ns.is_some() || self.start_delay_ns > 0 {
            return Some("a stonewall and a time limit or a delayed start".into());
        }
        (self.ramp_up_ns > 0).then(|| "a stonewall and a ramp-up".into())
    }

    fn fault_in_segments(&self) -> Option<String> {
        let segment_bytes = self.segment?.0;
        let whole = |bytes: u64| bytes.is_multiple_of(self.record.0.max(1));
        if segment_bytes == 0 || !whole(segment_bytes) || !whole(self.offset) {
            return Some(format!(
                "segments of {segment_bytes} bytes and an offset of {}, which are no multiples of \
                 its record of {} bytes",
                self.offset, self.record.0
            ));
        }
        let count = self.end_bytes().div_ceil(segment_bytes);
        if count > SEGMENTS_MAX {
            return Some(format!("{count} segments, more than {SEGMENTS_MAX}"));
        }
        let files = count.saturating_mul(self.owners().into());
        (files > DATA_FILES_MAX).then(|| {
            format!("{files} files, segments of all threads together, more than {DATA_FILES_MAX}")
        })
    }
}
