//! Judges states of a disk after a power loss in a guest: mounts each, reads all of it, writes a
//! file, unmounts, checks, and repairs what the check finds.
//!
//! ```text
//!     guest   mount .. check --report--> page --blocks until the host has taken a page--> mount ..
//!     host                    the next state is written into the disk's image
//! ```

use std::fs::File;
use std::io::{self, Write};

use fslab_crash::{
    Databases, RepairReport, StateCheck, StateMessage, StatePart, StateReport, StateTask,
};
use fslab_fs::{CheckVerdict, FileSystem};
use fslab_model::{Failure, FailureKind};

use crate::command;
use crate::judging::faulty_run;
use crate::judging::judged_volume::{recover, volume_of};
use crate::judging::tree::{probe, walk};
use crate::volume::Volume;

/// Bytes of the page that blocks: as much as the host's pipe holds.
const PAGE_BYTES: usize = 4096;
/// Bytes kept of a program's output.
const OUTPUT_BYTES: usize = 1024;

/// Judges the states of `task`, one after the other; writes a line of JSON for each part and each
/// state.
pub(crate) fn judge_states(task: &StateTask, mut output: impl Write) -> io::Result<()> {
    let mut turn = File::options().write(true).open(&task.turn)?;
    for _ in 0..task.states {
        let mut wait = || turn.write_all(&[0; PAGE_BYTES]);
        let done = match &task.faulty {
            None => Ok(()),
            Some(script) => faulty_run::run(task, script, &mut output, &mut wait),
        };
        let message = match done.and_then(|()| judge(task, &mut output)) {
            Ok(report) => StateMessage::Done(Box::new(report)),
            Err(failure) => StateMessage::Failed(failure.to_string()),
        };
        message.write_to(&mut output)?;
        if matches!(message, StateMessage::Failed(_)) {
            break;
        }
        turn.write_all(&[0; PAGE_BYTES])?;
    }
    Ok(())
}

fn judge(task: &StateTask, output: &mut impl Write) -> Result<StateReport, Failure> {
    let volume = volume_of(task)?;
    let mut state = State {
        task,
        file_system: volume.file_system(),
        volume,
        output,
        report: StateReport::default(),
    };
    state.judge()?;
    Ok(state.report)
}

struct State<'a, W> {
    task: &'a StateTask,
    file_system: &'static FileSystem,
    volume: Volume,
    output: &'a mut W,
    report: StateReport,
}

impl<W: Write> State<'_, W> {
    fn judge(&mut self) -> Result<(), Failure> {
        self.begin(StatePart::Mount)?;
        let began_ns = fslab_sys::monotonic_ns();
        recover(&self.volume)?;
        let mounted = self.volume.mount();
        self.report.mount_ns = fslab_sys::monotonic_ns() - began_ns;
        match mounted {
            Ok(_) => {
                self.begin(StatePart::Read)?;
                let (tree, is_cut) = walk(&self.task.mount_point, &self.task.folders);
                self.report.tree = Some(tree);
                self.report.is_cut = is_cut;
                self.report.databases = self.databases();
                self.begin(StatePart::Write)?;
                self.report.write_error =
                    probe(&self.task.mount_point).err().map(|it| it.to_string());
                self.begin(StatePart::Unmount)?;
                if let Err(failure) = self.volume.unmount() {
                    // The state of the next would be that of this one.
                    self.report.unmount_error = Some(failure.to_string());
                    return Ok(());
                }
            }
            Err(failure) => self.report.mount_error = Some(failure.to_string()),
        }
        self.check()?;
        let is_damaged = self.report.check == Some(StateCheck::Errors);
        if is_damaged || self.report.mount_error.is_some() {
            self.repair()?;
        }
        Ok(())
    }

    /// The databases that are there, each after the recovery that its first reader does.
    fn databases(&self) -> Databases {
        let files = self.task.databases.iter();
        let there = files.filter_map(|file| {
            let path = self.task.mount_point.join(file);
            let read = || fslab_programs::read_database(&path, &std::env::temp_dir());
            path.exists().then(|| (file.clone(), read()))
        });
        there.collect()
    }

    fn begin(&mut self, part: StatePart) -> Result<(), Failure> {
        let message = StateMessage::Begin(part);
        message.write_to(self.output).map_err(|error| {
            Failure::new(FailureKind::Io, "cannot report to the host").because(&error)
        })
    }

    fn check(&mut self) -> Result<(), Failure> {
        let device = self.task.device.display().to_string();
        let Some(line) = self.file_system.check_command(&device) else {
            return Ok(());
        };
        self.begin(StatePart::Check)?;
        let (verdict, output) = match command::run("check", &line) {
            Ok(ran) => {
                let exit_code = ran.record.exit_code.unwrap_or(-1);
                let verdict = self.file_system.judge_check(exit_code, &ran.output);
                (verdict, ran.output)
            }
            // A checker that a signal ends has not checked it.
            Err(failure) if failure.kind == FailureKind::Crash => {
                (CheckVerdict::CouldNotRun, failure.to_string())
            }
            Err(failure) => return Err(failure),
        };
        self.report.check = Some(match verdict {
            CheckVerdict::Clean => StateCheck::Clean,
            CheckVerdict::Errors => StateCheck::Errors,
            CheckVerdict::CouldNotRun => StateCheck::CouldNotRun,
        });
        if verdict != CheckVerdict::Clean {
            self.report.check_output = end_of(&output);
        }
        Ok(())
    }

    fn repair(&mut self) -> Result<(), Failure> {
        let device = self.task.device.display().to_string();
        let Some(line) = self.file_system.repair_command(&device) else {
            return Ok(());
        };
        self.begin(StatePart::Repair)?;
        let (exit_code, output) = match command::run("repair", &line) {
            Ok(ran) => (ran.record.exit_code.unwrap_or(-1), ran.output),
            Err(failure) if failure.kind == FailureKind::Crash => (-1, failure.to_string()),
            Err(failure) => return Err(failure),
        };
        let mut repair = RepairReport {
            output: end_of(&output),
            exit_code,
            mount_error: None,
            tree: None,
            databases: Databases::new(),
        };
        match self.volume.mount() {
            Ok(_) => {
                repair.tree = Some(walk(&self.task.mount_point, &self.task.folders).0);
                repair.databases = self.databases();
                if let Err(failure) = self.volume.unmount() {
                    self.report.unmount_error = Some(failure.to_string());
                }
            }
            Err(failure) => repair.mount_error = Some(failure.to_string()),
        }
        self.report.repair = Some(repair);
        Ok(())
    }
}

fn end_of(output: &str) -> String {
    let text = output.trim_end();
    let mut start = text.len().saturating_sub(OUTPUT_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}
