//! Runs programs on the file system, timed, one after the other.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fslab_engine::RunContext;
use fslab_sys::{ChildGroup, GroupEnd, PLAIN_PATH};

use super::allowance::Leave;
use super::error::ProgramError;
use super::links::demand_none_leads_out;
use super::script::line;

/// How much of what a program prints is kept: the end.
const KEPT_BYTES: usize = 64 << 10;
/// How long a program that is told to end may take until it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Where programs run and with what.
pub(crate) struct Session {
    /// The working directory, and home; programs know it by its outer path.
    pub(crate) directory: PathBuf,
    /// Where they may leave temporary files.
    pub(crate) temporary: PathBuf,
    /// Added to the clean environment.
    pub(crate) environment: BTreeMap<String, String>,
    context: RunContext,
}

/// A program that ran to its end.
pub(crate) struct Ran {
    pub(crate) start_ns: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) end: GroupEnd,
}

impl Session {
    /// A session in `directory` and with `temporary`, both below the root of `context`, and made
    /// where they are missing.
    pub(crate) fn open(
        context: &RunContext,
        _leave: Leave,
        directory: &Path,
        temporary: &Path,
    ) -> Result<Self, ProgramError> {
        let made = |path: &Path| {
            demand_none_leads_out(context, path)?;
            let path = context.root.join(path);
            std::fs::create_dir_all(&path)
                .map_err(|error| ProgramError::io("make the directory", &path, error))?;
            Ok(path)
        };
        Ok(Self {
            directory: made(directory)?,
            temporary: made(temporary)?,
            environment: BTreeMap::new(),
            context: context.clone(),
        })
    }

    /// Runs a program to its end, whatever that is. `limit_s` is 0 where it may take as long as the
    /// trial.
    pub(crate) fn run(&self, words: &[String], limit_s: u32) -> Result<Ran, ProgramError> {
        let directory = File::open(&self.directory)
            .map_err(|error| ProgramError::io("open", &self.directory, error))?;
        let command = self.command(words, directory);
        self.context
            .outside(|| self.run_outside(command, &line(words), limit_s))
    }

    fn run_outside(
        &self,
        command: Command,
        shown: &str,
        limit_s: u32,
    ) -> Result<Ran, ProgramError> {
        let stop = &self.context.stop;
        if stop.is_raised() {
            return Err(ProgramError::interrupted(shown));
        }
        let failed = |error| ProgramError::io("watch", Path::new(shown), error);
        let mut group = ChildGroup::start(command, KEPT_BYTES)
            .map_err(|error| ProgramError::start(shown, error))?;
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
            end_gently(group).map_err(failed)?;
            return Err(match stop.is_raised() {
                true => ProgramError::interrupted(shown),
                false => ProgramError::too_long(shown, limit_s),
            });
        }
        let end = group.reap().map_err(failed)?;
        Ok(Ran {
            start_ns,
            elapsed_ns,
            end,
        })
    }

    /// As [`Session::run`]; another end than with status 0 is an error.
    pub(crate) fn run_well(&self, words: &[String]) -> Result<Ran, ProgramError> {
        let ran = self.run(words, 0)?;
        match ran.end.code {
            Some(0) => Ok(ran),
            _ => Err(ProgramError::ended(&line(words), &ran.end, 0)),
        }
    }

    fn command(&self, words: &[String], directory: File) -> Command {
        let (program, arguments) = words
            .split_first()
            .map_or(("", &[] as &[String]), |(first, rest)| (first, rest));
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", PLAIN_PATH)
            .env("LC_ALL", "C")
            .envs(fslab_sys::inherited_loading())
            .env("HOME", self.context.outer_path(&self.directory))
            .env("TMPDIR", self.context.outer_path(&self.temporary))
            .envs(&self.environment);
        fslab_sys::work_in(&mut command, directory);
        command
    }
}

/// Asks the group to end, gives it a moment for that, and reaps it.
pub(crate) fn end_gently(mut group: ChildGroup) -> std::io::Result<GroupEnd> {
    group.terminate()?;
    let told = std::time::Instant::now();
    group.wait_for_leader(|| told.elapsed() > GRACE)?;
    group.reap()
}

#[cfg(test)]
mod tests {
    use fslab_engine::{EngineKind, StopFlag};
    use fslab_model::FailureKind;

    use super::*;
    use crate::programs::CommandParameters;

    fn words(script: &str) -> Vec<String> {
        ["/bin/sh", "-c", script].map(str::to_owned).into()
    }

    fn session(root: &Path) -> (Session, StopFlag) {
        let mut context = RunContext::new(EngineKind::Psync, root, 1);
        context.allow_commands = true;
        let stop = context.stop.clone();
        let leave = Leave::of(&CommandParameters::default(), &context).expect("is allowed");
        let session = Session::open(&context, leave, Path::new("a/b"), Path::new("t"));
        (session.expect("opens"), stop)
    }

    #[test]
    fn a_program_sees_a_clean_environment_on_the_file_system() {
        let folder = tempfile::tempdir().expect("a directory");
        let (mut session, _) = session(folder.path());
        session.environment.insert("FLAVOUR".into(), "plain".into());
        let ran = session.run_well(&words("env | sort; pwd")).expect("runs");
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
    fn a_program_that_is_late_or_interrupted_is_ended_for_that_reason() {
        let folder = tempfile::tempdir().expect("a directory");
        let (session, stop) = session(folder.path());
        let late = session.run(&words("sleep 600"), 1).err().expect("is late");
        assert_eq!(late.kind(), FailureKind::Timeout);
        let raiser = std::thread::spawn({
            let stop = stop.clone();
            move || {
                std::thread::sleep(Duration::from_millis(200));
                stop.raise();
            }
        });
        let stopped = session.run(&words("sleep 600"), 0).err().expect("is ended");
        raiser.join().expect("raised it");
        assert_eq!(stopped.kind(), FailureKind::Interrupted);
        let again = session.run(&words("true"), 0).err().expect("not started");
        assert_eq!(again.kind(), FailureKind::Interrupted);
    }

    #[test]
    fn a_program_that_fails_is_reported_with_its_words_and_one_that_is_missing_by_name() {
        let folder = tempfile::tempdir().expect("a directory");
        let (session, _) = session(folder.path());
        let failed = |script: &str| {
            let error = session.run_well(&words(script)).err().expect("fails");
            fslab_model::Failure::from(error)
        };
        let failure = failed("echo oh no >&2; exit 3");
        assert!(failure.message.ends_with("status 3"), "{failure:?}");
        assert_eq!(failure.causes, ["it printed: oh no"]);
        let full = failed("echo 'x: No space left on device' >&2; exit 1");
        assert_eq!(full.kind, FailureKind::NoSpace);
        let missing = session.run(&["no-such-program".to_owned()], 0);
        let failure = fslab_model::Failure::from(missing.err().expect("is missing"));
        assert_eq!(failure.kind, FailureKind::MissingTool);
        assert!(failure.message.contains("no-such-program"), "{failure:?}");
    }
}
