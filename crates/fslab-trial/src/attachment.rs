//! A mounted file system, with what works for it until it is unmounted.
//!
//! ```text
//!     Mounting --attach--> Attachment --detach--> StepRecord
//!       Call                 mount(2), and the companion beside it
//!       Server               a program of our own that ends with the unmount
//!       Pool                 an imported pool
//! ```

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fslab_fs::{CommandLine, CompanionCommand, MountCall, Mounting};
use fslab_model::{Failure, FailureKind, StepRecord};

use crate::command::{self, elapsed_ns};
use crate::pool::Pool;
use crate::server::{Companion, Server};

/// What is mounted on a directory.
pub(crate) struct Attachment {
    mount_point: PathBuf,
    serves: Serves,
}

/// What works for it.
enum Serves {
    Kernel(Option<Companion>),
    Server(Server),
    Pool(CommandLine),
}

/// Why a mount failed: with the error of mount(2), or with what a program said.
pub(crate) enum Refused {
    ByKernel(io::Error),
    ByProgram(Failure),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::ByProgram(failure)
    }
}

impl Attachment {
    /// Mounts on `mount_point`. The pool is there where the file system is kept in one.
    pub(crate) fn attach(
        mounting: &Mounting,
        mount_point: &Path,
        pool: Option<&Pool>,
    ) -> Result<(Self, StepRecord), Refused> {
        let (serves, elapsed_ns) = match (mounting, pool) {
            (Mounting::Pool(_), Some(pool)) => {
                let elapsed_ns = pool.import()?.elapsed_ns;
                (Serves::Pool(pool.export_command().clone()), elapsed_ns)
            }
            (Mounting::Pool(_), None) => {
                let text = "a pool is mounted before it was opened";
                return Err(Failure::new(FailureKind::Mount, text).into());
            }
            (Mounting::Server(line), _) => serve(line, mount_point)?,
            (
                Mounting::Call {
                    source,
                    call,
                    companion,
                    ..
                },
                _,
            ) => mount_by_call(source, call, companion.as_ref(), mount_point)?,
        };
        let record = StepRecord {
            step: "mount".into(),
            command: mounting.words(),
            elapsed_ns,
            exit_code: None,
            output: String::new(),
        };
        let attachment = Self {
            mount_point: mount_point.to_owned(),
            serves,
        };
        Ok((attachment, record))
    }

    /// Whether a program serves it, which may hold back what the kernel has written.
    pub(crate) fn is_served(&self) -> bool {
        matches!(self.serves, Serves::Server(_))
    }

    /// Unmounts. The time includes all writing back: a program that serves ends with it.
    pub(crate) fn detach(&mut self) -> Result<StepRecord, Failure> {
        let umount = || vec!["umount".into(), self.mount_point.display().to_string()];
        let mut output = String::new();
        let (command, elapsed_ns) = match &mut self.serves {
            Serves::Pool(export) => {
                let cannot = format!("unmount {}", self.mount_point.display());
                let kind = FailureKind::Unmount;
                let record = command::run_well("unmount", export, kind, &cannot)?;
                (record.command, record.elapsed_ns)
            }
            Serves::Kernel(companion) => {
                // A file system is busy for as long as its cleaner runs.
                if companion.as_ref().map_or(Ok(true), Companion::stop)? {
                    *companion = None;
                } else {
                    "the program beside the mount had ended by itself".clone_into(&mut output);
                }
                (umount(), unmount(&self.mount_point)?)
            }
            Serves::Server(server) => {
                let unmounted_ns = unmount(&self.mount_point)?;
                let began = Instant::now();
                server.wait_end()?;
                (umount(), unmounted_ns + elapsed_ns(began))
            }
        };
        Ok(StepRecord {
            step: "unmount".into(),
            command,
            elapsed_ns,
            exit_code: None,
            output,
        })
    }

    /// Gives up what an unwinding trial left; its venue looks again. A server ends with its owner.
    pub(crate) fn abandon(&self) {
        match &self.serves {
            Serves::Pool(export) => drop(command::run("unmount", export)),
            Serves::Kernel(Some(companion)) => drop(companion.stop()),
            Serves::Kernel(None) | Serves::Server(_) => {}
        }
        let _ = fslab_sys::unmount_lazily(&self.mount_point);
    }
}

fn mount_by_call(
    source: &str,
    call: &MountCall,
    companion: Option<&CompanionCommand>,
    mount_point: &Path,
) -> Result<(Serves, u64), Refused> {
    let began = Instant::now();
    let source = Path::new(source);
    fslab_sys::mount(source, mount_point, call.fs_type, call.flags, &call.data)
        .map_err(Refused::ByKernel)?;
    let elapsed_ns = elapsed_ns(began);
    match companion.map(Companion::start).transpose() {
        Ok(companion) => Ok((Serves::Kernel(companion), elapsed_ns)),
        Err(failure) => {
            let _ = fslab_sys::unmount_lazily(mount_point);
            Err(failure.into())
        }
    }
}

/// Starts a program and waits until it is what the directory shows.
fn serve(line: &CommandLine, mount_point: &Path) -> Result<(Serves, u64), Refused> {
    let device = || {
        let failed = |error: io::Error| {
            let text = format!("cannot look at {}", mount_point.display());
            Failure::new(FailureKind::Mount, text).because(&error)
        };
        fs::metadata(mount_point).map(|it| it.dev()).map_err(failed)
    };
    let before = device()?;
    let began = Instant::now();
    let mut server = Server::start(line)?;
    server.wait_until(FailureKind::Mount, || Ok(device()? != before))?;
    Ok((Serves::Server(server), elapsed_ns(began)))
}

fn unmount(mount_point: &Path) -> Result<u64, Failure> {
    let elapsed = fslab_sys::unmount(mount_point).map_err(|error| {
        let text = format!("cannot unmount {}", mount_point.display());
        let failure = Failure::new(FailureKind::Unmount, text).because(&error);
        match error.raw_os_error() {
            // EINVAL: it is no mount point any more.
            Some(22) => failure.hint(
                "another program unmounted it while the trial ran: some of its files were written \
                 to the folder below, and its figures say nothing",
            ),
            _ => failure,
        }
    })?;
    Ok(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}
