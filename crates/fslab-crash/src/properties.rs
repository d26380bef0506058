//! Properties that applications rely on and no document promises: atomicity and order of operations
//! without a sync. After Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014.

use crate::{Observed, ObservedEntry, Oracle, Property, ScriptStep, SectorContent};

/// How much of an operation is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Nothing,
    All,
    /// A part, and the rest is as it was.
    Part,
    /// Neither what was there nor what the operation put there.
    Neither,
}

impl Oracle<'_> {
    /// The properties of the script that `observed` does not have, by their place in its list.
    pub fn broken_properties(&self, observed: &Observed) -> Vec<usize> {
        let is_broken = |property: &Property| match *property {
            Property::Atomic(step) => {
                matches!(
                    self.presence(step, observed),
                    Presence::Part | Presence::Neither
                )
            }
            Property::Prefix(step) => !self.is_prefix(step, observed),
            Property::Ordered(first, second) => {
                self.presence(second, observed) != Presence::Nothing
                    && self.presence(first, observed) != Presence::All
            }
        };
        let properties = self.script.properties.iter().enumerate();
        let broken = properties.filter(|(_, property)| is_broken(property));
        broken.map(|(number, _)| number).collect()
    }

    fn presence(&self, step: usize, observed: &Observed) -> Presence {
        let exists = |name: &str| self.entry(observed, name).is_some();
        let if_so = |is_there: bool| match is_there {
            true => Presence::All,
            false => Presence::Nothing,
        };
        match &self.script.operations[step].step {
            ScriptStep::Create(name) | ScriptStep::Link(_, name) | ScriptStep::Mkdir(name) => {
                if_so(exists(name))
            }
            ScriptStep::Unlink(name) | ScriptStep::Rmdir(name) => if_so(!exists(name)),
            ScriptStep::Rename(from, to) => self.presence_of_rename(step, (from, to), observed),
            ScriptStep::Truncate(..) => self.presence_of_truncation(step, observed),
            ScriptStep::Write(..) | ScriptStep::WriteSync(..) | ScriptStep::Append(..) => {
                let sectors = self.presence_of_sectors(step, observed);
                let has = |one: Presence| sectors.contains(&one);
                match (
                    has(Presence::Neither),
                    has(Presence::All),
                    has(Presence::Nothing),
                ) {
                    (true, ..) => Presence::Neither,
                    (_, true, true) => Presence::Part,
                    (_, true, false) => Presence::All,
                    (_, false, _) => Presence::Nothing,
                }
            }
            ScriptStep::Fsync(_)
            | ScriptStep::Fdatasync(_)
            | ScriptStep::Sync
            | ScriptStep::Start => Presence::All,
        }
    }

    fn presence_of_rename(
        &self,
        step: usize,
        (from, to): (&str, &str),
        observed: &Observed,
    ) -> Presence {
        let file = self.plan.files[step];
        let has_data = self
            .plan
            .changes
            .iter()
            .flatten()
            .any(|it| Some(it.file) == file);
        let was_there = self.script.operations[..step]
            .iter()
            .any(|it| match &it.step {
                ScriptStep::Create(name)
                | ScriptStep::Link(_, name)
                | ScriptStep::Rename(_, name) => name == to,
                _ => false,
            });
        // A file whose data is not there is known by its name, where only it can have that.
        let is_new = match self.entry(observed, to) {
            Some(ObservedEntry::File(content)) => {
                let holds_own = file.is_some_and(|it| content.holds(self.script.number, it));
                let holds_other = content.sectors().any(
                    |it| matches!(it, SectorContent::Written(origin) if Some(origin.file) != file),
                );
                holds_own || (!was_there || has_data) && !holds_other
            }
            Some(_) => true,
            None => false,
        };
        // A file that was made after the set-up may not be there yet.
        let is_young = file.is_some_and(|it| usize::from(it) >= self.plan.start);
        match (self.entry(observed, from).is_some(), is_new) {
            (false, true) => Presence::All,
            (true, false) => Presence::Nothing,
            (false, false) if is_young => Presence::Nothing,
            _ => Presence::Part,
        }
    }

    fn presence_of_truncation(&self, step: usize, observed: &Observed) -> Presence {
        let (Some(change), ScriptStep::Truncate(name, _)) =
            (self.plan.changes[step], &self.script.operations[step].step)
        else {
            return Presence::Nothing;
        };
        let Some(ObservedEntry::File(content)) = self.entry(observed, name) else {
            return Presence::Nothing;
        };
        match content.bytes / 512 {
            sectors if sectors == u64::from(change.size_before) => Presence::Nothing,
            _ => Presence::All,
        }
    }

    /// Of each sector that a write is about.
    fn presence_of_sectors(&self, step: usize, observed: &Observed) -> Vec<Presence> {
        let Some(change) = self.plan.changes[step] else {
            return Vec::new();
        };
        let (ScriptStep::Write(name, ..)
        | ScriptStep::WriteSync(name, ..)
        | ScriptStep::Append(name, _)) = &self.script.operations[step].step
        else {
            return Vec::new();
        };
        // A file without its data, or one that was renamed since.
        let named = || match self.entry(observed, name) {
            Some(ObservedEntry::File(content)) => Some(content),
            _ => None,
        };
        let content = self.find(change.file, observed).or_else(named);
        let sectors: Vec<SectorContent> = match content {
            Some(content) => content.sectors().collect(),
            None => Vec::new(),
        };
        let of_place = |place: u32| {
            let was_there = place < change.size_before;
            match sectors.get(place as usize) {
                None if was_there && content.is_some() => Presence::Neither,
                None => Presence::Nothing,
                Some(SectorContent::Written(it))
                    if it.script == self.script.number
                        && it.file == change.file
                        && it.place == place =>
                {
                    match usize::from(it.step) >= step {
                        true => Presence::All,
                        false => Presence::Nothing,
                    }
                }
                Some(_) => Presence::Neither,
            }
        };
        (change.first..change.end.unwrap_or(change.first))
            .map(of_place)
            .collect()
    }

    fn is_prefix(&self, step: usize, observed: &Observed) -> bool {
        let sectors = self.presence_of_sectors(step, observed);
        let there = sectors
            .iter()
            .take_while(|it| **it == Presence::All)
            .count();
        sectors[there..].iter().all(|it| *it == Presence::Nothing)
    }
}
