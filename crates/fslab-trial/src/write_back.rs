//! Tracks whether the phases' writes have reached the device.
//!
//! A write to the page cache may fail long after its phase was measured, and only the next sync
//! reports the error. One descriptor of the file system stays open from mount to unmount: the
//! kernel reports every failed write-back in between through it, even if other programs saw the
//! error first.
//!
//! No sync is added between phases: each one that the study makes marks all earlier data as safe,
//! and the last one precedes the end of the trial.

use std::path::Path;
use std::time::Instant;

use fslab_model::{Failure, FailureKind};
use fslab_sys::WriteBackWatch;

use crate::command::elapsed_ns;

/// Watches one file system; knows which phases are safe.
#[derive(Debug, Default)]
pub(crate) struct WriteBack {
    watch: Option<WriteBackWatch>,
    /// Number of phases started.
    begun: usize,
    /// Number of phases whose data is on the device.
    safe: usize,
    /// The first sync error, until it is taken.
    lost: Option<Failure>,
}

impl WriteBack {
    /// Starts watching the file system of `root`.
    pub(crate) fn open(&mut self, root: &Path) -> Result<(), Failure> {
        let watch = WriteBackWatch::open(root).map_err(|error| {
            let text = format!("cannot open {} to watch its write-back", root.display());
            Failure::new(FailureKind::Io, text).because(&error)
        })?;
        self.watch = Some(watch);
        Ok(())
    }

    /// Stops watching: the watch keeps the file system busy.
    pub(crate) fn close(&mut self) {
        self.watch = None;
    }

    /// Marks phase number `phase` as started.
    pub(crate) fn begin(&mut self, phase: usize) {
        self.begun = self.begun.max(phase + 1);
    }

    /// True if data of started phases may not be on the device.
    pub(crate) fn has_suspects(&self) -> bool {
        self.safe < self.begun
    }

    /// The first phase whose data may not be on the device.
    pub(crate) fn suspects_from(&self) -> usize {
        self.safe
    }

    /// Marks all written data as being on the device.
    pub(crate) fn mark_safe(&mut self) {
        self.safe = self.begun;
    }

    /// Writes back dirty data and returns the time in ns; fails if a write-back since the mount has
    /// failed. The caller decides whether the data is safe now.
    pub(crate) fn sync(&mut self, root: &Path) -> Result<u64, Failure> {
        let began = Instant::now();
        let synced = match &self.watch {
            Some(watch) => watch.sync(),
            None => fslab_sys::sync_file_system(root),
        };
        synced.map_err(|error| {
            let text = format!("cannot sync {}: writes were lost", root.display());
            let failure = Failure::new(FailureKind::Io, text).because(&error).hint(
                "the device below the file system failed, or is full; figures since the last \
                 successful sync do not measure writing",
            );
            self.lost.get_or_insert_with(|| failure.clone());
            failure
        })?;
        Ok(elapsed_ns(began))
    }

    /// The sync error that has not been taken yet.
    pub(crate) fn take_lost(&mut self) -> Option<Failure> {
        self.lost.take()
    }

    /// Fails if another file system than the watched one is mounted on `root`.
    pub(crate) fn ensure_mounted(&self, root: &Path) -> Result<(), Failure> {
        let Some(watch) = &self.watch else {
            return Ok(());
        };
        let shown = fslab_sys::device_of(root);
        if watch
            .device()
            .ok()
            .zip(shown.ok())
            .is_some_and(|(own, shown)| own == shown)
        {
            return Ok(());
        }
        let text = format!(
            "{} is no longer the file system of this trial",
            root.display()
        );
        Err(Failure::new(FailureKind::Unmount, text)
            .hint("another program unmounted it, or mounted something over it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_suspect_from_their_start_until_all_data_is_on_the_device() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut write_back = WriteBack::default();
        write_back.open(folder.path()).expect("opens");
        write_back.begin(0);
        write_back.begin(1);
        assert_eq!(write_back.suspects_from(), 0);
        write_back.sync(folder.path()).expect("syncs");
        assert_eq!(
            write_back.suspects_from(),
            0,
            "a sync alone vouches for nothing"
        );
        write_back.mark_safe();
        assert_eq!(write_back.suspects_from(), 2);
        assert_eq!(write_back.take_lost(), None);
    }

    #[test]
    fn another_file_system_on_the_mount_point_is_detected() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut write_back = WriteBack::default();
        write_back.open(folder.path()).expect("opens");
        write_back
            .ensure_mounted(folder.path())
            .expect("it is there");
        // /proc is a separate file system.
        let failure = write_back
            .ensure_mounted(Path::new("/proc"))
            .expect_err("another one");
        assert_eq!(failure.kind, FailureKind::Unmount);
    }
}
