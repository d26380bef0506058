//! Claims on disks drawn within the uncertainty of the run's disk: what one of them decides
//! otherwise hangs on figures of the model that are not known, and is undecided.

use fslab_model::{DISK_DRAW, RunRecord, VenuePlan};

use crate::evidence::{Basis, Evidence};
use crate::judgement::Judgement;
use crate::platforms::difference;
use crate::{ClaimOutcome, Claims, FurtherRun};

/// The runs on drawn disks.
pub(crate) struct DrawnDisks<'a> {
    disk: String,
    runs: Vec<Evidence<'a>>,
    /// Why further ones do not count.
    refused: Vec<String>,
}

fn disk_of(run: &RunRecord) -> Option<&str> {
    match &run.header.plan.venue {
        VenuePlan::Sim { disk, .. } => Some(&disk.profile),
        _ => None,
    }
}

/// Whether the disk of `other` is drawn within the uncertainty of the disk of `run`.
pub(crate) fn is_on_drawn_disk(run: &RunRecord, other: &RunRecord) -> bool {
    let drawn = disk_of(run).zip(disk_of(other));
    let rest = drawn.and_then(|(stated, drawn)| drawn.strip_prefix(stated));
    rest.is_some_and(|rest| rest.starts_with(DISK_DRAW))
}

impl<'a> DrawnDisks<'a> {
    pub(crate) fn of(claims: &'a Claims, run: &RunRecord, drawn: &[FurtherRun<'a>]) -> Self {
        let mut disks = Self {
            disk: disk_of(run).unwrap_or_default().to_owned(),
            runs: Vec::new(),
            refused: Vec::new(),
        };
        for other in drawn {
            match difference(claims, run, other.run) {
                Some(why) => disks.refused.push(why),
                None => disks.runs.push(Evidence::of(claims, other.run, Basis::Run)),
            }
        }
        disks
    }

    /// Makes a judgement undecided if `judge` has the opposite for one of the drawn disks.
    pub(crate) fn qualify(
        &self,
        judgement: &mut Judgement,
        judge: impl Fn(&Evidence<'a>) -> Judgement,
    ) {
        let (opposite, turned) = match judgement.outcome {
            ClaimOutcome::Holds => (ClaimOutcome::Fails, "fails"),
            ClaimOutcome::Fails => (ClaimOutcome::Holds, "holds"),
            _ => return,
        };
        judgement.remarks.extend(self.refused.iter().cloned());
        if self.runs.is_empty() {
            return;
        }
        let outcomes = self.runs.iter().map(|on_drawn| judge(on_drawn).outcome);
        let outcomes: Vec<ClaimOutcome> = outcomes.collect();
        let count = |wanted| outcomes.iter().filter(|it| **it == wanted).count();
        let (all, disk) = (outcomes.len(), &self.disk);
        let remark = match (count(opposite), count(judgement.outcome)) {
            (0, same) if same == all => {
                format!("the same on all {all} disks drawn within the uncertainty of {disk}")
            }
            (0, same) => {
                format!("the same on {same} of {all} disks drawn within the uncertainty of {disk}")
            }
            (others, _) => {
                judgement.outcome = ClaimOutcome::Undecided;
                format!(
                    "it {turned} on {others} of {all} disks drawn within the uncertainty of {disk}"
                )
            }
        };
        judgement.remarks.push(remark);
    }
}
