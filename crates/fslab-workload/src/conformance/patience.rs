//! Waiting for a cleaner: a file system that frees in the background what was removed has room only
//! after a while, and on a machine with other work that is minutes.
//!
//! A file system without one is not waited for: where its room does not change, it is full. A
//! cleaner is given a change to clean behind: see [`rouse`].

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fslab_model::FailureKind;
use fslab_sys::{FileSystemRoom, sync_file_system};

use super::check_context::CheckContext;
use super::failure::ConformanceFailure;

/// How long a cleaner may take in all.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long it may take to free anything at all.
const STILL: Duration = Duration::from_secs(60);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Does `work` in `folder`, which it finds empty. Where it runs out of room and there is more a
/// while later, it is done once more from the start.
///
/// # Errors
/// That of `work`; and where the folder can be neither made nor removed.
pub(crate) fn patiently<T>(
    folder: &Path,
    ledger: &mut CheckContext,
    mut work: impl FnMut(&mut CheckContext) -> Result<T, ConformanceFailure>,
) -> Result<T, ConformanceFailure> {
    let began = Instant::now();
    loop {
        make(folder, ledger, began)?;
        let problem = match work(ledger) {
            Ok(done) => return Ok(done),
            Err(problem) => problem,
        };
        if problem.kind() != FailureKind::NoSpace {
            return Err(problem);
        }
        // Removing may want room, too, and what is left is met again in the next round.
        let _ = fs::remove_dir_all(folder);
        if !more_room(folder, ledger, began)? {
            return Err(problem);
        }
        ledger.note("there was room for a few files only after a while");
    }
}

/// Makes the folder, or empties the one that an earlier round left.
fn make(
    folder: &Path,
    ledger: &mut CheckContext,
    began: Instant,
) -> Result<(), ConformanceFailure> {
    loop {
        if folder.exists() {
            let _ = fs::remove_dir_all(folder);
        }
        match fs::create_dir(folder) {
            Err(error) if waits(&error) && began.elapsed() < PATIENCE => {
                ledger.check()?;
                ledger.note("room for a directory was there only after a while");
                rouse(above(folder));
                thread::sleep(PAUSE);
            }
            made => return ledger.must("create", folder, made),
        }
    }
}

fn waits(error: &io::Error) -> bool {
    // A folder that could not be removed for want of room is there still.
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::AlreadyExists
    )
}

/// Waits until the file system has more room than now; `false` where it has none for long.
fn more_room(
    folder: &Path,
    ledger: &mut CheckContext,
    began: Instant,
) -> Result<bool, ConformanceFailure> {
    let (before, still) = (room(folder), Instant::now());
    while still.elapsed() < STILL && began.elapsed() < PATIENCE {
        ledger.check()?;
        rouse(above(folder));
        thread::sleep(PAUSE);
        if room(folder) > before {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes a change that wants no room, and has it written.
///
/// The cleaner of nilfs2 takes no segment that was written within the second of the last change.
/// Where that second filled the log, nothing is cleaned, all that wants room is refused, and so no
/// later change comes: it would stay full for ever. New times of a directory are such a change.
pub(crate) fn rouse(folder: &Path) {
    // What refuses this has no cleaner that waits for it.
    let touched = File::open(folder).and_then(|folder| folder.set_modified(SystemTime::now()));
    if touched.is_ok() {
        let _ = sync_file_system(folder);
    }
}

/// What may be taken of the file system that `folder` is or was on.
fn room(folder: &Path) -> Option<u64> {
    let room = FileSystemRoom::of(above(folder)).ok();
    room.map(|room| room.available_bytes)
}

fn above(folder: &Path) -> &Path {
    folder.parent().unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> ConformanceFailure {
        ConformanceFailure::io(
            "write",
            Path::new("file"),
            io::Error::from(io::ErrorKind::StorageFull),
        )
    }

    #[test]
    fn what_fails_for_another_reason_is_not_done_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut rounds = 0;
        let work = |_: &mut CheckContext| -> Result<(), ConformanceFailure> {
            rounds += 1;
            Err(ConformanceFailure::against_entry("it does more"))
        };
        let ended = patiently(&folder.path().join("a"), &mut CheckContext::default(), work);
        assert!(ended.is_err());
        assert_eq!(rounds, 1);
    }

    #[test]
    fn with_more_room_it_is_done_once_more_in_an_empty_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let (place, ballast) = (folder.path().join("a"), folder.path().join("ballast"));
        let bytes = vec![1_u8; 64 << 20];
        fs::write(&ballast, bytes).expect("written");
        let file = File::open(&ballast).expect("a file");
        file.sync_all().expect("on the disk");
        // As long as it is open it would keep its room.
        drop(file);
        let mut rounds = 0;
        let cleaner = thread::spawn(move || {
            thread::sleep(3 * PAUSE);
            fs::remove_file(ballast).expect("removed");
        });
        let work = |_: &mut CheckContext| {
            rounds += 1;
            assert_eq!(fs::read_dir(&place).expect("a folder").count(), 0);
            fs::write(place.join("left"), "x").expect("written");
            if rounds == 1 { Err(full()) } else { Ok(7) }
        };
        let ended = patiently(&place, &mut CheckContext::default(), work);
        assert_eq!(ended.expect("the second round"), 7);
        assert_eq!(rounds, 2);
        cleaner.join().expect("it removes");
    }
}
