//! Selecting runs by name, and the errors for no match and several.

use fslab_model::{Failure, PlanHash, RunId, VenueKind, VenuePlan};
use fslab_store::{RunFilter, RunSelector, Store};
use tempfile::TempDir;

use crate::listed::sound;
use crate::sample::{self, run_id};

const RUNS: [&str; 3] = [
    "20261121-143205-k3f9",
    "20261121-150000-aaaa",
    "20261122-090000-bbbb",
];

/// A store with three runs that began an hour apart.
fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
    for (hour, name) in (0..).zip(RUNS) {
        let mut header = sample::header(name);
        header.started_unix_s += hour * 3_600;
        store.begin_run(&header).expect("begins");
    }
    (folder, store)
}

fn select(store: &Store, text: &str) -> Result<String, Failure> {
    let selector: RunSelector = text.parse().expect("a selector");
    match store.select(&selector) {
        Ok(run) => Ok(run.to_string()),
        Err(error) => Err(error.into()),
    }
}

#[test]
fn last_a_complete_name_and_a_unique_beginning_each_select_one_run() {
    let (_folder, store) = store();
    assert_eq!(select(&store, "last").as_deref(), Ok(RUNS[2]));
    assert_eq!(select(&store, RUNS[0]).as_deref(), Ok(RUNS[0]));
    assert_eq!(select(&store, "20261121-15").as_deref(), Ok(RUNS[1]));
    let read = store.run(&RunSelector::Last).expect("reads");
    assert_eq!(read.header.run.as_str(), RUNS[2]);
}

/// Of two runs that began in the same second, either could be selected as the last.
#[test]
fn of_runs_that_began_in_one_second_the_last_is_the_one_that_was_stored_last() {
    let (_folder, mut store) = store();
    let now = sample::header("x").started_unix_s + 9 * 3_600;
    for name in ["b", "a", "c", "0"] {
        let mut header = sample::header(name);
        header.started_unix_s = now;
        store.begin_run(&header).expect("begins");
    }
    let found = ["last", "last~1", "last~2", "last~3"].map(|text| select(&store, text));
    assert_eq!(found, ["0", "c", "a", "b"].map(|name| Ok(name.to_owned())));
}

#[test]
fn runs_are_counted_back_from_the_last_as_far_as_there_are_any() {
    let (_folder, store) = store();
    assert_eq!(select(&store, "last~0").as_deref(), Ok(RUNS[2]));
    assert_eq!(select(&store, "last~2").as_deref(), Ok(RUNS[0]));
    let error = select(&store, "last~3").expect_err("too few");
    assert!(
        error.message.ends_with(" has no run 3 before the last"),
        "{error}"
    );
}

#[test]
fn a_complete_name_wins_over_a_longer_one_that_begins_with_it() {
    let (_folder, mut store) = store();
    store
        .begin_run(&sample::header("20261121"))
        .expect("begins");
    assert_eq!(select(&store, "20261121").as_deref(), Ok("20261121"));
}

#[test]
fn a_beginning_of_several_runs_names_them_all() {
    let (_folder, store) = store();
    let error = select(&store, "20261121").expect_err("two runs begin like that");
    assert_eq!(error.message, "2 runs begin with '20261121'");
    let hint = format!("use more of the name: {}, {}", RUNS[0], RUNS[1]);
    assert_eq!(error.hint, Some(hint));
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest_one() {
    let (_folder, store) = store();
    let unknown = |wanted: &str, hint: &str| {
        let error = select(&store, wanted).expect_err("unknown");
        let end = format!(" has no run '{wanted}'");
        assert!(error.message.ends_with(&end), "{error}");
        assert_eq!(error.hint.as_deref(), Some(hint));
    };
    let slip = "20261121-143205-k3f8";
    unknown(slip, &format!("did you mean '{}'?", RUNS[0]));
    unknown("zzz", "list the runs with fslab list");
    let error = store.header(&run_id(slip)).expect_err("unknown here, too");
    let hint = Failure::from(error).hint;
    assert_eq!(hint, Some(format!("did you mean '{}'?", RUNS[0])));
}

#[test]
fn an_empty_store_has_no_last_run() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Store::open(&folder.path().join("s.db")).expect("opens");
    let error = select(&store, "last").expect_err("no run");
    assert!(error.message.ends_with(" has no run"), "{error}");
    assert!(
        store
            .runs(&RunFilter::default(), None)
            .expect("reads")
            .is_empty()
    );
}

#[test]
fn the_latest_run_of_a_plan_is_the_one_to_resume() {
    let (_folder, store) = store();
    let hash = sample::plan().hash();
    assert_eq!(
        store.latest_with_hash(&hash).expect("reads"),
        Some(run_id(RUNS[2]))
    );
    let other = "00".parse::<PlanHash>().expect("a hash");
    assert_eq!(store.latest_with_hash(&other).expect("reads"), None);
}

#[test]
fn runs_are_listed_newest_first_with_what_is_done_and_what_failed() {
    let (_folder, mut store) = store();
    let run = run_id(RUNS[0]);
    store
        .add_trial(&run, &sample::done_trial(0, 0))
        .expect("stored");
    store
        .add_trial(&run, &sample::done_trial(1, 0))
        .expect("stored");
    store
        .add_trial(&run, &sample::failed_trial(1, 1))
        .expect("stored");
    let summaries = sound(&store, &RunFilter::default(), None);
    let names: Vec<_> = summaries
        .iter()
        .map(|summary| summary.run.as_str())
        .collect();
    assert_eq!(names, [RUNS[2], RUNS[1], RUNS[0]]);
    let first = &summaries[2];
    let counts = (first.trials_planned, first.trials_done, first.trials_failed);
    assert_eq!(counts, (6, 2, 1));
    let subjects: Vec<_> = first.subjects.iter().map(ToString::to_string).collect();
    assert_eq!(subjects, ["ext4:mount=data=journal", "xfs"]);
    assert_eq!(first.venue.as_str(), "loop");
    assert_eq!(first.plan_hash, sample::plan().hash());
}

#[test]
fn a_list_is_of_a_study_or_a_subject_and_no_longer_than_asked_for() {
    let (_folder, mut store) = store();
    let mut other = sample::header("20261122-000000-aaaa");
    other.plan.study = "other".into();
    other.plan.venue = VenuePlan::Imported {
        tool: "fio 3.33".into(),
    };
    other.plan.subjects.truncate(1);
    other.started_unix_s += 1_000_000;
    store.begin_run(&other).expect("begins");
    let names = |study: Option<&str>, subject: Option<&str>, limit| {
        let filter = RunFilter {
            study: study.map(str::to_owned),
            subject: subject.map(str::to_owned),
            ..RunFilter::default()
        };
        let runs = sound(&store, &filter, limit);
        let names: Vec<_> = runs.iter().map(|it| it.run.as_str().to_owned()).collect();
        (names, store.count_runs(&filter).expect("counts"))
    };
    let other = other.run.as_str().to_owned();
    assert_eq!(names(Some("other"), None, None), (vec![other.clone()], 1));
    assert_eq!(names(None, None, Some(1)), (vec![other], 4));
    assert_eq!(names(None, Some("xfs"), None).1, 3);
    // A file system selects it with any options.
    assert_eq!(names(None, Some("ext4"), None).1, 4);
    assert_eq!(names(None, Some("ext4:mount=data=journal"), None).1, 4);
    assert_eq!(names(None, Some("ext"), None), (Vec::new(), 0));
    assert_eq!(names(Some("other"), Some("xfs"), None).1, 0);
    let listed = sound(&store, &RunFilter::default(), Some(1));
    assert_eq!(listed[0].venue, VenueKind::Imported);
}

#[test]
fn the_history_of_a_run_is_what_its_plan_gave_before_newest_first() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
    let header = |name: &str, hour: u64, plan: &str| {
        let mut header = sample::header(name);
        header.started_unix_s += hour * 3_600;
        header.plan_hash = plan.parse().expect("a hash");
        header
    };
    let runs = [
        header("oldest", 0, "a"),
        header("other-plan", 1, "b"),
        header("second", 2, "a"),
        header("without-trials", 3, "a"),
        header("same-second", 4, "a"),
        header("asked", 4, "a"),
        header("after", 4, "a"),
    ];
    for run in &runs {
        store.begin_run(run).expect("begins");
        if run.run.as_str() != "without-trials" {
            let trial = sample::done_trial(0, 0);
            store.add_trial(&run.run, &trial).expect("stores");
        }
    }
    let names = |run, limit| {
        let found: Vec<RunId> = store.history(run, limit).expect("reads");
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(&runs[5], 9), ["same-second", "second", "oldest"]);
    assert_eq!(names(&runs[5], 2), ["same-second", "second"]);
    assert_eq!(names(&runs[0], 9), [""; 0]);
    assert_eq!(names(&runs[1], 9), [""; 0]);
    // In another store, runs of the same second may have begun after it.
    let elsewhere = header("elsewhere", 4, "a");
    assert_eq!(names(&elsewhere, 9), ["second", "oldest"]);
}
