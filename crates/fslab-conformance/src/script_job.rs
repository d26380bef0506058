//! The job `script`: operations one after the other, each with the time of its begin and its end.
//!
//! Every sector that it writes says who wrote it, so that a state of the disk after a power loss
//! can be compared with the operations: see fslab-crash.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use fslab_crash::{LENGTH_MAX, Property, Script, ScriptSet, ScriptStep, plan_of};
use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, Job, RunError, ensure_inside, synthetic_application};
use fslab_model::{Bytes, Need, PublishedProperty, ValueList};
use fslab_sys::{monotonic_ns, sync_file_system};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_context::{CheckContext, is_refusal};
use super::failure::ConformanceFailure;
use super::step_player::StepPlayer;
use super::suite::timed;

const SECTOR_BYTES: u64 = 512;
/// The longest wait after a script.
const WAIT_MS_MAX: u64 = 600_000;

/// Operations one after the other, each with the time of its begin and end: the steps of a script,
/// or all scripts of a length.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScriptParameters {
    /// The directory of the script's names, below the root.
    #[serde(alias = "folder")]
    directory: PathBuf,
    /// The steps: create NAME, write NAME OFFSET BYTES, write-sync NAME OFFSET BYTES, append NAME
    /// BYTES, truncate NAME BYTES, fsync NAME, fdatasync NAME, sync, rename FROM TO, link FROM TO,
    /// unlink NAME, mkdir NAME, rmdir NAME, start (ends the set-up).
    #[schemars(with = "Vec<String>")]
    steps: Vec<ScriptStep>,
    /// Instead of steps, all sequences of so many operations, each followed by each kind of sync; 0
    /// for the steps.
    #[schemars(range(max = LENGTH_MAX))]
    length: u32,
    /// Milliseconds that are waited after each script, in which the file system may write.
    #[schemars(range(max = WAIT_MS_MAX))]
    wait_ms: u64,
    /// What is asked of the script although no document promises it: `{ atomic = STEP }`,
    /// `{ prefix = STEP }`, `{ ordered = [STEP, STEP] }`, with steps counted from 0.
    #[schemars(with = "serde_json::Value")]
    properties: Vec<Property>,
    /// In how many configurations of a publication the properties do not hold:
    /// `{ without = 12, of = 16 }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<PublishedProperty>,
}

impl Default for ScriptParameters {
    fn default() -> Self {
        let steps = [
            "create log",
            "start",
            "append log 4096",
            "fsync log",
            "fsync .",
        ];
        Self {
            directory: "script".into(),
            steps: steps.map(|it| it.parse().expect("a step")).to_vec(),
            length: 0,
            wait_ms: 100,
            properties: Vec::new(),
            published: None,
        }
    }
}

impl ScriptParameters {
    fn scripts(&self) -> Result<Vec<Script>, String> {
        let directory = self.directory.to_str().ok_or("directory is not text")?;
        let set = ScriptSet {
            directory: directory.to_owned(),
            steps: match self.length {
                0 => self.steps.clone(),
                _ => Vec::new(),
            },
            length: self.length,
            properties: self.properties.clone(),
            published: self.published,
        };
        set.scripts()
    }
}

impl Job for ScriptParameters {
    const NAME: &'static str = "script";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        if self.length > 0 {
            self.steps.clear();
        }
        self.scripts().map(drop)
    }

    fn footprint(&self) -> Bytes {
        let scripts = self.scripts().unwrap_or_default();
        let each = |script: &Script| {
            let plan = plan_of(&script.steps).unwrap_or_default();
            let changes = plan.changes.into_iter().flatten();
            let ends = changes.map(|it| u64::from(it.end.unwrap_or(0)) * SECTOR_BYTES);
            // Each name has an inode and a place in its directory.
            ends.sum::<u64>() + 4096 * script.steps.len() as u64
        };
        Bytes(scripts.iter().map(each).sum())
    }

    fn needs(&self) -> Vec<Need> {
        let scripts = self.scripts().unwrap_or_default();
        // Of enumerated scripts, those with links are left out where there are none.
        match self.length == 0 && scripts.iter().any(links) {
            true => vec![Need::HardLinks(2)],
            false => Vec::new(),
        }
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        let scripts = self.scripts().map_err(fslab_job::JobError::Value)?;
        let lacks_links =
            (context.promises.as_ref()).is_some_and(|it| it.lack(Need::HardLinks(2)).is_some());
        let all = scripts.len();
        let is_enumerated = self.length > 0;
        let (with_links, scripts): (Vec<_>, Vec<_>) = (scripts.into_iter().enumerate())
            .partition(|(_, script)| is_enumerated && lacks_links && links(script));
        if context.engine == EngineKind::Null {
            let steps = scripts.iter().map(|it| it.1.steps.len() as u64).sum();
            return Ok(synthetic_application(context.seed, steps, 1));
        }
        let mut played = Played {
            left_out: with_links.iter().map(|(number, _)| *number).collect(),
            ..Played::default()
        };
        let mut finished = timed(context, |checker| {
            scripts.iter().try_for_each(|(place, script)| {
                let number = fslab_crash::script_number(&script.folder, context.seed);
                let player = Player {
                    steps: StepPlayer::new(context.root.join(&script.folder), number),
                    checker: &mut *checker,
                    is_enumerated,
                };
                let begun = (played.times.len(), played.refused.len());
                if !player.play(script, &mut played)? {
                    played.times.truncate(begun.0);
                    played.refused.truncate(begun.1);
                    played.left_out.push(*place);
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(self.wait_ms));
                played.times.push((monotonic_ns(), 0));
                Ok(())
            })
        })?;
        finished.lists.push(ValueList {
            name: fslab_crash::SCRIPT_TIMES.into(),
            x: "start of a step (ns)".into(),
            y: "duration (ns)".into(),
            points: played
                .times
                .iter()
                .map(|(at, took)| (*at as f64, *took as f64))
                .collect(),
        });
        if !played.left_out.is_empty() {
            finished.notes.push(format!(
                "{} of the {all} sequences are left out: the file system has no hard links, or refuses \
                 an operation of theirs",
                played.left_out.len(),
            ));
            let points = played.left_out.iter();
            finished.lists.push(ValueList {
                name: fslab_crash::SCRIPT_LEFT_OUT.into(),
                x: "number of a script that was left out".into(),
                y: "1".into(),
                points: points.map(|number| (*number as f64, 1.0)).collect(),
            });
        }
        if !played.refused.is_empty() {
            finished.lists.push(ValueList {
                name: fslab_crash::SCRIPT_REFUSED.into(),
                x: "place of a refused sync among the steps".into(),
                y: "errno".into(),
                points: played.refused,
            });
        }
        Ok(finished)
    }
}

/// True if a step of `script` makes a hard link.
fn links(script: &Script) -> bool {
    let is_link = |step: &ScriptStep| matches!(step, ScriptStep::Link(..));
    script.steps.iter().any(is_link)
}

/// What was done.
#[derive(Default)]
struct Played {
    /// Begin and duration of each step, and the end of each script.
    times: Vec<(u64, u64)>,
    /// The syncs that were refused: their places in `times`, and the numbers of the errors.
    refused: Vec<(f64, f64)>,
    /// The enumerated scripts that were not done to their end, by number.
    left_out: Vec<usize>,
}

/// Does the steps of a script.
struct Player<'a> {
    steps: StepPlayer,
    checker: &'a mut CheckContext,
    is_enumerated: bool,
}

impl Player<'_> {
    /// Makes the directory durably, then does the steps. A sync that the file system does not have
    /// for this kind of file, such as that of a directory, promises nothing. False for an
    /// enumerated script of which the file system refuses a step, as HPFS does a truncation beyond
    /// the end.
    fn play(self, script: &Script, played: &mut Played) -> Result<bool, ConformanceFailure> {
        let plan = plan_of(&script.steps).unwrap_or_default();
        let base = self.steps.base().to_owned();
        self.checker
            .must("create", &base, fs::create_dir_all(&base))?;
        self.checker.must("sync", &base, sync_file_system(&base))?;
        for (number, step) in script.steps.iter().enumerate() {
            let change = plan.changes.get(number).copied().flatten();
            // Its data is made before it begins.
            let data = self.steps.data_of(change, number);
            self.checker.bytes += data.len() as u64;
            let begin_ns = monotonic_ns();
            let done = self.steps.take(step, change, &data);
            let end_ns = monotonic_ns();
            let is_sync = matches!(step, ScriptStep::Fsync(_) | ScriptStep::Fdatasync(_));
            match done {
                Err(error) if is_sync && error.kind() == ErrorKind::InvalidInput => {
                    let errno = error.raw_os_error().unwrap_or(0);
                    let place = played.times.len() as f64;
                    played.refused.push((place, f64::from(errno)));
                }
                Err(error) if self.is_enumerated && is_refusal(&error) => return Ok(false),
                done => self.checker.must(&format!("do '{step}' in"), &base, done)?,
            }
            played.times.push((begin_ns, end_ns - begin_ns));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use fslab_crash::{ObservedFile, SectorContent};
    use fslab_model::Capabilities;

    use super::*;

    fn run(steps: &[&str]) -> (tempfile::TempDir, Result<Finished, RunError>) {
        let folder = tempfile::tempdir().expect("a directory");
        let mut parameters = ScriptParameters {
            steps: steps.iter().map(|it| it.parse().expect("a step")).collect(),
            wait_ms: 1,
            ..ScriptParameters::default()
        };
        parameters.resolve(Bytes::mib(64)).expect("can be done");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let finished = parameters.run(&context);
        (folder, finished)
    }

    fn sequences_of_one() -> ScriptParameters {
        let mut parameters = ScriptParameters {
            length: 1,
            wait_ms: 0,
            ..ScriptParameters::default()
        };
        parameters.resolve(Bytes::mib(64)).expect("can be done");
        parameters
    }

    #[test]
    fn sequences_with_links_are_left_out_where_there_are_none() {
        let folder = tempfile::tempdir().expect("a directory");
        let parameters = sequences_of_one();
        assert!(parameters.needs().is_empty());
        let scripts = parameters.scripts().expect("sequences");
        let with_links = scripts.iter().filter(|it| links(it)).count();
        assert!(with_links > 0 && with_links < scripts.len());
        let mut context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let list = |finished: &Finished| {
            let name = fslab_crash::SCRIPT_LEFT_OUT;
            let list = finished.lists.iter().find(|it| it.name == name);
            list.map_or(0, |it| it.points.len())
        };
        context.promises = Some(Capabilities::NONE);
        let finished = parameters.run(&context).expect("done");
        assert_eq!((list(&finished), finished.notes.len()), (with_links, 1));
        context.promises = None;
        context.root = folder.path().join("all");
        let finished = parameters.run(&context).expect("done");
        assert_eq!((list(&finished), finished.notes.len()), (0, 0));
    }

    #[test]
    fn every_step_is_done_with_its_data_and_its_times() {
        let (folder, finished) = run(&[
            "create a",
            "append a 1024",
            "write a 512 512",
            "fsync a",
            "mkdir d",
            "link a d/b",
            "rename a c",
            "fdatasync c",
            "truncate c 512",
            "write-sync c 512 512",
            "mkdir e",
            "rmdir e",
            "fsync .",
            "create x",
            "unlink x",
            "sync",
        ]);
        let finished = finished.expect("done");
        assert_eq!(finished.lists[0].points.len(), 17);
        let base = folder.path().join("script");
        let file = File::open(base.join("d/b")).expect("linked");
        let found = ObservedFile::read(file, u64::MAX).expect("read");
        let steps: Vec<u16> = found
            .sectors()
            .map(|it| match it {
                SectorContent::Written(origin) => origin.step,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(steps, [1, 9]);
        assert!(!base.join("a").exists() && !base.join("x").exists());
    }

    #[test]
    fn enumerated_scripts_can_all_be_done() {
        let folder = tempfile::tempdir().expect("a directory");
        let parameters = sequences_of_one();
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let finished = parameters.run(&context).expect("done");
        assert!(finished.lists[0].points.len() > 200);
    }

    #[test]
    fn a_step_that_fails_is_named() {
        let folder = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(folder.path().join("script/a")).expect("in the way");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let parameters = ScriptParameters {
            steps: vec!["create a".parse().expect("a step")],
            ..ScriptParameters::default()
        };
        let failure = parameters.run(&context).expect_err("must fail").to_string();
        assert!(failure.contains("do 'create a' in"), "{failure}");
    }
}
