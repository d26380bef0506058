//! The first process of a guest: it mounts what a program expects of a system, runs the trial's
//! process, reaps what others leave, tells how it ended, and switches the guest off.
//!
//! Invariant: it never returns and never panics, since the kernel would panic with it; what goes
//! wrong stands on the console.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use fslab_sys::MountFlags;

use super::share::{EXCHANGE, Exchange, TrialStatus};

/// Names the trial's folder, on the kernel's command line and so in the environment of init.
pub(super) const SHARE_VARIABLE: &str = "FSLAB_SHARE";
/// Where the exchange is seen in the guest.
pub(crate) const SHARE_IN_GUEST: &str = "/tmp/share";
/// Where the trial mounts its file system.
pub(crate) const MOUNT_POINT: &str = "/tmp/mnt";
/// The guest's disk, where it is an image of the host's and no more.
pub(crate) const DISK: &str = "/dev/ubda";
/// The guest's disk, where it is simulated.
pub(crate) const SIMULATED_DISK: &str = "/dev/simdisk";
/// The root is the host's and read-only; here programs may write. Those that the host does not
/// have are left out.
const WRITABLE: [&str; 6] = [
    "/tmp",
    "/run",
    "/var/tmp",
    "/var/lib/nilfs",
    "/root",
    "/etc/zfs",
];
/// The terminal of a shell.
const CONSOLE: &str = "/dev/tty0";
/// Where the kernel is told that no hostfs is to be mounted any more; fslab's driver has it.
const HOSTFS_SEALED: &str = "/sys/module/fslab/parameters/hostfs_sealed";
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
    let share = std::env::var_os(SHARE_VARIABLE);
    let Some(share) = share.filter(|_| std::process::id() == 1) else {
        return Err(io::Error::other("it is the first process of a guest alone"));
    };
    if let Err(error) = serve(task, share) {
        // Nobody but the console is there to be told.
        eprintln_to_console(&format!("the guest cannot run its task: {error}"));
    }
    fslab_sys::power_off()
}

fn serve(task: GuestTask, share: OsString) -> io::Result<()> {
    mount_system()?;
    fs::create_dir(MOUNT_POINT)?;
    fs::create_dir(SHARE_IN_GUEST)?;
    let exchange = mount_exchange(&PathBuf::from(share))?;
    seal_hostfs()?;
    // A kernel without the detector has no such file.
    let _ = fs::write("/proc/sys/kernel/hung_task_timeout_secs", HUNG_TASK_S);
    if Path::new(SIMULATED_DISK).exists() {
        fix_dirty_limits()?;
    }
    match task {
        GuestTask::Trial => {
            let status = reap_until_gone(&spawn_trial(&exchange)?)?;
            exchange.write_status(TrialStatus::from(status))
        }
        GuestTask::Shell => reap_until_gone(&spawn_shell()?).map(drop),
    }
}

/// Mounts the one folder of the host that is written here.
fn mount_exchange(share: &Path) -> io::Result<Exchange> {
    let folder = share.join(EXCHANGE);
    let folder = folder.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    let target = Path::new(SHARE_IN_GUEST);
    let flags = MountFlags::empty();
    fslab_sys::mount(Path::new("none"), target, "hostfs", flags, folder)?;
    Ok(Exchange::at(target))
}

/// From here on root cannot mount the host's files a second time, nor make the root writable.
/// Nothing was started yet that could have done so before.
fn seal_hostfs() -> io::Result<()> {
    let is_sealed = fs::write(HOSTFS_SEALED, "1")
        .and_then(|()| fs::read_to_string(HOSTFS_SEALED))
        .is_ok_and(|text| text.trim() == "1");
    if is_sealed {
        return Ok(());
    }
    let text = "this kernel does not give up hostfs; `fslab lab build` makes one that does";
    Err(io::Error::other(text))
}

/// Linux lets a tenth of what memory happens to be free be dirty before it writes in the
/// background, and a fifth before writers wait. Here it is a tenth and a fifth of all memory, so
/// that the moment at which that begins does not depend on how large a program is.
fn fix_dirty_limits() -> io::Result<()> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let total = text.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?;
        kibibytes.parse::<u64>().ok()
    });
    let total_bytes = total.ok_or(io::ErrorKind::InvalidData)? << 10;
    for (name, share) in [("dirty_bytes", 5), ("dirty_background_bytes", 10)] {
        let limit = (total_bytes / share).next_multiple_of(4096);
        fs::write(format!("/proc/sys/vm/{name}"), limit.to_string())?;
    }
    Ok(())
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

fn spawn_trial(exchange: &Exchange) -> io::Result<Child> {
    let events = File::options()
        .append(true)
        .create(true)
        .open(exchange.events())?;
    clean(Command::new("/proc/self/exe").arg("trial"))
        .stdin(File::open(exchange.spec())?)
        .stdout(events)
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
    use std::io::Write;
    let _ = writeln!(io::stderr(), "{text}");
}
