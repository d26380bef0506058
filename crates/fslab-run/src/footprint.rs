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
    let mut largest: BTreeMap<Option<PathBuf>, u64> = BTreeMap::new();
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
        // Phases that use the same files share their space, divided equally among the files.
        let files = workload.data_files(&phase.parameters, 1).map_err(failed)?;
        let mut left = workload.footprint(&phase.parameters).map_err(failed)?.0;
        let files: Vec<_> = match files {
            Some(files) if !files.is_empty() => files.into_iter().map(Some).collect(),
            _ => vec![None],
        };
        for (others, file) in files.into_iter().enumerate().rev() {
            let bytes = left / (others as u64 + 1);
            left -= bytes;
            let entry = largest.entry(file).or_default();
            *entry = bytes.max(*entry);
        }
    }
    Ok(Bytes(most.max(together(&largest))))
}

fn together(largest: &BTreeMap<Option<PathBuf>, u64>) -> u64 {
    largest.values().copied().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A phase on one of the files of another was counted twice.
    #[test]
    fn a_file_of_several_phases_counts_once() {
        let phase = |workload: &str, parameters: serde_json::Value| {
            let given = serde_json::from_value(parameters).expect("a map");
            let workload_of = fslab_workload::find(workload).expect("known");
            let resolved = workload_of.resolve(&given, Bytes::gib(1)).expect(workload);
            PhaseSpec::new(workload, workload, resolved)
        };
        let one = json!({ "file": "a", "file_size": "8MiB" });
        let both = json!({ "jobs": [
            { "file": "a", "file_size": "8MiB" },
            { "file": "b", "file_size": "8MiB" },
        ]});
        let phases = [phase("io", one), phase("parallel", both)];
        assert_eq!(footprint(&phases).expect("a size"), Bytes::mib(16));
    }
}
