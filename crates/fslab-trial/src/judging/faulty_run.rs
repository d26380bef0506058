//! Does a script on a disk that may fail, before the state that it leaves is judged.
//!
//! ```text
//!     guest   mount, unmount --page-->  mount, read, steps, sync,       --page-->  judge the state
//!     host                 plan armed   create, read again, unmount   disarmed
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use fslab_conformance::StepPlayer;
use fslab_crash::{
    FaultyReport, LogScript, ScriptPlan, StateMessage, StatePart, StateTask, StepError,
};
use fslab_model::{Failure, FailureKind};
use fslab_sys::{KernelLog, sync_file_system};

use crate::judging::judged_volume::{recover, volume_of};
use crate::judging::tree::walk;
use crate::volume::Volume;

/// The file that is made after the steps.
const TOUCHED: &str = "fslabnew";
/// Levels of the kernel's log up to which a message is an error or worse.
const ERROR_LEVEL: u32 = 3;
/// Most messages of the kernel that are reported, and bytes of each.
const KERNEL_LINES_MAX: usize = 8;
const KERNEL_LINE_BYTES: usize = 200;

/// Does `script` on the failing disk; `wait` returns when the host has armed or disarmed the plan.
///
/// # Errors
/// If the disk does not mount before it fails, and those of messages to the host.
pub(crate) fn run(
    task: &StateTask,
    script: &LogScript,
    output: &mut impl Write,
    wait: &mut impl FnMut() -> io::Result<()>,
) -> Result<(), Failure> {
    let plan = script
        .plan()
        .map_err(|text| Failure::new(FailureKind::BadInput, text))?;
    let mut run = Run {
        task,
        script,
        plan,
        volume: volume_of(task)?,
        output,
        report: FaultyReport::default(),
    };
    run.begin(StatePart::Prepare)?;
    recover(&run.volume)?;
    run.volume.mount()?;
    run.volume.unmount()?;
    run.send(&StateMessage::Prepared)?;
    wait().map_err(|error| cannot_report(&error))?;
    let mut log = KernelLog::mark();
    run.on_failing_disk()?;
    let errors = log.since().into_iter();
    let errors = errors.filter(|line| line.level <= ERROR_LEVEL);
    let lines = errors.take(KERNEL_LINES_MAX).map(|line| {
        let text = line.text.char_indices();
        text.take_while(|(at, _)| *at < KERNEL_LINE_BYTES)
            .map(|(_, letter)| letter)
            .collect()
    });
    run.report.kernel = lines.collect();
    let report = Box::new(std::mem::take(&mut run.report));
    run.send(&StateMessage::Faulty(report))?;
    wait().map_err(|error| cannot_report(&error))
}

struct Run<'a, W> {
    task: &'a StateTask,
    script: &'a LogScript,
    plan: ScriptPlan,
    volume: Volume,
    output: &'a mut W,
    report: FaultyReport,
}

impl<W: Write> Run<'_, W> {
    fn on_failing_disk(&mut self) -> Result<(), Failure> {
        self.begin(StatePart::FaultyMount)?;
        // What must run before a mount has run; the disk was unmounted since.
        if let Err(failure) = self.volume.mount() {
            self.report.mount_error = Some(of_failure(&failure));
            return Ok(());
        }
        self.begin(StatePart::FaultyRead)?;
        let root = self.task.mount_point.clone();
        self.report.before = Some(walk(&root, &self.task.folders).0);
        self.begin(StatePart::FaultySteps)?;
        self.take_steps();
        self.report.sync_error = sync_file_system(&root).err().map(|it| of_error(&it));
        self.report.write_error = touch(&root).err().map(|it| of_error(&it));
        self.report.is_read_only = fslab_sys::mounts().is_ok_and(|mounts| {
            let own = mounts.iter().rfind(|it| it.mount_point == root);
            own.is_some_and(|it| it.options.iter().any(|option| option == "ro"))
        });
        self.report.after = Some(walk(&root, &self.task.folders).0);
        self.begin(StatePart::FaultyUnmount)?;
        if let Err(failure) = self.volume.unmount() {
            self.report.unmount_error = Some(of_failure(&failure));
            // The state that is judged is that of an unmounted disk.
            return Err(failure);
        }
        Ok(())
    }

    fn take_steps(&mut self) {
        let base = self.task.mount_point.join(&self.script.folder);
        let player = StepPlayer::new(base, self.script.number);
        let steps = self.script.operations.iter().enumerate();
        for (number, operation) in steps.skip(self.plan.start) {
            let change = self.plan.changes.get(number).copied().flatten();
            let data = player.data_of(change, number);
            let taken = player.take(&operation.step, change, &data);
            let error = taken.err().map(|it| of_error(&it));
            self.report.steps.push(error);
        }
    }

    fn begin(&mut self, part: StatePart) -> Result<(), Failure> {
        self.send(&StateMessage::Begin(part))
    }

    fn send(&mut self, message: &StateMessage) -> Result<(), Failure> {
        message
            .write_to(self.output)
            .map_err(|error| cannot_report(&error))
    }
}

/// Makes an empty file durable, and removes it: no block of data is needed that could fail.
fn touch(root: &Path) -> io::Result<()> {
    let path = root.join(TOUCHED);
    File::create(&path)?.sync_all()?;
    fs::remove_file(&path)
}

fn cannot_report(error: &io::Error) -> Failure {
    Failure::new(FailureKind::Io, "cannot report to the host").because(error)
}

fn of_error(error: &io::Error) -> StepError {
    let errno = error.raw_os_error();
    StepError {
        errno,
        text: errno.map_or_else(|| error.to_string(), fslab_sys::errno_name),
    }
}

fn of_failure(failure: &Failure) -> StepError {
    StepError {
        errno: failure.errno,
        text: failure.to_string(),
    }
}
