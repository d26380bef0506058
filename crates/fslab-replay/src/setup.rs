//! Creates the initial files of a trace, with their lengths, links and permissions. Content comes
//! from the seed.

use fslab_sys::os::OsStrExt;
use fslab_sys::os::symlink;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fslab_engine::{EngineError, Filler, Measured, RunContext, ThreadRecorder};
use fslab_job::Finished;
use fslab_sys::{Descriptors, ResourceUse, flag_bits, sync_file_system};
use fslab_trace::{EntryKind, LinkTarget, Trace, TreeEntry};

/// Bytes per write(2).
const PART_BYTES: usize = 1 << 20;

/// Result of the creation.
pub(super) struct Created {
    measured: Measured,
    pub(super) notes: Vec<String>,
}

impl Created {
    pub(super) fn into_finished(self) -> Finished {
        Finished {
            notes: self.notes,
            ..self.measured.into()
        }
    }
}

/// Creates the files of `trace` below `base` and syncs them.
pub(super) fn create(
    context: &RunContext,
    base: &Path,
    trace: &Trace,
) -> Result<Created, EngineError> {
    fs::create_dir(base).map_err(|error| EngineError::io("make directory", base, error))?;
    let files =
        Descriptors::below(base, 1).map_err(|error| EngineError::io("open", base, error))?;
    let mut book = ThreadRecorder::new(context);
    let create = book.kind("create");
    let mut maker = Maker {
        base,
        files,
        filler: Filler::new(context.seed, PART_BYTES),
        refused_modes: 0,
        left_out: 0,
    };
    let used = ResourceUse::of_process();
    book.begin(ThreadRecorder::now_ns());
    for entry in &trace.files {
        if context.stop.is_raised() {
            return Err(EngineError::interrupted(base));
        }
        let start_ns = ThreadRecorder::now_ns();
        maker.make(entry)?;
        book.operation(create, start_ns, ThreadRecorder::now_ns(), entry.bytes);
    }
    for entry in trace.files.iter().rev() {
        maker.change_mode(entry)?;
    }
    sync_file_system(base).map_err(|error| EngineError::io("sync", base, error))?;
    let notes = maker.notes();
    let used = ResourceUse::of_process().since(used);
    let measured = ThreadRecorder::measured(vec![book], used, true);
    Ok(Created { measured, notes })
}

struct Maker<'a> {
    base: &'a Path,
    files: Descriptors,
    filler: Filler,
    refused_modes: u64,
    left_out: u64,
}

impl Maker<'_> {
    fn make(&mut self, entry: &TreeEntry) -> Result<(), EngineError> {
        let at = self.base.join(entry.path.as_path());
        let created = match (entry.kind, &entry.same_as) {
            (EntryKind::Directory, _) => fs::create_dir(&at),
            (EntryKind::File, Some(first)) => fs::hard_link(self.base.join(first.as_path()), &at),
            (EntryKind::File, None) => self.write(entry, &at),
            (EntryKind::Symlink, _) => symlink(target(self.base, entry), &at),
            (EntryKind::Other, _) => {
                self.left_out += 1;
                Ok(())
            }
        };
        created.map_err(|error| EngineError::io("make", &at, error))
    }

    fn write(&mut self, entry: &TreeEntry, at: &Path) -> io::Result<()> {
        let name = std::ffi::CString::new(entry.path.as_bytes())?;
        let flags = flag_bits("O_WRONLY|O_CREAT|O_EXCL").unwrap_or_default();
        self.files.open(Some(0), &name, flags, 0o600)?;
        let number = at
            .as_os_str()
            .as_bytes()
            .iter()
            .fold(0, |hash, byte| fslab_engine::mix(hash, u64::from(*byte)));
        let mut offset = 0;
        while offset < entry.bytes {
            let length = (entry.bytes - offset).min(PART_BYTES as u64) as usize;
            let data = self.filler.bytes(number, offset, length);
            offset += self.files.write(0, data, None)?;
        }
        self.files.close(0)?;
        Ok(())
    }

    /// Sets permissions. Called after all files exist, since permissions may forbid creating them.
    fn change_mode(&mut self, entry: &TreeEntry) -> Result<(), EngineError> {
        if !matches!(entry.kind, EntryKind::File | EntryKind::Directory) {
            return Ok(());
        }
        let at = self.base.join(entry.path.as_path());
        match fslab_sys::os::set_mode(&at, entry.mode) {
            Ok(()) => Ok(()),
            // The file system has no permissions.
            Err(error) if is_refusal(&error) => {
                self.refused_modes += 1;
                Ok(())
            }
            Err(error) => Err(EngineError::io("change the mode of", &at, error)),
        }
    }

    fn notes(&self) -> Vec<String> {
        let said = [
            (self.refused_modes, "lack their recorded permissions"),
            (
                self.left_out,
                "were pipes, sockets or devices and are missing",
            ),
        ];
        said.into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} of the initial names {what}"))
            .collect()
    }
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported
    )
}

/// The target of a symbolic link, adapted to `base`.
fn target(base: &Path, entry: &TreeEntry) -> PathBuf {
    match &entry.target {
        Some(LinkTarget::Below(path)) => base.join(path.as_path()),
        Some(LinkTarget::Text(text)) => text.into(),
        None => PathBuf::new(),
    }
}
