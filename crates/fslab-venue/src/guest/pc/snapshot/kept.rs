//! The snapshots of a lab, in its directory: `KEY.snapshot` for each machine, and a lock.

use std::fs::{self, TryLockError};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fslab_lab::{Fingerprint, KernelKey};
use fslab_model::Failure;
use fslab_sys::{AtomicFile, TrustedFolder};

use super::file::{MAGIC, ensure_sound};
use super::state::Snapshot;
use super::taking::{LIMIT, boot_command, take};
use crate::guest::pc::emulator::Pc;
use crate::guest::pc::table::Table;

/// Snapshots that a lab keeps, those that were used last; one has 80 to 140 MB.
const KEPT: usize = 8;
const SUFFIX: &str = ".snapshot";
const LOCK: &str = "lock";
/// How often a lock is tried.
const STEP: Duration = Duration::from_millis(20);
/// The firmware, where packages of QEMU have it: it is a part of what boots.
const FIRMWARE: [&str; 2] = [
    "/usr/share/seabios/bios-256k.bin",
    "/usr/share/qemu/bios-256k.bin",
];

/// The snapshots in a directory, which need not exist.
pub(in crate::guest) struct Snapshots<'a> {
    pub(in crate::guest) folder: &'a Path,
    /// Gets the path of a damaged one, which is removed.
    pub(in crate::guest) on_damage: fn(&Path),
}

impl Snapshots<'_> {
    /// The snapshot of a machine with the devices of `table`, booted from `initramfs`. It is taken
    /// if it is not there or is damaged; what takes one at the same time is waited for. Where the
    /// directory cannot be used, it is taken for this guest alone.
    pub(in crate::guest) fn provide(
        &self,
        pc: &Pc<'_>,
        table: &Table,
        initramfs: &[u8],
        go_on: &dyn Fn() -> bool,
    ) -> Result<Snapshot, Failure> {
        let devices = table.device_sizes();
        let name = format!("{}{SUFFIX}", key(pc, &devices, initramfs));
        let bytes = pc.total_memory().0;
        let take = || take(pc, &devices, initramfs, go_on);
        // Other users may read it.
        let _ = fs::create_dir(self.folder);
        let Ok(folder) = TrustedFolder::open(self.folder) else {
            return take();
        };
        if let Ok(snapshot) = read(&folder, &name, bytes) {
            return Ok(snapshot);
        }
        let Some(_lock) = lock(&folder, go_on) else {
            return take();
        };
        match read(&folder, &name, bytes) {
            Ok(snapshot) => return Ok(snapshot),
            Err(error) if is_damage(&error) => {
                (self.on_damage)(&self.folder.join(&name));
                let _ = folder.remove(&name);
            }
            Err(_) => {}
        }
        let snapshot = take()?;
        // Without room for it, the next guest takes it again.
        if write(&snapshot, &self.folder.join(&name)).is_ok() {
            self.remove_oldest();
        }
        Ok(snapshot)
    }

    /// Removes all but those that were used last. No running guest needs its file.
    fn remove_oldest(&self) {
        let Ok(entries) = fs::read_dir(self.folder) else {
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

/// Identifies the machine: the emulator with its build, options and firmware, and what it boots.
/// The kernel is that of the lab in whose directory the snapshot is.
fn key(pc: &Pc<'_>, devices: &[(u32, u64)], initramfs: &[u8]) -> KernelKey {
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(MAGIC);
    fingerprint.add(&pc.emulator.version);
    for path in std::iter::once(pc.emulator.program.as_path()).chain(FIRMWARE.map(Path::new)) {
        fingerprint.add(path.to_string_lossy().as_bytes());
        if let Ok(about) = fs::metadata(path) {
            fingerprint.add(about.len().to_le_bytes());
            let changed = about.modified().ok();
            let since = changed.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
            fingerprint.add(since.unwrap_or_default().as_nanos().to_le_bytes());
        }
    }
    for argument in boot_command(pc, devices).get_args() {
        fingerprint.add(argument.to_string_lossy().as_bytes());
    }
    fingerprint.add(initramfs);
    fingerprint.finish()
}

/// Locks the directory; `None` if it cannot be written, if the lock is not given in the time in
/// which a snapshot is taken, or if the run is to end.
fn lock(folder: &TrustedFolder, go_on: &dyn Fn() -> bool) -> Option<fs::File> {
    let made = folder.make_file(LOCK);
    let file = made.or_else(|_| folder.open_file(LOCK)).ok()?;
    let deadline = Instant::now() + LIMIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::Error(_)) => return None,
            Err(TryLockError::WouldBlock) => {}
        }
        if Instant::now() >= deadline || !go_on() {
            return None;
        }
        thread::sleep(STEP);
    }
}

/// The snapshots in `folder`, by name, each read to its end; none if the directory does not exist.
pub fn check_snapshots(folder: &Path) -> io::Result<Vec<(PathBuf, io::Result<()>)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.to_string_lossy().ends_with(SUFFIX));
    paths.sort();
    let check = |path: PathBuf| {
        let file = fslab_sys::open_regular(&path);
        let read = file.and_then(|it| ensure_sound(&mut BufReader::with_capacity(1 << 18, it)));
        (path, read)
    };
    Ok(paths.into_iter().map(check).collect())
}

/// Whether a snapshot is there and damaged.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
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
