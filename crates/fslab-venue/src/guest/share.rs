//! What a guest and its host have in common: the folder of the trial. The guest's kernel starts in
//! it and opens these files; programs in the guest reach no file of the host.
//!
//! ```text
//!     host                                     guest
//!     root.img, layer-N.img  the lab     --->  /dev/lab0, the root; /dev/labN, over it
//!     fslab            the program       --->  behind the root's image: /fslab/fslab
//!     disk.img         the disk          --->  /dev/ubda, or that of the driver of simulated disks
//!     disk.model       what a simulated disk is --->  that driver
//!     disk.trace       <---                    what it did
//!     share/spec.json  the specification --->  /dev/fslab-spec, the trial's standard input
//!     share/events     <---                    /dev/fslab-events, the trial's standard output
//!     share/status     <---                    /dev/fslab-status: how the trial's process ended
//! ```
//!
//! Invariant: what stands in the exchange may be of any size, since root in the guest can write it,
//! and a guest that has taken over its kernel can put anything there. The host opens regular files
//! alone, follows no link, and reads no more than it expects.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::symlink;
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

/// A status has two numbers.
const STATUS_BYTES_MAX: u64 = 256;

/// The folder of a trial, as the host sees it.
#[derive(Clone, Debug)]
pub(crate) struct Share(PathBuf);

/// The folder that the guest writes, as either side sees it.
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

    /// Copies the running program to where the guest finds it: it may be replaced at any time.
    pub(crate) fn bring_program(&self) -> io::Result<()> {
        std::fs::copy(OWN_PROGRAM, self.program()).map(drop)
    }

    /// Links to the image of the guest's root and to those of the layers over it.
    pub(crate) fn bring_images(&self, root: &Path, layers: &[PathBuf]) -> io::Result<()> {
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

    /// Makes the folder that the guest writes.
    pub(crate) fn make_exchange(&self) -> io::Result<()> {
        std::fs::create_dir(&self.exchange().0)
    }

    /// Removes what the guest has written, whatever it is. What stays is reported by whoever
    /// removes the trial's folder.
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

    /// How the trial ended; `None` where the guest ended before it.
    pub(crate) fn status(&self) -> Option<TrialStatus> {
        let file: File = fslab_sys::open_regular(&self.status_file()).ok()?;
        let mut text = Vec::new();
        file.take(STATUS_BYTES_MAX).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// The name of the image of the guest's root in the folder.
pub(super) const ROOT: &str = "root.img";
/// The name of the image of the layer with this number, from 1, in the folder.
pub(super) fn layer_name(number: usize) -> String {
    format!("layer-{number}.img")
}
/// The name of the folder that the guest writes, in the trial's folder.
pub(super) const EXCHANGE: &str = "share";
/// The running program, even where another has its name since.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";
/// The program's name in the folder.
pub(super) const PROGRAM: &str = "fslab";
/// The disk's name in the folder.
pub(super) const IMAGE: &str = "disk.img";
/// The name of a simulated disk's parameters in the folder.
pub(super) const MODEL: &str = "disk.model";
/// The name of a simulated disk's trace in the folder.
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

    // The host followed what root in the guest had put in the place of its files: it read any file
    // of the user's as the status, hung at a FIFO, and read a file of any size into memory.
    #[test]
    fn a_link_a_fifo_and_a_file_without_end_are_no_status() {
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
