//! One trial more: its record, durable before the next one begins.

use std::path::Path;
use std::time::Instant;

use fslab_store::Store;

use super::filling::{Model, failed};
use super::findings::Added;
use crate::error::BenchError;
use crate::series::Spread;

/// Stores the trials of one run one by one, and takes the run away again.
pub(crate) fn add_one_by_one(path: &Path, number: u32) -> Result<Added, BenchError> {
    let model = Model::new()?;
    let (header, trials) = (model.header(number), model.trials(number));
    let mut store = Store::open(path).map_err(|error| failed(&error))?;
    store.begin_run(&header).map_err(|error| failed(&error))?;
    let mut took_ms = Vec::new();
    for trial in &trials {
        let began = Instant::now();
        store
            .add_trial(&header.run, trial)
            .map_err(|error| failed(&error))?;
        took_ms.push(began.elapsed().as_secs_f64() * 1e3);
    }
    store
        .delete_run(&header.run)
        .map_err(|error| failed(&error))?;
    let spread = Spread::of(&took_ms)
        .ok_or_else(|| BenchError::output("the store", "no trial was stored"))?;
    Ok(Added { spread })
}
