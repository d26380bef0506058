//! The phases that a trial records, in order, and what each must have in common with its
//! specification.

use std::fmt::{Debug, Display};

use fslab_model::{
    Failure, Headline, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, Round, Rounds, StepRecord,
    TrialOutcome, TrialRecord,
};
use fslab_workload::Workload;

use super::bounds::{OutputBounds, threads_of};
use super::figures::{Clock, ensure_numbers, ensure_plausible, ensure_steps, quoted};
use crate::TrialRequest;

/// What the record of a trial must have.
#[derive(Clone, Debug)]
pub struct ExpectedRecord {
    phases: Vec<ExpectedPhase>,
    rounds: Rounds,
    bounds: OutputBounds,
    clock: Clock,
}

/// A phase as it must be recorded.
#[derive(Clone, Debug)]
struct ExpectedPhase {
    spec: PhaseSpec,
    kind: PhaseKind,
    headline: Headline,
    /// Most threads with figures, of all ranks.
    threads: u64,
}

impl ExpectedRecord {
    /// That of a trial of `phases` in `rounds`, on `ranks`. Times are compared with those of the
    /// caller, unless `is_virtual`.
    pub fn of(
        phases: &[PhaseSpec],
        rounds: Rounds,
        ranks: u32,
        is_virtual: bool,
    ) -> Result<Self, Failure> {
        let phases = phases.iter().map(|spec| {
            let workload = Workload::of_phase(spec)?;
            Ok(ExpectedPhase {
                kind: workload.kind(&spec.parameters),
                headline: workload.headline(),
                threads: threads_of(&workload, spec).saturating_mul(ranks.into()),
                spec: spec.clone(),
            })
        });
        let phases: Result<Vec<_>, fslab_workload::WorkloadError> = phases.collect();
        let phases = phases?;
        let count = u64::from(rounds.mounts) * u64::from(rounds.iterations);
        let threads = phases.iter().map(|phase| phase.threads);
        Ok(Self {
            bounds: OutputBounds::of(threads, count),
            phases,
            rounds,
            clock: match is_virtual {
                true => Clock::Virtual,
                false => Clock::Real,
            },
        })
    }

    /// How much may be read of it.
    pub fn bounds(&self) -> OutputBounds {
        self.bounds
    }

    /// The phase that is recorded as number `at`, from 0, with its round; `None` after the last.
    fn at(&self, at: usize) -> Option<(&ExpectedPhase, Option<Round>)> {
        let phase = self.phases.get(at % self.phases.len().max(1))?;
        let number = u32::try_from(at / self.phases.len()).ok()?;
        let Rounds { mounts, iterations } = self.rounds;
        let mount = number.checked_div(iterations)?;
        let round = Round {
            mount,
            iteration: number - mount * iterations,
        };
        let is_planned = mount < mounts;
        is_planned.then(|| (phase, (!self.rounds.is_one()).then_some(round)))
    }

    /// Checks the record of the phase number `at`; an error says what does not match.
    pub fn ensure_phase(&self, at: usize, found: &PhaseRecord) -> Result<(), String> {
        let (phase, round) = self
            .at(at)
            .ok_or_else(|| format!("a phase {} after the last", quoted(&found.name)))?;
        let spec = &phase.spec;
        let who = |what: &str| format!("{what} of phase {}", at + 1);
        same(&who("the name"), &*found.name, &*spec.name)?;
        let what = |what: &str| format!("{what} of the phase '{}'", spec.name);
        same(&what("the workload"), &found.workload, &spec.workload)?;
        same(&what("the kind"), found.kind.as_str(), phase.kind.as_str())?;
        alike(&what("the headline"), &found.headline, &phase.headline)?;
        alike(&what("the cache policy"), &found.cache, &spec.cache)?;
        alike(&what("the parameters"), &found.parameters, &spec.parameters)?;
        alike(&what("the point"), &found.swept, &spec.swept)?;
        alike(&what("the round"), &found.round, &round)?;
        if found.settled.is_some() && !spec.settle {
            let text = what("a sync and unmount");
            return Err(format!("{text} that were not asked for"));
        }
        let is_plausible = ensure_plausible(found, phase.threads, self.clock);
        is_plausible.map_err(|why| format!("{why} in the phase '{}'", spec.name))
    }

    /// Checks that a trial which succeeded has all of its phases.
    pub fn ensure_all(&self, recorded: usize, outcome: &TrialOutcome) -> Result<(), String> {
        match (outcome, self.at(recorded)) {
            (TrialOutcome::Done, Some((phase, _))) => {
                Err(format!("no phase '{}'", phase.spec.name))
            }
            _ => Ok(()),
        }
    }

    /// Checks the times of a trial, which took `elapsed_ns` on the caller's clock.
    pub fn ensure_times(
        &self,
        phases: &[PhaseRecord],
        steps: &[StepRecord],
        elapsed_ns: u64,
    ) -> Result<(), String> {
        self.clock.ensure_times(phases, steps, elapsed_ns)
    }

    /// Checks a complete record of `request`, which took `elapsed_ns` on the caller's clock.
    pub fn ensure_whole(
        &self,
        request: &TrialRequest,
        record: &TrialRecord,
        elapsed_ns: u64,
    ) -> Result<(), String> {
        let task = &request.task;
        same("the trial", &record.trial, &task.trial)?;
        same("the subject", &record.subject, &task.subject)?;
        same("the position", &record.position, &request.position)?;
        alike("the perturbation", &record.perturbation, &task.perturbation)?;
        if record.survival.is_some() {
            return Err("a judgement of survival that was not asked for".to_owned());
        }
        for (at, phase) in record.phases.iter().enumerate() {
            self.ensure_phase(at, phase)?;
        }
        self.ensure_all(record.phases.len(), &record.outcome)?;
        ensure_outcome(record)?;
        ensure_steps(&record.steps)?;
        ensure_numbers(&record.insight).map_err(|why| format!("{why} of its disk"))?;
        Clock::ensure_duration("the trial", record.elapsed_ns, elapsed_ns)?;
        self.ensure_times(&record.phases, &record.steps, elapsed_ns)
    }
}

/// A trial has failed if one of its phases has.
fn ensure_outcome(record: &TrialRecord) -> Result<(), String> {
    let is_failed = |it: &&PhaseRecord| matches!(it.outcome, PhaseOutcome::Failed { .. });
    match (record.phases.iter().find(is_failed), &record.outcome) {
        (Some(phase), TrialOutcome::Done) => Err(format!(
            "success although its phase '{}' failed",
            phase.name
        )),
        _ => Ok(()),
    }
}

fn same<T: PartialEq + Display + ?Sized>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    let (found, wanted) = (quoted(&found.to_string()), quoted(&wanted.to_string()));
    Err(format!("{what} {found}, which must be {wanted}"))
}

/// As [`same`], for what is not shown.
fn alike<T: PartialEq + Debug>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{what} differing from the specification")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fslab_model::{
        Bytes, CellId, ColdMethod, DeviceInsight, Failure, FailureKind, LatencyHistogram,
        OperationLatency, Parameters, Perturbation, RecordBuilder, Settled, StepRecord, Subject,
        ThreadRecord, TimeSeries, TrialId, TrialTask, Window,
    };

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn spec(name: &str, workload: &str) -> PhaseSpec {
        let found = fslab_workload::find(workload).expect("there");
        let parameters = found.resolve(&Parameters::new(), Bytes::mib(64));
        PhaseSpec::new(name, workload, parameters.expect("resolves"))
    }

    fn request(rounds: Rounds) -> TrialRequest {
        TrialRequest {
            run: "r".parse().expect("a run"),
            task: TrialTask {
                trial: TrialId {
                    cell: CellId(1),
                    repeat: 2,
                },
                subject: Subject::plain("ext4"),
                size_bytes: Bytes::mib(64),
                cold: ColdMethod::Evict,
                cold_after_s: 0,
                dirty_limit_bytes: None,
                engine: "psync".into(),
                phases: vec![spec("first", "write"), spec("second", "random-read")],
                rounds,
                required_facts: std::collections::BTreeMap::new(),
                seed: 0,
                perturbation: Perturbation::NONE,
                allow_commands: false,
            },
            limit: Duration::from_secs(60),
            slot: 0,
            position: 3,
        }
    }

    fn expected(request: &TrialRequest, is_virtual: bool) -> ExpectedRecord {
        let task = &request.task;
        ExpectedRecord::of(&task.phases, task.rounds, 1, is_virtual).expect("workloads")
    }

    /// What an honest trial of a second reports.
    fn honest(request: &TrialRequest) -> TrialRecord {
        let mut record = request.failed(0, Failure::new(FailureKind::Io, "x"));
        record.outcome = TrialOutcome::Done;
        record.elapsed_ns = SECOND_NS;
        for round in request.task.rounds.each() {
            for spec in &request.task.phases {
                let workload = Workload::of_phase(spec).expect("there");
                let kind = workload.kind(&spec.parameters);
                let headline = workload.headline();
                let mut phase = PhaseRecord::empty(spec, kind, headline, PhaseOutcome::Done);
                phase.round = (!request.task.rounds.is_one()).then_some(round);
                phase.elapsed_ns = Some(SECOND_NS / 10);
                phase.operations = Some(1_000);
                let mut histogram = LatencyHistogram::new();
                histogram.record_many(90_000, 1_000);
                phase.latencies.push(OperationLatency {
                    operation: "write".into(),
                    histogram,
                });
                record.phases.push(phase);
            }
        }
        record
    }

    /// Why a record that `lie` changed is refused, in real time.
    fn refused(lie: impl FnOnce(&mut TrialRecord)) -> String {
        let request = request(Rounds::ONE);
        let mut record = honest(&request);
        lie(&mut record);
        let checked = expected(&request, false).ensure_whole(&request, &record, SECOND_NS);
        checked.expect_err("a lie")
    }

    #[test]
    fn the_record_of_an_honest_trial_is_taken_in_rounds_too() {
        let three = Rounds {
            mounts: 3,
            iterations: 2,
        };
        for rounds in [Rounds::ONE, three] {
            let request = request(rounds);
            let record = honest(&request);
            assert_eq!(
                record.phases.len() as u32,
                2 * rounds.mounts * rounds.iterations
            );
            let expected = expected(&request, false);
            let checked = expected.ensure_whole(&request, &record, 2 * SECOND_NS);
            assert_eq!(checked, Ok(()));
        }
    }

    // A record was taken for that of its trial if it had its number: of another subject, with
    // phases of other names or none, as often as it came.
    #[test]
    fn a_record_of_another_trial_subject_or_phase_is_refused_with_the_difference() {
        let why = refused(|it| it.trial.repeat = 9);
        assert!(why.starts_with("the trial '"), "{why}");
        let why = refused(|it| it.subject = Subject::plain("xfs"));
        assert_eq!(why, "the subject 'xfs', which must be 'ext4'");
        let why = refused(|it| it.position = 7);
        assert_eq!(why, "the position '7', which must be '3'");
        assert_eq!(refused(|it| it.phases.clear()), "no phase 'first'");
        assert_eq!(refused(|it| drop(it.phases.pop())), "no phase 'second'");
        let why = refused(|it| it.phases[1].name = "\u{1b}[31mother".into());
        assert_eq!(
            why,
            r"the name of phase 2 '\u{1b}[31mother', which must be 'second'"
        );
        let why = refused(|it| it.phases.swap(0, 1));
        assert!(why.starts_with("the name of phase 1 'second'"), "{why}");
        let why = refused(|it| it.phases.push(it.phases[1].clone()));
        assert_eq!(why, "a phase 'second' after the last");
        let why = refused(|it| it.phases[0].workload = "read".into());
        assert!(
            why.starts_with("the workload of the phase 'first'"),
            "{why}"
        );
        let why = refused(|it| drop(it.phases[0].parameters.insert("a".into(), 1.into())));
        assert!(
            why.starts_with("the parameters of the phase 'first'"),
            "{why}"
        );
        let why = refused(|it| it.phases[0].settled = Some(Settled::default()));
        assert!(why.contains("were not asked for"), "{why}");
        let round = Round {
            mount: 0,
            iteration: 0,
        };
        let why = refused(|it| it.phases[0].round = Some(round));
        assert!(why.starts_with("the round of the phase 'first'"), "{why}");
    }

    #[test]
    fn a_trial_that_failed_may_lack_its_last_phases_and_no_others() {
        let request = request(Rounds::ONE);
        let failure = Failure::new(FailureKind::Io, "x");
        let mut record = honest(&request);
        record.outcome = TrialOutcome::Failed { failure };
        record.phases.pop();
        let expected = expected(&request, false);
        let check = |record: &TrialRecord| expected.ensure_whole(&request, record, SECOND_NS);
        assert_eq!(check(&record), Ok(()));
        record.phases.clear();
        assert_eq!(check(&record), Ok(()));
        let second = honest(&request).phases.remove(1);
        record.phases.push(second);
        assert!(check(&record).is_err());
    }

    // Times were stored as they came: an hour for a phase of a trial that took a second.
    #[test]
    fn times_longer_than_those_of_the_reader_are_refused_unless_time_is_virtual() {
        let long = |it: &mut TrialRecord| it.phases[0].elapsed_ns = Some(3_600 * SECOND_NS);
        let why = refused(long);
        assert_eq!(why, "3600.1 s for its phases, but only 1.0 s have passed");
        let why = refused(|it| it.elapsed_ns = 60 * SECOND_NS);
        assert_eq!(why, "60.0 s for the trial, but only 1.0 s have passed");
        let why = refused(|it| it.steps.push(step(90 * SECOND_NS)));
        assert_eq!(why, "90.0 s for its steps, but only 1.0 s have passed");
        let why = refused(|it| it.phases[0].latencies[0].histogram.record(100 * SECOND_NS));
        assert!(why.contains("for an operation"), "{why}");
        let request = request(Rounds::ONE);
        let mut record = honest(&request);
        long(&mut record);
        let expected = expected(&request, true);
        let check = |record: &TrialRecord| expected.ensure_whole(&request, record, SECOND_NS);
        assert_eq!(check(&record), Ok(()));
        let window = |begin_ns, length_ns| {
            Some(Window {
                begin_ns,
                end_ns: begin_ns + length_ns,
            })
        };
        record.phases[0].window = window(5, 3_600 * SECOND_NS);
        record.phases[1].window = window(5 + 3_600 * SECOND_NS, SECOND_NS / 10);
        assert_eq!(check(&record), Ok(()));
        record.phases[1].window = window(6, SECOND_NS / 10);
        let why = check(&record).expect_err("at once");
        assert!(why.contains("before the last ended"), "{why}");
        record.phases[1].window = window(5 + 3_600 * SECOND_NS, 1);
        assert!(check(&record).is_err(), "another length");
    }

    fn step(elapsed_ns: u64) -> StepRecord {
        StepRecord {
            step: "mkfs".into(),
            command: Vec::new(),
            elapsed_ns,
            exit_code: None,
            output: String::new(),
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        let first = |lie: &dyn Fn(&mut PhaseRecord)| refused(|it| lie(&mut it.phases[0]));
        for why in [
            first(&|it| it.elapsed_ns = None),
            first(&|it| it.operations = None),
            first(&|it| it.bytes = Some(u64::MAX)),
            first(&|it| it.first_done_ns = Some(SECOND_NS)),
            first(&|it| it.harness_share = Some(-0.1)),
            first(&|it| {
                it.figures.insert("moon".into(), 1.0);
            }),
            first(&|it| {
                it.figures.insert("elapsed_ns".into(), -1.0);
            }),
            first(&|it| it.latencies[0].histogram.record_many(5, 1 << 62)),
            first(&|it| it.threads = vec![thread(); 1_025]),
            first(&|it| it.window = Some(Window::default())),
            first(&|it| {
                it.series = Some(TimeSeries {
                    interval_ns: 1,
                    operations: vec![0; 5_000],
                    bytes: vec![0; 5_000],
                });
            }),
            first(&|it| {
                let mut insight = DeviceInsight::default();
                insight.reads.all.bytes = u64::MAX;
                it.insight = Some(insight);
            }),
            first(&|it| {
                it.outcome = PhaseOutcome::Skipped {
                    reason: "no".into(),
                };
            }),
        ] {
            assert!(why.ends_with("in the phase 'first'"), "{why}");
        }
    }

    fn thread() -> ThreadRecord {
        ThreadRecord {
            elapsed_ns: 1,
            operations: 1,
            bytes: 0,
            latencies: Vec::new(),
            cpu: None,
        }
    }

    #[test]
    fn a_record_whose_phase_failed_is_no_success() {
        let failure = Failure::new(FailureKind::Io, "x");
        let why = refused(|it| it.phases[1].withdraw(&failure));
        assert!(
            why.contains("success although its phase 'second' failed"),
            "{why}"
        );
        let empty = RecordBuilder::default().finish(None);
        assert!(matches!(empty.outcome, TrialOutcome::Failed { .. }));
    }
}
