//! How a guest kernel is started: User-Mode Linux, an ordinary process of the user's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fslab_model::{Bytes, Failure, FailureKind};

use super::init::GuestTask;
use super::share::{IMAGE, Share};

/// Where a guest keeps its memory if there is room: a file on a disk would be written back.
const SHARED_MEMORY: &str = "/dev/shm";
/// The least that boots and runs every mkfs and fsck of the catalogue on small devices.
const MEMORY_MIN: Bytes = Bytes::mib(128);
/// From errors down to warnings: what a file system complains of stands on the console.
const CONSOLE_LEVEL: u32 = 5;

/// A guest kernel to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestSettings {
    /// The kernel's binary.
    pub kernel: PathBuf,
}

/// A guest that can be booted.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    kernel: PathBuf,
    memory: Bytes,
    counter_hz: Option<u64>,
}

impl Guest {
    pub(crate) fn new(settings: &GuestSettings, memory: Bytes) -> Result<Self, Failure> {
        if memory < MEMORY_MIN {
            let text = format!("a guest with {memory} of memory does not boot");
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint(format!("--memory {MEMORY_MIN} or more")));
        }
        Ok(Self {
            kernel: settings.kernel.clone(),
            memory,
            counter_hz: fslab_sys::counter_frequency(),
        })
    }

    pub(crate) fn memory(&self) -> Bytes {
        self.memory
    }

    /// What the guest's programs may read their time from.
    pub(crate) fn counter_hz(&self) -> Option<u64> {
        self.counter_hz
    }

    /// The command that boots it with `task` as its first process; its console is standard output.
    /// It ends with this process, and leaves no core.
    pub(crate) fn command(&self, share: &Share, task: GuestTask) -> Result<Command, Failure> {
        let mut command = Command::new(&self.kernel);
        command
            .args(self.arguments(share, task)?)
            .current_dir(share.folder())
            .env_clear()
            .env("TMPDIR", self.memory_folder(share))
            .env("HOME", share.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        fslab_sys::end_with_parent(&mut command);
        Ok(command)
    }

    fn arguments(&self, share: &Share, task: GuestTask) -> Result<Vec<String>, Failure> {
        let folder = share.folder();
        let program = share.program();
        let words = [
            format!("mem={}K", self.memory.0 >> 10),
            "root=/dev/root".into(),
            "rootfstype=hostfs".into(),
            "rootflags=/".into(),
            "ro".into(),
            format!("init={}", quoted(&program)?),
            "con=null".into(),
            task.console().into(),
            // `quiet` silences the loader, and what follows lets the kernel speak again.
            "quiet".into(),
            format!("loglevel={CONSOLE_LEVEL}"),
            "panic=1".into(),
            "oops=panic".into(),
            "umid=guest".into(),
            "uml_dir=uml".into(),
            format!("{}={}", super::init::SHARE_VARIABLE, quoted(folder)?),
        ];
        let disk = share.image().exists().then(|| format!("ubd0={IMAGE}"));
        // Words that the kernel does not know are arguments of init.
        Ok(words
            .into_iter()
            .chain(disk)
            .chain(task.arguments().map(str::to_owned))
            .collect())
    }

    /// Room for the guest's memory. Both are files that are unlinked as soon as they are open.
    fn memory_folder(&self, share: &Share) -> PathBuf {
        let shared = Path::new(SHARED_MEMORY);
        let has_room = fslab_sys::available_bytes(shared).is_ok_and(|room| room >= self.memory.0);
        if has_room && may_execute(shared) {
            shared.to_owned()
        } else {
            share.folder().to_owned()
        }
    }
}

/// Whether programs may be run from the mount at `place`: a guest's memory holds programs.
fn may_execute(place: &Path) -> bool {
    fslab_fs::recognise(place).is_ok_and(|found| !found.options.iter().any(|it| it == "noexec"))
}

/// A path on the kernel's command line, where blanks separate words unless they are quoted, and a
/// quote cannot be.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = path.display().to_string();
    if text.contains(['"', '\n']) {
        let text = format!("a guest cannot use the folder {}", path.display());
        return Err(Failure::new(FailureKind::BadInput, text)
            .hint("name another with --folder, one without quotes in its path"));
    }
    Ok(format!("\"{text}\""))
}
