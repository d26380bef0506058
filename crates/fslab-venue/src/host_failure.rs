//! Decides which failed trials failed because of their host: they are no result of the subject, are
//! not stored, and a resumed run repeats them.
//!
//! This is the one place for what a trial has recorded. How its process ended is decided in
//! [`crate::child`], and what could not be prepared in [`of_preparation`].

use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind, TrialOutcome, TrialRecord};
use fslab_sys::ProcessLimit;

/// Start of the failure message for a guest kernel that died.
const GUEST_DIED: &str = "the guest kernel died";
/// What the kernel says of a request that the file below a disk had no room for, and of one that
/// failed in it. Only the host's disk can fail below an image.
const NO_ROOM_BELOW: &str = "space allocation error, dev ";
const FAILED_BELOW: &str = "i/o error, dev ";
/// Traces of a process whose memory file cannot grow: a signal, or a console message.
const NO_PAGE: [&str; 3] = ["SIGBUS", "Bus error", "signal 7"];
/// What the first process of a guest says if it cannot hand over how its trial ended.
const NO_STATUS: &str = "the guest cannot run its task: No space left";
/// What a guest kernel says if the host gives it no further process or memory.
const NO_PROCESS: [&str; 4] = [
    "clone failed, errno = 11",
    "clone failed, errno = 12",
    "mmap failed, errno = 12",
    "mmap failed, err = 12",
];
/// What it says if it dies by itself.
const PANIC: &str = "Kernel panic";
/// What it says if another program has stopped or continued its processes: the numbers of the
/// signals that stop and continue, alone and in a status of wait(2).
const STOPPED: [&str; 4] = [
    "child stopped with signal 18",
    "child stopped with signal 19",
    "status = 0x127f",
    "status = 0x137f",
];
/// What a process of this system prints before it dies for lack of memory or of threads.
const NO_MEMORY: &str = "memory allocation of ";
const NO_THREAD: &str = "failed to spawn thread";

/// Where and how a trial ran.
pub(crate) struct Scene<'a> {
    /// The directory of images that the user knows; `None` if the disk is no image.
    pub(crate) images: Option<&'a Path>,
    /// True if the disk of that directory was full while the trial ran.
    pub(crate) was_full: bool,
    /// The directory of a guest's memory, as the user knows it; `None` for a process of this
    /// system.
    pub(crate) guest_memory: Option<PathBuf>,
    /// True if this run was asked to stop.
    pub(crate) is_stopping: bool,
}

/// What the host lacked.
#[derive(Debug, PartialEq, Eq)]
enum Lack {
    /// Room on the disk of this directory.
    Room(PathBuf),
    /// A disk below this directory that works.
    Disk(PathBuf),
    /// Something else, with a hint.
    Other(String, &'static str),
}

const PROCESS_HINT: &str = "see the limits of this user (ulimit -a) and of its control group, or \
                            run fewer trials at a time with --jobs";
const OUTSIDE_HINT: &str = "another program did this; run the same command with --resume";

/// Gives a failure of the host its kind, with the reason.
pub(crate) fn charge_host(record: &mut TrialRecord, scene: &Scene<'_>) {
    let TrialOutcome::Failed { failure } = &record.outcome else {
        return;
    };
    let Some(lack) = lack_in(record, failure, scene) else {
        return;
    };
    if let TrialOutcome::Failed { failure } = &mut record.outcome {
        name(failure, lack);
    }
}

fn lack_in(record: &TrialRecord, failure: &Failure, scene: &Scene<'_>) -> Option<Lack> {
    match failure.kind {
        FailureKind::Interrupted if scene.is_stopping => return None,
        FailureKind::Interrupted => {
            let what = "it was stopped, and not by this run".to_owned();
            return Some(Lack::Other(what, OUTSIDE_HINT));
        }
        FailureKind::Host | FailureKind::Timeout => return None,
        _ => {}
    }
    let below = scene.images.and_then(|images| lack_below(record, images));
    let lack = below.or_else(|| {
        let images = scene.images.filter(|_| scene.was_full)?;
        Some(Lack::Room(images.to_owned()))
    });
    lack.or_else(|| match &scene.guest_memory {
        Some(memory) => lack_of_guest(record, failure, (scene.images, memory)),
        None => lack_of_process(record, failure),
    })
}

/// What the kernel said of the disk, whose image is in `images`.
fn lack_below(record: &TrialRecord, images: &Path) -> Option<Lack> {
    let logged = record
        .kernel_log
        .iter()
        .map(|message| message.text.as_str());
    let lines: Vec<String> = logged
        .chain(record.console.lines())
        .map(str::to_ascii_lowercase)
        .collect();
    let says = |text: &str| lines.iter().any(|line| line.contains(text));
    if says(NO_ROOM_BELOW) {
        return Some(Lack::Room(images.to_owned()));
    }
    says(FAILED_BELOW).then(|| Lack::Disk(images.to_owned()))
}

fn lack_of_guest(
    record: &TrialRecord,
    failure: &Failure,
    (images, memory): (Option<&Path>, &Path),
) -> Option<Lack> {
    let console = record.console.as_str();
    let says = |signs: &[&str]| signs.iter().any(|sign| console.contains(sign));
    if says(&[NO_STATUS]) {
        return images.map(|images| Lack::Room(images.to_owned()));
    }
    if says(&NO_PAGE) || NO_PAGE.iter().any(|sign| failure.message.contains(sign)) {
        return Some(Lack::Room(memory.to_owned()));
    }
    if !failure.message.starts_with(GUEST_DIED) {
        return None;
    }
    if says(&NO_PROCESS) {
        let what = "the host denied it a further process or memory".to_owned();
        return Some(Lack::Other(what, PROCESS_HINT));
    }
    if says(&STOPPED) {
        let what = "its processes were stopped and continued".to_owned();
        return Some(Lack::Other(what, OUTSIDE_HINT));
    }
    let limit = fslab_sys::process_limit(ProcessLimit::AddressSpace)?;
    (!says(&[PANIC])).then(|| {
        let what = format!("processes of this user may have {limit} bytes of memory");
        Lack::Other(what, "raise the limit: ulimit -v unlimited")
    })
}

/// What a process of this system lacked, whose kernel is the host's.
fn lack_of_process(record: &TrialRecord, failure: &Failure) -> Option<Lack> {
    let lack = |what: &str| Lack::Other(format!("the host has no more {what}"), PROCESS_HINT);
    if failure.kind == FailureKind::MissingTool {
        let what = "a program of this machine is missing".to_owned();
        return Some(Lack::Other(
            what,
            "install it, then run the same command with --resume",
        ));
    }
    if let Some(what) = failure.errno.and_then(fslab_sys::lack_of_machine) {
        return Some(lack(what));
    }
    if failure.kind == FailureKind::Crash && record.console.contains(NO_MEMORY) {
        return Some(lack("memory for it"));
    }
    if failure.kind == FailureKind::Crash && record.console.contains(NO_THREAD) {
        return Some(lack("threads for it"));
    }
    let is_too_large = failure.errno.is_some_and(|errno| {
        std::io::Error::from_raw_os_error(errno).kind() == std::io::ErrorKind::FileTooLarge
    });
    let limit = fslab_sys::process_limit(ProcessLimit::FileSize)?;
    is_too_large.then(|| {
        let what = format!("files of this process may have {limit} bytes");
        Lack::Other(what, "raise the limit (ulimit -f unlimited)")
    })
}

fn name(failure: &mut Failure, lack: Lack) {
    let (what, hint) = match lack {
        Lack::Room(folder) => (
            format!("the disk of {} is full", folder.display()),
            "free space there, or use another directory with --images",
        ),
        Lack::Disk(folder) => (
            format!("the disk of {} failed", folder.display()),
            "see the host's log; use a directory on another disk with --images",
        ),
        Lack::Other(what, hint) => (what, hint),
    };
    failure.kind = FailureKind::Host;
    match failure.message.strip_prefix(GUEST_DIED) {
        Some(rest) => {
            failure.causes.insert(0, format!("it died{rest}"));
            failure.message = format!("{GUEST_DIED}: {what}");
        }
        None => failure.causes.push(what),
    }
    failure.hint = Some(hint.to_owned());
}

/// The failure of a trial that never began: what could not be prepared is of the host.
pub(crate) fn of_preparation(mut failure: Failure) -> Failure {
    match failure.kind {
        FailureKind::NoSpace
        | FailureKind::Device
        | FailureKind::Io
        | FailureKind::Permission
        | FailureKind::MissingTool
        | FailureKind::Crash => failure.kind = FailureKind::Host,
        _ => {}
    }
    failure
}

#[cfg(test)]
mod tests {
    use fslab_model::KernelMessage;

    use super::*;
    use crate::sample_trial::sample_trial;

    fn record(failure: Failure) -> TrialRecord {
        sample_trial(TrialOutcome::Failed { failure })
    }

    const IMAGES: &str = "/images";

    fn guest() -> Scene<'static> {
        Scene {
            images: Some(Path::new(IMAGES)),
            was_full: false,
            guest_memory: Some("/dev/shm".into()),
            is_stopping: false,
        }
    }

    fn here() -> Scene<'static> {
        Scene {
            images: None,
            guest_memory: None,
            ..guest()
        }
    }

    fn charged(mut record: TrialRecord, scene: &Scene<'_>) -> Failure {
        charge_host(&mut record, scene);
        match record.outcome {
            TrialOutcome::Failed { failure } => failure,
            TrialOutcome::Done => panic!("has failed"),
        }
    }

    fn no_space() -> Failure {
        let error = std::io::Error::from_raw_os_error(28);
        Failure::new(FailureKind::NoSpace, "cannot write f")
            .because(&error)
            .hint("use a larger --size")
    }

    // The failure had been reported as SIGBUS, the signal for a page of a file that the disk has no
    // room for.
    #[test]
    fn the_failure_of_a_guest_kernel_names_the_full_disk() {
        let text = "the guest kernel died of SIGBUS during 'write'";
        let scene = Scene {
            was_full: true,
            ..guest()
        };
        let failure = charged(record(Failure::new(FailureKind::Crash, text)), &scene);
        assert_eq!(
            failure.message,
            "the guest kernel died: the disk of /images is full"
        );
        assert_eq!(failure.causes, ["it died of SIGBUS during 'write'"]);
        assert_eq!(failure.kind, FailureKind::Host);
        assert!(failure.hint.is_some_and(|hint| hint.contains("--images")));
    }

    // Beside parallel trials the disk was full for a moment: the failure was stored as one of ext4,
    // with the hint to take a larger --size.
    #[test]
    fn a_disk_that_was_full_while_the_trial_ran_is_named_and_a_full_subject_is_not() {
        let of_subject = charged(record(no_space()), &guest());
        assert_eq!(of_subject, no_space());
        let scene = Scene {
            was_full: true,
            ..guest()
        };
        let of_host = charged(record(no_space()), &scene);
        assert_eq!(of_host.kind, FailureKind::Host);
        assert!(
            of_host
                .causes
                .contains(&"the disk of /images is full".into())
        );
        assert!(of_host.hint.is_some_and(|hint| !hint.contains("--size")));
    }

    fn with_kernel_line(text: &str) -> TrialRecord {
        let mut record = record(no_space());
        record.kernel_log.push(KernelMessage {
            during: "write".into(),
            text: text.into(),
            times: 1,
            is_error: true,
        });
        record
    }

    #[test]
    fn an_error_of_the_file_below_the_disk_is_of_the_host_in_guests_and_behind_loop_devices() {
        for device in ["ubda", "simdisk", "loop3"] {
            let full = format!("critical space allocation error, dev {device}, sector 8 op 0x1");
            let failure = charged(with_kernel_line(&full), &guest());
            assert_eq!(failure.kind, FailureKind::Host, "{device}");
            let failing = format!("I/O error, dev {device}, sector 8 op 0x1:(WRITE)");
            let failure = charged(with_kernel_line(&failing), &guest());
            assert!(
                failure
                    .causes
                    .contains(&"the disk of /images failed".into())
            );
        }
        // A device that the user named is what is measured.
        let failing = with_kernel_line("I/O error, dev sdb, sector 8 op 0x1:(WRITE)");
        assert_eq!(charged(failing, &here()).kind, FailureKind::NoSpace);
        let full = with_kernel_line("EXT4-fs (ubda): no space left, error -28");
        assert_eq!(charged(full, &guest()).kind, FailureKind::NoSpace);
    }

    // The events of a trial are appended to a file of the same disk: a line that had no room was
    // stored as one that the trial had garbled.
    #[test]
    fn a_report_that_the_full_disk_cut_is_of_the_host() {
        let cut = || record(Failure::new(FailureKind::Protocol, "a line is no event"));
        assert_eq!(charged(cut(), &guest()).kind, FailureKind::Protocol);
        let scene = Scene {
            was_full: true,
            ..guest()
        };
        assert_eq!(charged(cut(), &scene).kind, FailureKind::Host);
        let mut died = record(Failure::new(FailureKind::Crash, "the guest kernel died"));
        died.console =
            "the guest cannot run its task: No space left on device (os error 28)".into();
        assert_eq!(charged(died, &guest()).kind, FailureKind::Host);
    }

    // SIGSTOP and SIGCONT to all processes: "the guest kernel died" was stored as the subject's.
    #[test]
    fn a_guest_whose_processes_were_stopped_or_that_got_none_is_no_result() {
        let died = || {
            record(Failure::new(
                FailureKind::Crash,
                "the guest kernel died of SIGABRT",
            ))
        };
        assert_eq!(charged(died(), &guest()).kind, FailureKind::Crash);
        for line in [
            "userspace - child stopped with signal 19",
            "wait_stub_done : failed to wait for SIGTRAP, pid = 5, n = 5, errno = 0, status = 0x137f",
            "start_userspace : clone failed, errno = 11",
        ] {
            let mut record = died();
            record.console = format!("[ 1.0] {line}\n");
            let failure = charged(record, &guest());
            assert_eq!(failure.kind, FailureKind::Host, "{line}");
            assert!(failure.message.starts_with("the guest kernel died: "));
        }
    }

    #[test]
    fn what_a_process_of_this_system_lacks_is_of_the_host_and_in_a_guest_of_the_subject() {
        for errno in [12, 23, 24] {
            let error = std::io::Error::from_raw_os_error(errno);
            let failure = || Failure::new(FailureKind::Io, "cannot open f").because(&error);
            assert_eq!(charged(record(failure()), &here()).kind, FailureKind::Host);
            assert_eq!(charged(record(failure()), &guest()).kind, FailureKind::Io);
        }
        let mut aborted = record(Failure::new(FailureKind::Crash, "died of SIGABRT"));
        aborted.console = "memory allocation of 65536 bytes failed\n".into();
        assert_eq!(charged(aborted, &here()).kind, FailureKind::Host);
        let io = Failure::new(FailureKind::Io, "x");
        assert_eq!(charged(record(io), &here()).kind, FailureKind::Io);
    }

    #[test]
    fn a_trial_that_another_program_interrupts_is_no_result() {
        let interrupted = || record(Failure::new(FailureKind::Interrupted, "was stopped"));
        assert_eq!(charged(interrupted(), &here()).kind, FailureKind::Host);
        let scene = Scene {
            is_stopping: true,
            ..here()
        };
        assert_eq!(
            charged(interrupted(), &scene).kind,
            FailureKind::Interrupted
        );
    }

    #[test]
    fn what_cannot_be_prepared_is_of_the_host_and_bad_input_is_not() {
        let prepared = |kind| of_preparation(Failure::new(kind, "x")).kind;
        for kind in [
            FailureKind::NoSpace,
            FailureKind::Device,
            FailureKind::Crash,
        ] {
            assert_eq!(prepared(kind), FailureKind::Host);
        }
        for kind in [FailureKind::BadInput, FailureKind::Interrupted] {
            assert_eq!(prepared(kind), kind);
        }
    }
}
