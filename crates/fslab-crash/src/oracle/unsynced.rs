//! What a power loss took of data that no sync had made durable.

use std::collections::{BTreeMap, BTreeSet};

use super::{Oracle, Target, UnsyncedLoss, range};
use crate::contents::SECTOR_BYTES;
use crate::{DataChange, Observed, ObservedEntry, ObservedFile, SectorContent};

impl Oracle<'_> {
    /// What was written and not durable, and is gone: of the files that have a name when the
    /// operations that had ended are done.
    pub fn unsynced_loss(&self, at_ns: u64, observed: &Observed) -> UnsyncedLoss {
        let mut current: BTreeMap<&str, Option<Target>> = BTreeMap::new();
        for naming in self.namings(at_ns) {
            current.insert(naming.name, naming.value);
        }
        let files: BTreeSet<u16> = current
            .values()
            .filter_map(|it| match it {
                Some(Target::File(file)) => Some(*file),
                _ => None,
            })
            .collect();
        let mut loss = UnsyncedLoss::default();
        for file in files {
            let sectors = self.find(file, observed).map(|it| it.sectors().collect());
            let sectors: Vec<SectorContent> = sectors.unwrap_or_default();
            let wanted = self.wanted(file, at_ns);
            // Once for all places: a step for each of both is the square of a script.
            let own: Vec<(usize, DataChange)> = self.changes(file, at_ns).collect();
            for (place, wanted) in wanted.iter().enumerate() {
                let changes = own.iter().copied().filter(|(step, change)| {
                    let (first, end) = range(*change, usize::MAX);
                    let operation = &self.script.operations[*step];
                    let is_done = operation.end_ns <= at_ns && !operation.has_failed;
                    is_done && (first..end).contains(&place)
                });
                let changes: Vec<(usize, DataChange)> = changes.collect();
                let durable = wanted.durable.map(|it| it.step);
                let found = match sectors.get(place) {
                    Some(SectorContent::Written(it))
                        if it.script == self.script.number && it.file == file =>
                    {
                        Some(usize::from(it.step))
                    }
                    _ => durable,
                };
                let is_write = changes.last().is_some_and(|(_, it)| it.end.is_some());
                let mut lost = changes.iter().filter(|it| found.is_none_or(|at| it.0 > at));
                if let (true, Some((step, _))) = (is_write, lost.next()) {
                    let age_ns = at_ns - self.script.operations[*step].end_ns;
                    loss.bytes += SECTOR_BYTES;
                    loss.age_ns = loss.age_ns.max(age_ns);
                }
            }
        }
        loss
    }

    /// The file that has data of `file`.
    pub(crate) fn find<'b>(&self, file: u16, observed: &'b Observed) -> Option<&'b ObservedFile> {
        let own = observed.iter().filter(|(name, _)| {
            let below = name.strip_prefix(&*self.script.folder);
            below.is_some_and(|rest| rest.starts_with('/'))
        });
        own.filter_map(|(_, entry)| match entry {
            ObservedEntry::File(content) => Some(content),
            _ => None,
        })
        .find(|content| content.holds(self.script.number, file))
    }
}
