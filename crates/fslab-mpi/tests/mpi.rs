//! Real jobs under mpirun, on the `fake` file system, which needs no device and no lab.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A study whose trials end in a fraction of a second.
const STUDY: &str = "format = 1\nname = 'few'\ntitle = 'Few'\nsize = '64MiB'\nrepeats = 40\n\
                     trial_limit_s = 60\n[[phase]]\nname = 'create'\nworkload = 'create'\n\
                     files = 100\nfile_size = '4KiB'\n";

/// A folder with both programs and a study.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    /// `None`, with the reason printed, where no job can run.
    fn new() -> Option<Self> {
        let mpirun = Command::new("mpirun").arg("--version").output();
        if !mpirun.is_ok_and(|output| output.status.success()) {
            println!("skipped: no mpirun");
            return None;
        }
        let Some(fslab) = fslab() else {
            println!("skipped: no fslab: build it, or name it in MPI_TEST_FSLAB");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let desk = Self { folder };
        desk.install("bin", &fslab);
        fs::write(desk.path("study.toml"), STUDY).expect("a study");
        Some(desk)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Copies fslab-mpi and `fslab` to a folder; the path of fslab-mpi there.
    fn install(&self, folder: &str, fslab: &Path) -> PathBuf {
        let folder = self.path(folder);
        fs::create_dir(&folder).expect("a folder");
        fs::copy(fslab, folder.join("fslab")).expect("a copy");
        let own = folder.join("fslab-mpi");
        fs::copy(env!("CARGO_BIN_EXE_fslab-mpi"), &own).expect("a copy");
        own
    }

    /// mpirun in this desk.
    fn mpirun(&self, options: &[&str]) -> Command {
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
    fn job(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.mpirun(options);
        command.arg(self.path("bin/fslab-mpi")).args(arguments);
        command
    }

    fn run(&self, options: &[&str], more: &[&str]) -> Command {
        self.job(options, &[&RUN[..], more].concat())
    }

    /// The trials of the last run in the store: cell, repeat and seed-dependent parts alone.
    fn trials(&self, store: &str) -> Vec<String> {
        let output = Command::new(self.path("bin/fslab"))
            .args(["show", "--json", "--store", store])
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path())
            .output()
            .expect("fslab starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // One line for each trial, sorted: the order of ends is of no account.
        let compact: String = text.split_whitespace().collect();
        let mut trials: Vec<_> = compact
            .split("\"trial\":{")
            .skip(1)
            .map(|rest| {
                let id = rest.split('}').next().unwrap_or_default();
                let done = rest.contains("\"outcome\":\"done\"");
                format!("{id} done {done}")
            })
            .collect();
        trials.sort();
        trials
    }
}

const RUN: [&str; 6] = ["run", "study.toml", "--fs", "fake", "--store", "s.db"];

fn fslab() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MPI_TEST_FSLAB") {
        return Some(named.into());
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let built = ["debug/fslab", "release/fslab"].map(|file| target.join(file));
    built.into_iter().find(|file| file.is_file())
}

fn is_open_mpi() -> bool {
    let output = Command::new("mpirun")
        .arg("--version")
        .output()
        .expect("mpirun starts");
    String::from_utf8_lossy(&output.stdout).contains("Open MPI")
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

/// Processes of the desk whose command line begins with `program` in its folder `bin`, the oldest
/// first.
fn processes(desk: &Desk, program: &str) -> Vec<i32> {
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

#[test]
fn a_job_of_four_ranks_runs_every_trial_of_a_plain_run() {
    let Some(desk) = Desk::new() else { return };
    let plain = Command::new(desk.path("bin/fslab"))
        .args(RUN.map(|word| if word == "s.db" { "plain.db" } else { word }))
        .current_dir(desk.folder.path())
        .env("HOME", desk.folder.path())
        .output()
        .expect("fslab starts");
    assert!(plain.status.success(), "{}", text(&plain));
    let output = desk
        .run(&["-np", "4"], &[])
        .output()
        .expect("mpirun starts");
    assert!(output.status.success(), "{}", text(&output));
    let trials = desk.trials("s.db");
    assert_eq!(trials.len(), 40, "{trials:?}");
    assert_eq!(trials, desk.trials("plain.db"));
}

#[test]
fn a_rank_with_another_build_is_refused_by_name() {
    let Some(desk) = Desk::new() else { return };
    let other = desk.install("other", &desk.path("bin/fslab"));
    let mut bytes = fs::read(desk.path("other/fslab")).expect("read");
    bytes.push(0);
    fs::write(desk.path("other/fslab"), bytes).expect("written");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(desk.path("other/fslab"), mode).expect("executable");
    let output = desk
        .mpirun(&["-np", "2"])
        .arg(desk.path("bin/fslab-mpi"))
        .args(RUN)
        .args([":", "-np", "1"])
        .arg(other)
        .output()
        .expect("mpirun starts");
    let said = text(&output);
    assert!(!output.status.success());
    assert!(
        said.contains("rank 2 on ") && said.contains("another build"),
        "{said}"
    );
}

#[test]
fn one_rank_and_other_commands_are_refused_with_a_hint() {
    let Some(desk) = Desk::new() else { return };
    let alone = desk
        .run(&["-np", "1"], &[])
        .output()
        .expect("mpirun starts");
    assert_eq!(alone.status.code(), Some(2));
    assert!(
        text(&alone).contains("at least two ranks"),
        "{}",
        text(&alone)
    );
    let list = desk
        .job(&["-np", "2"], &["list"])
        .output()
        .expect("mpirun starts");
    assert_eq!(list.status.code(), Some(2));
    assert!(text(&list).contains("use `fslab`"), "{}", text(&list));
}

/// Kills a process of a job of three ranks after its first trial, by the end of its command line.
/// The job's output, and whether it ended by itself with a report.
fn kill_one_of(desk: &Desk, program: &str, options: &[&str]) -> Output {
    let mut job = desk
        .run(options, &[])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mpirun starts");
    let errors = BufReader::new(job.stderr.take().expect("a pipe"));
    let mut lines = errors.lines().map_while(Result::ok);
    let is_progress = |line: &String| line.trim_start().contains("/40 ");
    let begun = lines.find(is_progress);
    assert!(begun.is_some(), "the job ended before its first trial");
    let victims = processes(desk, program);
    let victim = victims.last().expect("it runs").to_string();
    let killed = Command::new("kill").args(["-KILL", &victim]).status();
    assert!(killed.expect("kill starts").success());
    // The pipe must be read, or the job would wait for space in it.
    let errors: Vec<String> = lines.collect();
    let mut output = job.wait_with_output().expect("mpirun ends");
    output.stderr = errors.join("\n").into_bytes();
    output
}

/// The worker dies, its rank lives: the conductor learns it at once.
#[test]
fn a_killed_worker_costs_its_trial_and_a_resumed_run_repeats_it() {
    let Some(desk) = Desk::new() else { return };
    let output = kill_one_of(&desk, "fslab worker", &["-np", "3"]);
    assert!(!output.status.success(), "{}", text(&output));
    assert_eq!(desk.trials("s.db").len(), 39, "{}", text(&output));
    let resumed = desk
        .run(&["-np", "3"], &["--resume"])
        .output()
        .expect("starts");
    assert!(resumed.status.success(), "{}", text(&resumed));
    assert_eq!(desk.trials("s.db").len(), 40);
}

/// Under Open MPI with recovery its silence is noticed after a minute; MPICH ends the job.
#[test]
fn a_killed_rank_costs_its_trial_and_a_resumed_run_repeats_it() {
    let Some(desk) = Desk::new() else { return };
    let mut options = vec!["-np", "3"];
    if is_open_mpi() {
        options.push("--enable-recovery");
    }
    let output = kill_one_of(&desk, "fslab-mpi run", &options);
    let stored = desk.trials("s.db").len();
    if is_open_mpi() {
        assert!(text(&output).contains("is silent"), "{}", text(&output));
        assert_eq!(stored, 39, "{}", text(&output));
    }
    assert!(
        (1..40).contains(&stored),
        "{stored} trials: {}",
        text(&output)
    );
    // What the killed job left ends by itself.
    let began = Instant::now();
    while !processes(&desk, "fslab ").is_empty() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "processes are left"
        );
        sleep(Duration::from_millis(100));
    }
    let resumed = desk
        .run(&["-np", "3"], &["--resume"])
        .output()
        .expect("starts");
    assert!(resumed.status.success(), "{}", text(&resumed));
    assert_eq!(desk.trials("s.db").len(), 40);
}
