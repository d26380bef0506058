//! The folder that a guest and its host share, and what passes through it.
//!
//! ```text
//!     host                               guest
//!     fslab      the program       --->  its first process
//!     disk.img   the disk          --->  /dev/ubda
//!     spec.json  the specification --->  the trial's standard input
//!     events     <---                    the trial's standard output
//!     status     <---                    how the trial's process ended, then power off
//!     forget     <---                    please forget what you keep of the disk in memory;
//!     (removed)                    --->  done
//!     disk.model what a simulated disk is --->  its driver
//!     disk.trace <---                    what it did
//! ```

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

/// How the trial's process ended inside the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrialStatus {
    /// Its exit code; `None` where a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal.
    pub(crate) signal: Option<i32>,
}

impl From<ExitStatus> for TrialStatus {
    fn from(status: ExitStatus) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

/// The shared folder, as either side sees it.
#[derive(Clone, Debug)]
pub(crate) struct Share(PathBuf);

impl Share {
    pub(crate) fn at(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.0.join(PROGRAM)
    }

    /// Copies the running program to where the guest finds it: it may be replaced at any time.
    pub(crate) fn bring_program(&self) -> io::Result<()> {
        std::fs::copy("/proc/self/exe", self.program()).map(drop)
    }

    pub(crate) fn image(&self) -> PathBuf {
        self.0.join(IMAGE)
    }

    pub(crate) fn model(&self) -> PathBuf {
        self.0.join(MODEL)
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.0.join(TRACE)
    }

    pub(crate) fn spec(&self) -> PathBuf {
        self.0.join("spec.json")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.0.join("events")
    }

    fn status_file(&self) -> PathBuf {
        self.0.join("status")
    }

    fn forget(&self) -> PathBuf {
        fslab_model::forget_request(&self.0)
    }

    pub(crate) fn write_status(&self, status: TrialStatus) -> io::Result<()> {
        std::fs::write(self.status_file(), serde_json::to_vec(&status)?)
    }

    /// How the trial ended; `None` where the guest ended before it.
    pub(crate) fn status(&self) -> Option<TrialStatus> {
        let text = std::fs::read(self.status_file()).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Forgets what the host's memory holds of the disk, where the guest has asked for it.
    pub(crate) fn answer_requests(&self) -> io::Result<()> {
        let request = self.forget();
        if !request.exists() {
            return Ok(());
        }
        fslab_sys::forget_cached(&self.image())?;
        std::fs::remove_file(request)
    }
}

/// The program's name in the folder.
pub(super) const PROGRAM: &str = "fslab";
/// The disk's name in the folder.
pub(super) const IMAGE: &str = "disk.img";
/// The name of a simulated disk's parameters in the folder.
pub(super) const MODEL: &str = "disk.model";
/// The name of a simulated disk's trace in the folder.
pub(super) const TRACE: &str = "disk.trace";
