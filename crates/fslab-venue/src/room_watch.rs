//! Watches the room of the directory of images while a trial runs. Images are sparse: if the disk
//! below runs full, the write that fails is one of the subject, and there may be room again when
//! the trial has failed, since others beside it have ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fslab_sys::FileSystemRoom;

/// A disk with less free space is full.
const FULL_BYTES: u64 = 1 << 20;
/// Interval at which it is looked at.
const INTERVAL: Duration = Duration::from_millis(50);

/// The watch over a directory; it ends with this.
pub(crate) struct RoomWatch {
    folder: PathBuf,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    was_full: AtomicBool,
    is_over: AtomicBool,
}

impl RoomWatch {
    /// Begins in a thread, which a file system that does not answer may hold for ever.
    pub(crate) fn begin(folder: &Path) -> Self {
        let state = Arc::new(State::default());
        let (seen, of) = (Arc::clone(&state), folder.to_owned());
        thread::spawn(move || {
            while !seen.is_over.load(Ordering::Relaxed) {
                if is_full(&of) {
                    seen.was_full.store(true, Ordering::Relaxed);
                    return;
                }
                thread::sleep(INTERVAL);
            }
        });
        Self {
            folder: folder.to_owned(),
            state,
        }
    }

    /// True if the disk has been full since, or is.
    pub(crate) fn was_full(&self) -> bool {
        self.state.was_full.load(Ordering::Relaxed) || is_full(&self.folder)
    }
}

impl Drop for RoomWatch {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
    }
}

/// Whether this user cannot write to the disk of `folder` any more. Root may take what file systems
/// reserve.
fn is_full(folder: &Path) -> bool {
    FileSystemRoom::of(folder).is_ok_and(|room| {
        let free = match fslab_sys::is_superuser() {
            true => room.free_bytes,
            false => room.available_bytes,
        };
        free < FULL_BYTES
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_room_was_not_full_and_proc_has_none() {
        let folder = tempfile::tempdir().expect("a directory");
        assert!(!RoomWatch::begin(folder.path()).was_full());
        assert!(RoomWatch::begin(Path::new("/proc")).was_full());
    }
}
