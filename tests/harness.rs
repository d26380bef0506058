//! A desk for one test: its own home, store and directories, and the command to run there.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// The user without privileges that every Linux system has.
const NOBODY: u32 = 65534;

pub(crate) const SMALL_STUDY: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/small.toml"
);

/// Compares the file system that takes no time by the small study.
pub(crate) const COMPARE_FAKE: [&str; 6] =
    ["compare", "fake", "--study", "./small.toml", "--out", "out"];

/// One test's own corner of the machine.
pub(crate) struct Desk {
    folder: TempDir,
    program: PathBuf,
    user: Option<u32>,
}

/// What a command left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Copies a file that will be executed, by a separate process.
///
/// A child that another test forks meanwhile would hold this process's writing end until it has
/// become another program, and as long no kernel executes the file (ETXTBSY).
fn copy_program(from: &Path, to: &Path) {
    let mut install = Command::new("install");
    let ended = install.args(["-m", "755"]).args([from, to]).status();
    assert!(ended.expect("install starts").success(), "{}", to.display());
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("fslab-test-")
            .tempdir_in("/var/tmp")
            .expect("a directory for the test");
        for name in ["home", "images", "out"] {
            fs::create_dir(folder.path().join(name)).expect("a directory");
        }
        fs::copy(SMALL_STUDY, folder.path().join("small.toml")).expect("the study");
        Self {
            folder,
            program: env!("CARGO_BIN_EXE_fslab").into(),
            user: None,
        }
    }

    /// From now on, commands find the default lab of the user who runs the tests. `None`, with the
    /// reason said, where there is none; where FSLAB_TEST_GUEST is `required`, that is a failure.
    pub(crate) fn with_lab(self, test: &str) -> Option<Self> {
        let required = std::env::var("FSLAB_TEST_GUEST").is_ok_and(|word| word == "required");
        self.with_lab_named("default", required, test)
    }

    /// The same for the lab of a machine whose processor takes time, which not every release of
    /// Debian has the kernel for: it is never required.
    pub(crate) fn with_pc_lab(self, test: &str) -> Option<Self> {
        if Command::new("qemu-system-x86_64")
            .arg("--version")
            .output()
            .is_err()
        {
            skip(test, "there is no qemu-system-x86_64");
            return None;
        }
        self.with_lab_named("debian-6.1", false, test)
    }

    /// The same for the lab with network file systems, which is another kernel to build: it is
    /// never required.
    pub(crate) fn with_network_lab(self, test: &str) -> Option<Self> {
        self.with_lab_named("network", false, test)
    }

    fn with_lab_named(self, name: &str, required: bool, test: &str) -> Option<Self> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
            || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
            PathBuf::from,
        );
        let cache = cache.join("fslab");
        let named = cache.join("names").join(name);
        let lab = named.canonicalize().ok();
        let described = lab.filter(|lab| lab.join("lab.json").exists());
        let Some(lab) = described else {
            assert!(!required, "there is no lab at {}", named.display());
            let option = match name {
                "network" => " --network",
                _ => "",
            };
            skip(
                test,
                &format!("there is no lab '{name}'; `fslab lab build{option}` makes it"),
            );
            return None;
        };
        // A copy: the user's home may be closed to the user of the test.
        let ours = self.path("home/.cache/fslab");
        let digest = lab.file_name().expect("a digest");
        let text = fs::read(lab.join("lab.json")).expect("a description");
        let about: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        let part = |name: &str| about[name].as_str().expect("a key").to_owned();
        let root = Path::new("roots").join(part("root_key"));
        let kernel = Path::new("labs").join(digest).join(part("kernel_key"));
        copy_folder(&cache.join(&root), &ours.join(&root));
        // As in a new cache: what a PC maps is made by its first trial.
        let _ = fs::remove_file(ours.join(&root).join("root.img.padded"));
        copy_folder(&cache.join(&kernel), &ours.join(&kernel));
        copy_folder(&lab, &ours.join("labs").join(digest));
        fs::create_dir_all(ours.join("names")).expect("a directory");
        let target = Path::new("../labs").join(digest);
        std::os::unix::fs::symlink(target, ours.join("names").join(name)).expect("a name");
        Some(self)
    }

    /// From now on, commands run as a user without privileges, to whom the desk belongs.
    pub(crate) fn unprivileged(mut self) -> Self {
        if !is_root() {
            return self;
        }
        // The build directory may be closed to other users.
        let programs = self.folder.path().join("bin");
        fs::create_dir(&programs).expect("a directory");
        for name in ["fslab", "fslab-guest"] {
            copy_program(&self.program.with_file_name(name), &programs.join(name));
        }
        for name in ["", "home", "images", "out"] {
            let path = self.folder.path().join(name);
            std::os::unix::fs::chown(path, Some(NOBODY), None).expect("chown");
        }
        self.program = programs.join("fslab");
        self.user = Some(NOBODY);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path("home/.local/share/fslab/fslab.db")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        self.at_the_desk(command)
    }

    /// `command` with the desk's environment, directory and user.
    fn at_the_desk(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Runs `fslab ARGUMENTS` to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::from(
            self.command(arguments)
                .output()
                .expect("the program starts"),
        )
    }

    /// Runs `fslab compare WORDS` in the venue sim, after which nothing may be left.
    pub(crate) fn compare_in_sim(&self, words: &[&str]) -> Ended {
        let sim = ["--venue", "sim", "--images", "images", "--out", "out"];
        let ended = self.run(&[&["compare"], words, &sim].concat());
        self.expect_nothing_left();
        ended
    }

    /// What belongs to plan and lab of the last run.
    pub(crate) fn exact(&self) -> String {
        let exported = self.run(&["export", "last", "--format", "exact"]);
        exported.expect_code(0);
        exported.out
    }

    /// The same as trials.
    pub(crate) fn exact_trials(&self) -> Vec<serde_json::Value> {
        serde_json::from_str(&self.exact()).expect("JSON")
    }

    /// The same with further variables of the environment.
    pub(crate) fn run_in(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        Ended::from(command.output().expect("the program starts"))
    }

    /// Runs `fslab ARGUMENTS` with standard error on a device that takes nothing.
    pub(crate) fn run_unheard(&self, arguments: &[&str]) -> Ended {
        let full = fs::File::create("/dev/full").expect("the device");
        let mut command = self.command(arguments);
        let child = command.stdout(Stdio::piped()).stderr(full).spawn();
        let ended = child.expect("the program starts").wait_with_output();
        Ended::from(ended.expect("the program ends"))
    }

    /// Runs any command with the desk's environment.
    pub(crate) fn run_as_is(&self, command: Command) -> Ended {
        Ended::from(
            self.at_the_desk(command)
                .output()
                .expect("the program starts"),
        )
    }

    /// The same with text on standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Ended {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(input.as_bytes()).expect("the program reads");
        drop(pipe);
        Ended::from(child.wait_with_output().expect("the program ends"))
    }

    /// Starts `fslab ARGUMENTS` and lets it run.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Starts any command with the desk's environment, unheard, and lets it run.
    pub(crate) fn start_as_is(&self, program: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.at_the_desk(command)
            .spawn()
            .expect("the program starts")
    }

    /// [`COMPARE_FAKE`] with further options.
    pub(crate) fn compare_fake(&self, options: &[&str]) -> Ended {
        self.run(&[&COMPARE_FAKE, options].concat())
    }

    /// Records a shell at work in a new directory `work` as `the.trace`; `None`, with the reason
    /// said, where this machine has no strace, or lets no one use it.
    pub(crate) fn record_trace(&self, test: &str, script: &str) -> Option<Ended> {
        fs::create_dir(self.path("work")).expect("a directory");
        let ended = self.run(&[
            "trace",
            "record",
            "-o",
            "the.trace",
            "--root",
            "work",
            "--",
            "sh",
            "-c",
            script,
        ]);
        if ended.code == Some(4) {
            skip(test, &ended.err);
            return None;
        }
        ended.expect_code(0);
        Some(ended)
    }

    /// The run of a replay of `the.trace` in a directory, as JSON.
    pub(crate) fn replay_trace(&self) -> serde_json::Value {
        let words = "trace replay the.trace --venue dir --repeats 1 --out out";
        let words: Vec<_> = words.split(' ').collect();
        self.run(&words).expect_code(0);
        self.last_run()
    }

    /// The last run of the desk's store, as JSON.
    pub(crate) fn last_run(&self) -> serde_json::Value {
        let shown = self.run(&["show", "last", "--json"]);
        shown.expect_code(0);
        serde_json::from_str(&shown.out).expect("pure JSON")
    }

    /// Demands that nothing of the desk is mounted or attached, and that no image is left.
    pub(crate) fn expect_nothing_left(&self) {
        let folder = self
            .folder
            .path()
            .to_str()
            .expect("a path of text")
            .to_owned();
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
        assert!(!mounts.contains(&folder), "still mounted: {mounts}");
        assert_eq!(loops_below(&folder), Vec::<String>::new(), "still attached");
        let images: Vec<_> = fs::read_dir(self.path("images"))
            .expect("images")
            .flatten()
            .collect();
        assert!(images.is_empty(), "left behind: {images:?}");
        let leases = self.path("home/.local/state/fslab/leases");
        if leases.exists() {
            assert_eq!(
                fs::read_dir(leases).expect("leases").count(),
                0,
                "leases are left"
            );
        }
    }
}

/// Backing files of loop devices that lie below `folder`.
fn loops_below(folder: &str) -> Vec<String> {
    fs::read_dir("/sys/block")
        .expect("sysfs")
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("loop/backing_file")).ok())
        .filter(|file| file.starts_with(folder))
        .collect()
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Ended {
    /// Demands an exit code.
    #[track_caller]
    pub(crate) fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.out,
            self.err
        );
        self
    }

    /// Demands exactly one error that says `what`, and a hint that says `hint`.
    #[track_caller]
    pub(crate) fn expect_error(&self, what: &str, hint: &str) -> &Self {
        assert_eq!(
            self.err.matches("error:").count(),
            1,
            "one error: {}",
            self.err
        );
        assert!(self.err.contains(what), "no '{what}' in: {}", self.err);
        let advice = self
            .err
            .split_once("hint:")
            .map_or("", |(_, advice)| advice);
        assert!(advice.contains(hint), "no hint '{hint}' in: {}", self.err);
        self
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Copies the files of a directory, not the directories in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("listed").flatten() {
        if entry.path().is_file() {
            copy_program(&entry.path(), &to.join(entry.file_name()));
        }
    }
}

/// One test at a time: caches are dropped for the entire machine.
static TURN: Mutex<()> = Mutex::new(());

/// A turn for a test that formats and mounts; `None`, with the reason said, where this machine
/// cannot run it.
pub(crate) fn can_mount(test: &str, programs: &[&str]) -> Option<MutexGuard<'static, ()>> {
    let missing = |program: &&&str| {
        !["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
            .iter()
            .any(|folder| Path::new(folder).join(program).exists())
    };
    let reason = if !is_root() {
        "it needs root".to_owned()
    } else if !Path::new("/dev/loop-control").exists() {
        "this machine has no loop devices".to_owned()
    } else if let Some(program) = programs.iter().find(missing) {
        format!("{program} is not installed")
    } else {
        return Some(turn());
    };
    skip(test, &reason);
    None
}

/// A turn for a test that drops caches or depends on them.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks the running test as skipped: `cargo xtask gate` counts the tests that print this line.
pub(crate) fn skip(test: &str, reason: &str) {
    println!("skipped: {test}: {reason}");
}

/// Says that a part of a test cannot be checked here. The test counts by the rest of it.
pub(crate) fn not_checked(part: &str, reason: &str) {
    println!("not checked: {part}: {reason}");
}
