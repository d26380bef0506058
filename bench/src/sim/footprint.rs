//! What a run's files take on the disk below while they exist: a trial removes its image and its
//! trace as it ends, so that they have to be looked at meanwhile.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Often enough that what is written last in a trial is seen: the check alone takes longer.
const INTERVAL: Duration = Duration::from_millis(10);
/// Units of `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// The most that files took, by their names: their allocated bytes.
pub(crate) type Footprint = BTreeMap<String, u64>;

/// Watches the directories in a directory.
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Footprint>,
}

impl Watch {
    /// Watches from now on.
    pub(crate) fn start(folder: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen_stop = Arc::clone(&stop);
        let folder = PathBuf::from(folder);
        let thread = std::thread::spawn(move || {
            let mut footprint = Footprint::new();
            while !seen_stop.load(Ordering::Relaxed) {
                look(&folder, &mut footprint);
                std::thread::sleep(INTERVAL);
            }
            footprint
        });
        Self { stop, thread }
    }

    /// The most that was seen.
    pub(crate) fn end(self) -> Footprint {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .expect("whatever vanishes under a watch is passed over")
    }
}

/// Notes what the files of each directory in `folder` take. What vanishes meanwhile takes nothing.
fn look(folder: &Path, footprint: &mut Footprint) {
    for trial in entries(folder) {
        for file in entries(&trial) {
            let (Some(name), Ok(about)) = (file.file_name(), file.symlink_metadata()) else {
                continue;
            };
            let name = name.to_string_lossy().into_owned();
            let most = footprint.entry(name).or_default();
            *most = (*most).max(about.blocks() * BLOCK_BYTES);
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let list = std::fs::read_dir(folder).into_iter().flatten();
    list.flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_with_the_most_that_was_allocated_to_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let trial = folder.path().join("trial");
        std::fs::create_dir(&trial).expect("a directory");
        let image = std::fs::File::create(trial.join("image")).expect("a file");
        image.set_len(1 << 30).expect("a hole");
        std::fs::write(trial.join("trace"), vec![1; 100_000]).expect("data");
        let mut footprint = Footprint::new();
        look(folder.path(), &mut footprint);
        std::fs::remove_file(trial.join("trace")).expect("removes");
        look(folder.path(), &mut footprint);
        assert!(footprint["image"] < 1 << 20, "{footprint:?}");
        assert!(footprint["trace"] >= 100_000 - 4096, "{footprint:?}");
    }
}
