//! A build under way: its temporary folder, its log, the programs that it runs, and the wish that
//! it stop.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use fslab_sys::ProcessGroup;

use crate::progress::Reporter;
use crate::{LabError, Progress, Stage, tools};

/// How often a silent program is looked at.
const TICK: Duration = Duration::from_millis(100);

/// From SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// For the last lines of a program that has ended.
const PIPE_PATIENCE: Duration = Duration::from_millis(500);

/// Lines of a failed program that are worth showing.
const SAID_MAX: usize = 4;

/// What programs get to know of the environment: how to reach the network, and what is the user's.
/// All else stays away, for a stray CFLAGS or MAKEFLAGS would build another kernel.
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

/// A build under way. Its folder goes with it.
pub(crate) struct BuildDir<'a> {
    folder: PathBuf,
    log: File,
    log_path: PathBuf,
    stop: &'a AtomicBool,
    /// Receives the progress.
    pub(crate) reporter: Reporter<'a>,
}

impl<'a> BuildDir<'a> {
    /// Makes `folder` afresh, whatever a killed build has left there, and begins the log.
    pub(crate) fn open(
        folder: &Path,
        log_path: &Path,
        stop: &'a AtomicBool,
        listener: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, LabError> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(LabError::io("remove", folder)(error));
            }
            _ => {}
        }
        fs::create_dir(folder).map_err(LabError::io("make", folder))?;
        Ok(Self {
            folder: folder.to_owned(),
            log: begin_log(log_path).map_err(LabError::io("write", log_path))?,
            log_path: log_path.to_owned(),
            stop,
            reporter: Reporter::new(listener),
        })
    }

    /// `name` in the temporary folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The log, complete so far.
    pub(crate) fn log_path(&self) -> &Path {
        &self.log_path
    }

    /// A new folder in the temporary one.
    pub(crate) fn make_folder(&self, name: &str) -> Result<PathBuf, LabError> {
        let path = self.path(name);
        fs::create_dir_all(&path).map_err(LabError::io("make", &path))?;
        Ok(path)
    }

    /// `program` with a clean environment, in the temporary folder.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", tools::search_path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .current_dir(&self.folder);
        for variable in VARIABLES {
            if let Some(value) = std::env::var_os(variable) {
                command.env(variable, value);
            }
        }
        command
    }

    /// Runs `command` to its end. What it prints goes to the log.
    pub(crate) fn run(&mut self, task: &'static str, command: Command) -> Result<(), LabError> {
        self.note(&command);
        let program = command.get_program().to_string_lossy().into_owned();
        let (lines, group) =
            start(command).map_err(|error| LabError::io("start", Path::new(&program))(error))?;
        let mut said = OutputTail::default();
        let status = self.watch(group, &lines, &mut said)?;
        self.judge(task, program, status, said.lines())
    }

    /// Runs `command`, which is quick, for what it puts out.
    pub(crate) fn ask(
        &mut self,
        task: &'static str,
        mut command: Command,
    ) -> Result<Vec<u8>, LabError> {
        self.note(&command);
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command
            .output()
            .map_err(LabError::io("start", Path::new(&program)))?;
        // A log that cannot be written stops no build.
        let _ = self.log.write_all(&output.stderr);
        let mut said = OutputTail::default();
        let errors = String::from_utf8_lossy(&output.stderr);
        errors.lines().for_each(|line| said.take(line));
        self.judge(task, program, output.status, said.lines())?;
        self.reporter.tick();
        Ok(output.stdout)
    }

    fn note(&mut self, command: &Command) {
        let words = [command.get_program()]
            .into_iter()
            .chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let _ = writeln!(self.log, "$ {}", words.join(" "));
    }

    fn judge(
        &self,
        task: &'static str,
        program: String,
        status: ExitStatus,
        said: Vec<String>,
    ) -> Result<(), LabError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(LabError::Interrupted);
        }
        if status.success() {
            return Ok(());
        }
        let status = match (status.code(), status.signal()) {
            (Some(code), _) => format!("status {code}"),
            (None, Some(signal)) => fslab_sys::signal_name(signal),
            (None, None) => "no status".to_owned(),
        };
        Err(LabError::Failed {
            task,
            program,
            status,
            said,
            log: self.log_path.clone(),
        })
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
                // It has time to remove half-written files, as make does.
                let _ = group.end(GRACE);
                return Err(LabError::Interrupted);
            }
            let failed = |error| LabError::io("wait for", Path::new("the program"))(error);
            if group.has_ended().map_err(failed)? {
                let (status, _) = group.reap().map_err(failed)?;
                while let Ok(line) = lines.recv_timeout(PIPE_PATIENCE) {
                    self.take(&line, said);
                }
                return Ok(status);
            }
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
        // A tree of 1.6 GB may take a while.
        self.reporter.enter(Stage::Clearing);
        // What stays after an error, the next build removes or complains of.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A new file, in the place of the last build's log or of whatever else has its name.
fn begin_log(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(path)
}

/// Starts `command` in its own process group, both of its outputs in one pipe: their order is
/// kept, as make's errors stand between its steps.
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

/// The lines of a program that say why it failed; else its last ones.
#[derive(Default)]
struct OutputTail {
    telling: Vec<String>,
    last: VecDeque<String>,
}

impl OutputTail {
    fn take(&mut self, line: &str) {
        let line = line.trim();
        // gcc and make, apt, and the kernel's Makefile. The first ones tell: the rest follows from
        // them.
        let is_telling = line.contains("error: ")
            || line.contains(" Error ")
            || line.starts_with("E: ")
            || line.starts_with("*** ");
        if is_telling && self.telling.len() < SAID_MAX {
            self.telling.push(line.to_owned());
        }
        if !line.is_empty() {
            self.last.push_back(line.to_owned());
            if self.last.len() > SAID_MAX {
                self.last.pop_front();
            }
        }
    }

    fn lines(self) -> Vec<String> {
        if self.telling.is_empty() {
            self.last.into()
        } else {
            self.telling
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use fslab_sys::ProcessIdentity;

    use super::*;

    fn in_build_dir<T>(stop: &AtomicBool, act: impl FnOnce(&mut BuildDir<'_>) -> T) -> (T, String) {
        let place = tempfile::tempdir().expect("a folder");
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

    #[test]
    fn what_a_program_prints_is_in_the_log_and_its_error_in_the_failure() {
        let stop = AtomicBool::new(false);
        let script = "echo one; echo 'a.c:1: error: two' >&2; echo three; exit 3";
        let (failed, log) = in_build_dir(&stop, |build_dir| {
            let command = shell(build_dir, script);
            build_dir.run("try", command)
        });
        let LabError::Failed { status, said, .. } = failed.expect_err("fails") else {
            panic!("another error");
        };
        assert_eq!(status, "status 3");
        assert_eq!(said, ["a.c:1: error: two"]);
        assert!(log.ends_with("one\na.c:1: error: two\nthree\n"), "{log}");
    }

    #[test]
    fn a_program_that_says_no_error_is_told_by_its_last_lines() {
        let stop = AtomicBool::new(false);
        let (failed, _) = in_build_dir(&stop, |build_dir| {
            let command = shell(build_dir, "seq 9; kill -KILL $$");
            build_dir.run("try", command)
        });
        let LabError::Failed { status, said, .. } = failed.expect_err("fails") else {
            panic!("another error");
        };
        assert_eq!(status, "SIGKILL");
        assert_eq!(said, ["6", "7", "8", "9"]);
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
    fn a_wish_to_stop_ends_a_program_and_its_children() {
        let stop = AtomicBool::new(false);
        let began = Instant::now();
        let (ended, log) = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                stop.store(true, Ordering::Relaxed);
            });
            in_build_dir(&stop, |build_dir| {
                let command = shell(build_dir, "sleep 60 & echo $!; wait");
                build_dir.run("try", command)
            })
        });
        assert!(matches!(ended, Err(LabError::Interrupted)));
        assert!(began.elapsed() < Duration::from_secs(4));
        let pid = log.lines().last().and_then(|line| line.parse().ok());
        let pid: u32 = pid.expect("the child's number");
        assert!(!ProcessIdentity::of(pid).is_alive(), "{pid} lives");
    }

    // The log was written through a link that had its name.
    #[test]
    fn a_log_is_not_written_through_a_link() {
        let place = tempfile::tempdir().expect("a folder");
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        let outside = place.path().join("outside");
        fs::write(&outside, "kept").expect("written");
        std::os::unix::fs::symlink(&outside, &log).expect("linked");
        let stop = AtomicBool::new(false);
        let mut listener = |_| {};
        drop(BuildDir::open(&folder, &log, &stop, &mut listener).expect("opened"));
        assert_eq!(fs::read_to_string(&outside).expect("read"), "kept");
        assert!(log.symlink_metadata().expect("a log").is_file());
    }

    #[test]
    fn what_a_killed_build_left_is_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        fs::create_dir_all(folder.join("left/over")).expect("made");
        let stop = AtomicBool::new(false);
        let mut listener = |_| {};
        let build_dir = BuildDir::open(&folder, &log, &stop, &mut listener).expect("opened");
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
        drop(build_dir);
    }
}
