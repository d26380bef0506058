//! Stages: ageing or filling a fresh file system between its first mount and its first phase, as
//! its subject says.
//!
//! Afterwards the file system is remounted, so that the phases find the caches empty, as with a
//! fresh one.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use fslab_engine::StopFlag;
use fslab_model::{ColdMethod, EventBody, Failure, FailureKind, Stage, StepRecord, TrialSpec};
use fslab_sys::FileSystemRoom;

use crate::ageing::{Done, Site, age, fill};
use crate::command::elapsed_ns;
use crate::confined::Fence;
use crate::events::EventWriter;
use crate::target::{CacheDropResult, Steps, Target};
use crate::volume::Volume;

/// Runs the stages of the subject.
pub(crate) fn run<W: Write>(
    spec: &TrialSpec,
    stop: &StopFlag,
    target: &mut Target,
    fence: &Fence,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    for stage in spec.subject.stages() {
        let file_system = ageable(spec, target)?.file_system();
        let file_bytes_max = file_system.capabilities.file_bytes_max.0;
        events.begin(stage.name());
        let began = Instant::now();
        let mut done = fence.within(target.root(), |inside| {
            let site = Site {
                root: inside.path(target.root()),
                stage: stage.name(),
                seed: spec.seed,
                stop,
                file_bytes_max,
            };
            run_stage(stage, &site).map_err(|failure| inside.seen_outside(failure))
        })??;
        let elapsed_ns = elapsed_ns(began);
        let mut steps = Steps::new();
        let cold = target.make_cold(ColdMethod::Remount, (None, false), fence, &mut steps);
        if cold.is_ok() {
            add_fullness(stage, target.root(), &mut done)?;
        }
        events.emit(EventBody::Step(step(stage, &done, elapsed_ns)));
        events.emit(EventBody::Facts { facts: done.facts });
        for step in steps {
            events.emit(EventBody::Step(step));
        }
        if let CacheDropResult::Impossible(reason) = cold? {
            return Err(Failure::new(FailureKind::Unsupported, reason));
        }
    }
    Ok(())
}

/// Adds how full it is. Some file systems release reservations at unmount.
fn add_fullness(stage: &Stage, root: &Path, done: &mut Done) -> Result<(), Failure> {
    let room = FileSystemRoom::of(root).map_err(|error| {
        Failure::at(FailureKind::Io, "determine the free space of", root, &error)
    })?;
    let used = room.total_bytes.saturating_sub(room.free_bytes);
    let percent = used as f64 * 100.0 / room.total_bytes.max(1) as f64;
    let name = format!("{}.fullness_percent", stage.name());
    done.facts.insert(name, format!("{percent:.1}"));
    done.summary.push_str(&format!(", {percent:.0} % full"));
    Ok(())
}

/// Only file systems that the trial made on a device are filled and aged.
fn ageable<'a>(spec: &TrialSpec, target: &'a Target) -> Result<&'a Volume, Failure> {
    let stage = spec.subject.stages().first().map_or("age", Stage::name);
    let refused = |kind, reason: &str| {
        let text = format!("cannot {stage} {}: {reason}", spec.subject.fs());
        Err(Failure::new(kind, text))
    };
    match target {
        Target::Volume(volume) if volume.file_system().capabilities.persistent => Ok(volume),
        Target::Volume(_) => refused(FailureKind::Unsupported, "its files are only in memory"),
        Target::Directory(_) => refused(
            FailureKind::BadInput,
            "a directory is used as it is; use the venue loop, block, guest or sim, which make a \
             file system",
        ),
        Target::Fake => refused(FailureKind::BadInput, "there are no files in it"),
    }
}

fn run_stage(stage: &Stage, site: &Site<'_>) -> Result<Done, Failure> {
    match stage {
        Stage::Age(ageing) => age(site, ageing),
        Stage::Fill { full_percent } => fill(site, *full_percent),
    }
}

fn step(stage: &Stage, done: &Done, elapsed_ns: u64) -> StepRecord {
    let text = stage.to_string();
    let (word, value) = text.split_once('=').unwrap_or((&text, ""));
    StepRecord {
        step: stage.name().into(),
        command: vec![word.into(), value.into()],
        elapsed_ns,
        exit_code: None,
        output: done.summary.clone(),
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::{Bytes, DeviceSpec};

    use super::*;

    #[test]
    fn only_file_systems_made_by_the_trial_are_aged_or_filled() {
        let spec = |subject: &str, device| {
            let subject = subject.parse().expect("a subject");
            TrialSpec::first(subject, device, Bytes::mib(8), ColdMethod::Evict)
        };
        let folder = tempfile::tempdir().expect("a directory");
        let directory = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        for (subject, device, word) in [
            ("ext4:age=churn", directory.clone(), "a directory"),
            ("ext4:fill=20%", directory, "cannot fill ext4"),
            ("fake:age=mail", DeviceSpec::Fake, "no files"),
        ] {
            let spec = spec(subject, device);
            let mut target = Target::of(&spec).expect("a target");
            let mut output = Vec::new();
            let mut events = EventWriter::new(&mut output, StopFlag::new());
            let failure = run(
                &spec,
                &StopFlag::new(),
                &mut target,
                &Fence::NotNeeded,
                &mut events,
            );
            let failure = failure.expect_err("must be refused");
            assert_eq!(failure.kind, FailureKind::BadInput);
            assert!(failure.message.contains(word), "{failure}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 0);
    }
}
