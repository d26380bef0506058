//! Concurrent writers: none loses a record or sees half of another's.

use std::thread;

use fslab_store::{RunFilter, RunSelector, Store};

use crate::listed::sound;
use crate::sample::{self, done_trial, run_id};

const WRITERS: u32 = 4;
const TRIALS: u32 = 12;

#[test]
fn writers_that_begin_at_once_lose_no_record() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("new/s.db");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || {
                let mut store = Store::open(path).expect("opens what another may be making");
                let name = format!("run-{writer}");
                store.begin_run(&sample::header(&name)).expect("begins");
                for repeat in 0..TRIALS {
                    store
                        .add_trial(&run_id(&name), &done_trial(0, repeat))
                        .expect("stored");
                }
            });
        }
    });
    let store = Store::open_read_only(&path).expect("opens");
    for writer in 0..WRITERS {
        let selector: RunSelector = format!("run-{writer}").parse().expect("a name");
        let read = store.run(&selector).expect("reads");
        let expected: Vec<_> = (0..TRIALS).map(|repeat| done_trial(0, repeat)).collect();
        assert_eq!(read.trials, expected);
    }
    let done: u64 = sound(&store, &RunFilter::default(), None)
        .iter()
        .map(|run| run.trials_done)
        .sum();
    assert_eq!(done, u64::from(WRITERS * TRIALS));
}

#[test]
fn one_run_may_be_written_by_several_and_each_trial_is_stored_once() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("s.db");
    let run = run_id("shared");
    Store::open(&path)
        .expect("opens")
        .begin_run(&sample::header("shared"))
        .expect("begins");
    let stored: u32 = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (path, run) = (&path, &run);
                scope.spawn(move || {
                    let mut store = Store::open(path).expect("opens");
                    let add = |repeat| store.add_trial(run, &done_trial(0, repeat)).is_ok();
                    (0..TRIALS).map(add).map(u32::from).sum::<u32>()
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("no panic"))
            .sum()
    });
    assert_eq!(stored, TRIALS, "each trial had one writer that succeeded");
    let store = Store::open_read_only(&path).expect("opens");
    assert_eq!(
        store.done_trials(&run).expect("reads").len(),
        TRIALS as usize
    );
}
