//! Starts a guest kernel: User-Mode Linux, a process of the user.
//!
//! Invariant: the command line contains no path of the host. A kernel's random state is seeded with
//! its command line, so a path would make two runs of one plan differ. The guest's files are in the
//! kernel's working directory; see [`super::share`].

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fslab_lab::PROGRAM_BYTES;
use fslab_model::{Bytes, CountedMachine, Failure, FailureKind, SimulatedDisk, Subject};
use fslab_sys::WriteLimits;

use super::init::GuestTask;
use super::pc_files::PcFiles;
use super::pc_start::PcStart;
use super::recording::{RECORDER, RECORDER_FILE};
use super::settings::{GuestSettings, PcSettings, simulated_disk};
use super::share::{EXCHANGE, PROGRAM, ROOT, Share, layer_name, open_program};
use crate::undo::image_name;

/// Directory of a guest's memory file if it has room; a file on a disk would be written back.
const SHARED_MEMORY: &str = "/dev/shm";
/// The least memory that boots and runs every mkfs and fsck of the catalogue on small devices.
const MEMORY_MIN: Bytes = Bytes::mib(128);
/// Errors and warnings: those of file systems appear on the console.
const CONSOLE_LEVEL: u32 = 5;
/// Memory of a guest in virtual time for booting and for fslab's program; measured programs have
/// the rest. The largest builds, those without optimisation, take half of it.
const SET_UP_MEMORY: Bytes = Bytes::mib(256);
/// Measured memory whose page structures fit into [`SET_UP_MEMORY`].
const DESCRIBED_MEMORY: Bytes = Bytes::gib(2);
/// Address space without which no kernel's process and no emulator starts, besides its guest's
/// memory.
const OWN_ADDRESS_SPACE: Bytes = Bytes::mib(64);
/// Share of further measured memory that is added for its page structures: 64 bytes for 4 KiB are
/// one 64th; the rest is for the memory that the kernel reserves in proportion.
const DESCRIPTION_SHARE: u64 = 32;
/// Start of virtual time in seconds since 1970: 1 January 2024. A file's time stamps are thus the
/// same in every run.
const VIRTUAL_START_S: u64 = 1_704_067_200;

/// Bytes of a processor's extended state that User-Mode Linux has room for.
const STATE_BYTES_MAX: usize = 2696;
/// The library with which it sets the state of larger ones, and its file in a guest's directory.
const ALL_STATE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/xstate.so"));
const ALL_STATE_FILE: &str = "xstate.so";
/// The library with which it lives when all processes are stopped and continued, and its file.
const STOPPED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/stopped.so"));
const STOPPED_FILE: &str = "stopped.so";

/// A guest that can be started.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    settings: GuestSettings,
    memory: Bytes,
    /// The kernel's memory: that of the study, and the memory for the set-up.
    total_memory: Bytes,
    /// True if a tmpfs has room for the memory of all parallel guests.
    is_memory_shared: bool,
    clock: Clock,
    /// True if everything that it writes to its simulated disk is recorded.
    is_recorded: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Clock {
    /// The host's clock. Programs may read the processor's counter, if its frequency is given.
    Real { counter_hz: Option<u64> },
    /// A clock that advances while the simulated disk works or all processes sleep, and with the
    /// instructions of a counted machine.
    Virtual {
        disk: SimulatedDisk,
        machine: Option<CountedMachine>,
    },
}

impl Clock {
    /// The host's clock.
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
                .hint(format!("use --memory {MEMORY_MIN} or more")));
        }
        ensure_fitting(settings, &clock)?;
        let total_memory = match clock {
            // The emulator's own memory.
            _ if settings.pc.is_some() => Bytes(0),
            Clock::Real { .. } => memory,
            Clock::Virtual { .. } => Bytes(memory.0.saturating_add(set_up_memory(memory).0)),
        };
        Ok(Self {
            settings: settings.clone(),
            memory,
            total_memory,
            is_memory_shared: has_shared_room(total_memory, settings.at_a_time),
            clock,
            is_recorded: false,
        })
    }

    /// Records what the guest writes to its simulated disk, if `is_recorded`.
    pub(crate) fn recorded(mut self, is_recorded: bool) -> Self {
        self.is_recorded = is_recorded;
        self
    }

    /// The libraries that are loaded into the kernel's process, with their files.
    fn preloaded(&self) -> impl Iterator<Item = (&'static str, &'static [u8])> {
        let state = needs_all_state().then_some((ALL_STATE_FILE, ALL_STATE));
        let stopped = Some((STOPPED_FILE, STOPPED));
        let recorder = self.is_recorded.then_some((RECORDER_FILE, RECORDER));
        stopped.into_iter().chain(state).chain(recorder)
    }

    /// Provides in `share` the files that the guest boots from, and for a trial its disks, `disks`
    /// by the size of each and their number: links to the images, and a copy of its program, whose
    /// file may be replaced at any time.
    pub(crate) fn provide(&self, share: &Share, disks: Option<(Bytes, usize)>) -> io::Result<()> {
        share.make_exchange()?;
        if let Some(files) = self.pc_files(disks.map_or(Bytes(0), |(size, _)| size))? {
            return files.make(share.folder());
        }
        for (name, library) in self.preloaded() {
            std::fs::write(share.folder().join(name), library)?;
        }
        share.copy_program()?;
        share.link_images(&self.settings.root, &self.settings.layers)?;
        let Some((size, count)) = disks else {
            return Ok(());
        };
        for disk in 0..count {
            std::fs::File::create_new(share.image_of(disk))?.set_len(size.0)?;
        }
        if let Clock::Virtual { disk, .. } = &self.clock {
            std::fs::write(share.model(), &disk.model)?;
        }
        std::fs::File::create_new(share.exchange().events()).map(drop)
    }

    /// Space that a guest needs in its disk's directory besides the disk: the program, and the
    /// guest's memory if its file is there.
    pub(crate) fn room(&self) -> io::Result<Bytes> {
        let program = match self.settings.pc {
            // Memory, as its other files.
            Some(_) => 0,
            None => open_program()?.1,
        };
        let memory = if self.is_memory_shared {
            0
        } else {
            self.total_memory.0
        };
        Ok(Bytes(program.saturating_add(memory)))
    }

    /// The largest file of a guest besides its disk: its memory.
    pub(crate) fn largest_file(&self) -> Bytes {
        self.total_memory
    }

    /// Address space of the kernel's process, or of the emulator: its memory and its own.
    pub(crate) fn address_space(&self) -> Bytes {
        let memory = self.total_memory.max(self.memory);
        Bytes(memory.0.saturating_add(OWN_ADDRESS_SPACE.0))
    }

    /// The directory of a trial with a disk of `size`.
    pub(crate) fn share(&self, folder: &Path, size: Bytes) -> io::Result<Share> {
        let files = self.pc_files(size)?;
        Ok(Share::new(folder, files.map(|files| files.table())))
    }

    fn pc_files(&self, size: Bytes) -> io::Result<Option<PcFiles<'_>>> {
        let (Some(pc), Clock::Virtual { disk, .. }) = (&self.settings.pc, &self.clock) else {
            return Ok(None);
        };
        PcFiles::new(&self.settings, pc, self.memory, (size, disk)).map(Some)
    }

    /// The parts of a simulated PC.
    pub(crate) fn pc(&self) -> Option<&PcSettings> {
        self.settings.pc.as_ref()
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

    /// The command that boots the guest with `task` as init and the console on standard output. The
    /// kernel ends with this process, writes no core file, and, with Landlock, can write only in
    /// the directory of `share`. In virtual time `seed` determines all random numbers of the guest;
    /// a PC loads the modules of the file system `subject`.
    pub(crate) fn command(
        &self,
        share: &Share,
        task: GuestTask,
        subject: Option<&Subject>,
        seed: u64,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Command, Failure> {
        let memory = self.memory_folder(share);
        let mut command = match self.pc_command(share, task, subject, seed, go_on)? {
            Some(command) => command,
            None => {
                let mut command = Command::new(&self.settings.kernel);
                let disks = subject.map_or(1, |subject| subject.disks() as usize);
                let arguments = self.arguments(share, task, seed, disks);
                command.args(arguments).env_clear();
                let libraries = self.preloaded().map(|(name, _)| format!("./{name}"));
                let libraries: Vec<String> = libraries.collect();
                if !libraries.is_empty() {
                    command.env("LD_PRELOAD", libraries.join(":"));
                }
                command
            }
        };
        command
            .current_dir(share.folder())
            .env("TMPDIR", &memory)
            .env("HOME", share.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        fslab_sys::kill_with_parent(&mut command);
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

    /// The command that starts a PC; `None` for User-Mode Linux.
    fn pc_command(
        &self,
        share: &Share,
        task: GuestTask,
        subject: Option<&Subject>,
        seed: u64,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Command>, Failure> {
        let (Some(pc), Clock::Virtual { machine, .. }) = (&self.settings.pc, &self.clock) else {
            return Ok(None);
        };
        let (Some(machine), Some(table)) = (machine, share.table()) else {
            return Ok(None);
        };
        let start = PcStart {
            settings: pc,
            kernel: &self.settings.kernel,
            machine,
            memory: self.memory,
            console_level: CONSOLE_LEVEL,
            share,
            table,
        };
        start.command(task, subject, seed, go_on).map(Some)
    }

    fn arguments(&self, share: &Share, task: GuestTask, seed: u64, disks: usize) -> Vec<String> {
        let words = [
            format!("mem={}K", self.total_memory.0 >> 10),
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
            // `quiet` silences the boot loader; `loglevel` enables kernel messages again.
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
                let images = (0..disks).map(|disk| (disk, image_name(disk)));
                let options = images.flat_map(|(disk, image)| {
                    [format!("ubd{disk}={image}"), format!("lab_forget={image}")]
                });
                options.collect()
            }
            Clock::Real { .. } => Vec::new(),
            Clock::Virtual { disk, .. } => {
                let mut words = simulation(disk, disks, seed);
                words.push(format!("lab_memory={}", self.memory.0 >> 10));
                words
            }
        };
        // Arguments that the kernel does not know are passed to init.
        words
            .into_iter()
            .chain(layers)
            .chain(disk)
            .chain(task.arguments().map(str::to_owned))
            .collect()
    }

    /// Directory of the guest's memory file, which is unlinked once it is open.
    pub(crate) fn memory_folder(&self, share: &Share) -> PathBuf {
        // The space that was free when the venue was opened may be used by now.
        if self.is_memory_shared && has_shared_room(self.total_memory, NonZeroUsize::MIN) {
            SHARED_MEMORY.into()
        } else {
            share.folder().to_owned()
        }
    }
}

/// True if this processor has more extended state than User-Mode Linux has room for.
fn needs_all_state() -> bool {
    fslab_sys::extended_state_bytes() > STATE_BYTES_MAX
}

/// A machine whose instructions are counted needs a PC's lab, and no other clock can have one.
fn ensure_fitting(settings: &GuestSettings, clock: &Clock) -> Result<(), Failure> {
    let machine = match clock {
        Clock::Virtual { machine, .. } => machine.as_ref(),
        Clock::Real { .. } => None,
    };
    let (text, hint) = match (machine, &settings.pc) {
        (None, None) | (Some(_), Some(_)) => return Ok(()),
        (Some(machine), None) => (
            format!("the machine {} needs a PC's lab", machine.name),
            "build one with fslab lab build --kernel debian:6.1, and use it with --lab debian-6.1",
        ),
        (None, Some(_)) => (
            "a PC's lab needs a machine, whose processor takes time".to_owned(),
            "use --venue sim --machine NAME; list machines with fslab machine list",
        ),
    };
    Err(Failure::new(FailureKind::BadInput, text).hint(hint))
}

/// The set-up memory beside `measured` memory: it holds the page structures of both.
fn set_up_memory(measured: Bytes) -> Bytes {
    let further = Bytes(measured.0.saturating_sub(DESCRIBED_MEMORY.0));
    let described = further
        .0
        .div_ceil(DESCRIPTION_SHARE)
        .next_multiple_of(1 << 20);
    Bytes(SET_UP_MEMORY.0 + described)
}

/// Limits the guest kernel, even if root in the guest has taken it over, to writing the trial's
/// directory, the disk image given to a shell, and its memory: an O_TMPFILE, which does not need
/// the right to create files. Without Landlock it may write whatever its user may.
fn limit_writing(command: &mut Command, share: &Share, memory: &Path) -> io::Result<()> {
    let Some(mut limits) = WriteLimits::new()? else {
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

/// True if a tmpfs has room for the memory of `guests`.
fn has_shared_room(memory: Bytes, guests: NonZeroUsize) -> bool {
    let shared = Path::new(SHARED_MEMORY);
    let wanted = memory.0.saturating_mul(guests.get() as u64);
    fslab_sys::available_bytes(shared).is_ok_and(|room| room >= wanted) && may_execute(shared)
}

/// True if the mount at `place` allows execution: a guest's memory file contains programs.
fn may_execute(place: &Path) -> bool {
    fslab_fs::recognise(place).is_ok_and(|found| !found.options.iter().any(|it| it == "noexec"))
}

/// Kernel parameters of virtual time and of the simulated disks, which are all alike.
fn simulation(disk: &SimulatedDisk, disks: usize, seed: u64) -> Vec<String> {
    let mut words = vec![
        "time-travel=inf-cpu".into(),
        format!("time-travel-start={VIRTUAL_START_S}000000000"),
        format!("simdisk_seed={seed}"),
    ];
    words.extend((0..disks).map(|number| simulated_disk(disk, number)));
    words
}
