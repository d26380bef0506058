//! The facts found so far, and what all probes need: directories, counters, words for errors.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fslab_engine::RunContext;
use fslab_model::{FILE_SYSTEM_FACT, Facts};
use fslab_sys::{BlockCounters, DeviceNumber, errno_name, sync_file_system};

use crate::check_context::CheckContext;
use crate::failure::ConformanceFailure;

/// Facts of one phase.
pub(super) struct Sheet<'a> {
    context: &'a RunContext,
    pub(super) checker: &'a mut CheckContext,
    /// The directory of all files.
    pub(super) base: PathBuf,
    /// The device below; `None` for file systems without one.
    pub(super) device: Option<DeviceNumber>,
    pub(super) facts: Facts,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(
        context: &'a RunContext,
        checker: &'a mut CheckContext,
        directory: &Path,
    ) -> Self {
        let root = context.outer_path(&context.root);
        Self {
            context,
            checker,
            base: context.root.join(directory),
            device: context.outside(|| fslab_sys::device_below(&root)),
            facts: Facts::new(),
        }
    }

    /// States the fact `name`, which is one of [`fslab_model::FILE_SYSTEM_FACTS`].
    pub(super) fn state(&mut self, name: &str, value: impl Into<String>) {
        let known = fslab_model::FILE_SYSTEM_FACTS.iter();
        debug_assert!(known.clone().any(|it| it.name == name), "{name} is listed");
        let name = format!("{FILE_SYSTEM_FACT}{name}");
        self.facts.insert(name, value.into());
    }

    pub(super) fn context(&self) -> &RunContext {
        self.context
    }

    /// A new directory below the base.
    pub(super) fn folder(&mut self, name: &str) -> Result<PathBuf, ConformanceFailure> {
        let path = self.base.join(name);
        let made = fs::create_dir(&path);
        self.checker.must("create", &path, made)?;
        Ok(path)
    }

    /// Writes `data` to a new file and syncs it.
    pub(super) fn synced_file(
        &mut self,
        path: &Path,
        data: &[u8],
    ) -> Result<File, ConformanceFailure> {
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path);
        let mut file = self.checker.must("create", path, opened)?;
        let written = io::Write::write_all(&mut file, data);
        self.checker.must("write", path, written)?;
        self.checker.must("sync", path, file.sync_all())?;
        Ok(file)
    }

    /// Writes back all that is dirty, so that a count begins at rest.
    pub(super) fn settle(&mut self) -> Result<(), ConformanceFailure> {
        let synced = sync_file_system(&self.base);
        self.checker.must("sync", &self.base, synced)
    }

    /// The device's counters; `None` without a device.
    pub(super) fn counters(&self) -> Option<BlockCounters> {
        let device = self.device?;
        self.context.outside(|| device.counters()).ok()
    }

    /// What the device was asked for while `work` ran; `None` without a device.
    pub(super) fn counted<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, ConformanceFailure>,
    ) -> Result<(T, Option<Sent>), ConformanceFailure> {
        let before = self.counters();
        let done = work(self)?;
        let sent = before.zip(self.counters()).map(|(before, after)| Sent {
            reads: after.reads.saturating_sub(before.reads),
            read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
            writes: after.writes.saturating_sub(before.writes),
            write_bytes: after.write_bytes.saturating_sub(before.write_bytes),
            flushes: after
                .flushes
                .zip(before.flushes)
                .map(|(after, before)| after.saturating_sub(before)),
        });
        Ok((done, sent))
    }
}

/// Requests of a stretch of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) reads: u64,
    pub(super) read_bytes: u64,
    pub(super) writes: u64,
    pub(super) write_bytes: u64,
    /// `None` if the device does not count them.
    pub(super) flushes: Option<u64>,
}

impl Sent {
    /// The strongest request: "a flush", "writes without a flush", "nothing".
    pub(super) fn strongest(self) -> &'static str {
        match (self.flushes, self.writes) {
            (Some(1..), _) => "a flush",
            (Some(0), 1..) => "writes without a flush",
            (None, 1..) => "writes",
            (_, 0) => "nothing",
        }
    }

    /// Writes and flushes of each of `count` operations: "none", "2 writes", "1 write and 2
    /// flushes". What less than every second operation causes is not counted.
    pub(super) fn each_of(self, count: u64) -> String {
        let each = |requests: u64| (requests + count / 2) / count;
        let plural = |number: u64, what: &str, ending: &str| match number {
            0 => None,
            1 => Some(format!("1 {what}")),
            number => Some(format!("{number} {what}{ending}")),
        };
        let words = [
            plural(each(self.writes), "write", "s"),
            plural(each(self.flushes.unwrap_or(0)), "flush", "es"),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        if words.is_empty() {
            return "none".to_owned();
        }
        words.join(" and ")
    }
}

/// The name of an error: `EINVAL`.
pub(super) fn word(error: &io::Error) -> String {
    let name = error.raw_os_error().map(errno_name);
    name.unwrap_or_else(|| error.to_string())
}

/// "yes", or the error.
pub(super) fn yes_or<T>(outcome: &io::Result<T>) -> String {
    match outcome {
        Ok(_) => "yes".to_owned(),
        Err(error) => format!("no ({})", word(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: Sent = Sent {
        reads: 0,
        read_bytes: 0,
        writes: 0,
        write_bytes: 0,
        flushes: Some(0),
    };

    #[test]
    fn requests_of_each_operation_are_rounded_and_a_few_of_the_background_are_none() {
        let each = |writes, flushes| {
            let sent = Sent {
                writes,
                flushes: Some(flushes),
                ..SENT
            };
            sent.each_of(50)
        };
        assert_eq!(each(7, 1), "none");
        assert_eq!(each(50, 0), "1 write");
        assert_eq!(each(103, 0), "2 writes");
        assert_eq!(each(102, 101), "2 writes and 2 flushes");
    }

    #[test]
    fn the_strongest_request_is_named() {
        assert_eq!(SENT.strongest(), "nothing");
        let writes = Sent { writes: 3, ..SENT };
        assert_eq!(writes.strongest(), "writes without a flush");
        let flushed = Sent {
            flushes: Some(1),
            ..writes
        };
        assert_eq!(flushed.strongest(), "a flush");
        let unknown = Sent {
            flushes: None,
            ..writes
        };
        assert_eq!(unknown.strongest(), "writes");
    }
}
