//! Boots a machine until its kernel waits for a guest, and takes its state.

use std::io::{self, Read, Seek, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use fslab_model::{Failure, FailureKind};
use fslab_sys::{ProcessGroup, WriteLimits};
use serde_json::json;

use super::clock;
use super::file::DEVICES_MAX;
use super::monitor::Monitor;
use super::state::{Snapshot, add_devices, add_memory, machine, path_of};
use crate::guest::kernel_errors;
use crate::guest::pc::emulator::{DeviceMemory, Pc};
use crate::host_memory::{HostMemory, out_of_memory};
use crate::trial_output::console_of;

/// Until a machine has to be stopped by its guest; usual are 1 to 7 s.
pub(super) const LIMIT: Duration = Duration::from_secs(180);
/// Until what the kernel has written last is read.
const CONSOLE_LIMIT: Duration = Duration::from_secs(2);

/// The machine with devices of the sizes in `devices`, all of them empty; without what differs from
/// one boot to another.
pub(super) fn boot_command(pc: &Pc<'_>, devices: &[(u32, u64)]) -> Command {
    let mut command = machine(pc, "");
    let empty = devices.iter();
    let empty = empty.map(|(slot, bytes)| DeviceMemory::anonymous(*slot, *bytes));
    add_devices(&mut command, empty);
    command
        .args(["-action", "panic=pause", "-append"])
        .arg(pc.kernel_parameters());
    command
}

/// Takes a snapshot of the machine with devices of these sizes, booted from `initramfs`.
pub(super) fn take(
    pc: &Pc<'_>,
    devices: &[(u32, u64)],
    initramfs: &[u8],
    go_on: &dyn Fn() -> bool,
) -> Result<Snapshot, Failure> {
    let failed = |error: io::Error| {
        let text = "cannot take a snapshot of a guest's machine";
        Failure::new(FailureKind::Host, text).because(&error)
    };
    let host_memory = HostMemory::now();
    let mut memory = fslab_sys::memory_file(pc.total_memory().0).map_err(failed)?;
    let its_memory = memory.try_clone().map_err(failed)?;
    let mut command = boot_command(pc, devices);
    add_memory(&mut command, pc, its_memory);
    let mut state = fslab_sys::memory_file(0).map_err(failed)?;
    let its_state = state.try_clone().map_err(failed)?;
    let state_path = path_of(fslab_sys::give_to_child(&mut command, its_state));
    let mut archive = fslab_sys::memory_file(0).map_err(failed)?;
    archive.write_all(initramfs).map_err(failed)?;
    let archive = fslab_sys::give_to_child(&mut command, archive);
    let (stream, monitor) = fslab_sys::give_stream_to_child(&mut command).map_err(failed)?;
    command
        .arg("-kernel")
        .arg(pc.kernel)
        .args(["-initrd", &path_of(archive), "-chardev"])
        .arg(format!("socket,id=qmp,fd={monitor}"))
        .args(["-mon", "chardev=qmp,mode=control"]);
    let (group, console) = start(command).map_err(failed)?;
    let taken = Monitor::open(stream, LIMIT, go_on).and_then(|mut monitor| {
        monitor.wait_until_stopped()?;
        let question = json!({ "command-line": "info registers" });
        let registers = monitor.execute("human-monitor-command", &question)?;
        let arguments = json!({ "filename": state_path, "live": false });
        monitor.execute("xen-save-devices-state", &arguments)?;
        clock::stopped_at(registers.as_str().unwrap_or_default())
    });
    // It is killed and reaped.
    drop(group);
    let stopped_at = taken.map_err(|error| {
        if host_memory.ran_out() {
            return out_of_memory("the emulator", " of a guest", None);
        }
        let console = console.recv_timeout(CONSOLE_LIMIT).unwrap_or_default();
        not_taken(&error, &console)
    })?;
    let mut devices = Vec::new();
    state.rewind().map_err(failed)?;
    let mut state = state.take(DEVICES_MAX + 1);
    state.read_to_end(&mut devices).map_err(failed)?;
    let bytes = memory.metadata().map_err(failed)?.len();
    if devices.len() as u64 > DEVICES_MAX || bytes != pc.total_memory().0 {
        return Err(failed(io::Error::other(
            "the emulator has written too much",
        )));
    }
    clock::set_time(&mut devices, pc.machine, stopped_at).map_err(failed)?;
    memory.rewind().map_err(failed)?;
    Ok(Snapshot { devices, memory })
}

/// Starts the emulator, which may write nothing but what it was given.
fn start(mut command: Command) -> io::Result<(ProcessGroup, Receiver<String>)> {
    let (reader, writer) = io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    fslab_sys::kill_with_parent(&mut command);
    fslab_sys::without_address_randomisation(&mut command);
    if let Some(mut limits) = WriteLimits::new()? {
        limits.allow_writing("/dev/null".as_ref())?;
        limits.apply(&mut command);
    }
    let group = ProcessGroup::spawn(command)?;
    Ok((group, console_of(reader)))
}

/// The failure of an emulator that has ended, that has hung, or that lacks a command. It is none of
/// a subject: nothing of it has been started.
fn not_taken(error: &io::Error, console: &str) -> Failure {
    let text = match error.kind() {
        io::ErrorKind::Interrupted => {
            let text = "stopped before the guest's machine was ready";
            return Failure::new(FailureKind::Interrupted, text);
        }
        io::ErrorKind::UnexpectedEof => "the emulator of a guest ended before the guest was ready",
        io::ErrorKind::TimedOut => "the guest's machine was not ready in time",
        _ => "cannot take a snapshot of a guest's machine",
    };
    let mut failure = Failure::new(FailureKind::Host, text);
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {}
        io::ErrorKind::TimedOut => failure.causes.push(format!("{} s", LIMIT.as_secs())),
        _ => failure = failure.because(error),
    }
    let errors = kernel_errors(console);
    // Else the last line: an emulator says why it does not start.
    let last = console.lines().rev().find(|line| !line.trim().is_empty());
    let said = match errors.is_empty() {
        true => last.map(str::to_owned).into_iter().collect(),
        false => errors,
    };
    let said = said.iter().map(|line| format!("its console says: {line}"));
    failure.causes.extend(said);
    failure.hint("run the same command with --resume to try again, or use another lab with --lab")
}
