//! The steps of the work on a repository, each run with git and checked.

use std::fs;

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, RunError};

use super::history::{self, BRANCH, HALF};
use super::parameters::{GIT, GitParameters, Step};
use crate::error::ProgramError;
use crate::figures::{Account, synthetic_program};
use crate::locate;
use crate::permission::Permission;
use crate::session::{CompletedRun, Session};

/// Temporary files of programs, below the job's directory.
const TEMPORARY: &str = "tmp";
/// The history, for git-fast-import(1).
const STREAM: &str = "history";
const ORIGIN: &str = "origin.git";
const WORK: &str = "work";
/// Synthetic duration of an operation.
const SYNTHETIC_NS: u64 = 100_000;

/// Settings that make git issue the same calls on every machine: one thread each, and nothing in
/// the background. Trees on some file systems do not have the owner of the process.
const SETTINGS: [(&str, &str); 9] = [
    ("core.hooksPath", "/dev/null"),
    ("core.preloadIndex", "false"),
    ("index.threads", "1"),
    ("pack.threads", "1"),
    ("gc.auto", "0"),
    ("gc.autoDetach", "false"),
    ("maintenance.auto", "false"),
    ("safe.directory", "*"),
    ("advice.detachedHead", "false"),
];

/// Runs one step.
pub(super) fn run_git(
    parameters: &GitParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    let operations = operations(parameters);
    if context.engine == EngineKind::Null {
        return Ok(synthetic_program(context.seed, operations, None, SYNTHETIC_NS).into());
    }
    if let Some(reason) = context.outside(|| locate::missing(&GIT)) {
        return Err(RunError::Impossible(reason));
    }
    if context.foreign_links {
        let text = "a phase of this study creates names that fslab has not chosen, and git runs \
                    programs that a repository names";
        return Err(RunError::Impossible(text.to_owned()));
    }
    let permission = Permission::of(parameters, context)?;
    let directory = &parameters.directory;
    let mut session = Session::open(context, permission, directory, &directory.join(TEMPORARY))?;
    session.environment = environment();
    let repository = Repository {
        parameters,
        context,
        session,
    };
    let ran = match parameters.step {
        Step::Create => repository.create()?,
        Step::Clone => repository.git("clone --quiet --no-local origin.git work")?,
        Step::Status => repository.git("-C work status --porcelain")?,
        Step::Checkout => repository.shell(&format!(
            "git -C {WORK} checkout --quiet {HALF} && git -C {WORK} checkout --quiet {BRANCH}"
        ))?,
        Step::Commit => repository.commit()?,
        Step::Gc => repository.git("-C work gc --quiet")?,
    };
    repository.check()?;
    let account = Account {
        start_ns: ran.start_ns,
        elapsed_ns: ran.elapsed_ns,
        operations,
        bytes: None,
        used: Some(ran.end.used),
    };
    Ok(account.finished())
}

/// What a step's rate counts: files that it writes or looks at, or objects that it packs.
fn operations(parameters: &GitParameters) -> u64 {
    let (files, changes) = (u64::from(parameters.files), u64::from(parameters.changes));
    let commits = u64::from(parameters.commits);
    match parameters.step {
        Step::Create | Step::Gc => files + (commits - 1) * changes,
        Step::Clone | Step::Status | Step::Checkout => files,
        Step::Commit => changes,
    }
}

fn environment() -> std::collections::BTreeMap<String, String> {
    let mut variables = vec![
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string()),
    ];
    for (place, (key, value)) in SETTINGS.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{place}"), (*key).to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{place}"), (*value).to_owned()));
    }
    for who in ["AUTHOR", "COMMITTER"] {
        variables.push((format!("GIT_{who}_NAME"), "fslab".to_owned()));
        variables.push((format!("GIT_{who}_EMAIL"), "fslab@localhost".to_owned()));
        variables.push((format!("GIT_{who}_DATE"), "1800000000 +0000".to_owned()));
    }
    variables.into_iter().collect()
}

struct Repository<'a> {
    parameters: &'a GitParameters,
    context: &'a RunContext,
    session: Session,
}

impl Repository<'_> {
    fn git(&self, words: &str) -> Result<CompletedRun, ProgramError> {
        let words = std::iter::once("git").chain(words.split(' '));
        self.session
            .run_checked(&words.map(str::to_owned).collect::<Vec<_>>())
    }

    fn shell(&self, text: &str) -> Result<CompletedRun, ProgramError> {
        self.session
            .run_checked(&["/bin/sh", "-c", text].map(str::to_owned))
    }

    /// The stream is written before the clock starts.
    fn create(&self) -> Result<CompletedRun, ProgramError> {
        let path = self.session.directory.join(STREAM);
        let stream = history::stream(self.parameters, self.context.seed);
        let written = fs::write(&path, stream);
        written.map_err(|error| ProgramError::io("write", &path, &error))?;
        self.git(&format!(
            "init --quiet --bare --initial-branch={BRANCH} {ORIGIN}"
        ))?;
        let import = format!("git -C {ORIGIN} fast-import --quiet --done <{STREAM}");
        let ran = self.shell(&import)?;
        let removed = fs::remove_file(&path);
        removed.map_err(|error| ProgramError::io("remove", &path, &error))?;
        Ok(ran)
    }

    /// The changes are written before the clock starts.
    fn commit(&self) -> Result<CompletedRun, ProgramError> {
        for file in 0..self.parameters.changes {
            let path = self.session.directory.join(WORK).join(history::path(file));
            let text = history::text(self.context.seed, file, u32::MAX);
            let written = fs::write(&path, text);
            written.map_err(|error| ProgramError::io("write", &path, &error))?;
        }
        let message = "--message=change";
        self.shell(&format!(
            "git -C {WORK} add --all && git -C {WORK} commit --quiet {message}"
        ))
    }

    /// After each step on the clone, the working tree is what the last commit says; and after the
    /// last one, every object is intact. Not timed.
    fn check(&self) -> Result<(), ProgramError> {
        if self.parameters.step == Step::Create {
            return Ok(());
        }
        let status = self.git("-C work status --porcelain")?.end.output;
        if !status.trim().is_empty() {
            let text = "the working tree is not what was committed";
            return Err(ProgramError::wrong(text).printed(&status));
        }
        if self.parameters.step == Step::Gc {
            self.git("-C work fsck --full --no-progress")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_job::Job;
    use fslab_model::Bytes;

    fn run(root: &std::path::Path, step: &str) -> Result<Finished, RunError> {
        let given = serde_json::json!({ "step": step, "files": 60, "commits": 6, "changes": 5 });
        let mut parameters: GitParameters = serde_json::from_value(given).expect("parameters");
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        run_git(&parameters, &RunContext::new(EngineKind::Psync, root, 1))
    }

    #[test]
    fn a_repository_is_made_cloned_switched_committed_to_and_packed() {
        if locate::program("git").is_none() {
            println!("skipped: not installed: git (package git)");
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        for (step, operations) in [
            ("create", 85),
            ("clone", 60),
            ("status", 60),
            ("checkout", 60),
            ("commit", 5),
            ("gc", 85),
        ] {
            let finished = run(folder.path(), step).expect(step);
            assert_eq!(finished.measured.operations, operations, "{step}");
            assert!(finished.measured.elapsed_ns > 0, "{step}");
        }
        let work = folder.path().join("git/work");
        assert_eq!(
            fs::read_to_string(work.join(history::path(0))).expect("a file"),
            history::text(1, 0, u32::MAX)
        );
        fs::write(work.join(history::path(7)), "damaged").expect("written");
        let error = run(folder.path(), "status").expect_err("a changed file");
        let failure = fslab_model::Failure::from(error);
        assert_eq!(
            failure.kind,
            fslab_model::FailureKind::Corrupt,
            "{failure:?}"
        );
    }
}
