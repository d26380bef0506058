//! The command that starts a PC: from a snapshot, or by a boot in a lab of an earlier fslab.

use std::io;
use std::path::Path;
use std::process::Command;

use fslab_lab::{GuestInitramfs, LabInitramfs};
use fslab_model::{Bytes, CountedMachine, Failure, FailureKind, Subject};

use super::init::GuestTask;
use super::pc::{self, Boot, Pc, Snapshot, Snapshots, Table};
use super::settings::PcSettings;
use super::share::Share;

/// A PC whose guest is to be started.
pub(super) struct PcStart<'a> {
    pub(super) settings: &'a PcSettings,
    pub(super) kernel: &'a Path,
    pub(super) machine: &'a CountedMachine,
    /// The memory of the study.
    pub(super) memory: Bytes,
    /// Messages of this level and more severe ones go to the console.
    pub(super) console_level: u32,
    pub(super) share: &'a Share,
    pub(super) table: &'a Table,
}

impl PcStart<'_> {
    /// The command of a guest with `task` as its first process.
    pub(super) fn command(
        &self,
        task: GuestTask,
        subject: Option<&Subject>,
        seed: u64,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Command, Failure> {
        let file_systems = subject.map_or_else(Vec::new, modules_of);
        let words: Vec<_> = task.arguments().collect();
        let task = words.join(" ");
        let lab = LabInitramfs::read(&self.settings.initramfs);
        let lab = lab.map_err(|error| self.unread(&error))?;
        match &self.settings.snapshots {
            Some(folder) => {
                let initramfs = lab.of_snapshot().map_err(|error| self.unread(&error))?;
                let modules = lab.modules(&file_systems);
                let modules = modules.map_err(|error| self.unread(&error))?;
                let pc = self.pc(&initramfs);
                let snapshots = Snapshots {
                    folder,
                    on_damage: self.settings.on_damaged_snapshot,
                };
                let snapshot = snapshots.provide(&pc, self.table, &initramfs.archive, go_on)?;
                self.by_snapshot(&pc, snapshot, &boot_file(seed, &task, &modules))
            }
            None => self.by_boot(&lab, &file_systems, task, seed),
        }
    }

    fn pc<'a>(&'a self, initramfs: &'a GuestInitramfs) -> Pc<'a> {
        Pc {
            emulator: &self.settings.emulator,
            machine: self.machine,
            kernel: self.kernel,
            parameters: &initramfs.parameters,
            has_timer: self.settings.has_timer,
            memory: self.memory,
            console_level: self.console_level,
        }
    }

    fn by_snapshot(
        &self,
        pc: &Pc<'_>,
        snapshot: Snapshot,
        boot_file: &[u8],
    ) -> Result<Command, Failure> {
        let command = self.share.write_boot(boot_file).and_then(|table| {
            if table.exchange_bytes() != self.table.exchange_bytes() {
                let bytes = boot_file.len();
                let text = format!("its modules have {bytes} bytes; shrink them with strip(1)");
                return Err(io::Error::other(text));
            }
            snapshot.command(pc, self.share, &table)
        });
        command.map_err(|error| {
            let text = "cannot start a guest from its snapshot";
            Failure::new(FailureKind::Device, text).because(&error)
        })
    }

    fn by_boot(
        &self,
        lab: &LabInitramfs,
        file_systems: &[String],
        task: String,
        seed: u64,
    ) -> Result<Command, Failure> {
        let archive = self.share.initramfs();
        let written = lab.of_guest(file_systems).and_then(|initramfs| {
            std::fs::write(&archive, &initramfs.archive)?;
            Ok(initramfs)
        });
        let initramfs = written.map_err(|error| self.unread(&error))?;
        let boot = Boot {
            initramfs: &archive,
            file_systems,
            task,
            seed,
        };
        Ok(pc::boot(
            &self.pc(&initramfs),
            &boot,
            self.share,
            self.table,
        ))
    }

    fn unread(&self, error: &io::Error) -> Failure {
        let lab = self.settings.initramfs.display();
        let text = format!("cannot make the initramfs of a guest from {lab}");
        Failure::new(FailureKind::Device, text).because(error)
    }
}

/// What the first process of a guest does: kernel/simdisk/pc/init.c has the format.
fn boot_file(seed: u64, task: &str, modules: &[&[u8]]) -> Vec<u8> {
    let mut file = format!("{seed:016x}\n{task}\n").into_bytes();
    for module in modules {
        file.extend(format!("{}\n", module.len()).as_bytes());
        file.extend(*module);
    }
    file
}

/// The names under which a PC's initramfs lists the modules of `subject`.
fn modules_of(subject: &Subject) -> Vec<String> {
    let entry = fslab_fs::find(subject.fs()).ok();
    let driver = entry.and_then(|it| it.driver.kernel_name());
    let protocol = subject.network().map(|it| it.protocol.as_str());
    let layers = subject.layers().iter().map(|layer| layer.kind.into());
    driver
        .into_iter()
        .chain(protocol)
        .chain(layers)
        .map(str::to_owned)
        .collect()
}
