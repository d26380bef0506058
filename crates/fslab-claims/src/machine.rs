//! What claims ask of the machine of a run: its memory, of which sizes can mean a multiple, and its
//! processors.

use fslab_model::{GUEST_PROCESSORS, PointValue, RunRecord, VenuePlan};

use crate::evidence::{Evidence, Ranges};
use crate::missing::MissingReason;
use crate::{Claim, MemoryRule};

/// The memory of the run's guest or machine in bytes; `None` if it is not known.
pub(crate) fn memory_of(run: &RunRecord) -> Option<u64> {
    let memory = match &run.header.plan.venue {
        VenuePlan::Guest { memory_bytes, .. } | VenuePlan::Sim { memory_bytes, .. } => {
            Some(memory_bytes.0)
        }
        _ => run.header.machine.memory_bytes,
    };
    memory.filter(|memory| *memory > 0)
}

/// The processors of the run's guest or machine; `None` if they are not known.
fn processors_of(run: &RunRecord) -> Option<u32> {
    match &run.header.plan.venue {
        VenuePlan::Guest { .. } | VenuePlan::Sim { .. } => Some(GUEST_PROCESSORS),
        _ => run.header.machine.cpu_count,
    }
}

impl MemoryRule {
    /// The ratio of a machine's memory to the original's as a power of two, rounded.
    pub(crate) fn power(&self, memory: u64) -> f64 {
        (memory as f64 / self.original as f64).log2().round()
    }
}

impl Evidence<'_> {
    /// Why the machine has too few processors for the claim.
    pub(crate) fn lacks_processors(&self, claim: &Claim) -> Option<MissingReason> {
        let least = claim.processors.filter(|_| !self.is_printed())?;
        match processors_of(self.run) {
            Some(found) if found >= least => None,
            Some(found) => {
                let found = match found {
                    1 => "one".to_owned(),
                    found => found.to_string(),
                };
                Some(MissingReason::NotApplicable(format!(
                    "it needs {least} processors or more, and the machine of the run has {found}"
                )))
            }
            None => Some(MissingReason::NotMeasured(format!(
                "it needs {least} processors or more, and the run does not record how many its \
                 machine has"
            ))),
        }
    }

    /// The claim's ranges, scaled to this run's memory.
    pub(crate) fn ranges(&self, written: &Ranges) -> Result<Ranges, MissingReason> {
        let scaled = written.iter().map(|(dimension, range)| {
            let ends = [range.from, range.to].into_iter().flatten();
            let moves = ends.map(|end| self.scaled_to_memory(dimension, end));
            moves.collect::<Result<Vec<_>, _>>()?;
            let range = range.map(|end| self.scaled_to_memory(dimension, end).unwrap_or(end));
            Ok((dimension.clone(), range))
        });
        scaled.collect()
    }

    /// A value of a dimension, scaled to this run's memory by the claims' memory rule.
    pub(crate) fn scaled_to_memory(
        &self,
        dimension: &str,
        value: PointValue,
    ) -> Result<PointValue, MissingReason> {
        let Some(rule) = &self.claims.memory else {
            return Ok(value);
        };
        match value {
            PointValue::Bytes(bytes) if rule.dimension == dimension && bytes >= rule.from => {
                Ok(PointValue::Bytes(self.times_memory_ratio(rule, bytes)?))
            }
            other => Ok(other),
        }
    }

    /// `bytes` times the ratio of the run's memory to the original's, rounded to a power of two.
    fn times_memory_ratio(&self, rule: &MemoryRule, bytes: u64) -> Result<u64, MissingReason> {
        let memory = memory_of(self.run).ok_or("the memory of the run's machine is not known")?;
        Ok((bytes as f64 * rule.power(memory).exp2()) as u64)
    }
}
