//! Which phase of one run meets which of another, and runs prepared accordingly.
//!
//! Owns the renaming: phases that meet get one name, so that the rest of the comparison knows
//! nothing of it. Which ones meet is decided elsewhere: by name for runs of one tool, by what a
//! phase does for runs of two (`fslab-exchange`, which knows the formats).

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{Headline, PhaseSpec, Plan, RunRecord, Swept};

use crate::dimension::phase_difference;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedSide {
    Base,
    /// The new run.
    New,
}

/// A phase of each run that are compared as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Meeting {
    /// The phase of the base.
    pub base: PhaseName,
    /// The phase of the new run.
    pub new: PhaseName,
    /// What both do; `None` if they meet by name alone.
    pub does: Option<String>,
    /// The conditions in which they differ.
    pub differences: Vec<ConditionDifference>,
    /// Name, workload and parameters under which they are compared: those of one side.
    pub shared: PhaseSpec,
    /// The figure for their comparison, which both have.
    pub headline: Headline,
}

/// The name of a phase in its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseName {
    /// That of its records; points of a sweep have one each.
    pub name: String,
    /// That in its study, which points of a sweep share.
    pub study_phase: String,
}

impl PhaseName {
    /// The name of the phase `spec`.
    pub fn of(spec: &PhaseSpec) -> Self {
        Self {
            name: spec.name.clone(),
            study_phase: spec.study_phase().to_owned(),
        }
    }
}

/// A condition of a phase, such as the size of its records, that differs or is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConditionDifference {
    pub condition: &'static str,
    /// Its value in the base; `None` if not known.
    pub base: Option<String>,
    /// Its value in the new run; `None` if not known.
    pub new: Option<String>,
}

/// A phase that meets none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOver {
    /// The run that has it.
    pub place: ComparedSide,
    pub phase: PhaseName,
    /// What it does, if that is known.
    pub does: Option<String>,
    pub why: String,
}

/// How the phases of two runs meet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meetings {
    /// The phases that meet, in the order of the side whose names they keep.
    pub pairs: Vec<Meeting>,
    /// The others, those of the base first.
    pub left: Vec<LeftOver>,
}

/// What becomes of phases that meet none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// They are left out.
    Dropped,
    /// They stay. One whose name is that of a meeting, or taken, gets the name of its run added.
    Kept {
        /// Names of phases of other runs that do something else.
        taken: BTreeSet<String>,
    },
}

impl Meetings {
    /// The phases of one name that are defined alike, as a diff of two runs of one tool compares
    /// them.
    pub fn by_name(base: &Plan, new: &Plan) -> Self {
        let named =
            |plan: &'_ Plan, name: &str| plan.phases.iter().find(|it| it.name == name).cloned();
        let mut meetings = Self::default();
        for phase in &base.phases {
            let why = match named(new, &phase.name) {
                Some(other) => phase_difference(phase, &other),
                None => Some("the other run has no phase of this name".to_owned()),
            };
            match why {
                None => meetings.pairs.push(Meeting {
                    base: PhaseName::of(phase),
                    new: PhaseName::of(phase),
                    does: None,
                    differences: Vec::new(),
                    shared: phase.clone(),
                    headline: Headline::Throughput,
                }),
                Some(why) => meetings
                    .left
                    .push(LeftOver::of(ComparedSide::Base, phase, why)),
            }
        }
        for phase in &new.phases {
            let why = match named(base, &phase.name) {
                Some(other) => phase_difference(&other, phase),
                None => Some("the other run has no phase of this name".to_owned()),
            };
            let left = why.map(|why| LeftOver::of(ComparedSide::New, phase, why));
            meetings.left.extend(left);
        }
        meetings
    }

    /// The run at `place` with its phases renamed to those that it shares with the other one.
    pub fn prepare(&self, run: &RunRecord, place: ComparedSide, unmet: &Unmet) -> RunRecord {
        let mut renamed: BTreeMap<&str, Target> = self
            .pairs
            .iter()
            .map(|pair| {
                let name = match place {
                    ComparedSide::Base => &pair.base,
                    ComparedSide::New => &pair.new,
                };
                (name.name.as_str(), Target::Shared(pair))
            })
            .collect();
        if let Unmet::Kept { taken } = unmet {
            let shared = self.pairs.iter().map(|pair| pair.shared.study_phase());
            let shared: BTreeSet<&str> = shared.collect();
            for left in self.left.iter().filter(|left| left.place == place) {
                let name = left.phase.study_phase.as_str();
                let is_taken = shared.contains(name) || taken.contains(name);
                let owner = is_taken.then(|| run.header.run.as_str());
                renamed.insert(&left.phase.name, Target::Own(owner));
            }
        }
        let mut run = run.clone();
        let target = |name: &str| renamed.get(name).copied();
        run.header.plan.phases.retain_mut(|spec| {
            let found = target(&spec.name);
            match found {
                Some(Target::Shared(pair)) => *spec = pair.shared.clone(),
                Some(Target::Own(Some(owner))) => add_owner(&mut spec.name, &mut spec.swept, owner),
                Some(Target::Own(None)) | None => {}
            }
            found.is_some()
        });
        for trial in &mut run.trials {
            trial.phases.retain_mut(|record| {
                let found = target(&record.name);
                match found {
                    Some(Target::Shared(pair)) => {
                        record.name.clone_from(&pair.shared.name);
                        record.swept.clone_from(&pair.shared.swept);
                        record.headline = pair.headline;
                    }
                    Some(Target::Own(Some(owner))) => {
                        add_owner(&mut record.name, &mut record.swept, owner);
                    }
                    Some(Target::Own(None)) | None => {}
                }
                found.is_some()
            });
        }
        run
    }
}

/// The name that a phase gets.
#[derive(Clone, Copy)]
enum Target<'a> {
    /// That of the phase that it meets.
    Shared(&'a Meeting),
    /// Its own, with the run's added if it is taken.
    Own(Option<&'a str>),
}

fn add_owner(name: &mut String, swept: &mut Option<Swept>, owner: &str) {
    let suffix = format!(" ({owner})");
    name.push_str(&suffix);
    if let Some(swept) = swept {
        swept.phase.push_str(&suffix);
    }
}

impl LeftOver {
    /// The left-over phase `spec` of the run at `place`.
    pub fn of(place: ComparedSide, spec: &PhaseSpec, why: impl Into<String>) -> Self {
        Self {
            place,
            phase: PhaseName::of(spec),
            does: None,
            why: why.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::{PhaseKind, PhaseOutcome, PhaseRecord};

    use super::*;
    use crate::fixture;

    fn phase_name(name: &str) -> PhaseName {
        PhaseName {
            name: name.to_owned(),
            study_phase: name.to_owned(),
        }
    }

    fn left(place: ComparedSide, phase: &str) -> LeftOver {
        LeftOver {
            place,
            phase: phase_name(phase),
            does: None,
            why: String::new(),
        }
    }

    fn meeting(base: &str, new: &str) -> Meeting {
        Meeting {
            base: phase_name(base),
            new: phase_name(new),
            does: None,
            differences: Vec::new(),
            shared: PhaseSpec::new(base, "write", Default::default()),
            headline: Headline::Throughput,
        }
    }

    fn kept(taken: &[&str]) -> Unmet {
        Unmet::Kept {
            taken: taken.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn names(run: &RunRecord) -> [Vec<&str>; 2] {
        let planned = run.header.plan.phases.iter().map(|it| it.name.as_str());
        let recorded = run.trials[0].phases.iter().map(|it| it.name.as_str());
        [planned.collect(), recorded.collect()]
    }

    #[test]
    fn phases_that_meet_get_one_name_and_one_headline() {
        let run = fixture::run("theirs", &["block-write", "rewrite"]);
        let meetings = Meetings {
            pairs: vec![meeting("write", "block-write")],
            left: vec![left(ComparedSide::New, "rewrite")],
        };
        let prepared = meetings.prepare(&run, ComparedSide::New, &Unmet::Dropped);
        assert_eq!(names(&prepared), [["write"], ["write"]]);
        assert_eq!(prepared.header.plan.phases[0].workload, "write");
        assert_eq!(prepared.trials[0].phases[0].headline, Headline::Throughput);
        let prepared = meetings.prepare(&run, ComparedSide::New, &kept(&[]));
        assert_eq!(
            names(&prepared),
            [["write", "rewrite"], ["write", "rewrite"]]
        );
    }

    /// bonnie++'s rewrite reads and writes, that of fslab writes: under one name the figures of
    /// both would stand in one table.
    #[test]
    fn a_phase_that_stays_never_takes_the_name_of_another() {
        let run = fixture::run("theirs", &["block-write", "rewrite"]);
        let meetings = Meetings {
            pairs: vec![meeting("write", "block-write")],
            left: vec![
                left(ComparedSide::Base, "rewrite"),
                left(ComparedSide::New, "rewrite"),
            ],
        };
        let expected = ["write", "rewrite (theirs)"];
        let prepared = meetings.prepare(&run, ComparedSide::New, &kept(&["rewrite"]));
        assert_eq!(names(&prepared), [expected, expected]);
        let ours = fixture::run("ours", &["write", "rewrite"]);
        let prepared = meetings.prepare(&ours, ComparedSide::Base, &kept(&[]));
        assert_eq!(
            names(&prepared),
            [["write", "rewrite"], ["write", "rewrite"]]
        );
    }

    #[test]
    fn runs_of_one_tool_meet_by_name_where_their_definitions_agree() {
        let base = fixture::run("base", &["write", "read", "stat"]);
        let mut new = fixture::run("new", &["write", "read", "list"]);
        let record = new.header.plan.phases[1]
            .parameters
            .insert("record".into(), 4096.into());
        assert!(record.is_none());
        let meetings = Meetings::by_name(&base.header.plan, &new.header.plan);
        assert_eq!(meetings.pairs.len(), 1);
        assert_eq!(meetings.pairs[0].base.name, "write");
        let left: Vec<_> = meetings
            .left
            .iter()
            .map(|it| (it.place, &*it.phase.name))
            .collect();
        assert_eq!(
            left,
            [
                (ComparedSide::Base, "read"),
                (ComparedSide::Base, "stat"),
                (ComparedSide::New, "read"),
                (ComparedSide::New, "list"),
            ]
        );
        assert_eq!(meetings.left[0].why, "record: 4096 against nothing");
    }

    #[test]
    fn every_point_of_a_sweep_that_stays_is_renamed_with_its_sweep() {
        let mut run = fixture::run("theirs", &["write 1"]);
        let swept = Some(Swept {
            phase: "write".to_owned(),
            point: BTreeMap::new(),
        });
        run.header.plan.phases[0].swept.clone_from(&swept);
        run.trials[0].phases[0] = PhaseRecord {
            swept,
            ..PhaseRecord::empty(
                &run.header.plan.phases[0],
                PhaseKind::Write,
                Headline::Throughput,
                PhaseOutcome::Done,
            )
        };
        let meetings = Meetings {
            pairs: vec![meeting("write", "other")],
            left: vec![LeftOver::of(
                ComparedSide::New,
                &run.header.plan.phases[0],
                "no match",
            )],
        };
        let prepared = meetings.prepare(&run, ComparedSide::New, &kept(&[]));
        let record = &prepared.trials[0].phases[0];
        assert_eq!(record.name, "write 1 (theirs)");
        assert_eq!(record.study_phase(), "write (theirs)");
    }
}
