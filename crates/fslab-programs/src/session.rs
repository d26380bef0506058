//! Runs and times programs on the file system, one after the other.

use fslab_sys::os::{CommandExt, TEMPORARY, open_folder};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fslab_engine::RunContext;
use fslab_sys::{ChildGroup, GroupEnd, PLAIN_PATH};

use super::error::ProgramError;
use super::links::ensure_links_stay_inside;
use super::locate;
use super::permission::Permission;
use super::shell_script::line;

/// Bytes of a program's output that are kept, from its end.
const KEPT_BYTES: usize = 64 << 10;
/// Time between SIGTERM and SIGKILL.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);

/// Directories and environment of programs.
pub(crate) struct Session {
    /// Working directory and home; programs see its path outside of the confinement.
    pub(crate) directory: PathBuf,
    /// Directory for temporary files.
    pub(crate) temporary: PathBuf,
    /// Variables added to the clean environment.
    pub(crate) environment: BTreeMap<String, String>,
    context: RunContext,
}

/// A program that has ended.
pub(crate) struct CompletedRun {
    pub(crate) start_ns: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) end: GroupEnd,
}

impl Session {
    /// Opens a session with `directory` and `temporary`, both below the root of `context`; creates
    /// them if missing.
    pub(crate) fn open(
        context: &RunContext,
        _permission: Permission,
        directory: &Path,
        temporary: &Path,
    ) -> Result<Self, ProgramError> {
        let made = |path: &Path| {
            ensure_links_stay_inside(context, path)?;
            let path = context.root.join(path);
            std::fs::create_dir_all(&path)
                .map_err(|error| ProgramError::io("make the directory", &path, &error))?;
            Ok(path)
        };
        Ok(Self {
            directory: made(directory)?,
            temporary: made(temporary)?,
            environment: BTreeMap::new(),
            context: context.clone(),
        })
    }

    /// Runs a program to its end, with any exit status. A `limit_s` of 0 is no limit besides that
    /// of the trial.
    pub(crate) fn run(&self, words: &[String], limit_s: u32) -> Result<CompletedRun, ProgramError> {
        let directory = open_folder(&self.directory)
            .map_err(|error| ProgramError::io("open", &self.directory, &error))?;
        self.context.outside(|| {
            let command = self.command(words, directory);
            self.run_outside(command, &line(words), limit_s)
        })
    }

    fn run_outside(
        &self,
        command: Command,
        shown: &str,
        limit_s: u32,
    ) -> Result<CompletedRun, ProgramError> {
        let stop = &self.context.stop;
        if stop.is_raised() {
            return Err(ProgramError::interrupted(shown));
        }
        let failed = |error| ProgramError::io("watch", Path::new(shown), &error);
        let mut group = ChildGroup::start(command, KEPT_BYTES)
            .map_err(|error| ProgramError::start(shown, &error))?;
        let start_ns = group.start_ns();
        let limit_ns = match limit_s {
            0 => u64::MAX,
            _ => u64::from(limit_s) * 1_000_000_000,
        };
        let is_late = || fslab_sys::monotonic_ns() - start_ns > limit_ns;
        let has_ended = group
            .wait_for_leader(|| stop.is_raised() || is_late())
            .map_err(failed)?;
        let elapsed_ns = fslab_sys::monotonic_ns() - start_ns;
        if !has_ended {
            terminate(group).map_err(failed)?;
            return Err(match stop.is_raised() {
                true => ProgramError::interrupted(shown),
                false => ProgramError::too_long(shown, limit_s),
            });
        }
        let end = group.reap().map_err(failed)?;
        Ok(CompletedRun {
            start_ns,
            elapsed_ns,
            end,
        })
    }

    /// As [`Session::run`], but an exit status other than 0 is an error.
    pub(crate) fn run_checked(&self, words: &[String]) -> Result<CompletedRun, ProgramError> {
        let ran = self.run(words, 0)?;
        match ran.end.code {
            Some(0) => Ok(ran),
            _ => Err(ProgramError::ended(&line(words), &ran.end, 0)),
        }
    }

    /// The command of `words`, to be called outside of the confinement. Its program has a path: a
    /// search for it in the command's own PATH would take a fork, which a locked process must not
    /// make.
    fn command(&self, words: &[String], directory: File) -> Command {
        let (program, arguments) = words
            .split_first()
            .map_or(("", &[] as &[String]), |(first, rest)| (first, rest));
        let mut command = match program.contains('/') {
            true => Command::new(program),
            false => Command::new(locate::program(program).unwrap_or_else(|| program.into())),
        };
        command
            .arg0(program)
            .args(arguments)
            .env_clear()
            .env("PATH", PLAIN_PATH)
            .env("LC_ALL", "C")
            .envs(fslab_sys::inherited_loading())
            .env("HOME", self.context.outer_path(&self.directory));
        let temporary = self.context.outer_path(&self.temporary);
        for name in TEMPORARY {
            command.env(name, &temporary);
        }
        command.envs(&self.environment);
        fslab_sys::work_in(
            &mut command,
            directory,
            &self.context.outer_path(&self.directory),
        );
        command
    }
}

/// Terminates the group, kills it after [`TERMINATE_TIMEOUT`], and reaps it.
pub(crate) fn terminate(mut group: ChildGroup) -> std::io::Result<GroupEnd> {
    group.terminate()?;
    let terminated_at = std::time::Instant::now();
    group.wait_for_leader(|| terminated_at.elapsed() > TERMINATE_TIMEOUT)?;
    group.reap()
}

#[cfg(test)]
mod tests {
    use fslab_engine::{EngineKind, StopFlag};
    use fslab_model::FailureKind;

    use super::*;
    use crate::command::CommandParameters;

    fn words(script: &str) -> Vec<String> {
        ["/bin/sh", "-c", script].map(str::to_owned).into()
    }

    fn session(root: &Path) -> (Session, StopFlag) {
        let mut context = RunContext::new(EngineKind::Psync, root, 1);
        context.allow_commands = true;
        let stop = context.stop.clone();
        let permission =
            Permission::of(&CommandParameters::default(), &context).expect("is allowed");
        let session = Session::open(&context, permission, Path::new("a/b"), Path::new("t"));
        (session.expect("opens"), stop)
    }

    #[test]
    fn a_program_sees_a_clean_environment_on_the_file_system() {
        let folder = tempfile::tempdir().expect("a directory");
        let (mut session, _) = session(folder.path());
        session.environment.insert("FLAVOUR".into(), "plain".into());
        let ran = session
            .run_checked(&words("env | sort; pwd"))
            .expect("runs");
        let root = folder.path().display();
        let wanted = [
            "FLAVOUR=plain".to_owned(),
            format!("HOME={root}/a/b"),
            "LC_ALL=C".to_owned(),
            format!("PATH={PLAIN_PATH}"),
            format!("PWD={root}/a/b"),
            format!("TMPDIR={root}/t"),
            format!("{root}/a/b"),
        ];
        let seen: Vec<_> = ran
            .end
            .output
            .lines()
            // Shells set these themselves.
            .filter(|line| !line.starts_with("OLDPWD=") && !line.starts_with("_="))
            .filter(|line| !line.starts_with("SHLVL="))
            .collect();
        assert_eq!(seen, wanted);
        assert!(ran.elapsed_ns > 0);
    }

    #[test]
    fn a_program_is_ended_on_a_timeout_or_a_stop_with_that_reason() {
        let folder = tempfile::tempdir().expect("a directory");
        let (session, stop) = session(folder.path());
        let late = session.run(&words("sleep 600"), 1).err().expect("is late");
        assert_eq!(late.0.kind, FailureKind::Timeout);
        let raiser = std::thread::spawn({
            let stop = stop.clone();
            move || {
                std::thread::sleep(Duration::from_millis(200));
                stop.raise();
            }
        });
        let stopped = session.run(&words("sleep 600"), 0).err().expect("is ended");
        raiser.join().expect("raised it");
        assert_eq!(stopped.0.kind, FailureKind::Interrupted);
        let again = session.run(&words("true"), 0).err().expect("not started");
        assert_eq!(again.0.kind, FailureKind::Interrupted);
    }

    #[test]
    fn a_failed_program_is_reported_with_its_output_and_a_missing_one_by_name() {
        let folder = tempfile::tempdir().expect("a directory");
        let (session, _) = session(folder.path());
        let failed = |script: &str| session.run_checked(&words(script)).err().expect("fails").0;
        let failure = failed("echo oh no >&2; exit 3");
        assert!(failure.message.ends_with("status 3"), "{failure:?}");
        assert_eq!(failure.causes, ["it printed: oh no"]);
        let full = failed("echo 'x: No space left on device' >&2; exit 1");
        assert_eq!(full.kind, FailureKind::NoSpace);
        let missing = session.run(&["no-such-program".to_owned()], 0);
        let failure = missing.err().expect("is missing").0;
        assert_eq!(failure.kind, FailureKind::MissingTool);
        assert!(failure.message.contains("no-such-program"), "{failure:?}");
    }
}
