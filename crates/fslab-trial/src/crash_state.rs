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
use fslab_fs::{CheckVerdict, FileSystem, Mounting};
use fslab_model::{Bytes, DeviceIdentity, Failure, FailureKind, Subject};

use crate::command;
use crate::faulty_run;
use crate::state_tree::{probe, walk};
use crate::volume::{Volume, VolumeSpec};

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
            Err(failure) => StateMessage::Failed(with_causes(&failure)),
        };
        send(&mut output, &message)?;
        if matches!(message, StateMessage::Failed(_)) {
            break;
        }
        turn.write_all(&[0; PAGE_BYTES])?;
    }
    Ok(())
}

/// Writes a line of JSON.
pub(crate) fn send(output: &mut impl Write, message: &StateMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// The file system of the states.
pub(crate) fn volume_of(task: &StateTask) -> Result<Volume, Failure> {
    let subject: Subject = task
        .subject
        .parse()
        .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
    let file_system = fslab_fs::find(subject.fs())?;
    Ok(Volume::new(VolumeSpec {
        file_system,
        subject,
        device: task.device.clone(),
        identity: DeviceIdentity::default(),
        mount_point: task.mount_point.clone(),
        size: Bytes(task.bytes),
        host_forgets: None,
        virtual_time: true,
        admits: None,
    }))
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
            Err(failure) => self.report.mount_error = Some(with_causes(&failure)),
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
        send(self.output, &StateMessage::Begin(part)).map_err(|error| {
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
            Err(failure) => repair.mount_error = Some(with_causes(&failure)),
        }
        self.report.repair = Some(repair);
        Ok(())
    }
}

/// Runs what must run before a mount. What it says shows in what the mount says.
pub(crate) fn recover(volume: &Volume) -> Result<(), Failure> {
    let device = volume.device().display().to_string();
    let Some(line) = volume.file_system().recovery_command(&device) else {
        return Ok(());
    };
    match command::run("recovery", &line) {
        Err(failure) if failure.kind != FailureKind::Crash => Err(failure),
        _ => Ok(()),
    }
}

/// True if states of the file system can be judged: it is on one device, and nothing else must run.
pub fn ensure_judgeable(subject: &Subject) -> Result<(), Failure> {
    let file_system = fslab_fs::find(subject.fs())?;
    let place = fslab_fs::MountPlace {
        device: "DEVICE",
        mount_point: "MOUNTPOINT",
        size: None,
    };
    let refused = |why: &str| {
        let text = format!("crash states of {} cannot be judged: {why}", subject.fs());
        Err(Failure::new(FailureKind::Unsupported, text))
    };
    match file_system.mounting(&place, subject)? {
        Some(Mounting::Pool(_)) => refused("it is mounted from a pool"),
        Some(Mounting::Network(_)) => refused("it is served over a network"),
        None => refused("it is on no device"),
        Some(_) if !file_system.capabilities.persistent => refused("it is in memory"),
        Some(_) => Ok(()),
    }
}

/// A failure in a line.
pub(crate) fn with_causes(failure: &Failure) -> String {
    let mut text = failure.to_string();
    for cause in &failure.causes {
        if !text.contains(cause.as_str()) {
            text.push_str("; ");
            text.push_str(cause);
        }
    }
    text
}

fn end_of(output: &str) -> String {
    let text = output.trim_end();
    let mut start = text.len().saturating_sub(OUTPUT_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}
