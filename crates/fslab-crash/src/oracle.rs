//! What must be there after a power loss, and what is not.
//!
//! The promises are those of documents, see `promises.toml`, and no more. A name that is not yet
//! durable may be the old or the new one, and data that is not may be old, new, or zeros.
//!
//! ```text
//!     names   each has values in order: nothing, a file, a directory. The last durable one or any
//!             later one may be there
//!     data    each sector has changes in order. The last durable one or any later one may be there
//! ```

mod syncs;
mod unsynced;

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{FaultKind, PromiseId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::SECTOR_BYTES;
use super::state_fault::StateFault;
use crate::{
    DataChange, LogOperation, LogScript, Observed, ObservedEntry, ObservedFile, ScriptPlan,
    ScriptStep, SectorContent, SectorOrigin,
};

/// Data that operations had written and no sync had made durable, and that is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnsyncedLoss {
    /// Its bytes.
    pub bytes: u64,
    /// How long before the power loss the oldest of it was written.
    pub age_ns: u64,
}

/// A script with what its steps are about.
#[derive(Clone, Debug)]
pub struct Oracle<'a> {
    pub(crate) script: &'a LogScript,
    pub(crate) plan: ScriptPlan,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    File(u16),
    Folder,
}

/// A name gets another value; `None` if it is removed.
struct Naming<'a> {
    step: usize,
    name: &'a str,
    value: Option<Target>,
}

impl<'a> Oracle<'a> {
    /// The oracle of a script.
    pub fn new(script: &'a LogScript) -> Result<Self, String> {
        let plan = script.plan()?;
        Ok(Self { script, plan })
    }

    /// What its steps are about.
    pub fn plan(&self) -> &ScriptPlan {
        &self.plan
    }

    /// About as many comparisons as a state takes: of steps with steps, and of sectors of each file
    /// with the steps that change it.
    pub(crate) fn comparisons(&self) -> u64 {
        let steps = self.script.operations.len() as u64;
        let mut files: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
        for change in self.plan.changes.iter().flatten() {
            let (changes, sectors) = files.entry(change.file).or_default();
            *changes += 1;
            *sectors = (*sectors).max(change.end.unwrap_or(change.first).into());
        }
        let of_files = files.values().map(|(changes, sectors)| changes * sectors);
        steps * steps + of_files.sum::<u64>()
    }

    /// Everything that is wrong with `observed` after a power loss at `at_ns`. Of a file with two
    /// names, its data counts once.
    pub fn judge(&self, at_ns: u64, observed: &Observed) -> Vec<StateFault> {
        let namings = self.namings(at_ns);
        let names: BTreeSet<&str> = namings.iter().map(|it| it.name).collect();
        let mut findings = Vec::new();
        let mut judged = BTreeSet::new();
        for name in names {
            let own: Vec<&Naming> = namings.iter().filter(|it| it.name == name).collect();
            self.judge_name(name, &own, at_ns, observed, &mut findings, &mut judged);
        }
        self.judge_renames(&namings, at_ns, observed, &mut findings);
        findings
    }

    pub(crate) fn entry<'b>(
        &self,
        observed: &'b Observed,
        name: &str,
    ) -> Option<&'b ObservedEntry> {
        observed.get(&format!("{}/{name}", self.script.folder))
    }

    fn judge_name(
        &self,
        name: &str,
        namings: &[&Naming],
        at_ns: u64,
        observed: &Observed,
        findings: &mut Vec<StateFault>,
        judged: &mut BTreeSet<u16>,
    ) {
        let durable = namings
            .iter()
            .enumerate()
            .rev()
            .find_map(|(index, naming)| {
                let promise = self.naming_promise(naming, at_ns)?;
                Some((index, promise))
            });
        let from = durable.map_or(0, |(index, _)| index);
        let begun = namings[from..].iter().map(|it| it.value);
        let allowed: BTreeSet<Option<Target>> =
            begun.chain(durable.is_none().then_some(None)).collect();
        // A name that may still be another, or none, promises only that it is one of them.
        let is_durable = |value: &Option<Target>| match value {
            None => false,
            _ if *value == namings[from].value => true,
            Some(Target::File(file)) => self.durable_bytes(*file, at_ns) > 0,
            Some(Target::Folder) => false,
        };
        let promise = durable.map_or(PromiseId::Consistent, |(_, promise)| promise);
        let of_settled = || match allowed.iter().all(is_durable) {
            true => promise,
            false => PromiseId::Consistent,
        };
        let mut add = |promise, fault, bytes| findings.push(finding(fault, promise, name, bytes));
        match self.entry(observed, name) {
            None if allowed.contains(&None) => {}
            None => {
                let files = allowed.iter().flatten().filter_map(|it| match it {
                    Target::File(file) => Some(self.durable_bytes(*file, at_ns)),
                    Target::Folder => None,
                });
                add(promise, FaultKind::Lost, files.min().unwrap_or(0));
            }
            Some(ObservedEntry::Unreadable(_)) => add(of_settled(), FaultKind::Unreadable, 0),
            Some(ObservedEntry::Directory) if allowed.contains(&Some(Target::Folder)) => {}
            Some(ObservedEntry::Directory | ObservedEntry::Other) => {
                add(of_settled(), FaultKind::Garbage, 0);
            }
            Some(ObservedEntry::File(content)) => {
                let is_older = |value: Option<Target>| match value {
                    Some(Target::File(file)) => {
                        !allowed.contains(&value) && content.holds(self.script.number, file)
                    }
                    _ => false,
                };
                let is_replaced = namings[..from].iter().any(|it| is_older(it.value));
                let candidates = allowed.iter().flatten().filter_map(|it| match it {
                    Target::File(file) => Some(*file),
                    Target::Folder => None,
                });
                let judgements = candidates.map(|file| {
                    let found = self.judge_content(file, name, content, at_ns);
                    (found.iter().map(|it| it.bytes).sum::<u64>(), file, found)
                });
                match judgements.min_by_key(|(bytes, ..)| *bytes) {
                    None => add(promise, FaultKind::Resurrected, content.bytes),
                    Some((bytes, ..)) if is_replaced && bytes > 0 => {
                        add(promise, FaultKind::Old, content.bytes);
                    }
                    Some((_, file, found)) => {
                        if judged.insert(file) {
                            findings.extend(found);
                        }
                    }
                }
            }
        }
    }

    /// A file with a durable name that operations have only renamed since has one of its names.
    fn judge_renames(
        &self,
        namings: &[Naming],
        at_ns: u64,
        observed: &Observed,
        findings: &mut Vec<StateFault>,
    ) {
        let renamed = |operation: &LogOperation| {
            matches!(operation.step, ScriptStep::Rename(..)) && operation.begin_ns <= at_ns
        };
        let files: BTreeSet<u16> = (self.script.operations.iter().enumerate())
            .filter(|(_, operation)| renamed(operation))
            .filter_map(|(step, _)| self.plan.files[step])
            .collect();
        for file in files {
            let target = Some(Target::File(file));
            let mut held = BTreeSet::new();
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            let mut is_due = false;
            for (index, naming) in namings.iter().enumerate() {
                if naming.value == target {
                    held.insert(naming.name);
                } else {
                    held.remove(naming.name);
                }
                if !is_due {
                    // Its first durable name, unless that was durably taken away.
                    let later = namings[index + 1..].iter();
                    let mut later = later.filter(|it| it.name == naming.name);
                    is_due = naming.value == target
                        && self.naming_promise(naming, at_ns).is_some()
                        && later.all(|it| self.naming_promise(it, at_ns).is_none());
                }
                if is_due {
                    seen.extend(&held);
                    // In a rename, the old name goes before the new one comes.
                    let is_between = namings
                        .get(index + 1)
                        .is_some_and(|next| next.step == naming.step);
                    if held.is_empty() && !is_between {
                        is_due = false;
                        break;
                    }
                }
            }
            let is_there = |name: &&str| match self.entry(observed, name) {
                Some(ObservedEntry::File(content)) => {
                    content.holds(self.script.number, file)
                        || self.plan.changes.iter().flatten().all(|it| it.file != file)
                }
                Some(ObservedEntry::Unreadable(_)) => true,
                _ => false,
            };
            let bytes = self.durable_bytes(file, at_ns);
            let is_reported = |name: &&str| findings.iter().any(|it| it.name == **name);
            if is_due && bytes > 0 && !seen.iter().any(is_there) && !seen.iter().any(is_reported) {
                let name = seen.iter().next_back().copied().unwrap_or_default();
                findings.push(finding(FaultKind::Lost, PromiseId::Rename, name, bytes));
            }
        }
    }

    /// What is wrong with each sector, with the bytes of each fault.
    fn judge_content(
        &self,
        file: u16,
        name: &str,
        content: &ObservedFile,
        at_ns: u64,
    ) -> Vec<StateFault> {
        let wanted = self.wanted(file, at_ns);
        let sectors: Vec<SectorContent> = content.sectors().collect();
        let mut bytes = BTreeMap::<(FaultKind, PromiseId), u64>::new();
        let places = sectors.len().max(wanted.len());
        for place in 0..places {
            let wanted = wanted.get(place).copied().unwrap_or_default();
            let found = sectors.get(place).copied();
            if let Some(fault) = self.fault_of(file, place, found, wanted) {
                *bytes.entry(fault).or_default() += SECTOR_BYTES;
            }
        }
        let found = bytes.into_iter();
        found
            .map(|((fault, promise), bytes)| finding(fault, promise, name, bytes))
            .collect()
    }

    fn fault_of(
        &self,
        file: u16,
        place: usize,
        found: Option<SectorContent>,
        wanted: Wanted,
    ) -> Option<(FaultKind, PromiseId)> {
        let is_own = |it: &SectorOrigin| {
            it.script == self.script.number && it.file == file && it.place as usize == place
        };
        // A change that has begun may have taken the sector away.
        let needed = wanted.durable.filter(|it| it.is_write && !wanted.is_cut);
        match (found, needed) {
            (None | Some(SectorContent::Zeros), None) => None,
            (None, Some(it)) => Some((FaultKind::Truncated, it.promise)),
            (Some(SectorContent::Zeros), Some(it)) => Some((FaultKind::Zeroed, it.promise)),
            (Some(SectorContent::Written(it)), _) if is_own(&it) => {
                let durable = wanted.durable?;
                (usize::from(it.step) < durable.step).then_some((FaultKind::Old, durable.promise))
            }
            (Some(SectorContent::Written(_)), Some(it)) => Some((FaultKind::Foreign, it.promise)),
            (Some(SectorContent::Garbage), Some(it)) => Some((FaultKind::Garbage, it.promise)),
            (Some(_), None) => Some((FaultKind::Exposed, PromiseId::NoStaleData)),
        }
    }

    /// Of each sector, its last durable change.
    fn wanted(&self, file: u16, at_ns: u64) -> Vec<Wanted> {
        let mut wanted: Vec<Wanted> = Vec::new();
        for (step, change) in self.changes(file, at_ns) {
            let promise = self.data_promise(step, file, at_ns);
            let (first, end) = range(change, wanted.len());
            wanted.resize(wanted.len().max(end), Wanted::default());
            for sector in &mut wanted[first.min(end)..end] {
                match promise {
                    Some(promise) => {
                        *sector = Wanted {
                            durable: Some(DurableChange {
                                step,
                                is_write: change.end.is_some(),
                                promise,
                            }),
                            is_cut: false,
                        }
                    }
                    None => sector.is_cut |= change.end.is_none(),
                }
            }
        }
        wanted
    }

    /// The changes of a file's data that had begun, in order.
    fn changes(&self, file: u16, at_ns: u64) -> impl Iterator<Item = (usize, DataChange)> {
        let begun = self.script.operations.iter();
        let begun = begun.take_while(move |it| it.begin_ns <= at_ns).count();
        let changes = self.plan.changes[..begun].iter().enumerate();
        changes.filter_map(move |(step, change)| {
            Some((step, (*change)?)).filter(|it| it.1.file == file)
        })
    }

    fn durable_bytes(&self, file: u16, at_ns: u64) -> u64 {
        let wanted = self.wanted(file, at_ns).into_iter();
        let durable = wanted.filter(|it| it.durable.is_some_and(|durable| durable.is_write));
        durable.count() as u64 * SECTOR_BYTES
    }

    /// The changes of names that had begun, in order.
    fn namings(&self, at_ns: u64) -> Vec<Naming<'a>> {
        let script: &'a LogScript = self.script;
        let mut namings = Vec::new();
        let begun = script.operations.iter().enumerate();
        for (step, operation) in begun.take_while(|(_, it)| it.begin_ns <= at_ns) {
            let file = self.plan.files[step].map(Target::File);
            let mut add = |name: &'a str, value| namings.push(Naming { step, name, value });
            match &operation.step {
                ScriptStep::Create(name) | ScriptStep::Link(_, name) => add(name, file),
                ScriptStep::Rename(from, to) => {
                    add(from, None);
                    add(to, file);
                }
                ScriptStep::Unlink(name) | ScriptStep::Rmdir(name) => add(name, None),
                ScriptStep::Mkdir(name) => add(name, Some(Target::Folder)),
                _ => {}
            }
        }
        namings
    }
}

/// What a sector must be.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    /// Its last durable change.
    durable: Option<DurableChange>,
    /// True if a later truncation has begun.
    is_cut: bool,
}

#[derive(Clone, Copy, Debug)]
struct DurableChange {
    step: usize,
    is_write: bool,
    promise: PromiseId,
}

/// The sectors that a change is about; a truncation, all from its size on.
fn range(change: DataChange, sectors: usize) -> (usize, usize) {
    let first = change.first as usize;
    (first, change.end.map_or(sectors, |end| end as usize))
}

fn finding(fault: FaultKind, promise: PromiseId, name: &str, bytes: u64) -> StateFault {
    StateFault {
        fault,
        promise,
        name: name.to_owned(),
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogOperation, Property, SectorOrigin};

    /// Operations of 10 ns each, the first from 0 on.
    fn operations(texts: &[&str]) -> Vec<LogOperation> {
        let operation = |(number, text): (u64, &&str)| LogOperation {
            step: text.parse().expect("a step"),
            begin_ns: number * 10,
            end_ns: number * 10 + 9,
            has_failed: false,
        };
        (0..).zip(texts).map(operation).collect()
    }

    fn sectors(parts: &[SectorContent]) -> ObservedEntry {
        let bytes = parts.iter().flat_map(|part| match part {
            SectorContent::Written(origin) => origin.bytes(),
            SectorContent::Zeros => [0; 512],
            SectorContent::Garbage => [9; 512],
        });
        let bytes: Vec<u8> = bytes.collect();
        ObservedEntry::File(ObservedFile::read(&bytes[..], u64::MAX).expect("memory"))
    }

    fn written(file: u16, step: u16, place: u32) -> SectorContent {
        SectorContent::Written(SectorOrigin {
            script: 77,
            file,
            step,
            place,
        })
    }

    fn script(texts: &[&str]) -> LogScript {
        LogScript {
            phase: "p".into(),
            folder: "f".into(),
            number: 77,
            operations: operations(texts),
            end_ns: 10_000,
            properties: Vec::new(),
            published: None,
        }
    }

    fn tree(observed: &[(&str, ObservedEntry)]) -> Observed {
        let named = |(name, entry): &(&str, ObservedEntry)| (format!("f/{name}"), entry.clone());
        observed.iter().map(named).collect()
    }

    fn faults(
        texts: &[&str],
        at_ns: u64,
        observed: &[(&str, ObservedEntry)],
    ) -> Vec<(FaultKind, u64)> {
        let script = script(texts);
        let oracle = Oracle::new(&script).expect("can be done");
        let found = oracle.judge(at_ns, &tree(observed));
        found.iter().map(|it| (it.fault, it.bytes)).collect()
    }

    const DURABLE: &[&str] = &["create a", "write a 0 1024", "fsync a", "fsync ."];

    #[test]
    fn what_is_durable_and_there_is_no_finding() {
        let whole = sectors(&[written(0, 1, 0), written(0, 1, 1)]);
        assert_eq!(faults(DURABLE, 100, &[("a", whole)]), []);
    }

    #[test]
    fn every_loss_of_durable_data_is_distinguished() {
        let good = written(0, 1, 0);
        let cases = [
            (vec![good], FaultKind::Truncated),
            (vec![good, SectorContent::Zeros], FaultKind::Zeroed),
            (vec![good, SectorContent::Garbage], FaultKind::Garbage),
            (vec![good, written(7, 8, 1)], FaultKind::Foreign),
            // Its sector at another place is foreign there.
            (vec![good, written(0, 1, 0)], FaultKind::Foreign),
        ];
        for (content, fault) in cases {
            let found = faults(DURABLE, 100, &[("a", sectors(&content))]);
            assert_eq!(found, [(fault, 512)], "{content:?}");
        }
        assert_eq!(faults(DURABLE, 100, &[]), [(FaultKind::Lost, 1024)]);
    }

    #[test]
    fn before_a_sync_returns_nothing_is_promised() {
        // fsync has begun at 20 and returns at 29; the directory's at 39.
        assert_eq!(faults(DURABLE, 28, &[]), []);
        let empty = sectors(&[]);
        assert_eq!(faults(DURABLE, 28, &[("a", empty.clone())]), []);
        // The data is durable, and the name is not: it may be gone.
        assert_eq!(faults(DURABLE, 38, &[]), []);
        assert_eq!(faults(DURABLE, 39, &[]), [(FaultKind::Lost, 1024)]);
        assert_eq!(
            faults(DURABLE, 39, &[("a", empty)]),
            [(FaultKind::Truncated, 1024)]
        );
    }

    /// A name that no sync has covered was reported as a broken fsync of its directory.
    #[test]
    fn a_name_that_cannot_be_read_breaks_a_sync_only_once_that_has_made_it_durable() {
        let promises = |texts: &[&str], at_ns, name| {
            let script = script(texts);
            let oracle = Oracle::new(&script).expect("can be done");
            let there = ObservedEntry::Unreadable("gone".into());
            let found = oracle.judge(at_ns, &tree(&[(name, there)]));
            let found = found.iter().filter(|it| it.name == name);
            let found = found.map(|it| (it.fault, it.promise));
            found.collect::<Vec<_>>()
        };
        let consistent = [(FaultKind::Unreadable, PromiseId::Consistent)];
        let synced = [(FaultKind::Unreadable, PromiseId::FsyncDirectory)];
        assert_eq!(promises(DURABLE, 38, "a"), consistent);
        assert_eq!(promises(DURABLE, 39, "a"), synced);
        // Another file takes its name: before that is durable itself, and after.
        let replaced = &[DURABLE, &["create b", "rename b a"]].concat();
        assert_eq!(promises(replaced, 55, "a"), consistent);
        let replaced = &[
            DURABLE,
            &["create b", "write b 0 512", "fsync b", "rename b a"],
        ]
        .concat();
        assert_eq!(promises(replaced, 75, "a"), synced);
        // It is being removed.
        let removed = &[DURABLE, &["unlink a"]].concat();
        assert_eq!(promises(removed, 45, "a"), consistent);
    }

    #[test]
    fn an_overwrite_may_be_old_until_it_is_durable() {
        let texts = &[DURABLE, &["write a 0 512", "fdatasync a"]].concat();
        let old = [("a", sectors(&[written(0, 1, 0), written(0, 1, 1)]))];
        let new = [("a", sectors(&[written(0, 4, 0), written(0, 1, 1)]))];
        assert_eq!(faults(texts, 58, &old), []);
        assert_eq!(faults(texts, 58, &new), []);
        assert_eq!(faults(texts, 59, &old), [(FaultKind::Old, 512)]);
        assert_eq!(faults(texts, 59, &new), []);
    }

    #[test]
    fn a_rename_leaves_the_old_or_the_new_name_until_its_directory_is_synced() {
        let texts = &[DURABLE, &["rename a b", "fsync ."]].concat();
        let whole = || sectors(&[written(0, 1, 0), written(0, 1, 1)]);
        for name in ["a", "b"] {
            assert_eq!(faults(texts, 50, &[(name, whole())]), [], "{name}");
        }
        assert_eq!(faults(texts, 50, &[]), [(FaultKind::Lost, 1024)]);
        assert_eq!(faults(texts, 59, &[("b", whole())]), []);
        let both = faults(texts, 59, &[("a", whole()), ("b", whole())]);
        assert_eq!(both, [(FaultKind::Resurrected, 1024)]);
        let only_old = faults(texts, 59, &[("a", whole())]);
        assert_eq!(
            only_old,
            [(FaultKind::Resurrected, 1024), (FaultKind::Lost, 1024)]
        );
    }

    #[test]
    fn a_file_that_is_replaced_may_be_either_and_is_whole() {
        let texts = &[
            "create b",
            "write b 0 512",
            "sync",
            "create t",
            "write t 0 512",
            "fsync t",
            "rename t b",
        ];
        let old = sectors(&[written(0, 1, 0)]);
        let new = sectors(&[written(3, 4, 0)]);
        assert_eq!(
            faults(texts, 65, &[("b", old.clone()), ("t", new.clone())]),
            []
        );
        assert_eq!(faults(texts, 65, &[("b", new)]), []);
        assert_eq!(faults(texts, 59, &[("b", old)]), []);
    }

    #[test]
    fn what_was_unlinked_durably_must_not_come_back() {
        let texts = &[DURABLE, &["unlink a", "sync"]].concat();
        let whole = || sectors(&[written(0, 1, 0), written(0, 1, 1)]);
        assert_eq!(faults(texts, 50, &[("a", whole())]), []);
        assert_eq!(
            faults(texts, 59, &[("a", whole())]),
            [(FaultKind::Resurrected, 1024)]
        );
        assert_eq!(faults(texts, 59, &[]), []);
    }

    #[test]
    fn data_that_was_not_synced_may_be_zeros_but_not_of_others() {
        let texts = &["create a", "write a 0 1024"];
        let at = |content: &[SectorContent]| faults(texts, 100, &[("a", sectors(content))]);
        assert_eq!(at(&[SectorContent::Zeros, written(0, 1, 1)]), []);
        let exposed = at(&[written(0, 1, 0), written(5, 6, 1)]);
        assert_eq!(exposed, [(FaultKind::Exposed, 512)]);
    }

    #[test]
    fn a_durable_directory_must_be_there() {
        let texts = &["mkdir d", "fsync ."];
        assert_eq!(faults(texts, 18, &[]), []);
        assert_eq!(faults(texts, 19, &[]), [(FaultKind::Lost, 0)]);
        assert_eq!(faults(texts, 19, &[("d", ObservedEntry::Directory)]), []);
    }

    #[test]
    fn each_kind_of_sync_gives_its_own_promise() {
        let promises = |texts: &[&str], observed: &[(&str, ObservedEntry)]| {
            let script = script(texts);
            let oracle = Oracle::new(&script).expect("can be done");
            let found = oracle.judge(1000, &tree(observed));
            found.iter().map(|it| it.promise).collect::<Vec<_>>()
        };
        let empty = [("a", sectors(&[]))];
        for (sync, promise) in [
            ("fsync a", PromiseId::Fsync),
            ("fdatasync a", PromiseId::Fdatasync),
            ("sync", PromiseId::Sync),
        ] {
            let texts = ["create a", "append a 512", sync];
            assert_eq!(promises(&texts, &empty), [promise], "{sync}");
        }
        let texts = ["create a", "write-sync a 0 512"];
        assert_eq!(promises(&texts, &empty), [PromiseId::OpenSync]);
        let texts = ["create a", "append a 512", "fsync a", "fsync ."];
        assert_eq!(promises(&texts, &[]), [PromiseId::FsyncDirectory]);
    }

    #[test]
    fn a_truncation_that_is_not_durable_may_have_happened_and_a_durable_one_has() {
        let texts = &[DURABLE, &["truncate a 512", "fsync a"]].concat();
        let long = sectors(&[written(0, 1, 0), written(0, 1, 1)]);
        let short = sectors(&[written(0, 1, 0)]);
        assert_eq!(faults(texts, 50, &[("a", long.clone())]), []);
        assert_eq!(faults(texts, 50, &[("a", short.clone())]), []);
        assert_eq!(faults(texts, 59, &[("a", short)]), []);
        assert_eq!(faults(texts, 59, &[("a", long)]), [(FaultKind::Old, 512)]);
    }

    #[test]
    fn a_replaced_file_under_a_durably_renamed_name_is_old() {
        let texts = &[
            "create b",
            "append b 512",
            "create t",
            "append t 512",
            "start",
            "rename t b",
            "fsync .",
        ];
        let old = sectors(&[written(0, 1, 0)]);
        let new = sectors(&[written(2, 3, 0)]);
        assert_eq!(faults(texts, 99, &[("b", new.clone())]), []);
        assert_eq!(
            faults(texts, 99, &[("b", old.clone())]),
            [(FaultKind::Old, 512)]
        );
        let both = [("b", old.clone()), ("t", new)];
        assert_eq!(faults(texts, 55, &both), []);
        // The old file under its name, and the new one under none.
        assert_eq!(faults(texts, 55, &[("b", old)]), [(FaultKind::Lost, 512)]);
    }

    #[test]
    fn of_two_links_each_must_be_there_and_the_data_counts_once() {
        let texts = &["create a", "append a 512", "link a b", "sync"];
        let zeros = || sectors(&[SectorContent::Zeros]);
        let found = faults(texts, 99, &[("a", zeros()), ("b", zeros())]);
        assert_eq!(found, [(FaultKind::Zeroed, 512)]);
        let whole = sectors(&[written(0, 1, 0)]);
        assert_eq!(faults(texts, 99, &[("a", whole)]), [(FaultKind::Lost, 512)]);
    }

    #[test]
    fn what_was_written_and_not_synced_is_no_fault_and_its_loss_is_measured() {
        let texts = &[
            "create a",
            "append a 512",
            "fsync a",
            "append a 1024",
            "write a 0 512",
        ];
        let script = script(texts);
        let oracle = Oracle::new(&script).expect("can be done");
        let loss = |content: &[SectorContent]| {
            oracle.unsynced_loss(100, &tree(&[("a", sectors(content))]))
        };
        let (old, new) = (written(0, 1, 0), written(0, 4, 0));
        let rest = [written(0, 3, 1), written(0, 3, 2)];
        assert_eq!(loss(&[new, rest[0], rest[1]]), UnsyncedLoss::default());
        // The append ended at 39, and the write at 49.
        let lost = |bytes, age_ns| UnsyncedLoss { bytes, age_ns };
        assert_eq!(loss(&[old, rest[0], rest[1]]), lost(512, 51));
        assert_eq!(loss(&[old]), lost(1536, 61));
    }

    #[test]
    fn properties_are_broken_by_parts_and_by_the_wrong_order() {
        let mut script = script(&[
            "create a",
            "append a 1024",
            "start",
            "append a 1024",
            "create b",
        ]);
        script.properties = vec![
            Property::Atomic(3),
            Property::Prefix(3),
            Property::Ordered(3, 4),
        ];
        let oracle = Oracle::new(&script).expect("can be done");
        let old = [written(0, 1, 0), written(0, 1, 1)];
        let new = [written(0, 3, 2), written(0, 3, 3)];
        let broken = |content: &[SectorContent], has_b: bool| {
            let mut observed = vec![("a", sectors(content))];
            observed.extend(has_b.then(|| ("b", sectors(&[]))));
            oracle.broken_properties(&tree(&observed))
        };
        let none: [usize; 0] = [];
        assert_eq!(broken(&[old[0], old[1]], false), none);
        assert_eq!(broken(&[old[0], old[1], new[0], new[1]], true), none);
        assert_eq!(broken(&[old[0], old[1], new[0]], false), [0]);
        assert_eq!(broken(&[old[0], old[1]], true), [2]);
        let zeros = SectorContent::Zeros;
        assert_eq!(broken(&[old[0], old[1], zeros, new[1]], false), [0, 1]);
    }

    #[test]
    fn a_rename_of_a_file_that_is_not_there_yet_has_not_happened() {
        let mut script = script(&[
            "create b",
            "append b 512",
            "start",
            "create a",
            "append a 512",
            "rename a b",
        ]);
        script.properties = vec![Property::Ordered(4, 5)];
        let oracle = Oracle::new(&script).expect("can be done");
        let broken =
            |content: &[SectorContent]| oracle.broken_properties(&tree(&[("b", sectors(content))]));
        let none: [usize; 0] = [];
        assert_eq!(broken(&[written(0, 1, 0)]), none);
        assert_eq!(broken(&[written(3, 4, 0)]), none);
        assert_eq!(broken(&[]), [0]);
    }

    #[test]
    fn an_untrusted_script_is_checked() {
        let mut odd = script(&["create a"]);
        odd.properties = vec![Property::Ordered(0, 9)];
        assert!(Oracle::new(&odd).is_err());
        let mut back = script(&["create a", "sync"]);
        back.operations[1].end_ns = 0;
        assert!(Oracle::new(&back).is_err());
    }
}
