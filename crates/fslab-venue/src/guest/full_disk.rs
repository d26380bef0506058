//! A trial in a guest that failed since the host's disk below it was full: the guest itself sees an
//! error of its disk, or dies of a page of its memory that cannot be had, and says neither.

use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind, TrialOutcome, TrialRecord};

use super::boot::Guest;
use super::share::Share;

/// Less than this is full: what failed was larger.
const FULL_BYTES: u64 = 1 << 20;
/// How a process ends whose memory is a file that cannot grow, as a signal and on the console.
const NO_PAGE: [&str; 3] = ["SIGBUS", "Bus error", "signal 7"];
/// The beginning of what a guest's own death is called.
const GUEST_DIED: &str = "the guest kernel died";

/// Names the full disk in `record`, where the trial failed and one that it lies on is full. Asked
/// while the guest's folder is there; its memory is gone by then, so that of a full disk below it
/// the signal alone speaks.
pub(crate) fn name_full_disk(guest: &Guest, share: &Share, record: &mut TrialRecord) {
    let TrialOutcome::Failed { failure } = &mut record.outcome else {
        return;
    };
    if matches!(
        failure.kind,
        FailureKind::Interrupted | FailureKind::Timeout
    ) {
        return;
    }
    let memory = guest.memory_folder(share);
    let lacks_page = NO_PAGE
        .iter()
        .any(|sign| failure.message.contains(sign) || record.console.contains(sign));
    let folder = share.folder();
    if is_full(folder) {
        let outer = folder.parent().unwrap_or(folder);
        name(failure, outer);
    } else if lacks_page {
        name(failure, &memory_place(&memory, share));
    }
}

fn is_full(folder: &Path) -> bool {
    fslab_sys::available_bytes(folder).is_ok_and(|room| room < FULL_BYTES)
}

/// The folder that a user knows: the one of all trials where the memory lies in that of this one.
fn memory_place(memory: &Path, share: &Share) -> PathBuf {
    let is_own = memory == share.folder();
    let outer = share.folder().parent().filter(|_| is_own);
    outer.unwrap_or(memory).to_owned()
}

fn name(failure: &mut Failure, folder: &Path) {
    let what = format!("the disk of {} is full", folder.display());
    failure.kind = FailureKind::NoSpace;
    match failure.message.strip_prefix(GUEST_DIED) {
        Some(rest) => {
            failure.causes.insert(0, format!("it died{rest}"));
            failure.message = format!("{GUEST_DIED}: {what}");
        }
        None => failure.causes.push(what),
    }
    let hint = "make room there, or name another place with --folder";
    failure.hint = Some(hint.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    // It was said to have died of SIGBUS, which is the kernel's word for a page of a file that the
    // disk has no room for.
    #[test]
    fn a_guest_kernel_that_died_of_a_full_disk_is_said_to() {
        let text = "the guest kernel died of SIGBUS during 'write'";
        let mut failure = Failure::new(FailureKind::Crash, text);
        name(&mut failure, Path::new("/images"));
        assert_eq!(
            failure.message,
            "the guest kernel died: the disk of /images is full"
        );
        assert_eq!(failure.causes, ["it died of SIGBUS during 'write'"]);
        assert_eq!(failure.kind, FailureKind::NoSpace);
        assert!(failure.hint.is_some_and(|hint| hint.contains("--folder")));
    }

    #[test]
    fn a_trial_that_failed_on_a_full_disk_keeps_its_own_words() {
        let mut failure = Failure::new(FailureKind::Io, "cannot write: EIO");
        name(&mut failure, Path::new("/images"));
        assert_eq!(failure.message, "cannot write: EIO");
        assert_eq!(failure.causes, ["the disk of /images is full"]);
    }
}
