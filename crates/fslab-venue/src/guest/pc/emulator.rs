//! QEMU as a PC whose clock counts instructions: its version, its command line.
//!
//! `-icount shift=N,sleep=off`: an instruction takes 2^N ns, and idle time is skipped to the next
//! timer. QEMU, docs/system/i386; its documentation of TCG instruction counting.
//!
//! `rr=record`: QEMU's main loop and its processor take turns. Without it the main loop may skip
//! idle time while the processor's last instructions before the halt are not yet counted; then they
//! are counted in addition, and a timer is late by some nanoseconds. What is recorded is discarded.
//!
//! A guest starts from a snapshot of its machine with the kernel running (see `super::snapshot`),
//! or, in a lab of an earlier fslab, by a boot.

use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_fs::SearchPath;
use fslab_model::{Bytes, CountedMachine, GUEST_PROCESSORS};

use super::table::{EXCHANGE_SLOT, Table};
use crate::guest::share::Share;

/// The emulator's program.
const PROGRAM: &str = "qemu-system-x86_64";
/// The oldest major version whose options are these.
const MAJOR_MIN: u32 = 7;
/// The slot of the memory for the disk model's state.
const HEAP_SLOT: u32 = 5;
/// Size of that memory; only what is touched takes room.
const HEAP: Bytes = Bytes::gib(4);
/// Memory for the kernel itself and the program of the trial, beside that of the study.
const SET_UP_MEMORY: Bytes = Bytes::mib(160);
/// Share of the memory that its page structures take: 64 bytes for 4 KiB.
const DESCRIPTION_SHARE: u64 = 64;
/// Start of virtual time: 1 January 2024.
const START: &str = "2024-01-01T00:00:00";
/// A machine of QEMU without the parts that depend on the host: newer ones pass random numbers.
const MACHINE: &str = "pc-i440fx-7.1";
/// The same for a lab without the timer, whose kernel uses that of the local APIC from the start.
const MACHINE_WITHOUT_HPET: &str = "pc-i440fx-7.1,hpet=off";
/// A processor that every version of TCG emulates in full, with crc32c and without the wide copies
/// that would move any number of bytes with one instruction.
const PROCESSOR: &str = "Nehalem";
/// Kernel parameters: one console, fixed addresses, no calibration that differs, no mitigations,
/// which a counted processor does not need, and no random numbers of the processor.
const KERNEL: &str = "console=ttyS0 quiet nokaslr norandmaps mitigations=off clocksource=tsc \
                      tsc=reliable random.trust_cpu=off random.trust_bootloader=off panic=1 \
                      oops=panic no_timer_check";
/// Kernel parameter for a lab whose module has the timer (`kernel/simdisk/pc/timer_kern.c`): the
/// kernel does not calibrate it, and waits with another timer until the module is there: the PIT,
/// in labs of an earlier fslab the HPET.
const OWN_TIMER: &str = "nolapic_timer ";

/// The emulator of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emulator {
    pub program: PathBuf,
    /// Its version, such as `7.2.19`.
    pub version: String,
}

/// Why this machine has no usable emulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulatorError {
    /// It is not installed.
    #[error("there is no {PROGRAM} on this machine")]
    Missing,
    /// It cannot be asked for its version.
    #[error("cannot get the version of {program}: {reason}", program = .program.display())]
    Unknown {
        program: PathBuf,
        /// A fragment.
        reason: String,
    },
    /// It lacks options.
    #[error("QEMU {version} is too old: {MAJOR_MIN}.0 or newer is needed")]
    TooOld { version: String },
}

impl EmulatorError {
    /// A hint for the user.
    pub fn hint(&self) -> &'static str {
        "install it with apt-get install qemu-system-x86, or leave out --machine, so that only the \
         disk takes time"
    }
}

impl Emulator {
    /// Finds the emulator in the directories of `search`, and asks for its version.
    pub fn find(search: &SearchPath) -> Result<Self, EmulatorError> {
        let program = search.find(PROGRAM).ok_or(EmulatorError::Missing)?;
        let unknown = |reason: String| EmulatorError::Unknown {
            program: program.clone(),
            reason,
        };
        let mut command = Command::new(&program);
        command.arg("--version").env_clear().env("LC_ALL", "C");
        let output = command
            .output()
            .map_err(|error| unknown(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = version_in(&text).ok_or_else(|| unknown(format!("it printed '{text}'")))?;
        let major = version
            .split('.')
            .next()
            .and_then(|it| it.parse::<u32>().ok());
        if major.is_none_or(|major| major < MAJOR_MIN) {
            return Err(EmulatorError::TooOld { version });
        }
        Ok(Self { program, version })
    }
}

/// `QEMU emulator version 7.2.19 (Debian 1:7.2+dfsg-7)`.
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("version ")?;
    let version = rest.split([' ', '\n', '(']).next()?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then(|| version.to_owned())
}

/// A PC without what differs from guest to guest.
pub(in crate::guest) struct Pc<'a> {
    pub(in crate::guest) emulator: &'a Emulator,
    pub(in crate::guest) machine: &'a CountedMachine,
    pub(in crate::guest) kernel: &'a Path,
    /// The lab's kernel parameters.
    pub(in crate::guest) parameters: &'a [String],
    /// Whether the lab's module has the timer of the machine.
    pub(in crate::guest) has_timer: bool,
    /// The memory of the study.
    pub(in crate::guest) memory: Bytes,
    /// Messages of this level and more severe ones go to the console.
    pub(in crate::guest) console_level: u32,
}

/// What a guest that boots has besides.
pub(in crate::guest) struct Boot<'a> {
    pub(in crate::guest) initramfs: &'a Path,
    /// File systems whose modules are loaded.
    pub(in crate::guest) file_systems: &'a [String],
    /// Arguments of the guest's first process.
    pub(in crate::guest) task: String,
    /// All random numbers of the machine.
    pub(in crate::guest) seed: u64,
}

pub(super) struct DeviceMemory {
    pub(super) slot: u32,
    pub(super) bytes: u64,
    /// Options of its backend: the type, then those of that type.
    pub(super) backend: String,
}

impl DeviceMemory {
    /// Memory that only this process has.
    pub(super) fn anonymous(slot: u32, bytes: u64) -> Self {
        Self {
            slot,
            bytes,
            backend: "memory-backend-ram,reserve=off".to_owned(),
        }
    }

    fn of_file(slot: u32, bytes: u64, path: &Path, is_writable: bool) -> Self {
        let access = match is_writable {
            true => "share=on",
            false => "share=off,readonly=on",
        };
        // In QEMU's options a comma is doubled.
        let path = path.to_string_lossy().replace(',', ",,");
        Self {
            slot,
            bytes,
            backend: format!("memory-backend-file,mem-path={path},{access}"),
        }
    }

    /// The options of the device, `more` among them.
    pub(super) fn options(&self, more: &str) -> [String; 4] {
        let Self {
            slot,
            bytes,
            backend,
        } = self;
        [
            "-object".to_owned(),
            format!("{backend},id=m{slot},size={bytes}"),
            "-device".to_owned(),
            format!("ivshmem-plain,memdev=m{slot},addr={slot:#x}{more}"),
        ]
    }
}

/// The memory of the disk model's state.
pub(super) fn heap() -> DeviceMemory {
    DeviceMemory::anonymous(HEAP_SLOT, HEAP.0)
}

/// The files of `share`, as `table` has them, as memory of devices.
pub(super) fn files(share: &Share, table: &Table) -> Vec<DeviceMemory> {
    let exchange = DeviceMemory::of_file(
        EXCHANGE_SLOT,
        table.exchange_bytes(),
        &share.exchange().table(),
        true,
    );
    let others = table.devices().map(|file| {
        let path = share.folder().join(&file.name);
        DeviceMemory::of_file(file.slot, file.capacity, &path, file.is_writable)
    });
    std::iter::once(exchange).chain(others).collect()
}

impl Pc<'_> {
    /// The command of the machine without kernel and devices, with further options of QEMU's
    /// machine.
    pub(super) fn command(&self, options: &str) -> Command {
        let machine = match self.has_timer {
            true => MACHINE,
            false => MACHINE_WITHOUT_HPET,
        };
        let mut command = Command::new(&self.emulator.program);
        command
            .env_clear()
            .arg("-machine")
            .arg(format!("{machine}{options}"))
            .args(["-cpu", PROCESSOR, "-smp"])
            .arg(GUEST_PROCESSORS.to_string())
            .arg("-m")
            .arg((self.total_memory().0 >> 20).to_string())
            .args(["-accel", "tcg,thread=single", "-icount"])
            .arg(format!(
                "shift={},sleep=off,align=off,rr=record,rrfile=/dev/null",
                self.machine.shift()
            ))
            .arg("-rtc")
            .arg(format!("base={START},clock=vm"))
            .args(["-nodefaults", "-no-user-config", "-no-reboot"])
            .args(["-display", "none", "-monitor", "none", "-serial", "stdio"]);
        command
    }

    /// The parameters of every kernel of this machine.
    pub(super) fn kernel_parameters(&self) -> String {
        let timer = if self.has_timer { OWN_TIMER } else { "" };
        let parameters = self.parameters.iter().map(|it| format!("{it} "));
        let parameters = parameters.collect::<String>();
        format!(
            "{KERNEL} {timer}{parameters}loglevel={}",
            self.console_level
        )
    }

    /// The machine's memory: that of the study, of the kernel and of the trial's program, in MiB.
    pub(super) fn total_memory(&self) -> Bytes {
        let all = self.memory.0 + SET_UP_MEMORY.0 + self.memory.0 / DESCRIPTION_SHARE;
        Bytes(all.next_multiple_of(1 << 20))
    }
}

/// The command that boots a guest of a lab of an earlier fslab with the files of `share`, as
/// `table` has them.
pub(in crate::guest) fn boot(
    pc: &Pc<'_>,
    boot: &Boot<'_>,
    share: &Share,
    table: &Table,
) -> Command {
    let mut command = pc.command("");
    command
        .arg("-seed")
        .arg(boot.seed.to_string())
        .arg("-kernel")
        .arg(pc.kernel)
        .arg("-initrd")
        .arg(boot.initramfs)
        .arg("-append")
        .arg(format!(
            "{} fslab_seed={:016x} fslab_modules={} -- {}",
            pc.kernel_parameters(),
            boot.seed,
            boot.file_systems.join(","),
            boot.task
        ));
    command.args(heap().options(""));
    for memory in files(share, table) {
        command.args(memory.options(""));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_the_emulator_prints() {
        let debian = "QEMU emulator version 7.2.19 (Debian 1:7.2+dfsg-7+deb12u15)\nCopyright";
        assert_eq!(version_in(debian).as_deref(), Some("7.2.19"));
        assert_eq!(
            version_in("QEMU emulator version 9.0.0\n").as_deref(),
            Some("9.0.0")
        );
        assert_eq!(version_in("no such thing"), None);
    }

    #[test]
    fn a_machine_without_an_emulator_is_named_with_the_command_that_installs_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let search = SearchPath::new([folder.path().to_owned()]);
        let missing = Emulator::find(&search).expect_err("there is none");
        assert_eq!(missing, EmulatorError::Missing);
        assert!(missing.hint().contains("apt-get install qemu-system-x86"));
    }
}
