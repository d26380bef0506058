//! Whether what the phases wrote has reached the device.
//!
//! A write that the page cache took may fail long after its phase was measured, and its error is
//! reported by the next sync alone. One descriptor of the file system is open from the mount to the
//! unmount: the kernel reports by it every failed write-back in between, whoever was told before.
//!
//! Nothing is written back that the study does not ask for: each sync that is made anyway is a
//! point up to which all is known to be good, and the last one is made before the trial ends.

use std::path::Path;
use std::time::Instant;

use fslab_model::{Failure, FailureKind};
use fslab_sys::WriteBackWatch;

use crate::command::elapsed_ns;

/// The watch over one file system, and which phases it vouches for.
#[derive(Debug, Default)]
pub(crate) struct WriteBack {
    watch: Option<WriteBackWatch>,
    /// Phases up to this one, not included, have been begun.
    begun: usize,
    /// What phases up to this one wrote, not included, is on the device.
    safe: usize,
    /// The first error of a sync, until it is taken.
    lost: Option<Failure>,
}

impl WriteBack {
    /// Watches the file system of `root` from now on.
    pub(crate) fn open(&mut self, root: &Path) -> Result<(), Failure> {
        let watch = WriteBackWatch::open(root).map_err(|error| {
            let text = format!("cannot open {} to watch its write-back", root.display());
            Failure::new(FailureKind::Io, text).because(&error)
        })?;
        self.watch = Some(watch);
        Ok(())
    }

    /// Ends the watch: a file system is busy for as long as it lasts.
    pub(crate) fn close(&mut self) {
        self.watch = None;
    }

    /// Says that the phase of this number is about to write.
    pub(crate) fn begin(&mut self, phase: usize) {
        self.begun = self.begun.max(phase + 1);
    }

    /// Whether phases were begun of which something may not be on the device.
    pub(crate) fn has_suspects(&self) -> bool {
        self.safe < self.begun
    }

    /// The first phase of which something may not be on the device.
    pub(crate) fn suspects_from(&self) -> usize {
        self.safe
    }

    /// Says that everything that was written is on the device.
    pub(crate) fn is_safe(&mut self) {
        self.safe = self.begun;
    }

    /// Writes back what is dirty, takes every error of it since the mount, and says how long that
    /// took. Whether what was written is on the device now, the caller knows.
    pub(crate) fn sync(&mut self, root: &Path) -> Result<u64, Failure> {
        let began = Instant::now();
        let synced = match &self.watch {
            Some(watch) => watch.sync(),
            None => fslab_sys::sync_file_system(root),
        };
        synced.map_err(|error| {
            let text = format!("cannot sync {}: writes were lost", root.display());
            let failure = Failure::new(FailureKind::Io, text).because(&error).hint(
                "the device below the file system failed, or is full; no figure since the last \
                 sync that succeeded is one of writing",
            );
            self.lost.get_or_insert_with(|| failure.clone());
            failure
        })?;
        Ok(elapsed_ns(began))
    }

    /// The error of a sync that was not taken yet.
    pub(crate) fn take_lost(&mut self) -> Option<Failure> {
        self.lost.take()
    }

    /// Fails where `root` shows another file system than the one that is watched.
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
            "{} is not the file system of this trial any more",
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
    fn phases_are_suspect_from_their_begin_until_all_is_on_the_device() {
        let folder = tempfile::tempdir().expect("a folder");
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
        write_back.is_safe();
        assert_eq!(write_back.suspects_from(), 2);
        assert_eq!(write_back.take_lost(), None);
    }

    #[test]
    fn what_is_not_there_any_more_is_not_the_file_system_of_the_trial() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut write_back = WriteBack::default();
        write_back.open(folder.path()).expect("opens");
        write_back
            .ensure_mounted(folder.path())
            .expect("it is there");
        // /proc is a file system of its own.
        let failure = write_back
            .ensure_mounted(Path::new("/proc"))
            .expect_err("another one");
        assert_eq!(failure.kind, FailureKind::Unmount);
    }
}
