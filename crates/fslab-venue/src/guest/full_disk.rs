//! Detects that a guest's trial failed because the host's disk was full: the guest only sees a disk
//! error, or dies when a page of its memory file cannot be allocated.

use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind, TrialOutcome, TrialRecord};

use super::boot::Guest;
use super::share::Share;

/// A disk with less free space is full.
const FULL_BYTES: u64 = 1 << 20;
/// Traces of a process whose memory file cannot grow: a signal, or a console message.
const NO_PAGE: [&str; 3] = ["SIGBUS", "Bus error", "signal 7"];
/// Start of the failure message for a guest kernel that died.
const GUEST_DIED: &str = "the guest kernel died";

/// Names the full disk in a failed `record`. Must be called before the guest's folder is removed.
/// The guest's memory is freed by then, so that a full disk below it shows by the signal alone.
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

/// The folder that the user knows: the one for all trials, if the memory file is in this trial's.
fn memory_place(memory: &Path, share: &Share) -> PathBuf {
    let is_own = memory == share.folder();
    let outer = share.folder().parent().filter(|_| is_own);
    outer.unwrap_or(memory).to_owned()
}

fn name(failure: &mut Failure, folder: &Path) {
    let what = format!("the disk of {} is full", folder.display());
    failure.kind = FailureKind::Host;
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

    // The failure had been reported as SIGBUS, the signal for a page of a file that the disk has no
    // room for.
    #[test]
    fn the_failure_of_a_guest_kernel_names_the_full_disk() {
        let text = "the guest kernel died of SIGBUS during 'write'";
        let mut failure = Failure::new(FailureKind::Crash, text);
        name(&mut failure, Path::new("/images"));
        assert_eq!(
            failure.message,
            "the guest kernel died: the disk of /images is full"
        );
        assert_eq!(failure.causes, ["it died of SIGBUS during 'write'"]);
        assert_eq!(failure.kind, FailureKind::Host);
        assert!(failure.hint.is_some_and(|hint| hint.contains("--folder")));
    }

    #[test]
    fn a_trial_that_failed_on_a_full_disk_keeps_its_own_message() {
        let mut failure = Failure::new(FailureKind::Io, "cannot write: EIO");
        name(&mut failure, Path::new("/images"));
        assert_eq!(failure.message, "cannot write: EIO");
        assert_eq!(failure.causes, ["the disk of /images is full"]);
    }
}
