//! The first process of a guest: it mounts what a program expects of a system, runs the trial's
//! process, reaps what others leave, notes how it ended, and switches the guest off.
//!
//! Invariant: it never returns and never panics, since the kernel would panic with it; what goes
//! wrong stands on the console.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use fslab_lab::WRITABLE;
use fslab_sys::MountFlags;

use super::overlay::mount_layers;
use super::share::TrialStatus;

/// Where the trial mounts its file system.
pub(crate) const MOUNT_POINT: &str = "/tmp/mnt";
/// The guest's disk, where it is an image of the host's and no more.
pub(crate) const DISK: &str = "/dev/ubda";
/// The guest's disk, where it is simulated.
pub(crate) const SIMULATED_DISK: &str = "/dev/simdisk";
/// The terminal of a shell.
const CONSOLE: &str = "/dev/tty0";
/// The trial's standard input, its standard output, and what is said of its end: devices of fslab's
/// driver, files of the host.
const SPEC: &str = "/dev/fslab-spec";
const EVENTS: &str = "/dev/fslab-events";
const STATUS: &str = "/dev/fslab-status";
/// The stack of the thread that does the work: it is there at once, and does not grow.
const STACK_BYTES: usize = 1 << 20;
/// A task that waits longer for a disk is said to hang.
const HUNG_TASK_S: &str = "60";

/// What the first process is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestTask {
    /// One trial.
    Trial,
    /// A shell on the console, for the curious.
    Shell,
}

impl GuestTask {
    /// The console: the host's standard output, for a shell its standard input too.
    pub(super) fn console(self) -> &'static str {
        match self {
            Self::Trial => "con0=null,fd:1",
            Self::Shell => "con0=fd:0,fd:1",
        }
    }

    /// What follows the program's name in the guest.
    pub(super) fn arguments(self) -> impl Iterator<Item = &'static str> {
        match self {
            Self::Trial => ["guest-init", "trial"],
            Self::Shell => ["guest-init", "shell"],
        }
        .into_iter()
    }
}

/// Does the work of a guest's first process and switches the guest off.
///
/// # Errors
/// Where this process is not the first of its system: then nothing was done.
pub fn run_as_init(task: GuestTask) -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("it is the first process of a guest alone"));
    }
    if let Err(error) = serve(task) {
        // Only the console is there to show it.
        eprintln_to_console(&format!("the guest cannot run its task: {error}"));
    }
    fslab_sys::power_off()
}

fn serve(task: GuestTask) -> io::Result<()> {
    mount_layers()?;
    mount_system()?;
    fs::create_dir(MOUNT_POINT)?;
    // A kernel without the detector has no such file.
    let _ = fs::write("/proc/sys/kernel/hung_task_timeout_secs", HUNG_TASK_S);
    let measured_kib = measured_memory_kib()?;
    if let Some(kib) = measured_kib {
        fix_limits(kib)?;
        fslab_sys::hold_memory()?;
    }
    let is_measured = measured_kib.is_some();
    let work = thread::Builder::new().stack_size(STACK_BYTES);
    let worker = work.spawn(move || match task {
        GuestTask::Trial => reap_until_gone(&spawn_trial(is_measured)?).and_then(write_status),
        GuestTask::Shell => reap_until_gone(&spawn_shell()?).map(drop),
    })?;
    worker
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))
}

/// The memory that will be measured; `None` where the time is real, and all memory is one.
fn measured_memory_kib() -> io::Result<Option<u64>> {
    if !Path::new(SIMULATED_DISK).exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(fslab_sys::MEASURED_MEMORY)?;
    let kib = text.trim().parse().map_err(io::Error::other)?;
    Ok(Some(kib))
}

/// Notes how the trial ended.
fn write_status(status: ExitStatus) -> io::Result<()> {
    let text = serde_json::to_vec(&TrialStatus::from(status))?;
    File::options().write(true).open(STATUS)?.write_all(&text)
}

/// Linux derives limits from memory that happens to be free: when it writes in the background, when
/// writers wait, and how much it keeps in reserve. Here they follow from the memory that is
/// measured: a tenth and a fifth of it are dirty at most, and the reserve is what Linux would take
/// of it alone.
fn fix_limits(measured_kib: u64) -> io::Result<()> {
    let bytes = measured_kib << 10;
    for (name, share) in [("dirty_bytes", 5), ("dirty_background_bytes", 10)] {
        let limit = (bytes / share).next_multiple_of(4096);
        fs::write(format!("/proc/sys/vm/{name}"), limit.to_string())?;
    }
    // Compaction would move pages of fslab, as many as its build has. Not every kernel compacts.
    let _ = fs::write("/proc/sys/vm/compact_unevictable_allowed", "0");
    let reserve_kib = measured_kib
        .saturating_mul(16)
        .isqrt()
        .clamp(128, 256 << 10);
    fs::write("/proc/sys/vm/min_free_kbytes", reserve_kib.to_string())
}

/// What programs expect of a running system.
fn mount_system() -> io::Result<()> {
    let kernel = [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")];
    for (fs_type, target) in kernel {
        mount_over(fs_type, target, "").or_else(|error| {
            // devtmpfs is there already where the kernel mounts it by itself.
            let is_there = error.kind() == io::ErrorKind::ResourceBusy;
            if is_there { Ok(()) } else { Err(error) }
        })?;
    }
    // Semaphores lie there: those of NILFS2's cleaner, for one.
    fs::create_dir("/dev/shm")?;
    mount_over("tmpfs", "/dev/shm", "mode=1777")?;
    for target in WRITABLE {
        match mount_over("tmpfs", target, "mode=0755") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            mounted => mounted?,
        }
    }
    fs::create_dir_all("/run/lock")
}

fn mount_over(fs_type: &str, target: &str, data: &str) -> io::Result<()> {
    let flags = MountFlags::empty();
    fslab_sys::mount(Path::new(fs_type), Path::new(target), fs_type, flags, data)
}

/// Starts the trial. Where memory is measured, its programs are loaded alike on every processor.
fn spawn_trial(is_measured: bool) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    clean(command.arg("trial"));
    if is_measured {
        fslab_sys::load_alike(&mut command);
    }
    command
        .stdin(File::open(SPEC)?)
        .stdout(File::options().write(true).open(EVENTS)?)
        .stderr(Stdio::inherit())
        .spawn()
}

fn spawn_shell() -> io::Result<Child> {
    let console = || File::options().read(true).write(true).open(CONSOLE);
    // Without a session of its own on the console, a shell has no control over its jobs.
    clean(Command::new("setsid").args(["--ctty", "--wait", "/bin/bash", "--norc", "-i"]))
        .env("TERM", "linux")
        .env("PS1", "guest:\\w# ")
        .current_dir("/tmp")
        .stdin(console()?)
        .stdout(console()?)
        .stderr(console()?)
        .spawn()
}

fn clean(command: &mut Command) -> &mut Command {
    command
        .env_clear()
        .env("PATH", fslab_sys::PLAIN_PATH)
        .env("LC_ALL", "C")
        .env("HOME", "/root")
}

/// Waits for `child`, and on the way for every process whose parent is gone: they are ours now.
fn reap_until_gone(child: &Child) -> io::Result<ExitStatus> {
    loop {
        let (pid, status) = fslab_sys::wait_for_any_child()?;
        if pid == child.id() {
            return Ok(ExitStatus::from_raw(status));
        }
    }
}

fn eprintln_to_console(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
