//! The steps of a trial.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use fslab_engine::{Calibration, EngineKind, ParseEngineError, Ranks, RunContext, StopFlag};
use fslab_fs::SearchPath;
use fslab_model::{
    CONFINEMENT_FACT, DAMAGED_DATA_FACT, EventBody, FAILED_DISK_FACT, FORMAT_VERSION, Facts,
    Failure, FailureKind, MEMORY_MEDIUM_FACT, PhaseOutcome, PhaseSpec, Round, TrialSpec,
};
use fslab_workload::Workload;

use crate::call_array;
use crate::confined::Fence;
use crate::disturbances::Backlog;
use crate::events::EventWriter;
use crate::phase::Phase;
use crate::rank_link;
use crate::required_facts;
use crate::review::{Review, withdraw};
use crate::round::RoundRunner;
use crate::shared_directory::{common_reason, shared_target};
use crate::start_state;
use crate::target::{Steps, Target, memory_medium, recognised};
use crate::write_back::WriteBack;

/// Runs the trial of `spec` and writes its events to `output`, ending with `end`.
///
/// Every failure is an event, and everything mounted is unmounted. If `stop` is raised, the trial
/// stops before the next operation. In virtual time the process keeps to the memory that it has
/// locked.
///
/// # Errors
/// If the events cannot be written, so that a failure would be lost, or memory cannot be locked.
pub fn run_trial(spec: &TrialSpec, stop: &StopFlag, output: impl Write + Send) -> io::Result<()> {
    match spec.virtual_time {
        true => start_state::in_locked_memory(|| write_trial(spec, stop, output))?,
        false => write_trial(spec, stop, output),
    }
}

fn write_trial(spec: &TrialSpec, stop: &StopFlag, output: impl Write) -> io::Result<()> {
    let mut events = EventWriter::new(output, stop.clone());
    events.emit(EventBody::Hello {
        format: FORMAT_VERSION,
        fslab: env!("CARGO_PKG_VERSION").to_owned(),
    });
    if let Err(failure) = try_on_ranks(spec, stop, &mut events) {
        events.fail(failure);
    }
    events.emit(EventBody::End);
    events.finish()
}

/// Runs the trial; in a load of several ranks it succeeds if it does at all.
fn try_on_ranks<W: Write>(
    spec: &TrialSpec,
    stop: &StopFlag,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    let Some(rank) = &spec.ranks else {
        return try_trial(spec, stop, None, events);
    };
    let ranks = rank_link::connect(rank)?;
    let tried = try_trial(spec, stop, Some(&ranks), events);
    ranks.agree("the end of the trial", tried)
}

/// The clock that the trial reads.
fn choose_clock(spec: &TrialSpec) -> Result<(), Failure> {
    if let Some(frequency) = spec.counter_hz {
        fslab_sys::read_clock_by_counter(frequency);
    }
    match spec.virtual_time {
        true => crate::virtual_time::read_clock(spec.counted),
        false => Ok(()),
    }
}

fn try_trial<W: Write>(
    spec: &TrialSpec,
    stop: &StopFlag,
    ranks: Option<&Ranks>,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    if spec.format > FORMAT_VERSION {
        let text = format!(
            "the specification has format {}, newer than this fslab",
            spec.format
        );
        return Err(Failure::new(FailureKind::BadInput, text));
    }
    let engine: EngineKind = spec.engine.parse().map_err(|error: ParseEngineError| {
        Failure::new(FailureKind::BadInput, "cannot run the trial").because(&error)
    })?;
    if !spec.allow_commands {
        fslab_workload::ensure_programs_allowed(&spec.phases)?;
    }
    choose_clock(spec)?;
    if !spec.single_calls && !spec.counted {
        call_array::open()?;
    }
    if spec.virtual_time {
        start_state::reach(spec.perturbation)?;
    }
    crate::dirty_limit::limit_dirty_memory(spec.dirty_limit_bytes)?;
    let (mut target, of_ranks) = match ranks {
        None => (Target::of(spec)?, Facts::new()),
        Some(ranks) => shared_target(ranks, spec)?,
    };
    let fence = match target {
        Target::Fake => Fence::NotNeeded,
        Target::Directory(_) | Target::Volume(_) => Fence::build(),
    };
    let mut found = facts(spec, &target);
    found.extend(of_ranks);
    let memory_medium = memory_medium(spec);
    let fact_of = |text: &String| (MEMORY_MEDIUM_FACT.to_owned(), text.clone());
    found.extend(memory_medium.as_ref().map(fact_of));
    found.extend(fence.fact().map(|fact| (CONFINEMENT_FACT.to_owned(), fact)));
    let missing_fact = required_facts::missing(&spec.required_facts, &found);
    events.emit(EventBody::Facts { facts: found });
    let mut review = Review::of(&target, spec.virtual_time);
    events.add_facts(review.facts());
    prepare(spec, &mut target, &mut review, events)?;
    crate::stage::run(spec, stop, &mut target, &fence, events)?;
    review.demand("the stages before the phases", events)?;
    let context = run_context((spec, engine), stop, ranks, &target);
    // The harness costs nothing where only the disk takes time.
    let takes_time = engine != EngineKind::Null && (!spec.virtual_time || spec.counted);
    let calibration = takes_time.then(fslab_engine::calibrate);
    if let Some(calibration) = calibration {
        events.emit(EventBody::Facts {
            facts: calibration_facts(calibration),
        });
    }
    let trial_context = TrialContext {
        context,
        fence,
        calibration,
        missing_fact,
        memory_medium,
    };
    let phases = run_rounds(spec, &trial_context, &mut target, &mut review, events);
    let finished = finish(&mut target, stop, &mut review, events);
    events.add_facts(review.facts());
    phases.and(finished)
}

/// What the jobs of all phases share, before the confinement.
fn run_context(
    (spec, engine): (&TrialSpec, EngineKind),
    stop: &StopFlag,
    ranks: Option<&Ranks>,
    target: &Target,
) -> RunContext {
    RunContext {
        stop: stop.clone(),
        foreign_links: target.holds_something(),
        promises: crate::phase::promises(target, &spec.subject),
        allow_commands: spec.allow_commands,
        ranks: ranks.cloned(),
        devices: target.devices(),
        ..RunContext::new(engine, target.root(), spec.seed)
    }
}

/// What all phases of a trial share.
struct TrialContext {
    context: RunContext,
    fence: Fence,
    calibration: Option<Calibration>,
    /// Why no phase can run on this machine.
    missing_fact: Option<String>,
    /// What keeps the medium in memory; `None` for a disk.
    memory_medium: Option<String>,
}

fn calibration_facts(calibration: Calibration) -> Facts {
    let costs = [
        ("clock_ns", calibration.clock_ns),
        ("recording_ns", calibration.recording_ns),
        ("null_operation_ns", calibration.null_operation_ns),
    ];
    costs
        .map(|(name, ns)| (format!("calibration.{name}"), format!("{ns:.1}")))
        .into()
}

/// Facts about clock, kernel, device and tools.
fn facts(spec: &TrialSpec, target: &Target) -> Facts {
    let mut facts = Facts::new();
    let clock = match spec.counter_hz {
        Some(frequency) => format!("the processor's counter, {frequency} Hz"),
        None if spec.counted => {
            "virtual: it moves while the disk or the processor works".to_owned()
        }
        None if spec.virtual_time => "virtual: it moves while the disk works".to_owned(),
        None => fslab_sys::CLOCK_NAME.to_owned(),
    };
    facts.insert("clock".into(), clock);
    if fslab_sys::has_call_array() && !spec.virtual_time {
        facts.insert(call_array::FACT.into(), call_array::FACT_TEXT.into());
    }
    facts.insert("kernel".into(), fslab_sys::kernel_release());
    facts.extend(fslab_sys::platform_facts());
    if let Some(meter) = target.meter() {
        facts.extend(meter.facts());
    }
    match target {
        Target::Volume(volume) => {
            let search = SearchPath::from_environment();
            let servers = fslab_fs::network_tools(&spec.subject);
            let layers = fslab_fs::layer_tools(&spec.subject);
            let tools = volume.file_system().tools();
            for tool in tools.iter().chain(servers).chain(&layers) {
                let version = tool
                    .locate(&search)
                    .and_then(|program| tool.ask_version(&program));
                if let Ok(version) = version {
                    facts.insert(format!("tool.{}", tool.program), version);
                }
            }
            if let Some((module, version)) = volume.file_system().driver.outside_module() {
                facts.insert(format!("tool.{module}"), version);
            }
        }
        Target::Directory(directory) => facts.extend(recognised(directory.path())),
        Target::Fake => {}
    }
    facts
}

/// Makes the layers below the file system, if it has any.
fn open_layers<W: Write>(
    target: &mut Target,
    review: &mut Review,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    let Target::Volume(volume) = target else {
        return Ok(());
    };
    if !volume.has_layers() {
        return Ok(());
    }
    events.begin("layers");
    for step in volume.open_layers()? {
        events.emit(EventBody::Step(step));
    }
    review.demand("the layers", events)?;
    review.follow_layers(target);
    Ok(())
}

/// Makes and mounts the file system.
fn prepare<W: Write>(
    spec: &TrialSpec,
    target: &mut Target,
    review: &mut Review,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    open_layers(target, review, events)?;
    let Target::Volume(volume) = target else {
        return Ok(());
    };
    events.begin("mkfs");
    if let Some(step) = volume.format()? {
        events.emit(EventBody::Step(step));
    }
    review.demand("mkfs", events)?;
    events.begin("mount");
    let step = volume.mount()?;
    events.emit(EventBody::Step(step));
    events.add_facts(volume.admission());
    events.add_facts(volume.driver()?);
    events.add_facts(volume.allocation_unit());
    events.add_facts(volume.stack_facts());
    if spec.subject.network().is_some() {
        // The client's kernel adds the defaults of its version, and what the server limits.
        events.add_facts(recognised(volume.mount_point()));
    }
    review.demand("mount", events)
}

/// Phases to skip, with reasons.
#[derive(Default)]
struct Skips {
    all: Option<String>,
    groups: BTreeMap<String, String>,
}

impl Skips {
    fn everything(&mut self, reason: String) {
        self.all.get_or_insert(reason);
    }

    /// Skips the rest of the phase's group; of the trial, if it has none.
    fn group_of(&mut self, spec: &PhaseSpec, reason: String) {
        match &spec.group {
            Some(group) => drop(self.groups.insert(group.clone(), reason)),
            None => self.everything(reason),
        }
    }

    fn reason(&self, spec: &PhaseSpec) -> Option<String> {
        let of_group = spec.group.as_ref().and_then(|group| self.groups.get(group));
        self.all.as_ref().or(of_group).cloned()
    }
}

/// Runs all rounds. Once everything is to be skipped, the remaining phases are only recorded as
/// skipped, without steps between rounds.
fn run_rounds<W: Write>(
    spec: &TrialSpec,
    trial_context: &TrialContext,
    target: &mut Target,
    review: &mut Review,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    let mut skips = Skips::default();
    if let Some(reason) = &trial_context.missing_fact {
        skips.everything(reason.clone());
    }
    let backlog = RefCell::new(Backlog::default());
    let facts = RefCell::new(Facts::new());
    let mut runner = RoundRunner::new(spec.rounds, &trial_context.context, &trial_context.fence);
    for round in spec.rounds.each() {
        let mut context = trial_context.context.clone();
        if common_reason(&trial_context.context, skips.all.clone())?.is_none() {
            runner
                .announcement()
                .into_iter()
                .for_each(|step| events.begin(step));
            let mut steps = Steps::new();
            let from = suspects_from(target);
            let entered = runner.begin_round(round, target, &mut steps);
            steps
                .into_iter()
                .for_each(|step| events.emit(EventBody::Step(step)));
            if let Some(failure) = lost(target, "clear", review, events) {
                withdraw(from, failure, events);
            }
            context = entered?;
        }
        // Each round makes the files of a group again, and so retries a failed group.
        skips.groups.clear();
        let turn = RoundContext {
            round: (!spec.rounds.is_one()).then_some(round),
            context,
            calibration: trial_context.calibration,
            fence: &trial_context.fence,
            memory_medium: trial_context.memory_medium.as_deref(),
            backlog: &backlog,
            facts: &facts,
        };
        run_phases(spec, &turn, &mut skips, target, (review, events))?;
    }
    Ok(())
}

struct RoundContext<'a> {
    /// `None` if there is only one.
    round: Option<Round>,
    context: RunContext,
    calibration: Option<Calibration>,
    fence: &'a Fence,
    /// What keeps the medium in memory.
    memory_medium: Option<&'a str>,
    backlog: &'a RefCell<Backlog>,
    facts: &'a RefCell<Facts>,
}

impl RoundContext<'_> {
    /// Name of the current step, for progress and crash reports.
    fn place(&self, phase: &PhaseSpec) -> String {
        match self.round {
            None => phase.name.clone(),
            Some(Round { mount, iteration }) => {
                format!(
                    "{} (mount {}, iteration {})",
                    phase.name,
                    mount + 1,
                    iteration + 1
                )
            }
        }
    }
}

/// Runs the phases in order. After a failure the rest of the phase's group is recorded as skipped.
fn run_phases<W: Write>(
    spec: &TrialSpec,
    turn: &RoundContext<'_>,
    skips: &mut Skips,
    target: &mut Target,
    (review, events): (&mut Review, &mut EventWriter<W>),
) -> Result<(), Failure> {
    let mut context = turn.context.clone();
    for phase_spec in &spec.phases {
        let workload = Workload::of_phase(phase_spec).map_err(|error| {
            Failure::new(FailureKind::BadInput, "cannot run the phase").because(&error)
        })?;
        let phase = Phase {
            spec: phase_spec,
            workload: &workload,
            subject: &spec.subject,
            cold: spec.cold,
            cold_after: Duration::from_secs(spec.cold_after_s),
            host_forgets: spec.host_forgets.as_deref(),
            memory_medium: turn.memory_medium,
            emptied_by: spec.emptied_by,
            context: &context,
            fence: turn.fence,
            round: turn.round,
            calibration: turn.calibration,
            virtual_time: spec.virtual_time,
            counted: spec.counted,
            number: review.recorded(),
            backlog: turn.backlog,
            facts: turn.facts,
        };
        let has_foreign_names = workload.has_foreign_names();
        if let Some(reason) = common_reason(&context, skips.reason(phase_spec))? {
            let skipped = phase.without_figures(PhaseOutcome::Skipped { reason });
            review.record(skipped, events);
            continue;
        }
        events.begin(turn.place(phase_spec));
        let mut steps = Steps::new();
        let from = suspects_from(target);
        let (mut record, failure) = phase.run(target, &mut steps);
        let facts = turn.facts.take();
        let provokes = [DAMAGED_DATA_FACT, FAILED_DISK_FACT];
        if provokes.iter().any(|fact| facts.contains_key(*fact)) {
            review.expect_errors();
        }
        events.add_facts(facts);
        // Without confinement the phase was refused and has made no links.
        context.foreign_links |= has_foreign_names && !turn.fence.is_missing();
        steps
            .into_iter()
            .for_each(|step| events.emit(EventBody::Step(step)));
        let lost = lost(target, &phase_spec.name, review, events);
        if let Some(lost) = &lost {
            record.withdraw(lost);
        }
        if failure.is_some() || lost.is_some() {
            skips.everything(PhaseOutcome::reason_after(&phase_spec.name));
        } else if matches!(record.outcome, PhaseOutcome::Failed { .. }) {
            skips.group_of(phase_spec, PhaseOutcome::reason_after(&phase_spec.name));
        } else if workload.fails_disk() && matches!(record.outcome, PhaseOutcome::Skipped { .. }) {
            // What follows would measure a whole array.
            skips.group_of(phase_spec, "no disk has failed".to_owned());
        }
        review.record(record, events);
        if let Some(lost) = lost {
            withdraw(from, lost, events);
        }
        if let Some(failure) = failure {
            events.fail(failure);
        }
    }
    Ok(())
}

/// The first phase whose data may not be on the device.
fn suspects_from(target: &Target) -> usize {
    target.write_back().map_or(0, WriteBack::suspects_from)
}

/// The failure that invalidates earlier results: a sync found lost writes, or the kernel reported
/// errors of the device.
fn lost<W: Write>(
    target: &mut Target,
    during: &str,
    review: &mut Review,
    events: &mut EventWriter<W>,
) -> Option<Failure> {
    let by_kernel = review.look(during, events);
    let by_sync = target.write_back_mut().and_then(WriteBack::take_lost);
    by_sync.or(by_kernel)
}

/// Ends the trial, and reads what the superblock says: last, so that it changes no figure of
/// virtual time.
fn finish<W: Write>(
    target: &mut Target,
    stop: &StopFlag,
    review: &mut Review,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    let closed = close(target, stop, review, events);
    let Target::Volume(volume) = target else {
        return closed;
    };
    if volume.is_mounted() {
        return closed;
    }
    events.add_facts(volume.features());
    let layers = volume.close_layers().map(|steps| {
        steps
            .into_iter()
            .for_each(|step| events.emit(EventBody::Step(step)));
    });
    closed.and(layers)
}

/// Syncs, unmounts and checks. A failure before the check invalidates the results of all phases
/// since the last successful sync.
fn close<W: Write>(
    target: &mut Target,
    stop: &StopFlag,
    review: &mut Review,
    events: &mut EventWriter<W>,
) -> Result<(), Failure> {
    let from = suspects_from(target);
    let is_mounted = match &*target {
        Target::Volume(volume) => volume.is_mounted(),
        Target::Directory(_) => !stop.is_raised(),
        Target::Fake => false,
    };
    if is_mounted && !review.is_of_virtual_time() {
        events.begin("sync");
        // `lost` returns its error below.
        let _ = target.sync();
    }
    let unmounted = unmount(target, events);
    if let Some(failure) = lost(target, "unmount", review, events) {
        withdraw(from, failure, events);
    } else if let Err(failure) = &unmounted
        && target.write_back().is_some_and(WriteBack::has_suspects)
    {
        withdraw(from, failure.clone(), events);
    }
    let checked = unmounted.and_then(|()| check(target, events));
    if !review.is_of_virtual_time() {
        return checked.and(review.demand("check", events));
    }
    review.start_final(target);
    if let Some(failure) = review.look("the trial", events) {
        withdraw(0, failure, events);
    }
    checked
}

fn check<W: Write>(target: &Target, events: &mut EventWriter<W>) -> Result<(), Failure> {
    let Target::Volume(volume) = target else {
        return Ok(());
    };
    events.begin("check");
    let (step, failure) = volume.check();
    step.into_iter()
        .for_each(|step| events.emit(EventBody::Step(step)));
    failure.map_or(Ok(()), Err)
}

fn unmount<W: Write>(target: &mut Target, events: &mut EventWriter<W>) -> Result<(), Failure> {
    match target {
        Target::Volume(volume) if volume.is_mounted() => {
            events.begin("unmount");
            let step = volume.unmount()?;
            events.emit(EventBody::Step(step));
            Ok(())
        }
        Target::Volume(_) | Target::Directory(_) | Target::Fake => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fslab_model::{
        Bytes, CachePolicy, ColdMethod, DeviceSpec, Event, Parameters, PhaseRecord, PhaseSpec,
        RecordBuilder, Rounds, Subject, TrialOutcome, TrialReport,
    };

    use super::*;

    fn phase(name: &str, workload: &str, cache: CachePolicy) -> PhaseSpec {
        let parameters = fslab_workload::find(workload)
            .and_then(|workload| workload.resolve(&Parameters::new(), Bytes::mib(8)))
            .expect("resolves");
        PhaseSpec {
            cache,
            settle: name == "write",
            ..PhaseSpec::new(name, workload, parameters)
        }
    }

    fn spec(device: DeviceSpec, engine: &str, phases: Vec<PhaseSpec>) -> TrialSpec {
        let fs = if device == DeviceSpec::Fake {
            "fake"
        } else {
            "ext4"
        };
        TrialSpec {
            engine: engine.into(),
            phases,
            ..TrialSpec::first(Subject::plain(fs), device, Bytes::mib(8), ColdMethod::Evict)
        }
    }

    fn record(spec: &TrialSpec, stop: &StopFlag) -> TrialReport {
        let mut output = Vec::new();
        run_trial(spec, stop, &mut output).expect("memory takes events");
        let mut builder = RecordBuilder::default();
        for line in String::from_utf8(output).expect("text").lines() {
            builder.push(serde_json::from_str::<Event>(line).expect("an event"));
        }
        builder.finish(None)
    }

    /// A plan from the store of another user had been run without asking.
    #[test]
    fn a_trial_without_permission_for_commands_ends_before_it_formats() {
        let mut parameters = Parameters::new();
        parameters.insert("argv".into(), "true".into());
        let command = PhaseSpec::new("evil", "command", parameters);
        let mut spec = spec(DeviceSpec::Fake, "null", vec![command]);
        let refused = record(&spec, &StopFlag::new());
        let TrialOutcome::Failed { failure } = &refused.outcome else {
            panic!("{refused:?}")
        };
        assert_eq!(failure.kind, FailureKind::BadInput, "{failure:?}");
        assert!(failure.message.contains("'evil'"), "{failure:?}");
        assert!(
            refused.steps.is_empty() && refused.phases.is_empty(),
            "{refused:?}"
        );
        spec.allow_commands = true;
        assert_eq!(record(&spec, &StopFlag::new()).outcome, TrialOutcome::Done);
    }

    #[test]
    fn a_fake_trial_has_figures_without_a_device_and_twice_the_same() {
        let phases = vec![
            phase("write", "write", CachePolicy::Keep),
            phase("read", "read", CachePolicy::Cold),
        ];
        let spec = spec(DeviceSpec::Fake, "null", phases);
        let first = record(&spec, &StopFlag::new());
        assert_eq!(first.outcome, TrialOutcome::Done);
        assert!(first.phases.iter().all(|phase| phase.elapsed_ns.is_some()));
        assert_eq!(first.phases, record(&spec, &StopFlag::new()).phases);
    }

    #[test]
    fn in_a_directory_cold_metadata_is_skipped_and_cold_data_is_measured() {
        let folder = tempfile::tempdir().expect("a directory");
        let phases = vec![
            phase("write", "write", CachePolicy::Keep),
            phase("read", "read", CachePolicy::Cold),
            phase("stat", "stat", CachePolicy::Cold),
        ];
        let device = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        let record = record(&spec(device, "psync", phases), &StopFlag::new());
        assert_eq!(record.outcome, TrialOutcome::Done, "{record:?}");
        assert_eq!(record.phases[0].settled, None);
        assert_eq!(record.phases[0].notes.len(), 1);
        assert_eq!(record.phases[1].bytes, Some(2 << 20));
        assert!(matches!(
            record.phases[2].outcome,
            PhaseOutcome::Skipped { .. }
        ));
        assert!(record.facts.contains_key("recognised.type"));
    }

    #[test]
    fn after_a_failed_phase_the_rest_is_skipped_and_says_why() {
        let folder = tempfile::tempdir().expect("a directory");
        let phases = vec![
            phase("read", "read", CachePolicy::Keep),
            phase("write", "write", CachePolicy::Keep),
        ];
        let device = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        let record = record(&spec(device, "psync", phases), &StopFlag::new());
        let TrialOutcome::Failed { failure } = record.outcome else {
            panic!("must fail")
        };
        assert_eq!(failure.errno, Some(2), "{failure:?}");
        let PhaseOutcome::Skipped { reason } = &record.phases[1].outcome else {
            panic!("must be skipped")
        };
        assert!(reason.contains("'read'"), "{reason}");
    }

    /// Phases of one group.
    fn grouped(name: &str, workload: &str) -> PhaseSpec {
        PhaseSpec {
            group: Some("a".into()),
            ..phase(name, workload, CachePolicy::Keep)
        }
    }

    #[test]
    fn a_failure_in_a_group_costs_the_rest_of_that_group_alone() {
        let folder = tempfile::tempdir().expect("a directory");
        let phases = vec![
            grouped("read", "read"),
            grouped("random", "random-read"),
            phase("write", "write", CachePolicy::Keep),
        ];
        let device = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        let record = record(&spec(device, "psync", phases), &StopFlag::new());
        assert!(matches!(record.outcome, TrialOutcome::Failed { .. }));
        assert!(matches!(
            record.phases[1].outcome,
            PhaseOutcome::Skipped { .. }
        ));
        assert_eq!(record.phases[2].outcome, PhaseOutcome::Done);
    }

    #[test]
    fn records_of_a_trial_with_rounds_have_their_round_and_a_failed_group_is_retried() {
        let folder = tempfile::tempdir().expect("a directory");
        let phases = vec![
            grouped("read", "read"),
            grouped("random", "random-read"),
            phase("write", "write", CachePolicy::Keep),
            phase("cold", "read", CachePolicy::Cold),
        ];
        let device = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        let spec = TrialSpec {
            rounds: Rounds {
                mounts: 1,
                iterations: 2,
            },
            ..spec(device, "psync", phases)
        };
        let record = record(&spec, &StopFlag::new());
        let seen: Vec<_> = record
            .phases
            .iter()
            .map(|phase| (phase.round.expect("a round").iteration, &*phase.name))
            .collect();
        let names = ["read", "random", "write", "cold"];
        let expected = [0, 1].map(|round| names.map(|name| (round, name)));
        assert_eq!(seen, expected.concat());
        for round in record.phases.chunks(4) {
            assert!(matches!(round[0].outcome, PhaseOutcome::Failed { .. }));
            assert!(matches!(round[1].outcome, PhaseOutcome::Skipped { .. }));
            assert_eq!(round[2].outcome, PhaseOutcome::Done);
            assert_eq!(round[3].outcome, PhaseOutcome::Done, "{:?}", round[3]);
        }
        let cleared = record.steps.iter().filter(|step| step.step == "clear");
        assert_eq!(cleared.count(), 1);
    }

    #[test]
    fn after_a_failure_without_a_group_no_later_round_runs_either() {
        let folder = tempfile::tempdir().expect("a directory");
        let device = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        let phases = vec![phase("read", "read", CachePolicy::Keep)];
        let spec = TrialSpec {
            rounds: Rounds {
                mounts: 1,
                iterations: 3,
            },
            ..spec(device, "psync", phases)
        };
        let record = record(&spec, &StopFlag::new());
        let skipped = |phase: &PhaseRecord| matches!(phase.outcome, PhaseOutcome::Skipped { .. });
        let skipped: Vec<_> = record.phases.iter().map(skipped).collect();
        assert_eq!(skipped, [false, true, true]);
        assert!(record.phases.iter().all(|phase| phase.round.is_some()));
        assert!(record.steps.is_empty());
    }

    #[test]
    fn without_a_required_fact_all_phases_are_skipped() {
        let phases = vec![phase("write", "write", CachePolicy::Keep)];
        let demanded = |name: &str, value: &str| TrialSpec {
            rounds: Rounds::ONE,
            required_facts: [(name.into(), value.into())].into(),
            ..spec(DeviceSpec::Fake, "null", phases.clone())
        };
        for bad in [demanded("kernel", "0.01"), demanded("moon", "full")] {
            let record = record(&bad, &StopFlag::new());
            let PhaseOutcome::Skipped { reason } = &record.phases[0].outcome else {
                panic!("must be skipped")
            };
            assert!(reason.starts_with("the study demands"), "{reason}");
        }
        let good = demanded("kernel", &fslab_sys::kernel_release());
        let good = record(&good, &StopFlag::new());
        assert_eq!(good.phases[0].outcome, PhaseOutcome::Done);
    }

    #[test]
    fn a_stopped_trial_reports_that_it_was_interrupted() {
        let folder = tempfile::tempdir().expect("a directory");
        let device = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        let spec = spec(
            device,
            "psync",
            vec![phase("write", "write", CachePolicy::Keep)],
        );
        let stop = StopFlag::new();
        stop.raise();
        let TrialOutcome::Failed { failure } = record(&spec, &stop).outcome else {
            panic!("must fail")
        };
        assert_eq!(failure.kind, FailureKind::Interrupted);
    }

    #[test]
    fn a_large_share_of_the_harness_is_noted() {
        let folder = tempfile::tempdir().expect("a directory");
        let bytewise = r#"{"file_size": 50000, "record": 1}"#;
        let short = PhaseSpec {
            parameters: serde_json::from_str(bytewise).expect("a map"),
            ..phase("bytes", "io", CachePolicy::Keep)
        };
        let device = DeviceSpec::Directory {
            path: folder.path().into(),
        };
        let spec = spec(device, "mmap", vec![short]);
        let share = |record: &TrialReport| record.phases[0].harness_share.expect("calibrated");
        // A busy machine delays the operations of some trials.
        let mut records = (0..20).map(|_| record(&spec, &StopFlag::new()));
        let record = records.find(|record| share(record) > 0.05);
        let record = record.expect("a share that matters");
        let said = |note: &String| note.contains("fslab itself took");
        assert!(record.phases[0].notes.iter().any(said));
        assert!(record.facts.contains_key("calibration.clock_ns"));
    }

    #[test]
    fn an_unknown_engine_or_a_later_format_is_bad_input() {
        let device = DeviceSpec::Directory {
            path: Path::new("/nonexistent").into(),
        };
        for bad in [
            TrialSpec {
                engine: "warp".into(),
                ..spec(device.clone(), "psync", Vec::new())
            },
            TrialSpec {
                format: 99,
                ..spec(device.clone(), "psync", Vec::new())
            },
        ] {
            let TrialOutcome::Failed { failure } = record(&bad, &StopFlag::new()).outcome else {
                panic!("must fail")
            };
            assert_eq!(failure.kind, FailureKind::BadInput, "{failure:?}");
        }
    }
}
