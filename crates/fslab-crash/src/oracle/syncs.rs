//! Which sync makes a change durable.

use super::{Naming, Oracle, PromiseId};
use crate::ScriptStep;
use crate::script_steps::parent;

impl Oracle<'_> {
    /// What promises that a change of data is durable; the first sync that covers it.
    pub(super) fn data_promise(&self, step: usize, file: u16, at_ns: u64) -> Option<PromiseId> {
        let own = &self.script.operations[step];
        if own.has_failed {
            return None;
        }
        if matches!(own.step, ScriptStep::WriteSync(..)) && own.end_ns <= at_ns {
            return Some(PromiseId::OpenSync);
        }
        self.first_sync(step, at_ns, |later, sync| match sync {
            ScriptStep::Sync | ScriptStep::Start => Some(PromiseId::Sync),
            ScriptStep::Fsync(_) if self.plan.files[later] == Some(file) => Some(PromiseId::Fsync),
            ScriptStep::Fdatasync(_) if self.plan.files[later] == Some(file) => {
                Some(PromiseId::Fdatasync)
            }
            _ => None,
        })
    }

    /// What promises that a change of a name is durable.
    pub(super) fn naming_promise(&self, naming: &Naming<'_>, at_ns: u64) -> Option<PromiseId> {
        if self.script.operations[naming.step].has_failed {
            return None;
        }
        let folder = parent(naming.name);
        self.first_sync(naming.step, at_ns, |_, sync| match sync {
            ScriptStep::Sync | ScriptStep::Start => Some(PromiseId::Sync),
            ScriptStep::Fsync(synced) if synced == folder => Some(PromiseId::FsyncDirectory),
            _ => None,
        })
    }

    /// The promise of the first sync after `step` that had ended and that `covers` it. One that
    /// returned an error has said that what it covers may be gone: a later one promises nothing of
    /// that.
    fn first_sync(
        &self,
        step: usize,
        at_ns: u64,
        covers: impl Fn(usize, &ScriptStep) -> Option<PromiseId>,
    ) -> Option<PromiseId> {
        let later = self.script.operations.iter().enumerate().skip(step + 1);
        let mut ended = later.filter(|(_, operation)| operation.end_ns <= at_ns);
        ended
            .find_map(|(later, operation)| {
                let promise = covers(later, &operation.step)?;
                Some((!operation.has_failed).then_some(promise))
            })
            .flatten()
    }
}
