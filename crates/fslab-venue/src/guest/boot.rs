//! How a guest kernel is started: User-Mode Linux, an ordinary process of the user's.
//!
//! Invariant: the command line names no folder of the host. A kernel's random numbers begin with
//! its command line, so a path would make two runs of one plan differ.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fslab_model::{Bytes, DiskQueue, Failure, FailureKind, SimulatedDisk};

use super::init::GuestTask;
use super::share::{IMAGE, MODEL, PROGRAM, Share, TRACE};

/// Where a guest keeps its memory if there is room: a file on a disk would be written back.
const SHARED_MEMORY: &str = "/dev/shm";
/// The least that boots and runs every mkfs and fsck of the catalogue on small devices.
const MEMORY_MIN: Bytes = Bytes::mib(128);
/// From errors down to warnings: what a file system complains of stands on the console.
const CONSOLE_LEVEL: u32 = 5;
/// The folder in which the kernel was started, in the host's eyes: the shared one.
const STARTED_IN: &str = "/proc/self/cwd";
/// Where virtual time begins, in seconds since 1970: the first of January 2024. A file's time
/// stamps are the same in every run.
const VIRTUAL_START_S: u64 = 1_704_067_200;

/// A guest kernel to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestSettings {
    /// The kernel's binary.
    pub kernel: PathBuf,
}

/// A guest that can be booted.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    kernel: PathBuf,
    memory: Bytes,
    clock: Clock,
}

/// What time is in a guest.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    /// That of the host. Its programs may read it from the processor's counter.
    Real { counter_hz: Option<u64> },
    /// It moves only while the simulated disk works, or while everybody sleeps.
    Virtual { disk: SimulatedDisk },
}

impl Clock {
    /// The host's.
    pub(crate) fn real() -> Self {
        Self::Real {
            counter_hz: fslab_sys::counter_frequency(),
        }
    }
}

impl Guest {
    pub(crate) fn new(
        settings: &GuestSettings,
        memory: Bytes,
        clock: Clock,
    ) -> Result<Self, Failure> {
        if memory < MEMORY_MIN {
            let text = format!("a guest with {memory} of memory does not boot");
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint(format!("--memory {MEMORY_MIN} or more")));
        }
        Ok(Self {
            kernel: settings.kernel.clone(),
            memory,
            clock,
        })
    }

    pub(crate) fn memory(&self) -> Bytes {
        self.memory
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The command that boots it with `task` as its first process; its console is standard output.
    /// It ends with this process, and leaves no core. Where time is virtual, every random number of
    /// the guest follows from `seed`.
    pub(crate) fn command(&self, share: &Share, task: GuestTask, seed: u64) -> Command {
        let mut command = Command::new(&self.kernel);
        command
            .args(self.arguments(share, task, seed))
            .current_dir(share.folder())
            .env_clear()
            .env("TMPDIR", self.memory_folder(share))
            .env("HOME", share.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        fslab_sys::end_with_parent(&mut command);
        if matches!(self.clock, Clock::Virtual { .. }) {
            fslab_sys::without_address_randomisation(&mut command);
        }
        command
    }

    fn arguments(&self, share: &Share, task: GuestTask, seed: u64) -> Vec<String> {
        let words = [
            format!("mem={}K", self.memory.0 >> 10),
            "root=/dev/root".into(),
            "rootfstype=hostfs".into(),
            "rootflags=/".into(),
            "ro".into(),
            format!("init={STARTED_IN}/{PROGRAM}"),
            "con=null".into(),
            task.console().into(),
            // `quiet` silences the loader, and what follows lets the kernel speak again.
            "quiet".into(),
            format!("loglevel={CONSOLE_LEVEL}"),
            "panic=1".into(),
            "oops=panic".into(),
            "umid=guest".into(),
            "uml_dir=uml".into(),
            format!("{}={STARTED_IN}", super::init::SHARE_VARIABLE),
        ];
        let disk = match &self.clock {
            Clock::Real { .. } if share.image().exists() => vec![format!("ubd0={IMAGE}")],
            Clock::Real { .. } => Vec::new(),
            Clock::Virtual { disk } => simulation(disk, seed),
        };
        // Words that the kernel does not know are arguments of init.
        words
            .into_iter()
            .chain(disk)
            .chain(task.arguments().map(str::to_owned))
            .collect()
    }

    /// Room for the guest's memory. Both are files that are unlinked as soon as they are open.
    fn memory_folder(&self, share: &Share) -> PathBuf {
        let shared = Path::new(SHARED_MEMORY);
        let has_room = fslab_sys::available_bytes(shared).is_ok_and(|room| room >= self.memory.0);
        if has_room && may_execute(shared) {
            shared.to_owned()
        } else {
            share.folder().to_owned()
        }
    }
}

/// Whether programs may be run from the mount at `place`: a guest's memory holds programs.
fn may_execute(place: &Path) -> bool {
    fslab_fs::recognise(place).is_ok_and(|found| !found.options.iter().any(|it| it == "noexec"))
}

/// What the kernel is told of virtual time and of the disk that moves it.
fn simulation(disk: &SimulatedDisk, seed: u64) -> Vec<String> {
    let DiskQueue {
        max_request_bytes,
        physical_block_bytes,
        discard_bytes,
        write_cache,
        fua,
        rotational,
        scheduler,
    } = disk.queue;
    let numbers = [
        ("max_request_bytes", max_request_bytes),
        ("physical_block_bytes", physical_block_bytes),
        ("discard_bytes", discard_bytes),
        ("write_cache", write_cache.into()),
        ("fua", fua.into()),
        ("rotational", rotational.into()),
        ("scheduler", scheduler.into()),
    ];
    let numbers: String = numbers
        .iter()
        .map(|(name, number)| format!(",{name}={number}"))
        .collect();
    vec![
        "time-travel=inf-cpu".into(),
        format!("time-travel-start={VIRTUAL_START_S}000000000"),
        format!("simdisk_seed={seed}"),
        format!("simdisk=model={MODEL},image={IMAGE},trace={TRACE}{numbers}"),
    ]
}
