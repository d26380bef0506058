//! A block device with a file system that this trial makes, mounts and unmounts.
//!
//! Invariant: whatever happens, a volume that is dropped is not mounted any more.

use std::path::{Path, PathBuf};
use std::time::Instant;

use fslab_fs::{CheckVerdict, FileSystem};
use fslab_model::{Failure, FailureKind, StepRecord, Subject};
use fslab_sys::KernelLog;

use crate::command::{self, elapsed_ns};

/// How many of the kernel's messages explain a refused mount.
const KERNEL_LINES_SHOWN: usize = 4;

pub(crate) struct Volume {
    file_system: &'static FileSystem,
    subject: Subject,
    device: PathBuf,
    mount_point: PathBuf,
    mounted: bool,
}

impl Volume {
    pub(crate) fn new(
        file_system: &'static FileSystem,
        subject: Subject,
        device: PathBuf,
        mount_point: PathBuf,
    ) -> Self {
        Self {
            file_system,
            subject,
            device,
            mount_point,
            mounted: false,
        }
    }

    pub(crate) fn file_system(&self) -> &'static FileSystem {
        self.file_system
    }

    pub(crate) fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    pub(crate) fn device(&self) -> &Path {
        &self.device
    }

    fn device_text(&self) -> String {
        self.device.display().to_string()
    }

    /// Makes the file system. `Ok(None)`: this one needs no making.
    pub(crate) fn format(&self) -> Result<Option<StepRecord>, Failure> {
        let line = self
            .file_system
            .mkfs_command(&self.device_text(), &self.subject)?;
        let Some(line) = line else { return Ok(None) };
        let record = command::run("mkfs", &line)?;
        match record.exit_code {
            Some(0) => Ok(Some(record)),
            code => Err(Failure::new(
                FailureKind::Format,
                format!(
                    "cannot make {} on {}: `{}` ended with status {}: {}",
                    self.file_system.title,
                    self.device.display(),
                    record.command.join(" "),
                    code.unwrap_or(-1),
                    last_lines(&record.output)
                ),
            )),
        }
    }

    /// Mounts it.
    pub(crate) fn mount(&mut self) -> Result<StepRecord, Failure> {
        let call = self.file_system.mount_call(&self.subject)?.ok_or_else(|| {
            let text = format!("{} is not mounted on a device", self.file_system.title);
            Failure::new(FailureKind::BadInput, text)
        })?;
        let place = fslab_fs::MountPlace {
            device: &self.device_text(),
            mount_point: &self.mount_point.display().to_string(),
        };
        let command = self
            .file_system
            .mount_command(&place, &self.subject)?
            .unwrap_or_default();
        let mut log = KernelLog::mark();
        let began = Instant::now();
        fslab_sys::mount(
            &self.device,
            &self.mount_point,
            call.fs_type,
            call.flags,
            &call.data,
        )
        .map_err(|error| self.refused_mount(&error, &log.since()))?;
        let elapsed_ns = elapsed_ns(began);
        self.mounted = true;
        Ok(StepRecord {
            step: "mount".into(),
            command,
            elapsed_ns,
            exit_code: None,
            output: String::new(),
        })
    }

    fn refused_mount(&self, error: &std::io::Error, kernel: &[String]) -> Failure {
        let text = format!("cannot mount {} on {}", self.subject, self.device.display());
        let mut failure = Failure::new(FailureKind::Mount, text).because(error);
        let said = kernel.len().saturating_sub(KERNEL_LINES_SHOWN);
        failure.causes.extend(
            kernel[said..]
                .iter()
                .map(|line| format!("the kernel says: {line}")),
        );
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "mounting needs root".to_owned(),
            _ if failure.errno == Some(19) => format!(
                "this kernel has no {} driver; `fslab fs list --probe` tells what works here",
                self.file_system.name
            ),
            _ => "a mount option that this kernel does not know, or features of mkfs that are \
                  newer than the kernel, end like this"
                .to_owned(),
        };
        failure.hint(hint)
    }

    /// Writes back what is dirty.
    pub(crate) fn sync(&self) -> Result<u64, Failure> {
        let began = Instant::now();
        fslab_sys::sync_file_system(&self.mount_point).map_err(|error| {
            let text = format!("cannot sync {}", self.mount_point.display());
            Failure::new(FailureKind::Io, text).because(&error)
        })?;
        Ok(elapsed_ns(began))
    }

    /// Unmounts it.
    pub(crate) fn unmount(&mut self) -> Result<StepRecord, Failure> {
        let elapsed = fslab_sys::unmount(&self.mount_point).map_err(|error| {
            let text = format!("cannot unmount {}", self.mount_point.display());
            Failure::new(FailureKind::Unmount, text).because(&error)
        })?;
        self.mounted = false;
        Ok(StepRecord {
            step: "unmount".into(),
            command: vec!["umount".into(), self.mount_point.display().to_string()],
            elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            exit_code: None,
            output: String::new(),
        })
    }

    pub(crate) fn is_mounted(&self) -> bool {
        self.mounted
    }

    /// Checks the unmounted file system, changing nothing. `Ok(None)`: it has no checker.
    ///
    /// The record is there even where the checker finds fault, so that its words are kept.
    pub(crate) fn check(&self) -> (Option<StepRecord>, Option<Failure>) {
        let Some(line) = self.file_system.check_command(&self.device_text()) else {
            return (None, None);
        };
        let record = match command::run("check", &line) {
            Ok(record) => record,
            Err(failure) => return (None, Some(failure)),
        };
        let exit_code = record.exit_code.unwrap_or(-1);
        let failure = match self.file_system.judge_check(exit_code) {
            CheckVerdict::Clean => None,
            CheckVerdict::Errors => Some("found errors"),
            CheckVerdict::CouldNotRun => Some("could not run"),
        }
        .map(|what| {
            let text = format!(
                "the check of {} {what}: `{}` ended with status {exit_code}: {}",
                self.subject,
                record.command.join(" "),
                last_lines(&record.output)
            );
            Failure::new(FailureKind::Check, text)
        });
        (Some(record), failure)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if self.mounted {
            // Only an unwinding trial comes here mounted; its venue looks again.
            let _ = fslab_sys::unmount_lazily(&self.mount_point);
        }
    }
}

/// The last words of a command's output on one line.
fn last_lines(output: &str) -> String {
    let lines: Vec<_> = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_last_three_lines_that_say_something_are_kept() {
        assert_eq!(last_lines("a\n\nb\n c \n\nd\n"), "b; c; d");
        assert_eq!(last_lines(""), "");
    }
}
