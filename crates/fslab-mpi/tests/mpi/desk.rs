//! A directory in which jobs run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A study whose trials end in a fraction of a second.
const STUDY: &str = "format = 1\nname = 'few'\ntitle = 'Few'\nsize = '64MiB'\nrepeats = 40\n\
                     trial_limit_s = 60\n[[phase]]\nname = 'create'\nworkload = 'create'\n\
                     files = 100\nfile_size = '4KiB'\n";

/// A directory with both programs and a study.
pub(crate) struct Desk {
    pub(crate) folder: tempfile::TempDir,
}

impl Desk {
    /// `None`, with the reason printed, where no job can run.
    pub(crate) fn new() -> Option<Self> {
        let mpirun = Command::new("mpirun").arg("--version").output();
        if !mpirun.is_ok_and(|output| output.status.success()) {
            println!("skipped: no mpirun");
            return None;
        }
        let Some(fslab) = fslab() else {
            println!("skipped: no fslab: build it, or name it in MPI_TEST_FSLAB");
            return None;
        };
        let folder = tempfile::tempdir().expect("a directory");
        let desk = Self { folder };
        desk.install("bin", &fslab);
        fs::write(desk.path("study.toml"), STUDY).expect("a study");
        Some(desk)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Copies fslab-mpi and `fslab` to a directory; the path of fslab-mpi there.
    pub(crate) fn install(&self, folder: &str, fslab: &Path) -> PathBuf {
        let folder = self.path(folder);
        fs::create_dir(&folder).expect("a directory");
        for name in ["fslab", "fslab-guest"] {
            fs::copy(fslab.with_file_name(name), folder.join(name)).expect("a copy");
        }
        let own = folder.join("fslab-mpi");
        fs::copy(env!("CARGO_BIN_EXE_fslab-mpi"), &own).expect("a copy");
        own
    }

    pub(crate) fn mpirun(&self, options: &[&str]) -> Command {
        let mut command = Command::new("mpirun");
        if is_open_mpi() {
            command.args(["--allow-run-as-root", "--oversubscribe"]);
        }
        command
            .args(options)
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env_remove("XDG_STATE_HOME")
            .stdin(Stdio::null());
        command
    }

    /// A job with these arguments of fslab-mpi.
    pub(crate) fn job(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.mpirun(options);
        command.arg(self.path("bin/fslab-mpi")).args(arguments);
        command
    }

    /// The last run in the store, as JSON.
    pub(crate) fn shown(&self, store: &str) -> serde_json::Value {
        let output = Command::new(self.path("bin/fslab"))
            .args(["show", "--json", "--store", store])
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path())
            .output()
            .expect("fslab starts");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The trials of the last run in the store: cell, repeat and outcome.
    pub(crate) fn trials(&self, store: &str) -> Vec<String> {
        let shown = self.shown(store);
        let trials = shown["trials"].as_array().expect("trials");
        let line = |it: &serde_json::Value| format!("{} {}", it["trial"], it["outcome"]);
        // The order of ends is of no account.
        let mut trials: Vec<_> = trials.iter().map(line).collect();
        trials.sort();
        trials
    }
}

fn fslab() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MPI_TEST_FSLAB") {
        return Some(named.into());
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let built = ["debug/fslab", "release/fslab"].map(|file| target.join(file));
    built.into_iter().find(|file| file.is_file())
}

pub(crate) fn is_open_mpi() -> bool {
    let output = Command::new("mpirun")
        .arg("--version")
        .output()
        .expect("mpirun starts");
    String::from_utf8_lossy(&output.stdout).contains("Open MPI")
}

pub(crate) fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

/// Processes of the desk whose command line begins with `program` in its directory `bin`, the
/// oldest first.
pub(crate) fn processes(desk: &Desk, program: &str) -> Vec<i32> {
    let begin = desk.path("bin").join(program).display().to_string();
    let list = fs::read_dir("/proc").expect("/proc").flatten();
    let ids = list.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_meant = |id: &i32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.starts_with(&begin)
    };
    let mut found: Vec<_> = ids.filter(is_meant).collect();
    found.sort_unstable();
    found
}

/// The processes that these have started, the oldest first.
pub(crate) fn children_of(parents: &[i32]) -> Vec<i32> {
    let list = fs::read_dir("/proc").expect("/proc").flatten();
    let ids = list.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |id: &i32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        let parent = line.and_then(|parent| parent.trim().parse::<i32>().ok());
        parent.is_some_and(|parent| parents.contains(&parent))
    };
    let mut found: Vec<_> = ids.filter(is_child).collect();
    found.sort_unstable();
    found
}
