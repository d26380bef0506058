//! Measures the cost of the harness on this machine.

use crate::context::StopFlag;
use crate::drive::{DataThread, DataWorker, WorkerConfig, run_data_loop, run_workers};
use crate::engines::NullTarget;
use crate::recording::{Clock, MonotonicClock, Recorder, combine};
use crate::{Access, Amount, DataJob, EngineKind, Measured, RunContext, Workers};

/// Repeats of each measurement; the minimum counts, since disturbances only add time.
const REPEATS: u32 = 9;
/// Most operations per repeat.
const OPERATIONS_MAX: u32 = 20_000;
/// Fewest operations per repeat, for slow clocks as in a guest.
const OPERATIONS_MIN: u32 = 250;
/// Time limit of a repeat.
const REPEAT_NS: f64 = 5e6;

/// Cost of the harness in nanoseconds per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Reading the clock once.
    pub clock_ns: f64,
    /// Recording an operation: histogram, counts, time series.
    pub recording_ns: f64,
    /// The complete measuring loop with an operation that does nothing: selecting the record,
    /// reading the clock twice, recording.
    pub null_operation_ns: f64,
}

impl Calibration {
    /// The harness's share of a job's time, from 0 to 1; `None` if no time passed.
    ///
    /// An estimate: the loop's cost is taken as that of the null operation. For an engine that
    /// shares clock readings among operations it is an upper bound.
    pub fn harness_share(&self, measured: &Measured) -> Option<f64> {
        let busy_ns: u64 = measured
            .threads
            .iter()
            .map(|thread| thread.elapsed_ns)
            .sum();
        let harness_ns = self.null_operation_ns * measured.operations as f64;
        (busy_ns > 0).then(|| (harness_ns / busy_ns as f64).min(1.0))
    }
}

/// Measures the harness, in some tens of milliseconds.
pub fn calibrate() -> Calibration {
    let operations = affordable(clock_ns(OPERATIONS_MIN));
    let fastest = |measure: fn(u32) -> f64| {
        (0..REPEATS)
            .map(|_| measure(operations))
            .fold(f64::INFINITY, f64::min)
    };
    Calibration {
        clock_ns: fastest(clock_ns),
        recording_ns: fastest(recording_ns),
        null_operation_ns: fastest(null_operation_ns),
    }
}

/// Number of operations per repeat, given the cost of a clock reading; a measured operation has
/// two.
fn affordable(clock_ns: f64) -> u32 {
    let operations = (REPEAT_NS / (2.0 * clock_ns)) as u32;
    operations.clamp(OPERATIONS_MIN, OPERATIONS_MAX)
}

/// Mean time of `work` per operation.
fn per_operation(operations: u32, mut work: impl FnMut(u64)) -> f64 {
    let clock = MonotonicClock;
    let start_ns = clock.now_ns();
    for turn in 0..u64::from(operations) {
        work(turn);
    }
    (clock.now_ns() - start_ns) as f64 / f64::from(operations)
}

fn clock_ns(operations: u32) -> f64 {
    per_operation(operations, |_| {
        std::hint::black_box(MonotonicClock.now_ns());
    })
}

fn recording_ns(operations: u32) -> f64 {
    let mut recorder = Recorder::new(100_000_000);
    let slot = recorder.slot("null");
    recorder.begin(0);
    per_operation(operations, |turn| {
        let turn = std::hint::black_box(turn);
        recorder.operation(slot, turn, turn + turn % 4096, 4096);
    })
}

fn null_operation_ns(operations: u32) -> f64 {
    let context = RunContext::new(EngineKind::Null, "/", 1);
    let job = DataJob {
        access: Access::RandomUniform,
        amount: Amount::Operations(operations.into()),
        ..DataJob::read("null", 1 << 30, 4096)
    };
    let prepare = |thread| {
        let of = DataThread {
            context: &context,
            job: &job,
            thread,
            tickets: None,
        };
        Ok(DataWorker::new(of, false))
    };
    let stop = StopFlag::new();
    let config = WorkerConfig {
        count: 1,
        workers: Workers::Threads,
        stop: &stop,
        ranks: None,
        stonewall: None,
    };
    let ran = run_workers(config, prepare, |worker, group| {
        run_data_loop(
            worker,
            NullTarget::instant(&MonotonicClock),
            &MonotonicClock,
            group,
        )
    });
    let (outcomes, used) = ran.expect("doing nothing does not fail");
    let measured = combine(outcomes, used, true);
    measured.elapsed_ns as f64 / f64::from(operations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_data;

    #[test]
    fn the_parts_of_the_harness_cost_less_than_its_sum() {
        let calibration = calibrate();
        assert!(calibration.clock_ns > 0.0);
        assert!(calibration.recording_ns > 0.0);
        assert!(calibration.null_operation_ns > calibration.clock_ns);
    }

    #[test]
    fn the_share_of_the_harness_follows_from_the_time_of_an_operation() {
        let context = RunContext::new(EngineKind::Null, "/", 1);
        let measured = run_data(&context, &DataJob::read("f", 1 << 20, 4096)).expect("runs");
        let mean_ns = measured.elapsed_ns as f64 / measured.operations as f64;
        let tenth = Calibration {
            clock_ns: 1.0,
            recording_ns: 1.0,
            null_operation_ns: mean_ns / 10.0,
        };
        let share = tenth.harness_share(&measured).expect("time passed");
        assert!((share - 0.1).abs() < 1e-9, "{share}");
    }
}
