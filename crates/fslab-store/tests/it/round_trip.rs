//! A stored record reads back as the same record, with and without measurements.

use std::collections::BTreeMap;

use fslab_model::{
    CachePolicy, CpuUse, DeviceUse, Disturbance, DisturbanceKind, Failure, FailureKind, FaultCount,
    FaultKind, Headline, HostCost, KernelMessage, KindCount, OperationLatency, PhaseKind,
    PhaseOutcome, PhaseRecord, Picture, PointValue, RunRecord, Settled, StateKind, StepRecord,
    Survival, SurvivalOutcome, Swept, ThreadRecord, TimeSeries, TrialOutcome, TrialRecord,
    ValueList, Window,
};
use fslab_store::{RunSelector, Store};
use proptest::prelude::*;
use proptest::{collection::btree_map, collection::vec, option};
use serde_json::Value;

use crate::sample;

/// A counter; SQLite's integers end at 2^63 - 1. Boxed, because the strategies of a record's many
/// counters would overflow a thread's stack.
fn counter() -> BoxedStrategy<u64> {
    prop_oneof![Just(0), Just(i64::MAX as u64), 0..1_000_000_000_000_u64].boxed()
}

fn text() -> impl Strategy<Value = String> {
    any::<String>()
}

fn parameter() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        Just(Value::Null),
    ]
}

prop_compose! {
    fn failure()(
        kind in prop_oneof![
            Just(FailureKind::Io), Just(FailureKind::Timeout), Just(FailureKind::MissingTool)
        ],
        message in text(),
        causes in vec(text(), 0..3),
        errno in option::of(any::<i32>()),
        hint in option::of(text()),
    ) -> Failure {
        Failure { kind, message, causes, errno, hint }
    }
}

fn phase_outcome() -> impl Strategy<Value = PhaseOutcome> {
    prop_oneof![
        Just(PhaseOutcome::Done),
        text().prop_map(|reason| PhaseOutcome::Skipped { reason }),
        failure().prop_map(|failure| PhaseOutcome::Failed { failure }),
    ]
}

prop_compose! {
    fn disturbance()(
        kind in prop_oneof![Just(DisturbanceKind::Stopped), Just(DisturbanceKind::Writers)],
        amount in counter(),
        shares in [0.0..1.0_f64, 0.0..1.0_f64],
        text in text(),
    ) -> Disturbance {
        let [share, threshold] = shares;
        Disturbance { kind, amount, share, threshold, text }
    }
}

prop_compose! {
    fn message()(texts in [text(), text()], times in counter(), is_error in any::<bool>())
        -> KernelMessage {
        let [during, text] = texts;
        KernelMessage { during, text, times, is_error }
    }
}

prop_compose! {
    fn latency()(operation in text(), latencies_ns in vec(any::<u64>(), 0..20))
        -> OperationLatency {
        OperationLatency { operation, histogram: sample::histogram(&latencies_ns) }
    }
}

prop_compose! {
    fn series()(
        interval_ns in counter(),
        operations in vec(any::<u64>(), 0..9),
        bytes in vec(any::<u64>(), 0..9),
    ) -> TimeSeries {
        TimeSeries { interval_ns, operations, bytes }
    }
}

prop_compose! {
    fn cpu()(counters in [counter(), counter(), counter(), counter()]) -> CpuUse {
        let [user_ns, system_ns, voluntary_switches, involuntary_switches] = counters;
        CpuUse {
            user_ns,
            system_ns,
            voluntary_switches: Some(voluntary_switches),
            involuntary_switches: Some(involuntary_switches),
        }
    }
}

prop_compose! {
    fn device()(
        counters in [counter(), counter(), counter(), counter(), counter()],
        discards in option::of(counter()),
        discard_bytes in option::of(counter()),
        flushes in option::of(counter()),
    ) -> DeviceUse {
        let [reads, read_bytes, writes, write_bytes, busy_ns] = counters;
        DeviceUse {
            reads, read_bytes, writes, write_bytes, discards, discard_bytes, flushes, busy_ns,
        }
    }
}

prop_compose! {
    fn thread()(
        counters in [counter(), counter(), counter()],
        latencies in vec(latency(), 0..3),
        cpu in option::of(cpu()),
    ) -> ThreadRecord {
        let [elapsed_ns, operations, bytes] = counters;
        ThreadRecord { elapsed_ns, operations, bytes, latencies, cpu }
    }
}

prop_compose! {
    fn window()(begin_ns in counter(), end_ns in counter()) -> Window {
        Window { begin_ns, end_ns }
    }
}

prop_compose! {
    fn virtual_time()(
        windows in [option::of(window()), option::of(window())],
        host in option::of((counter(), counter())),
    ) -> ([Option<Window>; 2], Option<HostCost>) {
        (windows, host.map(|(cpu_ns, real_ns)| HostCost { cpu_ns, real_ns }))
    }
}

prop_compose! {
    fn phase()(
        names in [text(), text()],
        kind in prop_oneof![
            Just(PhaseKind::Read), Just(PhaseKind::Write), Just(PhaseKind::Mixed),
            Just(PhaseKind::Metadata)
        ],
        headline in prop_oneof![Just(Headline::Throughput), Just(Headline::OperationRate)],
        cache in prop_oneof![Just(CachePolicy::Keep), Just(CachePolicy::Cold)],
        parameters in btree_map(text(), parameter(), 0..5),
        outcome in phase_outcome(),
        counters in [option::of(counter()), option::of(counter()), option::of(counter())],
        latencies in vec(latency(), 0..3),
        series in option::of(series()),
        cpu in option::of(cpu()),
        device in option::of(device()),
        settled in option::of((counter(), counter())),
        rest in (
            vec(text(), 0..3),
            vec(thread(), 0..3),
            option::of(counter()),
            option::of(0.0..1.0_f64),
            vec(disturbance(), 0..3),
        ),
        virtual_time in virtual_time(),
        sweep in sweep(),
    ) -> PhaseRecord {
        let (notes, threads, first_done_ns, harness_share, disturbances) = rest;
        let ([window, settle_window], host) = virtual_time;
        let [name, workload] = names;
        let [elapsed_ns, operations, bytes] = counters;
        let parameters = parameters.into_iter().rev().collect();
        let settled = settled.map(|(sync_ns, unmount_ns)| Settled {
            // The sum with the phase's own time must not overflow.
            sync_ns: sync_ns / 4,
            unmount_ns: unmount_ns / 4,
        });
        PhaseRecord {
            name, workload, kind, headline, cache, parameters, outcome, elapsed_ns, operations,
            bytes, latencies, series, cpu, device, settled, threads, first_done_ns, harness_share,
            window, insight: window.map(sample::insight), settle_window,
            settle_insight: settle_window.map(sample::insight), host, notes,
            disturbances, round: None, swept: sweep.0, figures: sweep.1, lists: sweep.2,
        }
    }
}

/// A sweep point, and values of the workload. Their names are no metric's, because metrics are
/// stored a second time as such.
fn sweep() -> impl Strategy<Value = (Option<Swept>, BTreeMap<String, f64>, Vec<ValueList>)> {
    let value = prop_oneof![
        counter().prop_map(PointValue::Bytes),
        counter().prop_map(PointValue::Count)
    ];
    let swept =
        (text(), btree_map(text(), value, 0..3)).prop_map(|(phase, point)| Swept { phase, point });
    let list =
        (text(), text(), vec((0.0..1e9_f64, -1.0..1.0_f64), 0..3)).prop_map(|(name, x, points)| {
            ValueList {
                name,
                y: x.clone(),
                x,
                points,
            }
        });
    (
        option::of(swept),
        btree_map(text(), 0.0..1e9_f64, 0..3),
        vec(list, 0..3),
    )
}

prop_compose! {
    fn step()(
        texts in [text(), text()],
        command in vec(text(), 0..4),
        elapsed_ns in counter(),
        exit_code in option::of(any::<i32>()),
    ) -> StepRecord {
        let [step, output] = texts;
        StepRecord { step, command, elapsed_ns, exit_code, output }
    }
}

prop_compose! {
    fn trial()(
        ids in (0..u32::MAX, 0..u32::MAX),
        position in any::<u32>(),
        times in [counter(), counter()],
        failure in option::of(failure()),
        steps in vec(step(), 0..4),
        phases in vec(phase(), 0..4),
        facts in btree_map(text(), text(), 0..4),
        console in text(),
        kernel_log in vec(message(), 0..3),
        perturbed in (any::<u64>(), 0_u32..3),
    ) -> TrialRecord {
        let [started_unix_s, elapsed_ns] = times;
        TrialRecord {
            trial: sample::trial_id(ids.0, ids.1),
            subject: "ext4:mkfs=-L a:b:mount=noatime".parse().expect("a subject"),
            perturbation: fslab_model::Perturbation::of(perturbed.0, perturbed.1),
            position,
            started_unix_s,
            elapsed_ns,
            outcome: failure.map_or(TrialOutcome::Done, |failure| TrialOutcome::Failed { failure }),
            steps,
            phases,
            facts,
            console,
            insight: None,
            kernel_log,
            survival: (perturbed.1 > 0).then(|| survival(perturbed.0)),
        }
    }
}

/// What is left after a power loss: judged, or not.
fn survival(number: u64) -> SurvivalOutcome {
    if number.is_multiple_of(3) {
        let failure = sample::failure();
        return SurvivalOutcome::Failed { failure };
    }
    let count = FaultCount {
        states: number,
        files: 2,
        bytes: number / 2,
    };
    let survival = Box::new(Survival {
        states: number,
        broken: [(FaultKind::Truncated, count)].into(),
        kinds: [(StateKind::OneLost, KindCount::default())].into(),
        recovery_max_ns: number.is_multiple_of(2).then_some(number),
        ..Survival::default()
    });
    SurvivalOutcome::Judged { survival }
}

fn stored_and_read(store: &mut Store, run: &RunRecord) -> RunRecord {
    store.begin_run(&run.header).expect("begins");
    for trial in &run.trials {
        store.add_trial(&run.header.run, trial).expect("is stored");
    }
    store.run(&RunSelector::Last).expect("is read")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_run_reads_back_as_itself(trials in vec(trial(), 0..4)) {
        let folder = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
        let mut trials = trials;
        trials.sort_by_key(|trial| trial.trial);
        trials.dedup_by_key(|trial| trial.trial);
        let run = RunRecord { header: sample::header("r"), trials };
        prop_assert_eq!(stored_and_read(&mut store, &run), run);
    }
}

#[test]
fn the_sample_run_reads_back_as_itself_after_the_store_was_closed() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("deep/er/s.db");
    let run = sample::run("a");
    stored_and_read(&mut Store::open(&path).expect("opens"), &run);
    let again = Store::open_read_only(&path).expect("opens again");
    assert_eq!(again.run(&RunSelector::Last).expect("reads"), run);
    assert_eq!(again.header(&run.header.run).expect("reads"), run.header);
}

#[test]
fn trials_come_back_in_the_order_of_cell_and_repeat_whatever_the_order_they_ran_in() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
    let mut run = sample::run("a");
    run.trials.reverse();
    let read = stored_and_read(&mut store, &run);
    run.trials.reverse();
    assert_eq!(read, run);
}

#[test]
fn a_counter_that_sqlite_cannot_hold_is_refused_and_nothing_of_the_trial_is_kept() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
    let header = sample::header("a");
    store.begin_run(&header).expect("begins");
    let mut trial = sample::done_trial(0, 0);
    trial.phases[0].bytes = Some(1 << 63);
    let error = store.add_trial(&header.run, &trial).expect_err("too large");
    let text = "the value for phases.bytes is too large for the store ";
    assert!(error.to_string().starts_with(text), "{error}");
    let read = store.run(&RunSelector::Last).expect("reads");
    assert!(read.trials.is_empty());
}

#[test]
fn a_run_for_metrics_has_all_figures_and_neither_series_nor_pictures() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
    let run = sample::run("20261121-143205-k3f9");
    store.add_runs(std::slice::from_ref(&run)).expect("stores");
    let metrics = store.metrics(&RunSelector::Last).expect("reads");
    let mut expected = run;
    let mut dropped = (0, 0);
    for trial in &mut expected.trials {
        let phases = trial.phases.iter_mut();
        for phase in phases {
            dropped.0 += usize::from(phase.series.take().is_some());
            for insight in [&mut phase.insight, &mut phase.settle_insight] {
                let picture = insight.as_mut().map(|it| std::mem::take(&mut it.picture));
                dropped.1 += usize::from(picture.is_some());
            }
        }
        if let Some(insight) = &mut trial.insight {
            insight.picture = Picture::default();
        }
    }
    assert!(dropped.0 > 0 && dropped.1 > 0, "the sample has both");
    assert_eq!(metrics, expected);
}
