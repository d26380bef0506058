//! A guest's init: mounts the system's file systems, runs the trial's process, reaps orphans,
//! writes the exit status, and powers off.
//!
//! Invariant: it never returns and never panics, since the kernel would panic; errors go to the
//! console.

use fslab_sys::os::ExitStatusExt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use fslab_lab::WRITABLE;
use fslab_sys::MountFlags;

use super::overlay::mount_layers;
use super::share::TrialStatus;

/// Mount point of the trial's file system.
pub(crate) const MOUNT_POINT: &str = "/tmp/mnt";
/// The guest's first disk, if it is a plain image of the host.
pub(crate) const DISK: &str = "/dev/ubda";
/// The guest's first disk, if it is simulated.
const SIMULATED_DISK: &str = "/dev/simdisk";
/// The terminal of a shell.
const CONSOLE: &str = "/dev/tty0";
/// The trial's standard input, or what a shell runs first; the trial's standard output and exit
/// status: devices of fslab's driver, backed by files of the host.
const SPEC: &str = "/dev/fslab-spec";
const EVENTS: &str = "/dev/fslab-events";
pub(crate) const STATUS: &str = "/dev/fslab-status";
/// Heap of the guest's first process, which waits for the trial.
const HEAP_BYTES: i32 = 1 << 20;
/// Stack of the worker thread: allocated at once, so that it does not grow later.
const STACK_BYTES: usize = 1 << 20;
/// Seconds of blocked I/O after which the kernel reports a hung task.
const HUNG_TASK_S: &str = "60";

/// The guest's disk of a number, from 0, if it is a plain image of the host.
pub(crate) fn disk_path(number: usize) -> String {
    format!("/dev/ubd{}", letter(number))
}

/// The guest's disk of a number, from 0, if it is simulated.
pub(crate) fn simulated_disk_path(number: usize) -> String {
    match number {
        0 => SIMULATED_DISK.to_owned(),
        _ => format!("{SIMULATED_DISK}{}", letter(number)),
    }
}

/// The kernel's letter of a disk.
fn letter(number: usize) -> char {
    ('a'..='z').nth(number).unwrap_or('z')
}

/// Task of a guest's init.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum GuestTask {
    /// Runs a trial.
    Trial,
    /// Runs an interactive shell.
    Shell,
    /// Judges states of the simulated disk after a power loss.
    States,
}

impl GuestTask {
    /// Console parameters: the host's standard output; for a shell also its standard input.
    pub(super) fn console(self) -> &'static str {
        match self {
            Self::Trial | Self::States => "con0=null,fd:1",
            Self::Shell => "con0=fd:0,fd:1",
        }
    }

    const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    fn word(self) -> &'static str {
        self.into()
    }

    /// Arguments of the program in the guest.
    pub(super) fn arguments(self) -> impl Iterator<Item = &'static str> {
        ["guest-init", self.word()].into_iter()
    }

    /// The task that `word` names in the arguments of the program in the guest.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|task| task.word() == word)
    }
}

/// Runs `task` as a guest's init and powers the guest off.
///
/// # Errors
/// If this process is not PID 1; nothing has been done then.
pub fn run_as_init(task: GuestTask) -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other(
            "only the first process of a guest may do this",
        ));
    }
    if let Err(error) = serve(task) {
        // The console is the only way to report it.
        eprintln_to_console(&format!("the guest cannot run its task: {error}"));
    }
    fslab_sys::power_off()
}

fn serve(task: GuestTask) -> io::Result<()> {
    mount_layers()?;
    mount_system()?;
    fs::create_dir(MOUNT_POINT)?;
    // A kernel without the hung-task detector has no such file.
    let _ = fs::write("/proc/sys/kernel/hung_task_timeout_secs", HUNG_TASK_S);
    let measured_kib = measured_memory_kib()?;
    if let Some(kib) = measured_kib {
        fix_limits(kib)?;
        fslab_sys::lock_memory(HEAP_BYTES)?;
    }
    let is_measured = measured_kib.is_some();
    let work = thread::Builder::new().stack_size(STACK_BYTES);
    let worker = work.spawn(move || match task {
        GuestTask::Trial => {
            reap_until_gone(&spawn_program("trial", is_measured)?).and_then(write_status)
        }
        // The host knows its end by its messages, and the device of the status is their turn.
        GuestTask::States => {
            reap_until_gone(&spawn_program("judge-states", is_measured)?).map(drop)
        }
        GuestTask::Shell => reap_until_gone(&spawn_shell()?).map(drop),
    })?;
    worker
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))
}

/// Size of the memory under measurement; `None` in real time, where memory is not split.
fn measured_memory_kib() -> io::Result<Option<u64>> {
    if !Path::new(SIMULATED_DISK).exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(fslab_sys::MEASURED_MEMORY)?;
    let kib = text.trim().parse().map_err(io::Error::other)?;
    Ok(Some(kib))
}

/// Writes the trial's exit status.
fn write_status(status: ExitStatus) -> io::Result<()> {
    let text = serde_json::to_vec(&TrialStatus::from(status))?;
    File::options().write(true).open(STATUS)?.write_all(&text)
}

/// Linux derives limits from the memory that is free at boot: thresholds of dirty pages and the
/// reserve. Here they follow from the memory under measurement: at most a tenth (background) and a
/// fifth of it are dirty, and the reserve is what Linux computes for that size.
fn fix_limits(measured_kib: u64) -> io::Result<()> {
    let bytes = measured_kib << 10;
    for (name, share) in [("dirty_bytes", 5), ("dirty_background_bytes", 10)] {
        let limit = (bytes / share).next_multiple_of(4096);
        fs::write(format!("/proc/sys/vm/{name}"), limit.to_string())?;
    }
    // Compaction would move pages of fslab, whose number depends on the build. Not every kernel has
    // compaction.
    let _ = fs::write("/proc/sys/vm/compact_unevictable_allowed", "0");
    let reserve_kib = measured_kib
        .saturating_mul(16)
        .isqrt()
        .clamp(128, 256 << 10);
    fs::write("/proc/sys/vm/min_free_kbytes", reserve_kib.to_string())
}

/// Mounts the file systems that programs expect.
fn mount_system() -> io::Result<()> {
    let kernel = [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")];
    for (fs_type, target) in kernel {
        mount_over(fs_type, target, "").or_else(|error| {
            // A kernel may have mounted devtmpfs already.
            let is_there = error.kind() == io::ErrorKind::ResourceBusy;
            if is_there { Ok(()) } else { Err(error) }
        })?;
    }
    // POSIX semaphores are kept there, as those of NILFS2's cleaner.
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

/// Starts the trial, or what a guest does instead. If memory is measured, its programs are loaded
/// the same way on every CPU.
fn spawn_program(name: &str, is_measured: bool) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    clean(command.arg(name));
    if is_measured {
        fslab_sys::load_uniformly(&mut command);
    }
    command
        .stdin(File::open(SPEC)?)
        .stdout(File::options().write(true).open(EVENTS)?)
        .stderr(Stdio::inherit())
        .spawn()
}

fn spawn_shell() -> io::Result<Child> {
    let console = || File::options().read(true).write(true).open(CONSOLE);
    // Job control needs a separate session on the console.
    let bash = ["/bin/bash", "--rcfile", SPEC, "-i"];
    clean(Command::new("setsid").args(["--ctty", "--wait"]).args(bash))
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

/// Waits for `child`, and reaps every orphan on the way: init is their parent.
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
