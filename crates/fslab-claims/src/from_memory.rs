//! How much of what was read came from memory and not from the disk, for claims about reading.

use fslab_model::{PhaseKind, PhaseRecord, definitions as d};

use crate::evidence::{Evidence, Member, Ranges};
use crate::{Claim, Score, Timed};

/// A smaller share is not worth a remark.
const SHARE_LEAST: f64 = 0.05;

/// Says whose reads came from memory, and how much of them; `None` if all came from the disk, or if
/// the claim is not about rates or times of phases that read.
pub(crate) fn from_memory(
    claim: &Claim,
    evidence: &Evidence<'_>,
    ranges: &Ranges,
) -> Option<String> {
    let is_of_time = match claim.holds.score {
        Score::Headline | Score::Clean(Timed::Run | Timed::Total) => true,
        Score::Metric(metric) => {
            [&d::THROUGHPUT, &d::OPERATION_RATE, &d::ELAPSED].contains(&metric)
        }
        _ => false,
    };
    if !is_of_time || evidence.is_printed() {
        return None;
    }
    let kind = &claim.holds.kind;
    let named = kind.subjects().into_iter();
    let mut members: Vec<Member> = named
        .filter_map(|name| evidence.member(name).ok())
        .collect();
    if kind.compares_all() {
        members.extend(evidence.fresh_members());
    }
    let mut shares: Vec<(f64, &str)> = Vec::new();
    for member in &members {
        let share = share_of(evidence, member, (&kind.phases(), ranges));
        let is_new = !shares.iter().any(|(_, label)| *label == member.label);
        if let Some(share) = share.filter(|share| *share >= SHARE_LEAST && is_new) {
            shares.push((share, &member.label));
        }
    }
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let largest = shares.first()?;
    let others = match shares.len() {
        1 => String::new(),
        2 => ", and a part of what one other read".to_owned(),
        more => format!(", and a part of what {} others read", more - 1),
    };
    Some(format!(
        "not on bytes from the disk only: {:.0} % of what {} read came from memory{others}",
        largest.0 * 100.0,
        largest.1
    ))
}

/// The share of the bytes that the phases read, over all repeats and the points that count.
fn share_of(
    evidence: &Evidence<'_>,
    member: &Member,
    (phases, ranges): (&[&str], &Ranges),
) -> Option<f64> {
    let records = phases
        .iter()
        .flat_map(|phase| evidence.records(member, phase));
    let records = records.flat_map(|(_, records)| records);
    let counted = records.filter(|record| evidence.counts_at(record, ranges));
    let bytes = |record: &PhaseRecord| {
        let share = record
            .memory_share()
            .filter(|_| record.kind == PhaseKind::Read)?;
        let bytes = record.bytes? as f64;
        Some((share * bytes, bytes))
    };
    let (memory, all) = counted
        .filter_map(bytes)
        .fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    (all > 0.0).then(|| memory / all)
}
