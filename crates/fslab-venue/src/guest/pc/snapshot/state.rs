//! The state of a machine, and the commands of emulators that write and read it.

use std::fs::File;
use std::io;
use std::process::Command;

use crate::guest::pc::emulator::{DeviceMemory, Pc, files, heap};
use crate::guest::pc::table::Table;
use crate::guest::share::Share;

/// The state of a machine.
pub(in crate::guest) struct Snapshot {
    /// That of its processor and devices, as the emulator writes it.
    pub(super) devices: Vec<u8>,
    /// Its memory, for one guest.
    pub(super) memory: File,
}

/// The machine without its memory, and with further options of QEMU's machine.
pub(super) fn machine(pc: &Pc<'_>, options: &str) -> Command {
    let mut command = pc.command(&format!(",memory-backend=ram{options}"));
    // By the port of this device the guest stops the machine. QEMU's random numbers are fixed.
    command.args(["-device", "pvpanic", "-seed", "0"]);
    command
}

/// Adds the machine's memory.
pub(super) fn add_memory(command: &mut Command, pc: &Pc<'_>, memory: File) {
    let descriptor = fslab_sys::give_to_child(command, memory);
    command.arg("-object").arg(format!(
        "memory-backend-file,id=ram,mem-path={},size={},share=on",
        path_of(descriptor),
        pc.total_memory().0
    ));
}

/// Adds devices of the host's memory. QEMU reads and writes the state of those alone that own
/// their memory.
pub(super) fn add_devices(command: &mut Command, devices: impl IntoIterator<Item = DeviceMemory>) {
    for device in std::iter::once(heap()).chain(devices) {
        command.args(device.options(",master=on"));
    }
}

/// The path by which a child opens what it got as `descriptor`.
pub(super) fn path_of(descriptor: i32) -> String {
    format!("/proc/self/fd/{descriptor}")
}

impl Snapshot {
    /// The command of a guest that starts from it, with the files of `share` as `table` has them.
    pub(in crate::guest) fn command(
        self,
        pc: &Pc<'_>,
        share: &Share,
        table: &Table,
    ) -> io::Result<Command> {
        let mut command = machine(pc, ",suppress-vmdesc=on");
        add_memory(&mut command, pc, self.memory);
        let devices = fslab_sys::give_content_to_child(&mut command, &self.devices)?;
        add_devices(&mut command, files(share, table));
        // The state is that of the devices alone, as QEMU writes it for machines of Xen.
        command
            .args(["-global", "migration.send-configuration=off"])
            .args(["-action", "panic=none", "-incoming"])
            .arg(format!("fd:{devices}"));
        Ok(command)
    }
}
