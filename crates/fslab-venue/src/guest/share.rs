//! The directory of a guest's trial, with the files that host and guest share. The guest kernel
//! starts in it and opens these files; programs in the guest cannot open files of the host.
//!
//! ```text
//!     host                                     guest
//!     root.img, layer-N.img  the lab     --->  /dev/lab0, the root; /dev/labN, over it
//!     fslab-guest      the program       --->  appended to the root's image: /fslab/fslab
//!     disk.img         the disk          --->  /dev/ubda, or the simulated disk
//!     disk.model       its parameters    --->  the simulated disk's driver
//!     disk.trace       <---                    its requests
//!     disk2.img, disk2.trace                   those of further disks
//!     share/spec.json  the specification --->  /dev/fslab-spec, the trial's standard input
//!     share/events     <---                    /dev/fslab-events, the trial's standard output
//!     share/status     <---                    /dev/fslab-status: the trial's exit status
//! ```
//!
//! A simulated PC has the same files as memory: `share/exchange` names them and holds the small
//! ones, and what the guest's first process reads; see `super::pc`.
//!
//! Invariant: `share` is untrusted. Root in the guest can write files of any size, and a guest that
//! has taken over its kernel can create anything there. The host opens regular files only, follows
//! no links, and limits what it reads.

use fslab_sys::os::ExitStatusExt;
use fslab_sys::os::symlink;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use fslab_lab::Elf;
use serde::{Deserialize, Serialize};

use super::pc::{Table, TableEvents};
use crate::undo::{IMAGE, image_name, of_disk};

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

/// A trial's directory, on the host.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    folder: PathBuf,
    /// The files of a PC, which has them as memory; `None` for a kernel that opens them.
    table: Option<Table>,
}

/// The directory that the guest can write.
#[derive(Clone, Debug)]
pub(crate) struct Exchange(PathBuf);

/// The program of the trials, and how many of its first bytes a guest reads.
pub(crate) fn open_program() -> io::Result<(File, u64)> {
    let path = fslab_sys::guest_program()?;
    let program = File::open(&path)?;
    let elf = Elf::of(&program, &path).map_err(io::Error::other)?;
    let elf = elf.ok_or_else(|| io::Error::other("the trial program is not for x86-64"))?;
    Ok((program, elf.loaded_bytes))
}

impl Share {
    /// The directory of a guest; with the table of its files, without those that
    /// [`Share::write_spec`] adds, if it is a PC.
    pub(super) fn new(folder: &Path, table: Option<Table>) -> Self {
        Self {
            folder: folder.to_owned(),
            table,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn table(&self) -> Option<&Table> {
        self.table.as_ref()
    }

    /// Hands the specification to the guest that is started next.
    pub(crate) fn write_spec(&mut self, spec: &[u8]) -> io::Result<()> {
        let Some(table) = &mut self.table else {
            return std::fs::write(self.exchange().spec(), spec);
        };
        table.add(&format!("{EXCHANGE}/{SPEC}"), spec, 0);
        table.add(
            &format!("{EXCHANGE}/{STATUS}"),
            &[],
            STATUS_BYTES_MAX as usize,
        );
        let path = Exchange::at(&self.folder.join(EXCHANGE)).table();
        self.table.iter().try_for_each(|table| table.write(&path))
    }

    /// Hands `content` to the first process of a PC's guest that is started next, and returns the
    /// table with all files.
    pub(super) fn write_boot(&self, content: &[u8]) -> io::Result<Table> {
        let mut table = self.table.clone().unwrap_or_default();
        table.add(&format!("{EXCHANGE}/{BOOT}"), content, 0);
        table.write(&self.exchange().table())?;
        Ok(table)
    }

    /// The trial's events as the guest appends them. Opened before it runs, which could replace the
    /// files.
    pub(crate) fn open_events(&self) -> io::Result<Box<dyn Read + Send>> {
        let exchange = self.exchange();
        let events = fslab_sys::open_regular(&exchange.events())?;
        let Some(table) = &self.table else {
            return Ok(Box::new(events));
        };
        let open = fslab_sys::open_regular(&exchange.table())?;
        let name = format!("{EXCHANGE}/{EVENTS}");
        Ok(Box::new(TableEvents::new(table, &name, open, events)?))
    }

    /// Cuts the trace of a guest that has ended to what was written into it.
    pub(crate) fn cut_trace(&self) -> io::Result<()> {
        let Some(table) = &self.table else {
            return Ok(());
        };
        let open = fslab_sys::open_regular(&self.exchange().table())?;
        let length = table.length_of(&open, TRACE)?;
        File::options()
            .write(true)
            .open(self.trace())?
            .set_len(length)
    }

    /// The trial's exit status; `None` if the guest ended first.
    pub(crate) fn status(&self) -> Option<TrialStatus> {
        let exchange = self.exchange();
        let text = match &self.table {
            None => exchange.status_text()?,
            Some(table) => {
                let open = fslab_sys::open_regular(&exchange.table()).ok()?;
                table.content(&open, &format!("{EXCHANGE}/{STATUS}")).ok()?
            }
        };
        serde_json::from_slice(&text).ok()
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.folder.join(PROGRAM)
    }

    /// Copies the program of the trials, whose file may be replaced at any time. Debug information
    /// and symbols, of which a guest reads nothing, are a hole in the copy.
    pub(crate) fn copy_program(&self) -> io::Result<()> {
        let (mut program, loaded) = open_program()?;
        let bytes = program.metadata()?.len();
        let mut copy = File::create_new(self.program())?;
        program.rewind()?;
        io::copy(&mut program.take(loaded), &mut copy)?;
        copy.set_len(bytes)
    }

    /// Creates links to the images of the root and its layers.
    pub(crate) fn link_images(&self, root: &Path, layers: &[PathBuf]) -> io::Result<()> {
        symlink(root, self.folder.join(ROOT))?;
        let names = (1..).map(layer_name);
        let mut links = layers.iter().zip(names);
        links.try_for_each(|(layer, name)| symlink(layer, self.folder.join(name)))
    }

    /// The initramfs of a PC, made when it is booted.
    pub(crate) fn initramfs(&self) -> PathBuf {
        self.folder.join(INITRAMFS)
    }

    /// The image of the first disk.
    pub(crate) fn image(&self) -> PathBuf {
        self.folder.join(IMAGE)
    }

    /// The image of a disk, counted from 0.
    pub(crate) fn image_of(&self, disk: usize) -> PathBuf {
        self.folder.join(image_name(disk))
    }

    pub(crate) fn model(&self) -> PathBuf {
        self.folder.join(MODEL)
    }

    /// The trace of the first disk.
    pub(crate) fn trace(&self) -> PathBuf {
        self.folder.join(TRACE)
    }

    /// The traces of `disks`.
    pub(crate) fn traces(&self, disks: usize) -> Vec<PathBuf> {
        let names = (0..disks).map(|disk| of_disk(TRACE, disk));
        names.map(|name| self.folder.join(name)).collect()
    }

    /// Creates the directory that the guest can write.
    pub(crate) fn make_exchange(&self) -> io::Result<()> {
        std::fs::create_dir(&self.exchange().0)
    }

    /// Removes everything the guest has written. What cannot be removed is reported when the
    /// trial's directory is removed.
    pub(crate) fn remove_exchange(&self) {
        let _ = fslab_sys::remove_tree(&self.exchange().0);
    }

    pub(crate) fn exchange(&self) -> Exchange {
        Exchange::at(&self.folder.join(EXCHANGE))
    }
}

impl Exchange {
    pub(crate) fn at(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(crate) fn spec(&self) -> PathBuf {
        self.0.join(SPEC)
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.0.join(EVENTS)
    }

    pub(crate) fn status_file(&self) -> PathBuf {
        self.0.join(STATUS)
    }

    /// The table of a PC's files, and the small ones of them.
    pub(super) fn table(&self) -> PathBuf {
        self.0.join("exchange")
    }

    fn status_text(&self) -> Option<Vec<u8>> {
        let file: File = fslab_sys::open_regular(&self.status_file()).ok()?;
        let mut text = Vec::new();
        file.take(STATUS_BYTES_MAX).read_to_end(&mut text).ok()?;
        Some(text)
    }
}

/// File names in the trial's directory: the root image.
pub(super) const ROOT: &str = "root.img";
/// The image of a layer, numbered from 1.
pub(super) fn layer_name(number: usize) -> String {
    format!("layer-{number}.img")
}
/// The directory that the guest can write.
pub(super) const EXCHANGE: &str = "share";
/// The files in it.
const SPEC: &str = "spec.json";
pub(super) const EVENTS: &str = "events";
const STATUS: &str = "status";
/// What a PC's first process reads: kernel/simdisk/pc/init.c has its format.
const BOOT: &str = "boot";
/// The copy of the program.
pub(super) const PROGRAM: &str = "fslab";
/// A PC's initramfs.
const INITRAMFS: &str = "initramfs";
/// Parameters of a simulated disk.
pub(super) const MODEL: &str = "disk.model";
/// Trace of a simulated disk.
pub(super) const TRACE: &str = "disk.trace";

#[cfg(test)]
mod tests {
    use super::*;

    fn share() -> (tempfile::TempDir, Share) {
        let folder = tempfile::tempdir().expect("a directory");
        let share = Share::new(folder.path(), None);
        share.make_exchange().expect("made");
        (folder, share)
    }

    #[test]
    fn a_status_is_read_as_it_was_written() {
        let (_folder, share) = share();
        assert_eq!(share.status(), None);
        let status = TrialStatus {
            code: None,
            signal: Some(9),
        };
        let text = serde_json::to_vec(&status).expect("JSON");
        std::fs::write(share.exchange().status_file(), text).expect("written");
        assert_eq!(share.status(), Some(status));
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
        assert_eq!(share.status(), None);
        std::fs::remove_file(&status).expect("removed");
        let fifo = std::process::Command::new("mkfifo").arg(&status).status();
        assert!(fifo.expect("starts").success());
        assert_eq!(share.status(), None);
        std::fs::remove_file(&status).expect("removed");
        let endless = File::create(&status).expect("made");
        endless.set_len(1 << 40).expect("sparse");
        assert_eq!(share.status(), None);
    }
}
