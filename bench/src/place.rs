//! Where is measured: a directory on tmpfs, ext4 on a loop device over it, or any other directory.
//!
//! What is made here is undone when the place is dropped. Mounts are made in a namespace of the
//! bench's own (see `privacy`), so that they end with the process, however it ends; what a killed
//! bench left in memory is removed by the next one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_sys::{LoopDevice, MountFlags};

use crate::child;
use crate::contenders::Programs;
use crate::error::BenchError;
use crate::work::{Amounts, DATA_FILE, FILES_FOLDER, Work};

/// Names of directories of ours, with the process's number behind.
const PREFIX: &str = "fslab-bench-";
/// Room for the largest row twice, and for the file system's own.
const IMAGE_SPARE_BYTES: u64 = 1 << 30;

/// A directory to measure in.
pub(crate) struct Place {
    name: &'static str,
    facts: String,
    root: PathBuf,
    scratch: PathBuf,
    data_bytes: u64,
    mounted: Option<LoopDevice>,
    folder: PathBuf,
}

/// An empty directory for one run. Cleared explicitly, since clearing may fail.
pub(crate) struct Room<'a> {
    place: &'a Place,
    path: PathBuf,
}

impl Place {
    /// A directory in `parent`, which is on tmpfs or wherever the user is.
    pub(crate) fn directory(
        name: &'static str,
        parent: &Path,
        scratch: &Path,
    ) -> Result<Self, BenchError> {
        let folder = make_folder(parent)?;
        Ok(Self {
            name,
            facts: format!("{name}: a directory on {}", file_system_of(&folder)),
            root: folder.clone(),
            scratch: scratch.to_owned(),
            data_bytes: 0,
            mounted: None,
            folder,
        })
    }

    /// ext4 on a loop device whose image is in `parent`.
    pub(crate) fn ext4(
        parent: &Path,
        amounts: &Amounts,
        scratch: &Path,
    ) -> Result<Self, BenchError> {
        let folder = make_folder(parent)?;
        let mut place = Self {
            name: "ext4",
            facts: String::new(),
            root: folder.join("mount"),
            scratch: scratch.to_owned(),
            data_bytes: 0,
            mounted: None,
            folder,
        };
        let image = place.folder.join("image");
        let bytes = amounts.data_bytes + 2 * amounts.stream_bytes + IMAGE_SPARE_BYTES;
        // Written, not a hole: the host must have given its memory before anything is timed.
        fslab_sys::create_written(&image, bytes, &|| true)
            .map_err(|e| BenchError::io("write the image", &image, e))?;
        let device =
            LoopDevice::attach(&image, 512).map_err(|e| BenchError::io("attach", &image, e))?;
        // The device holds the image: without a name it ends with the device.
        fs::remove_file(&image).map_err(|e| BenchError::io("remove", &image, e))?;
        let options = ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"];
        let made = Command::new("mkfs.ext4")
            .args(options)
            .arg(device.path())
            .output()
            .map_err(|e| BenchError::io("run mkfs.ext4 on", device.path(), e))?;
        if !made.status.success() {
            return Err(BenchError::Command {
                command: format!("mkfs.ext4 {}", device.path().display()),
                status: made.status.to_string(),
                output: String::from_utf8_lossy(&made.stderr).into_owned(),
            });
        }
        fs::create_dir(&place.root).map_err(|e| BenchError::io("make", &place.root, e))?;
        fslab_sys::mount(device.path(), &place.root, "ext4", MountFlags::empty(), "")
            .map_err(|e| BenchError::io("mount ext4 on", &place.root, e))?;
        place.facts = format!(
            "ext4: mkfs.ext4 {}, {} MiB, on a loop device with direct I/O over a written image on \
             {}; {}",
            options.join(" "),
            bytes >> 20,
            file_system_of(parent),
            file_system_of(&place.root),
        );
        place.mounted = Some(device);
        Ok(place)
    }

    /// Writes the file that records are read from.
    pub(crate) fn write_data(
        &mut self,
        programs: &Programs,
        amounts: &Amounts,
    ) -> Result<(), BenchError> {
        let path = self.root.join(DATA_FILE);
        let write = programs.write_file(&path, amounts.data_bytes);
        child::run(&write, &self.root, &[])?;
        self.data_bytes = amounts.data_bytes;
        self.sync()
    }

    /// The name in tables.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// How it was made and mounted.
    pub(crate) fn facts(&self) -> &str {
        &self.facts
    }

    /// A directory for notes, outside of what is measured.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Length of the file that records are read from.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// An empty directory for a run of `work`, with a link to the file that records are read from
    /// or the directory that files are made in, if it needs that.
    pub(crate) fn room(&self, work: Work) -> Result<Room<'_>, BenchError> {
        let path = self.root.join("run");
        fs::create_dir(&path).map_err(|e| BenchError::io("make", &path, e))?;
        if work.uses_data_file() {
            let link = path.join(DATA_FILE);
            fs::hard_link(self.root.join(DATA_FILE), &link)
                .map_err(|e| BenchError::io("link", &link, e))?;
        }
        if work.makes_files() {
            let files = path.join(FILES_FOLDER);
            fs::create_dir(&files).map_err(|e| BenchError::io("make", &files, e))?;
        }
        Ok(Room { place: self, path })
    }

    fn sync(&self) -> Result<(), BenchError> {
        fslab_sys::sync_file_system(&self.root).map_err(|e| BenchError::io("sync", &self.root, e))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.mounted.is_some()
            && let Err(error) = fslab_sys::unmount(&self.root)
        {
            eprintln!("bench: cannot unmount {}: {error}", self.root.display());
            return;
        }
        // The last user of the device is gone: the kernel detaches it, and frees the image.
        self.mounted = None;
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("bench: cannot remove {}: {error}", self.folder.display());
        }
    }
}

impl Room<'_> {
    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what the run left, and waits until nothing is to be written back: the next run must
    /// not pay for this one.
    pub(crate) fn clear(self) -> Result<(), BenchError> {
        fs::remove_dir_all(&self.path).map_err(|e| BenchError::io("remove", &self.path, e))?;
        self.place.sync()
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        // After a failure; a cleared room is gone already.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A directory of ours in `parent`, after those of processes that are gone were removed.
fn make_folder(parent: &Path) -> Result<PathBuf, BenchError> {
    let entries = fs::read_dir(parent).map_err(|e| BenchError::io("list", parent, e))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        if process.is_some_and(|process| !fslab_sys::ProcessIdentity::of(process).is_alive()) {
            // Of another user, perhaps; then it is theirs to remove.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let own = format!("{PREFIX}{}-", std::process::id());
    let folder = tempfile::Builder::new()
        .prefix(&own)
        .tempdir_in(parent)
        .map_err(|e| BenchError::io("make a directory in", parent, e))?;
    Ok(folder.keep())
}

/// The last mount that holds `path`: its source and mount point.
fn file_system_of(path: &Path) -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let holds = |line: &&str| {
        let point = line.split(' ').nth(1).unwrap_or_default();
        path.starts_with(point)
    };
    let length = |line: &&str| line.split(' ').nth(1).map_or(0, str::len);
    mounts.lines().filter(holds).max_by_key(length).map_or_else(
        || "an unknown file system".to_owned(),
        |line| {
            let words: Vec<_> = line.split(' ').collect();
            format!("{} ({})", words[2], words.get(3).unwrap_or(&""))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_process_that_is_gone_is_removed_and_one_of_ours_is_not() {
        let parent = tempfile::tempdir().expect("a directory");
        let gone = parent.path().join(format!("{PREFIX}{}-abc", u32::MAX));
        fs::create_dir(&gone).expect("a directory");
        let first = make_folder(parent.path()).expect("a directory");
        let second = make_folder(parent.path()).expect("a directory");
        assert!(!gone.exists() && first.exists() && second.exists());
    }

    #[test]
    fn a_place_is_gone_when_it_is_dropped() {
        let parent = tempfile::tempdir().expect("a directory");
        let place = Place::directory("here", parent.path(), parent.path()).expect("a place");
        let room = place.room(Work::Names).expect("a room");
        fs::write(room.path().join(FILES_FOLDER).join("f"), "x").expect("writes");
        assert!(place.room(Work::Names).is_err(), "one run at a time");
        room.clear().expect("clears");
        drop(place);
        assert_eq!(fs::read_dir(parent.path()).expect("lists").count(), 0);
    }
}
