//! The loop that fills directories in turn and removes the oldest.

use super::names_loop::NamesLoop;
use super::target::NamesTarget;
use crate::EngineError;
use crate::access::Permutation;
use crate::jobs::{MetadataOperation, Order};
use crate::recording::Clock;

impl<T: NamesTarget, C: Clock> NamesLoop<'_, '_, T, C> {
    /// Makes every directory of the tree; once the limit is reached, removes the oldest before each
    /// new one.
    pub(super) fn turnover(&mut self) -> Result<(), EngineError> {
        let tree = &self.worker.job.tree();
        let kept = self.worker.job.kept_directories;
        let rounds = tree.leaves().saturating_sub(kept);
        for leaf in 0..tree.leaves() {
            let turned = match leaf.checked_sub(kept) {
                Some(oldest) => self.empty(oldest).and_then(|()| self.fill(leaf)),
                None => self.fill(leaf),
            };
            turned.map_err(|error| match leaf.checked_sub(kept) {
                Some(oldest) => error.during(&format!("in round {} of {rounds}", oldest + 1)),
                None => error.during(&format!("before round 1 of {rounds}")),
            })?;
        }
        Ok(())
    }

    /// Makes directory `leaf` with its files.
    fn fill(&mut self, leaf: u64) -> Result<(), EngineError> {
        let slot = self.worker.slots.operation;
        for number in self.worker.job.tree().files_of(Some(leaf)) {
            self.act(MetadataOperation::Create, slot, number)?;
        }
        Ok(())
    }

    /// Removes directory `leaf` with its files.
    fn empty(&mut self, leaf: u64) -> Result<(), EngineError> {
        let (unlink, slot) = (MetadataOperation::Unlink, self.worker.slots.unlink);
        let files = self.worker.job.tree().files_of(Some(leaf));
        let count = files.end - files.start;
        match self.worker.job.order {
            Order::Readdir => self.files_of(Some(leaf), unlink, slot)?,
            Order::Sequential => {
                for number in files {
                    self.act(unlink, slot, number)?;
                }
            }
            Order::Random => {
                let order = Permutation::new(count, &mut self.worker.random);
                for turn in 0..count {
                    self.act(unlink, slot, files.start + order.at(turn))?;
                }
            }
        }
        self.remove_directory(self.worker.leaf_directory(Some(leaf)))
    }
}
