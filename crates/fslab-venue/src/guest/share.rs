//! The folder of a guest's trial, with the files that host and guest share. The guest kernel starts
//! in it and opens these files; programs in the guest cannot open files of the host.
//!
//! ```text
//!     host                                     guest
//!     root.img, layer-N.img  the lab     --->  /dev/lab0, the root; /dev/labN, over it
//!     fslab            the program       --->  appended to the root's image: /fslab/fslab
//!     disk.img         the disk          --->  /dev/ubda, or the simulated disk
//!     disk.model       its parameters    --->  the simulated disk's driver
//!     disk.trace       <---                    its requests
//!     share/spec.json  the specification --->  /dev/fslab-spec, the trial's standard input
//!     share/events     <---                    /dev/fslab-events, the trial's standard output
//!     share/status     <---                    /dev/fslab-status: the trial's exit status
//! ```
//!
//! Invariant: `share` is untrusted. Root in the guest can write files of any size, and a guest that
//! has taken over its kernel can create anything there. The host opens regular files only, follows
//! no links, and limits what it reads.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

/// Exit status of the trial's process in the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrialStatus {
    /// Exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it.
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

/// Size limit: a status has two numbers.
const STATUS_BYTES_MAX: u64 = 256;

/// A trial's folder, on the host.
#[derive(Clone, Debug)]
pub(crate) struct Share(PathBuf);

/// The folder that the guest can write.
#[derive(Clone, Debug)]
pub(crate) struct Exchange(PathBuf);

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

    /// Copies the running program, whose file may be replaced at any time.
    pub(crate) fn copy_program(&self) -> io::Result<()> {
        std::fs::copy(OWN_PROGRAM, self.program()).map(drop)
    }

    /// Creates links to the images of the root and its layers.
    pub(crate) fn link_images(&self, root: &Path, layers: &[PathBuf]) -> io::Result<()> {
        symlink(root, self.0.join(ROOT))?;
        let names = (1..).map(layer_name);
        let mut links = layers.iter().zip(names);
        links.try_for_each(|(layer, name)| symlink(layer, self.0.join(name)))
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

    /// Creates the folder that the guest can write.
    pub(crate) fn make_exchange(&self) -> io::Result<()> {
        std::fs::create_dir(&self.exchange().0)
    }

    /// Removes everything the guest has written. What cannot be removed is reported when the
    /// trial's folder is removed.
    pub(crate) fn remove_exchange(&self) {
        let _ = fslab_sys::remove_tree(&self.exchange().0);
    }

    pub(crate) fn exchange(&self) -> Exchange {
        Exchange::at(&self.0.join(EXCHANGE))
    }
}

impl Exchange {
    pub(crate) fn at(folder: &Path) -> Self {
        Self(folder.to_owned())
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

    /// The trial's exit status; `None` if the guest ended first.
    pub(crate) fn status(&self) -> Option<TrialStatus> {
        let file: File = fslab_sys::open_regular(&self.status_file()).ok()?;
        let mut text = Vec::new();
        file.take(STATUS_BYTES_MAX).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// File names in the trial's folder: the root image.
pub(super) const ROOT: &str = "root.img";
/// The image of a layer, numbered from 1.
pub(super) fn layer_name(number: usize) -> String {
    format!("layer-{number}.img")
}
/// The folder that the guest can write.
pub(super) const EXCHANGE: &str = "share";
/// The running program, even if its file was replaced.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";
/// The copy of the program.
pub(super) const PROGRAM: &str = "fslab";
/// The disk.
pub(super) const IMAGE: &str = "disk.img";
/// Parameters of a simulated disk.
pub(super) const MODEL: &str = "disk.model";
/// Trace of a simulated disk.
pub(super) const TRACE: &str = "disk.trace";

#[cfg(test)]
mod tests {
    use super::*;

    fn share() -> (tempfile::TempDir, Share) {
        let folder = tempfile::tempdir().expect("a folder");
        let share = Share::at(folder.path());
        share.make_exchange().expect("made");
        (folder, share)
    }

    #[test]
    fn a_status_is_read_as_it_was_written() {
        let (_folder, share) = share();
        assert_eq!(share.exchange().status(), None);
        let status = TrialStatus {
            code: None,
            signal: Some(9),
        };
        let text = serde_json::to_vec(&status).expect("JSON");
        std::fs::write(share.exchange().status_file(), text).expect("written");
        assert_eq!(share.exchange().status(), Some(status));
    }

    // The host had followed links of the guest: it read any file of the user as the status, blocked
    // on a FIFO, and read files of any size into memory.
    #[test]
    fn a_link_a_fifo_and_an_endless_file_are_no_status() {
        let (folder, share) = share();
        let status = share.exchange().status_file();
        let outside = folder.path().join("outside");
        std::fs::write(&outside, r#"{"code":0,"signal":null}"#).expect("written");
        symlink(&outside, &status).expect("linked");
        assert_eq!(share.exchange().status(), None);
        std::fs::remove_file(&status).expect("removed");
        let fifo = std::process::Command::new("mkfifo").arg(&status).status();
        assert!(fifo.expect("starts").success());
        assert_eq!(share.exchange().status(), None);
        std::fs::remove_file(&status).expect("removed");
        let endless = File::create(&status).expect("made");
        endless.set_len(1 << 40).expect("sparse");
        assert_eq!(share.exchange().status(), None);
    }
}
