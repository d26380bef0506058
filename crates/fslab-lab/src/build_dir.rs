//! A running build: its temporary directory, its log, the programs it runs, and its stop flag.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use fslab_sys::ProcessGroup;
use fslab_sys::os::ExitStatusExt;

use fslab_model::Failure;

use super::assembly_dir::AssemblyDir;
use crate::progress::Reporter;
use crate::{BuildStage, LabError, Progress, tools};

/// Interval at which a program without output is polled.
const TICK: Duration = Duration::from_millis(100);

/// From SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// Timeout for the last output of a program that has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Most output lines shown of a failed program.
const SHOWN_LINES_MAX: usize = 4;

/// Environment variables passed to programs: network access and the user's paths. All others are
/// removed: a CFLAGS or MAKEFLAGS of the user would build another kernel.
const VARIABLES: [&str; 12] = [
    "HOME",
    "TMPDIR",
    "APT_CONFIG",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
];

/// A running build. Dropping it removes its directory.
pub(crate) struct BuildDir<'a> {
    folder: AssemblyDir,
    log: File,
    log_path: PathBuf,
    stop: &'a AtomicBool,
    /// Receives the progress.
    pub(crate) reporter: Reporter<'a>,
}

impl<'a> BuildDir<'a> {
    /// Makes `folder` empty, also after a killed build, and starts the log.
    pub(crate) fn open(
        folder: &Path,
        log_path: &Path,
        stop: &'a AtomicBool,
        listener: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, LabError> {
        Ok(Self {
            folder: AssemblyDir::open(folder.to_owned())?,
            log: begin_log(log_path).map_err(LabError::io("write", log_path))?,
            log_path: log_path.to_owned(),
            stop,
            reporter: Reporter::new(listener),
        })
    }

    /// Path of `name` in the temporary directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.folder().join(name)
    }

    /// Path of the log, complete so far.
    pub(crate) fn log_path(&self) -> &Path {
        &self.log_path
    }

    /// A new directory in the temporary one.
    pub(crate) fn make_folder(&self, name: &str) -> Result<PathBuf, LabError> {
        let path = self.path(name);
        fs::create_dir_all(&path).map_err(LabError::io("make", &path))?;
        Ok(path)
    }

    /// A command for `program` with a clean environment, in the temporary directory.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", tools::search_path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .current_dir(self.folder.folder());
        for variable in VARIABLES {
            if let Some(value) = std::env::var_os(variable) {
                command.env(variable, value);
            }
        }
        command
    }

    /// Runs `command` until it ends; its output goes to the log.
    pub(crate) fn run(&mut self, task: &'static str, command: Command) -> Result<(), LabError> {
        self.log_command(&command);
        let program = command.get_program().to_string_lossy().into_owned();
        let (lines, group) =
            start(command).map_err(|error| LabError::io("start", Path::new(&program))(error))?;
        let mut said = OutputTail::default();
        let status = self.watch(group, &lines, &mut said)?;
        self.check_status(task, &program, status, said.lines())
    }

    /// Runs a short `command` and returns its standard output.
    pub(crate) fn ask(
        &mut self,
        task: &'static str,
        mut command: Command,
    ) -> Result<Vec<u8>, LabError> {
        self.log_command(&command);
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command
            .output()
            .map_err(LabError::io("start", Path::new(&program)))?;
        // A log that cannot be written does not stop the build.
        let _ = self.log.write_all(&output.stderr);
        let mut said = OutputTail::default();
        let errors = String::from_utf8_lossy(&output.stderr);
        errors.lines().for_each(|line| said.take(line));
        self.check_status(task, &program, output.status, said.lines())?;
        self.reporter.tick();
        Ok(output.stdout)
    }

    fn log_command(&mut self, command: &Command) {
        let words = [command.get_program()]
            .into_iter()
            .chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let _ = writeln!(self.log, "$ {}", words.join(" "));
    }

    fn check_status(
        &self,
        task: &'static str,
        program: &str,
        status: ExitStatus,
        said: Vec<String>,
    ) -> Result<(), LabError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(LabError::interrupted());
        }
        if status.success() {
            return Ok(());
        }
        let status = match (status.code(), status.signal()) {
            (Some(code), _) => format!("status {code}"),
            (None, Some(signal)) => fslab_sys::signal_name(signal),
            (None, None) => "no status".to_owned(),
        };
        let text = format!("cannot {task}: {program} ended with {status}");
        let mut failure = Failure::unsupported(text);
        failure.causes = said;
        let log = self.log_path.display();
        Err(failure.hint(format!("the full log is in {log}")).into())
    }

    fn watch(
        &mut self,
        mut group: ProcessGroup,
        lines: &Receiver<String>,
        said: &mut OutputTail,
    ) -> Result<ExitStatus, LabError> {
        loop {
            match lines.recv_timeout(TICK) {
                Ok(line) => self.take(&line, said),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK / 10),
            }
            self.reporter.tick();
            if self.stop.load(Ordering::Relaxed) {
                // SIGTERM first: make removes half-written files.
                let _ = group.end(GRACE);
                self.drain(lines, said);
                return Err(LabError::interrupted());
            }
            let failed = |error| LabError::io("wait for", Path::new("the program"))(error);
            if group.has_ended().map_err(failed)? {
                let (status, _) = group.reap().map_err(failed)?;
                self.drain(lines, said);
                return Ok(status);
            }
        }
    }

    /// Takes the last lines, until every process of the group has closed the pipe: a killed one
    /// may still write into the directory, which is removed next.
    fn drain(&mut self, lines: &Receiver<String>, said: &mut OutputTail) {
        while let Ok(line) = lines.recv_timeout(DRAIN_TIMEOUT) {
            self.take(&line, said);
        }
    }

    fn take(&mut self, line: &str, said: &mut OutputTail) {
        let _ = writeln!(self.log, "{line}");
        self.reporter.take(line);
        said.take(line);
    }
}

impl Drop for BuildDir<'_> {
    fn drop(&mut self) {
        // Removing a tree of 1.6 GB takes seconds.
        self.reporter.enter(BuildStage::Clearing);
    }
}

/// Creates a new log; an existing file of that name is removed first, not written through.
fn begin_log(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(path)
}

/// Starts `command` in its own process group with both outputs in one pipe, which keeps their
/// order: make's errors appear between its steps.
fn start(mut command: Command) -> io::Result<(Receiver<String>, ProcessGroup)> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    Ok((read_lines(reader), ProcessGroup::spawn(command)?))
}

fn read_lines(reader: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(reader).split(b'\n') {
            let Ok(line) = line else { return };
            let line = String::from_utf8_lossy(&line).into_owned();
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The error lines of a program; without any, those of make, which name what they stopped; without
/// any of these, its last lines.
#[derive(Default)]
struct OutputTail {
    errors: Vec<String>,
    stops: Vec<String>,
    last: VecDeque<String>,
}

impl OutputTail {
    fn take(&mut self, line: &str) {
        let line = line.trim();
        // gcc, modpost, the dynamic linker, apt, and the kernel's Makefile; then make. Later errors
        // follow from the first.
        let is_stop = line.contains(" Error ");
        let is_error = line.contains("error: ")
            || line.starts_with("ERROR: ")
            || line.contains(": version `")
            || line.starts_with("E: ")
            || line.starts_with("*** ");
        let lines = match is_stop && !is_error {
            true => &mut self.stops,
            false => &mut self.errors,
        };
        if (is_error || is_stop) && lines.len() < SHOWN_LINES_MAX {
            lines.push(line.to_owned());
        }
        if !line.is_empty() {
            self.last.push_back(line.to_owned());
            if self.last.len() > SHOWN_LINES_MAX {
                self.last.pop_front();
            }
        }
    }

    fn lines(self) -> Vec<String> {
        let found = [self.errors, self.stops].into_iter();
        let mut found = found.filter(|lines| !lines.is_empty());
        found.next().unwrap_or_else(|| self.last.into())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use fslab_sys::ProcessIdentity;

    use fslab_model::FailureKind;

    use super::*;

    fn in_build_dir<T>(stop: &AtomicBool, act: impl FnOnce(&mut BuildDir<'_>) -> T) -> (T, String) {
        let place = tempfile::tempdir().expect("a directory");
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        let mut listener = |_| {};
        let mut build_dir = BuildDir::open(&folder, &log, stop, &mut listener).expect("opened");
        let result = act(&mut build_dir);
        drop(build_dir);
        assert!(!folder.exists());
        (result, fs::read_to_string(log).expect("a log"))
    }

    fn shell(build_dir: &BuildDir<'_>, script: &str) -> Command {
        let mut command = build_dir.command("sh");
        command.args(["-c", script]);
        command
    }

    /// What make says hid the reason.
    #[test]
    fn the_lines_that_say_why_come_before_those_of_make() {
        let shown = |lines: &[&str]| {
            let mut tail = OutputTail::default();
            lines.iter().for_each(|line| tail.take(line));
            tail.lines()
        };
        let modpost = "ERROR: modpost: module x uses symbol y from namespace module:kvm";
        let make = "make[2]: *** [/x/Makefile.modpost:145: Module.symvers] Error 1";
        let linker =
            "objtool: /lib/libc.so.6: version `GLIBC_2.38' not found (required by objtool)";
        assert_eq!(shown(&["one", modpost, make]), [modpost]);
        assert_eq!(shown(&[make, linker]), [linker]);
        assert_eq!(shown(&["one", make]), [make]);
        assert_eq!(shown(&["one", "two"]), ["one", "two"]);
    }

    #[test]
    fn what_a_program_prints_is_in_the_log_and_its_error_in_the_failure() {
        let stop = AtomicBool::new(false);
        let script = "echo one; echo 'a.c:1: error: two' >&2; echo three; exit 3";
        let (failed, log) = in_build_dir(&stop, |build_dir| {
            let command = shell(build_dir, script);
            build_dir.run("try", command)
        });
        let failure = Failure::from(failed.expect_err("fails"));
        assert_eq!(failure.message, "cannot try: sh ended with status 3");
        assert_eq!(failure.causes, ["a.c:1: error: two"]);
        assert!(
            failure
                .hint
                .is_some_and(|hint| hint.starts_with("the full log is in "))
        );
        assert!(log.ends_with("one\na.c:1: error: two\nthree\n"), "{log}");
    }

    #[test]
    fn the_last_lines_stand_for_a_program_without_error_lines() {
        let stop = AtomicBool::new(false);
        let (failed, _) = in_build_dir(&stop, |build_dir| {
            let command = shell(build_dir, "seq 9; kill -KILL $$");
            build_dir.run("try", command)
        });
        let failure = Failure::from(failed.expect_err("fails"));
        assert_eq!(failure.message, "cannot try: sh ended with SIGKILL");
        assert_eq!(failure.causes, ["6", "7", "8", "9"]);
    }

    #[test]
    fn the_environment_is_clean() {
        let stop = AtomicBool::new(false);
        let (names, _) = in_build_dir(&stop, |build_dir| {
            let command = shell(build_dir, "env | sed 's/=.*//' | sort");
            build_dir.ask("try", command).expect("answers")
        });
        let names = String::from_utf8(names).expect("text");
        let known = |name: &str| {
            VARIABLES.contains(&name)
                || ["PATH", "LC_ALL", "PWD", "_", "SHLVL", "OLDPWD"].contains(&name)
        };
        assert!(names.lines().any(|name| name == "PATH"));
        assert!(names.lines().all(known), "{names}");
    }

    #[test]
    fn a_stop_request_ends_a_program_and_its_children() {
        const SLEEP: Duration = Duration::from_secs(600);
        let stop = AtomicBool::new(false);
        let began = Instant::now();
        let (ended, log) = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                stop.store(true, Ordering::Relaxed);
            });
            in_build_dir(&stop, |build_dir| {
                let script = format!("sleep {} & echo $!; wait", SLEEP.as_secs());
                let command = shell(build_dir, &script);
                build_dir.run("try", command)
            })
        });
        let ended = Failure::from(ended.expect_err("stopped"));
        assert_eq!(ended.kind, FailureKind::Interrupted);
        let pid = log.lines().find_map(|line| line.parse().ok());
        let pid: u32 = pid.expect("the child's number");
        // It is killed and not waited for: its end follows within the time of a context switch.
        while ProcessIdentity::of(pid).is_alive() && began.elapsed() < SLEEP / 2 {
            std::thread::sleep(TICK / 10);
        }
        assert!(began.elapsed() < SLEEP / 2, "{pid} lives");
    }

    // The log had been written through a link of that name.
    #[test]
    fn a_log_is_not_written_through_a_link() {
        let place = tempfile::tempdir().expect("a directory");
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        let outside = place.path().join("outside");
        fs::write(&outside, "kept").expect("written");
        fslab_sys::os::symlink(&outside, &log).expect("linked");
        let stop = AtomicBool::new(false);
        let mut listener = |_| {};
        drop(BuildDir::open(&folder, &log, &stop, &mut listener).expect("opened"));
        assert_eq!(fs::read_to_string(&outside).expect("read"), "kept");
        assert!(log.symlink_metadata().expect("a log").is_file());
    }

    #[test]
    fn what_a_killed_build_left_is_removed() {
        let place = tempfile::tempdir().expect("a directory");
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        fs::create_dir_all(folder.join("left/over")).expect("made");
        let stop = AtomicBool::new(false);
        let mut listener = |_| {};
        let build_dir = BuildDir::open(&folder, &log, &stop, &mut listener).expect("opened");
        assert_eq!(fs::read_dir(&folder).expect("the directory").count(), 0);
        drop(build_dir);
    }
}
