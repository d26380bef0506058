//! Between the rounds of a trial: removes the files of the last round, remounts the file system if
//! the round ends a mount, and makes a new directory.
//!
//! Each of these is a step, not part of a phase. Removals are written back at once, so that no
//! round pays for the files of another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fslab_engine::{
    EngineKind, MetadataJob, MetadataOperation, RunContext, TreeShape, mix, run_metadata,
};
use fslab_model::{Failure, FailureKind, Round, Rounds, StepRecord};

use crate::command::elapsed_ns;
use crate::confined::{Fence, Inside};
use crate::target::{Steps, Target};

/// Name of the step that removes the files of a round.
const CLEAR: &str = "clear";

/// The rounds of a trial.
pub(crate) struct RoundRunner<'a> {
    rounds: Rounds,
    /// The context of a trial without rounds.
    context: &'a RunContext,
    fence: &'a Fence,
    /// The last round and its directory.
    last: Option<(Round, PathBuf)>,
}

impl<'a> RoundRunner<'a> {
    pub(crate) fn new(rounds: Rounds, context: &'a RunContext, fence: &'a Fence) -> Self {
        Self {
            rounds,
            context,
            fence,
            last: None,
        }
    }

    /// Name of the step before the next round; `None` if there is none.
    pub(crate) fn announcement(&self) -> Option<&'static str> {
        self.last.is_some().then_some(CLEAR)
    }

    /// Prepares `round`; returns the context of its phases.
    pub(crate) fn begin_round(
        &mut self,
        round: Round,
        target: &mut Target,
        steps: &mut Steps,
    ) -> Result<RunContext, Failure> {
        let mut context = self.context.clone();
        if self.rounds.is_one() {
            return Ok(context);
        }
        context.seed = self.seed(round);
        if matches!(target, Target::Fake) {
            return Ok(context);
        }
        if let Some((before, folder)) = self.last.take() {
            let cleared = self.once("clear", || self.clear(&folder, target))?;
            steps.extend(cleared);
            if before.mount != round.mount {
                target.remount(steps)?;
            }
        }
        let folder = target.root().join(name(round));
        self.once("the directory of a round", || {
            let made = |inside: &Inside<'_>| fs::create_dir(inside.path(&folder));
            let made = self.fence.within(target.root(), made)?;
            made.map_err(|error| cannot("make", &folder, &error))
        })?;
        context.root.clone_from(&folder);
        self.last = Some((round, folder));
        Ok(context)
    }

    /// Does what one rank does for all; `None` at the others.
    fn once<T>(
        &self,
        step: &str,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        match &self.context.ranks {
            None => work().map(Some),
            Some(ranks) if ranks.is_first() => ranks.agree(step, work().map(Some)),
            Some(ranks) => ranks.agree(step, Ok(None)),
        }
    }

    /// The first round uses the trial's seed and so does the same as a trial without rounds; each
    /// later round uses another, so that their mean covers several random draws.
    fn seed(&self, round: Round) -> u64 {
        let index = u64::from(round.mount) * u64::from(self.rounds.iterations);
        match index + u64::from(round.iteration) {
            0 => self.context.seed,
            index => mix(self.context.seed, index),
        }
    }

    fn clear(&self, folder: &Path, target: &mut Target) -> Result<StepRecord, Failure> {
        let began = Instant::now();
        let mut context = self.context.clone();
        context.root = folder.to_owned();
        context.engine = EngineKind::Psync;
        context.ranks = None;
        let everything = TreeShape::flat(".", 1, 0);
        let job = MetadataJob::new(MetadataOperation::RemoveAll, everything);
        self.fence.within(target.root(), |inside| {
            run_metadata(&inside.context(&context), &job)
                .map_err(|error| inside.seen_outside(error.into()))?;
            fs::remove_dir(inside.path(folder)).map_err(|error| cannot("remove", folder, &error))
        })??;
        target.sync()?;
        Ok(StepRecord {
            step: CLEAR.to_owned(),
            command: ["rm", "-r"]
                .map(str::to_owned)
                .into_iter()
                .chain([folder.display().to_string()])
                .collect(),
            elapsed_ns: elapsed_ns(began),
            exit_code: None,
            output: String::new(),
        })
    }
}

/// A name valid on every file system, also with 8 characters and without case.
fn name(round: Round) -> String {
    format!("m{}i{}", round.mount, round.iteration)
}

fn cannot(operation: &str, folder: &Path, error: &io::Error) -> Failure {
    let text = format!(
        "cannot {operation} the directory of a round, {}",
        folder.display()
    );
    Failure::new(FailureKind::Io, text).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::UsedDirectory;

    fn round(mount: u32, iteration: u32) -> Round {
        Round { mount, iteration }
    }

    #[test]
    fn each_round_has_its_own_seed_and_empty_folder_and_old_files_are_removed() {
        let folder = tempfile::tempdir().expect("a directory");
        fs::write(folder.path().join("other"), "kept").expect("written");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 7);
        let fence = Fence::build();
        let rounds = Rounds {
            mounts: 1,
            iterations: 3,
        };
        let mut runner = RoundRunner::new(rounds, &context, &fence);
        let mut target = Target::Directory(UsedDirectory::open(folder.path()).expect("opens"));
        let (mut steps, mut seeds) = (Steps::new(), Vec::new());
        for round in rounds.each() {
            let context = runner
                .begin_round(round, &mut target, &mut steps)
                .expect("enters");
            assert_eq!(fs::read_dir(&context.root).expect("lists").count(), 0);
            fs::create_dir_all(context.root.join("a/b")).expect("made");
            fs::write(context.root.join("a/b/c"), "left").expect("written");
            seeds.push(context.seed);
        }
        assert_eq!(seeds[0], 7);
        assert!(seeds[1] != 7 && seeds[2] != 7 && seeds[1] != seeds[2]);
        let names: Vec<_> = steps.iter().map(|step| step.step.as_str()).collect();
        assert_eq!(names, ["clear", "clear"]);
        let left = fs::read_dir(folder.path()).expect("lists").flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["m0i2", "other"]);
    }

    #[test]
    fn phases_that_run_once_run_in_the_root() {
        let context = RunContext::new(EngineKind::Null, "/nonexistent", 7);
        let fence = Fence::NotNeeded;
        let mut runner = RoundRunner::new(Rounds::ONE, &context, &fence);
        let mut steps = Steps::new();
        let entered = runner.begin_round(round(0, 0), &mut Target::Fake, &mut steps);
        assert_eq!(entered.expect("enters").root, context.root);
        assert!(steps.is_empty());
    }

    #[test]
    fn an_existing_directory_is_not_remounted() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 7);
        let fence = Fence::build();
        let rounds = Rounds {
            mounts: 2,
            iterations: 1,
        };
        let mut runner = RoundRunner::new(rounds, &context, &fence);
        let mut target = Target::Directory(UsedDirectory::open(folder.path()).expect("opens"));
        let mut steps = Steps::new();
        runner
            .begin_round(round(0, 0), &mut target, &mut steps)
            .expect("the first needs no mount");
        let refused = runner.begin_round(round(1, 0), &mut target, &mut steps);
        assert_eq!(
            refused.expect_err("refused").kind,
            FailureKind::BadInput,
            "the plan and the venue disagree"
        );
    }
}
