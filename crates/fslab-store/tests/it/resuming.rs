//! What a resumed run finds and may replace.

use std::collections::BTreeSet;

use fslab_model::Adaptive;
use fslab_store::{RunFilter, RunSelector, RunSummary, Store, StoreErrorKind};
use tempfile::TempDir;

use crate::listed::sound;
use crate::sample::{self, done_trial, failed_trial, run_id, trial_id};

fn begun() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
    store.begin_run(&sample::header("a")).expect("begins");
    (folder, store)
}

#[test]
fn a_failed_trial_gives_way_to_its_second_attempt() {
    let (_folder, mut store) = begun();
    let run = run_id("a");
    store.add_trial(&run, &failed_trial(1, 0)).expect("stored");
    store
        .add_trial(&run, &failed_trial(1, 0))
        .expect("failed again");
    store
        .add_trial(&run, &done_trial(1, 0))
        .expect("done at last");
    let read = store.run(&RunSelector::Last).expect("reads");
    assert_eq!(read.trials, [done_trial(1, 0)]);
    let summary = summary(&store);
    assert_eq!((summary.trials_done, summary.trials_failed), (1, 0));
}

#[test]
fn a_trial_that_is_done_is_never_replaced() {
    let (_folder, mut store) = begun();
    let run = run_id("a");
    store.add_trial(&run, &done_trial(0, 1)).expect("stored");
    for again in [done_trial(0, 1), failed_trial(0, 1)] {
        let error = store.add_trial(&run, &again).expect_err("refused");
        let text = "trial c0r1 of run a is done and already has its record";
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(
        store.run(&RunSelector::Last).expect("reads").trials,
        [done_trial(0, 1)]
    );
}

/// A run was begun before its trials were stored: a kill in between left it without any.
#[test]
fn imported_runs_are_stored_all_or_none() {
    let (_folder, mut store) = begun();
    let count = |store: &Store| store.count_runs(&RunFilter::default()).expect("counts");
    let taken = store.run(&RunSelector::Last).expect("reads");
    let mut fresh = taken.clone();
    fresh.header.run = run_id("b");
    fresh.trials = vec![done_trial(0, 0), done_trial(1, 0)];
    let refused = store.add_runs(&[fresh.clone(), taken]);
    let error = refused.expect_err("one of that name is there");
    assert!(matches!(error.kind(), StoreErrorKind::RunExists(_)));
    assert_eq!(count(&store), 1);
    let mut twice = fresh.clone();
    twice.trials.push(done_trial(0, 0));
    let error = store.add_runs(&[twice]).expect_err("one trial twice");
    assert!(error.to_string().contains(" is done and "), "{error}");
    assert_eq!(count(&store), 1);
    store
        .add_runs(std::slice::from_ref(&fresh))
        .expect("stored");
    assert_eq!(store.run(&RunSelector::Last).expect("reads"), fresh);
}

#[test]
fn done_trials_are_those_without_a_failure() {
    let (_folder, mut store) = begun();
    let run = run_id("a");
    for trial in [done_trial(0, 0), failed_trial(1, 0), done_trial(1, 2)] {
        store.add_trial(&run, &trial).expect("stored");
    }
    let done = store.done_trials(&run).expect("reads");
    assert_eq!(done, BTreeSet::from([trial_id(0, 0), trial_id(1, 2)]));
}

#[test]
fn repeats_are_raised_in_the_plan_and_never_lowered() {
    let (_folder, mut store) = begun();
    let run = run_id("a");
    store.ask_repeats(&run, 2, None).expect("nothing to do");
    assert_eq!(store.header(&run).expect("reads").plan.repeats, 3);
    store.ask_repeats(&run, 5, None).expect("raised");
    let header = store.header(&run).expect("reads");
    assert_eq!(header.plan.repeats, 5);
    assert_eq!(
        header.plan.hash(),
        header.plan_hash,
        "it is still the same question"
    );
    assert_eq!(summary(&store).trials_planned, 10);
}

fn summary(store: &Store) -> RunSummary {
    sound(store, &RunFilter::default(), None).remove(0)
}

#[test]
fn planned_are_the_least_of_each_subject_and_what_has_a_record_beyond() {
    let (_folder, mut store) = begun();
    let run = run_id("a");
    let adaptive = |repeats_max| Adaptive {
        repeats_max,
        target: Adaptive::TARGET,
        key: vec!["write".into()],
        until_decided: false,
        budget_s: None,
    };
    store
        .ask_repeats(&run, 3, Some(&adaptive(20)))
        .expect("changed");
    for trial in [done_trial(0, 2), done_trial(0, 3), failed_trial(0, 4)] {
        store.add_trial(&run, &trial).expect("stored");
    }
    let listed = summary(&store);
    assert_eq!((listed.repeats, listed.repeats_max), (3, Some(20)));
    assert_eq!(listed.trials_planned, 2 * 3 + 2);
    let record = store.run(&RunSelector::Last).expect("reads");
    assert_eq!(record.trials_planned(), 8);
    assert_eq!(record.header.plan.adaptive, Some(adaptive(20)));
    store
        .add_trial(&run, &done_trial(0, 4))
        .expect("done at last");
    assert_eq!(summary(&store).trials_planned, 8);
    // A higher minimum includes repeats that were beyond it; the maximum is never below it.
    store
        .ask_repeats(&run, 4, Some(&adaptive(2)))
        .expect("changed");
    let listed = summary(&store);
    assert_eq!((listed.repeats, listed.repeats_max), (4, Some(4)));
    assert_eq!(listed.trials_planned, 2 * 4 + 1);
    store.ask_repeats(&run, 1, None).expect("changed");
    let listed = summary(&store);
    assert_eq!((listed.repeats, listed.repeats_max), (4, None));
}

#[test]
fn a_run_begins_once_and_a_trial_needs_its_run() {
    let (_folder, mut store) = begun();
    let run = run_id("a");
    let twice = store.begin_run(&sample::header("a")).expect_err("is there");
    assert_eq!(twice.kind(), &StoreErrorKind::RunExists(run));
    let stray = store
        .add_trial(&run_id("b"), &done_trial(0, 0))
        .expect_err("has no run");
    assert_eq!(stray.kind(), &StoreErrorKind::UnknownRun);
}

#[test]
fn a_deleted_run_leaves_nothing_behind_and_the_others_alone() {
    let (folder, mut store) = begun();
    let (gone, kept) = (run_id("a"), sample::run("b"));
    store.begin_run(&kept.header).expect("begins");
    for trial in &kept.trials {
        store.add_trial(&gone, trial).expect("stored");
        store.add_trial(&kept.header.run, trial).expect("stored");
    }
    store.delete_run(&gone).expect("deleted");
    assert_eq!(store.run(&RunSelector::Last).expect("reads"), kept);
    assert!(store.delete_run(&gone).is_err());
    let connection = rusqlite::Connection::open(folder.path().join("s.db")).expect("opens");
    for (table, rows_left) in [("trials", 4), ("steps", 9), ("facts", 6), ("phases", 10)] {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: u32 = connection
            .query_row(&sql, [], |row| row.get(0))
            .expect(table);
        assert_eq!(rows, rows_left, "{table}");
    }
}
