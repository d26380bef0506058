//! Waits for free space on file systems with a background cleaner (log-structured ones), which on a
//! busy machine may take minutes.
//!
//! If free space does not change for some time, the file system counts as full. The cleaner is
//! triggered by a change: see [`trigger_cleaner`].

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fslab_model::FailureKind;
use fslab_sys::{FileSystemRoom, sync_file_system};

use super::check_context::CheckContext;
use super::failure::ConformanceFailure;

/// Limit of all waits.
const CLEANER_TIMEOUT: Duration = Duration::from_secs(300);
/// Limit of a wait without more free space.
const NO_PROGRESS_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval between checks.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Runs `work` in `folder`, which is created empty. If it fails with ENOSPC and space becomes free,
/// it is run again from the start.
pub(crate) fn retry_when_full<T>(
    folder: &Path,
    checker: &mut CheckContext,
    work: impl FnMut(&mut CheckContext) -> Result<T, ConformanceFailure>,
) -> Result<T, ConformanceFailure> {
    retry_with_room(folder, checker, work, room)
}

/// The same; `room` gives the available bytes on the file system of the directory.
fn retry_with_room<T>(
    folder: &Path,
    checker: &mut CheckContext,
    mut work: impl FnMut(&mut CheckContext) -> Result<T, ConformanceFailure>,
    mut room: impl FnMut(&Path) -> Option<u64>,
) -> Result<T, ConformanceFailure> {
    let began = Instant::now();
    loop {
        make(folder, checker, began)?;
        let problem = match work(checker) {
            Ok(done) => return Ok(done),
            Err(problem) => problem,
        };
        if problem.0.kind != FailureKind::NoSpace {
            return Err(problem);
        }
        // This may fail with ENOSPC, too; the next round removes the rest.
        let _ = fs::remove_dir_all(folder);
        if !more_room(folder, checker, began, &mut room)? {
            return Err(problem);
        }
        checker.note("space for a few files became free only after a wait");
    }
}

/// Creates the directory, after removing one of an earlier round.
fn make(
    folder: &Path,
    checker: &mut CheckContext,
    began: Instant,
) -> Result<(), ConformanceFailure> {
    loop {
        if folder.exists() {
            let _ = fs::remove_dir_all(folder);
        }
        match fs::create_dir(folder) {
            Err(error) if may_clear_later(&error) && began.elapsed() < CLEANER_TIMEOUT => {
                checker.check()?;
                checker.note("space for a directory became free only after a wait");
                trigger_cleaner(parent(folder));
                thread::sleep(POLL_INTERVAL);
            }
            made => return checker.must("create", folder, made),
        }
    }
}

fn may_clear_later(error: &io::Error) -> bool {
    // A directory that could not be removed for lack of space still exists.
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::AlreadyExists
    )
}

/// Waits for more free space than now; false on a timeout.
fn more_room(
    folder: &Path,
    checker: &mut CheckContext,
    began: Instant,
    room: &mut impl FnMut(&Path) -> Option<u64>,
) -> Result<bool, ConformanceFailure> {
    let (before, started) = (room(folder), Instant::now());
    while started.elapsed() < NO_PROGRESS_TIMEOUT && began.elapsed() < CLEANER_TIMEOUT {
        checker.check()?;
        trigger_cleaner(parent(folder));
        thread::sleep(POLL_INTERVAL);
        if room(folder) > before {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Changes a directory's times, which needs no space, and syncs.
///
/// The cleaner of nilfs2 skips segments written within the second of the last change. If that
/// second filled the log, nothing is cleaned and every change that needs space is refused: the
/// file system would stay full for ever.
pub(crate) fn trigger_cleaner(folder: &Path) {
    // A file system that refuses this has no such cleaner.
    let touched = File::open(folder).and_then(|folder| folder.set_modified(SystemTime::now()));
    if touched.is_ok() {
        let _ = sync_file_system(folder);
    }
}

/// Available bytes on the file system of `folder`, which need not exist.
fn room(folder: &Path) -> Option<u64> {
    let room = FileSystemRoom::of(parent(folder)).ok();
    room.map(|room| room.available_bytes)
}

fn parent(folder: &Path) -> &Path {
    folder.parent().unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> ConformanceFailure {
        ConformanceFailure::io(
            "write",
            Path::new("file"),
            &io::Error::from(io::ErrorKind::StorageFull),
        )
    }

    #[test]
    fn work_that_fails_for_another_reason_is_not_retried() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut rounds = 0;
        let work = |_: &mut CheckContext| -> Result<(), ConformanceFailure> {
            rounds += 1;
            Err(ConformanceFailure::against_entry("it does more"))
        };
        let ended = retry_when_full(&folder.path().join("a"), &mut CheckContext::default(), work);
        assert!(ended.is_err());
        assert_eq!(rounds, 1);
    }

    #[test]
    fn with_more_space_the_work_is_retried_in_an_empty_folder() {
        let folder = tempfile::tempdir().expect("a directory");
        let place = folder.path().join("a");
        let (mut rounds, mut looks) = (0, 0);
        let work = |_: &mut CheckContext| {
            rounds += 1;
            assert_eq!(fs::read_dir(&place).expect("a directory").count(), 0);
            fs::write(place.join("left"), "x").expect("written");
            if rounds == 1 { Err(full()) } else { Ok(7) }
        };
        // The second look finds less space than the first: that is no reason to try again.
        let room = |looked: &Path| {
            assert_eq!(looked, place);
            looks += 1;
            Some([5000, 4000, 5000, 6000][looks - 1])
        };
        let ended = retry_with_room(&place, &mut CheckContext::default(), work, room);
        assert_eq!(ended.expect("the second round"), 7);
        assert_eq!((rounds, looks), (2, 4));
    }
}
