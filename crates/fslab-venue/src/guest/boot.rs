//! How a guest kernel is started: User-Mode Linux, an ordinary process of the user's.
//!
//! Invariant: the command line names no folder of the host. A kernel's random numbers begin with
//! its command line, so a path would make two runs of one plan differ. What the guest has of the
//! host stands in the folder in which its kernel starts: see [`super::share`].

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fslab_lab::PROGRAM_BYTES;
use fslab_model::{Bytes, DiskQueue, Failure, FailureKind, SimulatedDisk};
use fslab_sys::WriteLimits;

use super::init::GuestTask;
use super::share::{EXCHANGE, IMAGE, MODEL, OWN_PROGRAM, PROGRAM, ROOT, Share, TRACE, layer_name};

/// Where a guest keeps its memory if there is room: a file on a disk would be written back.
const SHARED_MEMORY: &str = "/dev/shm";
/// The least that boots and runs every mkfs and fsck of the catalogue on small devices.
const MEMORY_MIN: Bytes = Bytes::mib(128);
/// From errors down to warnings: what a file system complains of stands on the console.
const CONSOLE_LEVEL: u32 = 5;
/// Memory of a guest in virtual time in which it boots, and in which fslab's program stays; what is
/// measured has the rest. The largest programs, those without optimisation, take half of it.
const SET_UP_MEMORY: Bytes = Bytes::mib(256);
/// Where virtual time begins, in seconds since 1970: the first of January 2024. A file's time
/// stamps are the same in every run.
const VIRTUAL_START_S: u64 = 1_704_067_200;

/// A guest kernel to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestSettings {
    /// The kernel's binary.
    pub kernel: PathBuf,
    /// The image of its root.
    pub root: PathBuf,
    /// The digest of the lab that both belong to; it stands in each record.
    pub lab: String,
    /// How many guests run at a time.
    pub at_a_time: NonZeroUsize,
    /// Images of layers over the guest's root, the topmost first: `/dev/lab1` and so on.
    pub layers: Vec<PathBuf>,
}

/// A guest that can be booted.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    settings: GuestSettings,
    memory: Bytes,
    /// The memory that the kernel is given: that of the study, and what a trial is set up in.
    whole_memory: Bytes,
    /// Whether the memory of all guests that run at a time has room where it costs no writing back.
    is_memory_shared: bool,
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
        let whole_memory = match clock {
            Clock::Real { .. } => memory,
            Clock::Virtual { .. } => Bytes(memory.0.saturating_add(SET_UP_MEMORY.0)),
        };
        Ok(Self {
            settings: settings.clone(),
            memory,
            whole_memory,
            is_memory_shared: has_shared_room(whole_memory, settings.at_a_time),
            clock,
        })
    }

    /// Lets `share` have what this guest boots from: links to the images, and a copy of the running
    /// program, which may be replaced at any time.
    pub(crate) fn bring(&self, share: &Share) -> io::Result<()> {
        share.bring_program()?;
        share.bring_images(&self.settings.root, &self.settings.layers)
    }

    /// The room that a guest takes in the folder of its disk, without what is in the disk: the
    /// program, and the guest's memory where it lies there.
    pub(crate) fn room(&self) -> io::Result<Bytes> {
        let program = std::fs::metadata(OWN_PROGRAM)?.len();
        let memory = if self.is_memory_shared {
            0
        } else {
            self.whole_memory.0
        };
        Ok(Bytes(program.saturating_add(memory)))
    }

    /// The digest of the lab.
    pub(crate) fn lab(&self) -> &str {
        &self.settings.lab
    }

    pub(crate) fn at_a_time(&self) -> NonZeroUsize {
        self.settings.at_a_time
    }

    pub(crate) fn memory(&self) -> Bytes {
        self.memory
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The command that boots it with `task` as its first process; its console is standard output.
    /// It ends with this process, leaves no core, and writes nothing of the host but the folder of
    /// `share`, where the host's kernel sees to that. Where time is virtual, every random number of
    /// the guest follows from `seed`.
    pub(crate) fn command(
        &self,
        share: &Share,
        task: GuestTask,
        seed: u64,
    ) -> Result<Command, Failure> {
        let memory = self.memory_folder(share);
        let mut command = Command::new(&self.settings.kernel);
        command
            .args(self.arguments(share, task, seed))
            .current_dir(share.folder())
            .env_clear()
            .env("TMPDIR", &memory)
            .env("HOME", share.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        fslab_sys::end_with_parent(&mut command);
        if matches!(self.clock, Clock::Virtual { .. }) {
            fslab_sys::without_address_randomisation(&mut command);
        }
        let limited = limit_writing(&mut command, share, &memory);
        limited.map_err(|error| {
            let text = "cannot limit what a guest kernel may write on this machine";
            Failure::new(FailureKind::Device, text).because(&error)
        })?;
        Ok(command)
    }

    fn arguments(&self, share: &Share, task: GuestTask, seed: u64) -> Vec<String> {
        let words = [
            format!("mem={}K", self.whole_memory.0 >> 10),
            format!("lab_image={ROOT}+{PROGRAM}:{PROGRAM_BYTES}"),
            format!("lab_exchange={EXCHANGE}"),
            "root=/dev/lab0".into(),
            "rootfstype=erofs".into(),
            "ro".into(),
            format!("init={}", fslab_lab::PROGRAM),
            // Programs are loaded at fixed addresses.
            "norandmaps".into(),
            "con=null".into(),
            task.console().into(),
            // `quiet` silences the loader, and what follows lets the kernel speak again.
            "quiet".into(),
            format!("loglevel={CONSOLE_LEVEL}"),
            "panic=1".into(),
            "oops=panic".into(),
            "umid=guest".into(),
            "uml_dir=uml".into(),
        ];
        let layers = (1..=self.settings.layers.len())
            .map(|number| format!("lab_image={}", layer_name(number)));
        let disk = match &self.clock {
            Clock::Real { .. } if share.image().exists() => {
                vec![format!("ubd0={IMAGE}"), format!("lab_forget={IMAGE}")]
            }
            Clock::Real { .. } => Vec::new(),
            Clock::Virtual { disk } => {
                let mut words = simulation(disk, seed);
                words.push(format!("lab_memory={}", self.memory.0 >> 10));
                words
            }
        };
        // Words that the kernel does not know are arguments of init.
        words
            .into_iter()
            .chain(layers)
            .chain(disk)
            .chain(task.arguments().map(str::to_owned))
            .collect()
    }

    /// Where the guest's memory lies: in a file that has no name once it is open.
    pub(super) fn memory_folder(&self, share: &Share) -> PathBuf {
        // What was free when the venue was opened may be taken now.
        if self.is_memory_shared && has_shared_room(self.whole_memory, NonZeroUsize::MIN) {
            SHARED_MEMORY.into()
        } else {
            share.folder().to_owned()
        }
    }
}

/// Lets the guest's kernel, even one that root in the guest has taken over, write nothing but the
/// trial's folder, the disk that a shell brings, and its own memory: an O_TMPFILE, for which files
/// in its folder need not be made. Without Landlock it may write what its user may.
fn limit_writing(command: &mut Command, share: &Share, memory: &Path) -> io::Result<()> {
    let Some(limits) = WriteLimits::new()? else {
        return Ok(());
    };
    limits.allow_below(share.folder())?;
    limits.allow_writing(memory)?;
    limits.allow_writing(Path::new("/dev/null"))?;
    if share.image().is_symlink() {
        limits.allow_writing(&share.image().canonicalize()?)?;
    }
    limits.apply(command);
    Ok(())
}

/// Whether there is room for the memory of `guests` where it is never written back.
fn has_shared_room(memory: Bytes, guests: NonZeroUsize) -> bool {
    let shared = Path::new(SHARED_MEMORY);
    let wanted = memory.0.saturating_mul(guests.get() as u64);
    fslab_sys::available_bytes(shared).is_ok_and(|room| room >= wanted) && may_execute(shared)
}

/// Whether programs may be run from the mount at `place`: a guest's memory holds programs.
fn may_execute(place: &Path) -> bool {
    fslab_fs::recognise(place).is_ok_and(|found| !found.options.iter().any(|it| it == "noexec"))
}

/// The kernel's parameters of virtual time and of the disk that advances it.
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
