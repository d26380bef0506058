//! Runs on several platforms as one: each subject of the original from a run on the platform on
//! which the original measured it.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{Bytes, CellId, RunRecord, Subject, VenueKind};

use crate::machine::memory_of;
use crate::missing::MissingReason;
use crate::{Claim, Claims};

/// The platform of what fslab measured itself, unless the record names another.
const LINUX: &str = "linux";
/// The fact of a trial that names its platform.
const PLATFORM_FACT: &str = "platform";

/// The platform on which fslab measured a run, by the names in claims; `None` of an import.
fn platform_of(run: &RunRecord) -> Option<String> {
    if run.header.plan.venue.kind() == VenueKind::Imported {
        return None;
    }
    let named = run
        .trials
        .iter()
        .find_map(|trial| trial.facts.get(PLATFORM_FACT));
    Some(named.map_or_else(|| LINUX.to_owned(), |name| name.to_lowercase()))
}

/// A further run beside the one that is checked, for claims about other platforms or disks.
#[derive(Clone, Copy, Debug)]
pub struct FurtherRun<'a> {
    pub run: &'a RunRecord,
    /// Its platform, by the name in the claims; `None`: that of its record.
    pub platform: Option<&'a str>,
}

/// The subjects of several runs, each from a run on its platform.
pub(crate) struct Platforms {
    /// With the header of the checked run.
    pub(crate) joined: RunRecord,
    /// The platforms of which there is a run.
    present: BTreeSet<String>,
    /// Why the run of a platform cannot be joined with the checked one.
    refused: BTreeMap<String, String>,
}

impl Platforms {
    pub(crate) fn join(claims: &Claims, run: &RunRecord, further: &[FurtherRun<'_>]) -> Self {
        let mut header = run.header.clone();
        header.plan.subjects.clear();
        let mut platforms = Self {
            joined: RunRecord {
                header,
                trials: Vec::new(),
            },
            present: BTreeSet::new(),
            refused: BTreeMap::new(),
        };
        let checked = FurtherRun {
            run,
            platform: None,
        };
        for added in std::iter::once(&checked).chain(further) {
            let own = platform_of(added.run);
            let Some(platform) = added.platform.or(own.as_deref()) else {
                continue;
            };
            match difference(claims, run, added.run) {
                Some(why) => drop(platforms.refused.insert(platform.to_owned(), why)),
                None => platforms.add(claims, added.run, platform),
            }
        }
        platforms
    }

    /// Adds those subjects of `run` that the original measured on `platform`.
    fn add(&mut self, claims: &Claims, run: &RunRecord, platform: &str) {
        self.present.insert(platform.to_owned());
        let is_of_platform = |subject: &Subject| {
            let names = [subject.fs().to_owned(), subject.to_string()];
            let platforms = names.iter().filter_map(|name| claims.platforms.get(name));
            platforms.into_iter().any(|own| own == platform)
        };
        for cell in run.header.plan.cells() {
            if !is_of_platform(&cell.subject.subject) {
                continue;
            }
            let subjects = &mut self.joined.header.plan.subjects;
            let joined = CellId::at(subjects.len());
            subjects.push(cell.subject.clone());
            let trials = run.cell(cell.id).cloned().map(|mut trial| {
                trial.trial.cell = joined;
                trial
            });
            self.joined.trials.extend(trials);
        }
    }

    /// Why there is not a run on each of the claim's platforms.
    pub(crate) fn ensure_all(&self, claim: &Claim) -> Result<(), MissingReason> {
        for platform in &claim.platforms {
            if self.present.contains(platform) {
                continue;
            }
            return Err(match self.refused.get(platform) {
                Some(why) => MissingReason::NotMeasured(why.clone()),
                None => MissingReason::NotApplicable(format!(
                    "it needs a run on {platform}: --against RUN={platform} adds one"
                )),
            });
        }
        Ok(())
    }
}

/// Why figures of `other` do not compare with those of `run`.
pub(crate) fn difference(claims: &Claims, run: &RunRecord, other: &RunRecord) -> Option<String> {
    let (name, its) = (&run.header.run, &run.header.plan);
    let (other_name, of_other) = (&other.header.run, &other.header.plan);
    if its.venue.kind().is_virtual() != of_other.venue.kind().is_virtual() {
        return Some(format!(
            "of the runs {name} and {other_name} one is in virtual time, and they do not compare"
        ));
    }
    if its.scale != of_other.scale {
        return Some(format!(
            "the run {name} is at scale {} and {other_name} at {}, and they do not compare",
            its.scale, of_other.scale
        ));
    }
    let rule = claims.memory.as_ref()?;
    let (memory, of_other) = (memory_of(run)?, memory_of(other)?);
    (rule.power(memory) != rule.power(of_other)).then(|| {
        format!(
            "the machine of {name} has a memory of {} and that of {other_name} of {}, and they do \
             not compare",
            Bytes(memory),
            Bytes(of_other)
        )
    })
}
