//! The runs of a list, all of which must be sound.

use fslab_store::{RunFilter, RunSummary, Store};

pub(crate) fn sound(store: &Store, filter: &RunFilter, limit: Option<u32>) -> Vec<RunSummary> {
    let runs = store.runs(filter, limit).expect("lists");
    let runs = runs.iter().map(|run| run.sound().cloned());
    runs.collect::<Option<_>>().expect("no run is damaged")
}
