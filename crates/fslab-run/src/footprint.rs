//! The space that phases need.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fslab_model::{Bytes, PhaseSpec};
use fslab_workload::Workload;

use super::resolve_error::ResolveError;
use crate::phases::PhasesError;

/// The workload that removes the files of all phases before it.
const CLEAR: &str = "clear";

/// Most space that the files of these phases use together.
pub fn footprint(phases: &[PhaseSpec]) -> Result<Bytes, ResolveError> {
    let mut largest: BTreeMap<Option<Vec<PathBuf>>, u64> = BTreeMap::new();
    let mut most = 0;
    for phase in phases {
        if phase.workload == CLEAR {
            most = most.max(together(&largest));
            largest.clear();
            continue;
        }
        let failed = |source| PhasesError::Workload {
            phase: phase.name.clone(),
            source,
        };
        let workload = Workload::of_phase(phase).map_err(failed)?;
        // Phases that use the same files share their space.
        let files = workload.data_files(&phase.parameters, 1).map_err(failed)?;
        let bytes = workload.footprint(&phase.parameters).map_err(failed)?.0;
        let entry = largest.entry(files).or_default();
        *entry = bytes.max(*entry);
    }
    Ok(Bytes(most.max(together(&largest))))
}

fn together(largest: &BTreeMap<Option<Vec<PathBuf>>, u64>) -> u64 {
    largest.values().copied().fold(0, u64::saturating_add)
}
