//! The layers below the file system of a volume: made and opened from the disks up, closed in the
//! reverse order.
//!
//! Invariant: a dropped stack is closed.

use std::path::Path;

use fslab_fs::{CommandLine, Stack, StackPart};
use fslab_model::{Bytes, Failure, FailureKind, StepRecord, Subject};
use fslab_sys::DeviceNumber;

use crate::command::{self, Environment};

/// Where udev answers; without it, the programs of the device mapper make the devices.
const UDEV: &str = "/run/udev/control";
/// LVM then keeps to its own defaults: no configuration of this machine, and no files of metadata.
const WITHOUT_CONFIGURATION: (&str, &str) = ("LVM_SYSTEM_DIR", "");
const WITHOUT_UDEV: (&str, &str) = ("DM_DISABLE_UDEV", "1");

pub(crate) struct OpenStack {
    stack: Stack,
    /// The disks may hold something: they do not read as zeros.
    is_used: bool,
    /// Parts that are open, the lowest first.
    opened: usize,
}

impl OpenStack {
    /// The stack of `subject` on `disks`, which is not made yet.
    pub(crate) fn of(subject: &Subject, disks: &[String], is_used: bool) -> Self {
        Self {
            stack: Stack::of(subject, disks),
            is_used,
            opened: 0,
        }
    }

    /// The devices of the file system: the disks without layers.
    pub(crate) fn devices(&self) -> &[String] {
        &self.stack.devices
    }

    /// The device of each layer.
    pub(crate) fn layer_devices(&self) -> impl Iterator<Item = String> {
        self.stack.parts.iter().map(StackPart::device)
    }

    /// True if there is no layer.
    pub(crate) fn is_empty(&self) -> bool {
        self.stack.parts.is_empty()
    }

    /// Makes and opens every layer; a step for each.
    pub(crate) fn open(&mut self) -> Result<Vec<StepRecord>, Failure> {
        let mut steps = Vec::new();
        let Self { stack, opened, .. } = self;
        for part in &stack.parts[*opened..] {
            let made = make(part, !self.is_used);
            steps.push(made.inspect_err(|_| close(part).map_or((), drop))?);
            *opened += 1;
        }
        Ok(steps)
    }

    /// Closes what is open; a step for each layer.
    pub(crate) fn close(&mut self) -> Result<Vec<StepRecord>, Failure> {
        let mut steps = Vec::new();
        while let Some(last) = self.opened.checked_sub(1) {
            steps.push(close(&self.stack.parts[last])?);
            self.opened = last;
        }
        Ok(steps)
    }
}

impl Drop for OpenStack {
    fn drop(&mut self) {
        // Still open only after a failure, whose error was returned.
        let _ = self.close();
    }
}

fn make(part: &StackPart, is_zeroed: bool) -> Result<StepRecord, Failure> {
    let sizes = part.members().iter().map(|member| size_of(member));
    let sizes: Vec<Bytes> = sizes.collect::<Result<_, Failure>>()?;
    let lines = part.make(sizes.into_iter().min(), is_zeroed);
    let cannot = format!("make {}", part.layer.title);
    run_all(part, &lines, FailureKind::Format, &cannot)
}

fn close(part: &StackPart) -> Result<StepRecord, Failure> {
    let cannot = format!("close {}", part.layer.title);
    run_all(part, &part.close(), FailureKind::Unmount, &cannot)
}

/// Runs the commands of a layer as one step, named after the layer.
fn run_all(
    part: &StackPart,
    lines: &[CommandLine],
    kind: FailureKind,
    cannot: &str,
) -> Result<StepRecord, Failure> {
    let mut environment: Vec<(&str, &str)> = vec![WITHOUT_CONFIGURATION];
    environment.extend((!Path::new(UDEV).exists()).then_some(WITHOUT_UDEV));
    let mut all = StepRecord {
        step: part.layer.kind.to_string(),
        command: Vec::new(),
        elapsed_ns: 0,
        exit_code: Some(0),
        output: String::new(),
    };
    for line in lines {
        let environment = Environment(&environment);
        let step = command::run_well_in(environment, &all.step, line, kind, cannot)?;
        all.elapsed_ns += step.elapsed_ns;
        if !all.command.is_empty() {
            all.command.push("&&".to_owned());
        }
        all.command.extend(step.command);
        all.output.push_str(&step.output);
    }
    Ok(all)
}

fn size_of(device: &str) -> Result<Bytes, Failure> {
    let path = Path::new(device);
    let size = DeviceNumber::of(path).and_then(DeviceNumber::size_bytes);
    size.map(Bytes)
        .map_err(|error| Failure::at(FailureKind::Device, "ask the size of", path, &error))
}
