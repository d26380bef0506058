//! The snapshots of a lab, in its folder: `KEY.snapshot` for each machine, and a lock.

use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use fslab_lab::Fingerprint;
use fslab_model::{Failure, FailureKind};
use fslab_sys::{AtomicFile, TrustedFolder};

use super::state::Snapshot;
use super::taking::{boot_command, take};
use crate::guest::pc::emulator::Pc;
use crate::guest::pc::table::Table;

/// Snapshots that a lab keeps, those that were used last; one has about 80 MB.
const KEPT: usize = 8;
const SUFFIX: &str = ".snapshot";
const LOCK: &str = "lock";

/// The snapshots in a folder, which need not exist.
pub(in crate::guest) struct Snapshots<'a>(pub(in crate::guest) &'a Path);

impl Snapshots<'_> {
    /// The snapshot of a machine with the devices of `table`, booted from `initramfs`. It is taken
    /// if it is not there or is damaged; what takes one at the same time is waited for. Where the
    /// folder cannot be written, it is taken for this guest alone.
    pub(in crate::guest) fn provide(
        &self,
        pc: &Pc<'_>,
        table: &Table,
        initramfs: &[u8],
    ) -> Result<Snapshot, Failure> {
        let devices = table.device_sizes();
        let name = format!("{}{SUFFIX}", key(pc, &devices, initramfs)?);
        let bytes = pc.total_memory().0;
        let failed = |error: io::Error| {
            let text = "cannot use the folder of a lab's snapshots";
            Failure::at(FailureKind::Device, text, self.0, &error)
        };
        let folder = match TrustedFolder::open_or_make(self.0) {
            Ok(folder) => folder,
            Err(error) if is_closed(&error) => return take(pc, &devices, initramfs),
            Err(error) => return Err(failed(error)),
        };
        if let Ok(snapshot) = read(&folder, &name, bytes) {
            return Ok(snapshot);
        }
        let lock = match fs::File::create(self.0.join(LOCK)) {
            Ok(lock) => lock,
            Err(error) if is_closed(&error) => return take(pc, &devices, initramfs),
            Err(error) => return Err(failed(error)),
        };
        lock.lock().map_err(failed)?;
        if let Ok(snapshot) = read(&folder, &name, bytes) {
            return Ok(snapshot);
        }
        let snapshot = take(pc, &devices, initramfs)?;
        // Without room for it, the next guest takes it again.
        if write(&snapshot, &self.0.join(&name)).is_ok() {
            self.remove_oldest();
        }
        Ok(snapshot)
    }

    /// Removes all but those that were used last. No running guest needs its file.
    fn remove_oldest(&self) {
        let Ok(entries) = fs::read_dir(self.0) else {
            return;
        };
        let snapshots = entries.filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_one = path.to_str()?.ends_with(SUFFIX);
            let used = fs::metadata(&path).ok()?.modified().ok()?;
            is_one.then_some((used, path))
        });
        let mut snapshots: Vec<_> = snapshots.collect();
        snapshots.sort();
        let over = snapshots.len().saturating_sub(KEPT);
        for (_, path) in &snapshots[..over] {
            let _ = fs::remove_file(path);
        }
    }
}

/// Identifies the machine: the emulator with its version and options, and what it boots.
fn key(pc: &Pc<'_>, devices: &[(u32, u64)], initramfs: &[u8]) -> Result<String, Failure> {
    let no_memory = fslab_sys::memory_file(0).map_err(|error| {
        Failure::new(FailureKind::Device, "cannot make memory for a guest").because(&error)
    })?;
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(&pc.emulator.version);
    for argument in boot_command(pc, devices, no_memory).get_args() {
        let argument = argument.to_string_lossy();
        // The number of a descriptor differs from guest to guest.
        if !argument.contains("mem-path=") {
            fingerprint.add(argument.as_bytes());
        }
    }
    fingerprint.add(initramfs);
    Ok(fingerprint.finish().to_string())
}

/// True where another user's folder or a read-only file system is the cause.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
    matches!(
        error.kind(),
        PermissionDenied | ReadOnlyFilesystem | StorageFull
    )
}

fn read(folder: &TrustedFolder, name: &str, bytes: u64) -> io::Result<Snapshot> {
    let file = folder.open_file_to_read(name)?;
    let snapshot = Snapshot::read(&mut BufReader::with_capacity(1 << 18, &file), bytes)?;
    // By it the oldest is found; a file of another user keeps its time.
    let _ = file.set_modified(SystemTime::now());
    Ok(snapshot)
}

fn write(snapshot: &Snapshot, path: &Path) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    let mut out = BufWriter::with_capacity(1 << 18, &mut file);
    snapshot.write(&mut out)?;
    out.flush()?;
    drop(out);
    file.commit()
}
