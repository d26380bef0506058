//! One phase: cold or not, measured, settled.

use fslab_engine::{Measured, RunContext};
use fslab_model::{
    CachePolicy, ColdMethod, Failure, FailureKind, PhaseOutcome, PhaseRecord, PhaseSpec,
};
use fslab_workload::{RunError, Workload};

use crate::counters;
use crate::target::{Coldness, Steps, Target};

/// A phase with all that it needs.
pub(crate) struct Phase<'a> {
    pub(crate) spec: &'a PhaseSpec,
    pub(crate) workload: &'static dyn Workload,
    pub(crate) cold: ColdMethod,
    pub(crate) context: &'a RunContext,
}

impl Phase<'_> {
    /// A record of this phase without figures.
    pub(crate) fn without_figures(&self, outcome: PhaseOutcome) -> PhaseRecord {
        PhaseRecord::empty(
            self.spec,
            self.workload.kind(&self.spec.parameters),
            self.workload.headline(),
            outcome,
        )
    }

    /// Runs it. A failure is in the record, and means that the trial must not go on.
    pub(crate) fn run(&self, target: &mut Target, steps: &mut Steps) -> PhaseRecord {
        match self.try_run(target, steps) {
            Ok(record) => record,
            Err(failure) => self.without_figures(PhaseOutcome::Failed { failure }),
        }
    }

    fn try_run(&self, target: &mut Target, steps: &mut Steps) -> Result<PhaseRecord, Failure> {
        let parameters = &self.spec.parameters;
        if self.spec.cache == CachePolicy::Cold {
            let files = self
                .workload
                .data_files(parameters)
                .map_err(|error| bad(&error))?;
            match target.make_cold(self.cold, files.as_deref(), steps)? {
                Coldness::Cold => {}
                Coldness::Impossible(reason) => {
                    return Ok(self.without_figures(PhaseOutcome::Skipped { reason }));
                }
            }
        }
        let meter = target.meter();
        let before = meter.and_then(counters::DeviceMeter::read);
        let measured =
            self.workload
                .run(parameters, self.context)
                .map_err(|error| match error {
                    RunError::Engine(error) => Failure::from(error),
                    RunError::Workload(error) => bad(&error),
                })?;
        let after = meter.and_then(counters::DeviceMeter::read);
        let mut record = self.without_figures(PhaseOutcome::Done);
        take_measured(&mut record, measured);
        record.device = before
            .zip(after)
            .map(|(before, after)| counters::between(&before, &after));
        if self.spec.settle {
            record.settled = target.settle(steps)?;
            if record.settled.is_none() {
                record.notes.push(
                    "durable throughput is not measured: nothing is mounted by the trial".into(),
                );
            }
        }
        Ok(record)
    }
}

fn take_measured(record: &mut PhaseRecord, measured: Measured) {
    record.elapsed_ns = Some(measured.elapsed_ns);
    record.operations = Some(measured.operations);
    record.bytes = measured.bytes;
    record.latencies = measured.latencies;
    record.series = measured.series;
    record.cpu = measured.cpu;
}

fn bad(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::new(FailureKind::BadInput, "cannot run the phase").because(error)
}
