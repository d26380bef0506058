//! Evaluates claims for a run.

use std::collections::BTreeSet;

use fslab_model::RunRecord;

use super::judgement::{Case, Judgement};
use crate::drawn_disks::{DrawnDisks, is_on_drawn_disk};
use crate::evidence::{Basis, Evidence, Member};
use crate::from_memory::from_memory;
use crate::platforms::Platforms;
use crate::printed_run::PrintedRun;
use crate::sentence::sentence;
use crate::{
    Claim, ClaimKind, ClaimVerdict, Claims, FurtherRun, Original, Score, Scorecard, StandIn, kinds,
};

/// Evaluates each of `claims` for `run`. `further` are runs of the same study on other platforms or
/// disks, for claims about several, or on disks drawn within the uncertainty of the run's disk,
/// which leave undecided what they decide otherwise.
pub fn evaluate(claims: &Claims, run: &RunRecord, further: &[FurtherRun<'_>]) -> Scorecard {
    let (drawn, further): (Vec<FurtherRun<'_>>, Vec<FurtherRun<'_>>) = further
        .iter()
        .partition(|other| is_on_drawn_disk(run, other.run));
    let drawn = DrawnDisks::of(claims, run, &drawn);
    let platforms = Platforms::join(claims, run, &further);
    let checked = Evidence::of(claims, run, Basis::Run);
    let by_platform = Evidence::of(claims, &platforms.joined, Basis::Platforms);
    let others = further
        .iter()
        .map(|other| Evidence::of(claims, other.run, Basis::Run));
    let others: Vec<Evidence<'_>> = others.collect();
    let todays = Evidence::of(claims, run, Basis::Run).with_todays_defaults();
    let verdicts = claims.claims.iter().map(|claim| {
        if let Some(across) = platforms_of(claim, &checked, &by_platform) {
            let judgement = judge(claim, &by_platform, &others);
            return verdict(claim, &by_platform, judgement, &across);
        }
        if let Some(aged) = run_with_aged(claim, &checked, &others) {
            let mut judgement = judge(claim, aged, &others);
            let scale = aged.run.header.plan.scale;
            let remark = format!("by the run with aged file systems, at scale {scale}");
            judgement.remarks.push(remark);
            return verdict(claim, aged, judgement, &[]);
        }
        if claim.platforms.is_empty() {
            let mut judgement = judge(claim, &checked, &others);
            drawn.qualify(&mut judgement, |on_drawn| judge(claim, on_drawn, &others));
            let with_todays = has_both_defaults(claim, &checked)
                .then(|| judge(claim, &todays, &others).outcome)
                .filter(|outcome| *outcome != judgement.outcome);
            if let Some(outcome) = with_todays {
                let outcome = outcome.as_str();
                let remark = format!("with today's mount defaults: {outcome}");
                judgement.remarks.push(remark);
            }
            return ClaimVerdict {
                with_todays_defaults: with_todays,
                ..verdict(claim, &checked, judgement, &[])
            };
        }
        let judgement = match platforms.ensure_all(claim) {
            Ok(()) => judge(claim, &by_platform, &others),
            Err(gap) => Judgement::missing(gap),
        };
        verdict(claim, &by_platform, judgement, &claim.platforms)
    });
    Scorecard {
        study: claims.study.clone(),
        run: run.header.run.to_string(),
        verdicts: verdicts.collect(),
    }
}

/// Evaluates each claim of `original` on the figures that it printed itself, on whatever platforms
/// it measured them.
pub fn evaluate_original(original: &Original) -> Scorecard {
    let printed = PrintedRun::of(original);
    let evidence = Evidence::printed(&original.claims, &printed);
    let claims = original.claims.claims.iter();
    Scorecard {
        study: original.claims.study.clone(),
        run: printed.record.header.run.to_string(),
        verdicts: claims
            .map(|claim| {
                let judgement = judge(claim, &evidence, &[]);
                verdict(claim, &evidence, judgement, &claim.platforms)
            })
            .collect(),
    }
}

/// The platforms whose runs together decide a claim that names none: the checked run lacks one of
/// its subjects and a stand-in for it, and `joined` has all of them. `None` if the checked run
/// decides it.
fn platforms_of(
    claim: &Claim,
    checked: &Evidence<'_>,
    joined: &Evidence<'_>,
) -> Option<Vec<String>> {
    let known = &checked.claims.platforms;
    let kind = &claim.holds.kind;
    let mut names: BTreeSet<&str> = kind.subjects().into_iter().collect();
    if kind.compares_all() {
        names.extend(known.keys().map(String::as_str));
    }
    let is_across = claim.platforms.is_empty()
        && names.iter().any(|name| checked.member(name).is_err())
        && names.iter().all(|name| joined.member(name).is_ok());
    let platforms = names.iter().filter_map(|name| known.get(*name));
    let platforms: BTreeSet<&String> = platforms.collect();
    is_across.then(|| platforms.into_iter().cloned().collect())
}

/// The further run that decides a claim about aged file systems, of which the checked one has none.
fn run_with_aged<'e, 'r>(
    claim: &Claim,
    checked: &Evidence<'_>,
    others: &'e [Evidence<'r>],
) -> Option<&'e Evidence<'r>> {
    let phases = claim.holds.kind.phases();
    let is_about_aged = phases.iter().any(|phase| phase.starts_with(kinds::AGED));
    if !is_about_aged || checked.has_aged() {
        return None;
    }
    others.iter().find(|other| other.has_aged())
}

/// The verdict; `platforms` are those whose runs decided it, if it is about several.
fn verdict(
    claim: &Claim,
    evidence: &Evidence<'_>,
    mut judgement: Judgement,
    platforms: &[String],
) -> ClaimVerdict {
    let is_deviation = matches!(
        claim.holds.score,
        Score::Deviation(_) | Score::RelativeDeviation(_)
    );
    // A claim that was not measured has a reason instead.
    let is_measured = judgement.outcome.is_measured();
    if let Some(runs) = evidence
        .run
        .perturbed_runs()
        .filter(|_| is_deviation && is_measured)
    {
        let label = format!("over {runs} perturbed runs in virtual time");
        judgement.remarks.push(label);
    }
    if is_measured && !platforms.is_empty() && !evidence.is_printed() {
        let remark = format!("by runs on {}", platforms.join(", "));
        judgement.remarks.push(remark);
    }
    let ranges = evidence.ranges(&claim.holds.condition).ok();
    let ranges = ranges.filter(|_| is_measured);
    let memory = ranges.and_then(|ranges| from_memory(claim, evidence, &ranges));
    judgement.remarks.extend(memory);
    let stand_ins = stand_ins(claim, evidence);
    ClaimVerdict {
        id: claim.id.clone(),
        text: claim.text.clone(),
        source: claim.source.clone(),
        kind: claim.holds.kind.as_str(),
        required: claim.required,
        contradicted: claim.contradicted,
        platforms: platforms.to_vec(),
        outcome: judgement.outcome,
        sentence: sentence(claim, &judgement, &stand_ins),
        stand_ins,
        with_todays_defaults: None,
        findings: judgement.findings,
    }
}

fn judge<'r>(claim: &Claim, evidence: &Evidence<'r>, others: &[Evidence<'r>]) -> Judgement {
    let venue = evidence.run.header.plan.venue.kind();
    if let Some(venues) = claim
        .venues
        .as_ref()
        .filter(|venues| !venues.contains(&venue) && !evidence.is_printed())
    {
        let names: Vec<_> = venues.iter().map(|venue| venue.as_str()).collect();
        let names = names.join(", ");
        let venue = venue.as_str();
        return Judgement::missing(format!(
            "it needs one of the venues {names}, and this is '{venue}'"
        ));
    }
    if let Some(gap) = evidence.lacks_processors(claim) {
        return Judgement::missing(gap);
    }
    let ranges = match evidence.ranges(&claim.holds.condition) {
        Ok(ranges) => ranges,
        Err(gap) => return Judgement::missing(gap),
    };
    let case = Case {
        evidence,
        others,
        claim,
        ranges,
    };
    match &claim.holds.kind {
        ClaimKind::Faster {
            phases,
            subjects,
            than,
            limits,
        } => kinds::faster(&case, phases, (subjects, than), *limits),
        ClaimKind::Best(among) => kinds::extreme(&case, among, true),
        ClaimKind::Worst(among) => kinds::extreme(&case, among, false),
        ClaimKind::Order { phases, subjects } => kinds::order(&case, phases, subjects),
        ClaimKind::Phases {
            pair,
            subjects,
            limits,
        } => kinds::phases(&case, pair, subjects, *limits),
        ClaimKind::Gain {
            pair,
            against,
            subjects,
            limits,
        } => kinds::gain(&case, [pair, against], subjects, *limits),
        ClaimKind::Trend { .. } => kinds::trend(&case),
        ClaimKind::Value { .. } => kinds::value(&case),
        ClaimKind::Sequence {
            phase,
            subjects,
            values,
        } => kinds::sequence(&case, phase, subjects, values),
        ClaimKind::Wins { .. } => kinds::wins(&case),
        ClaimKind::Rank {
            phases,
            subjects,
            among,
            at_most,
        } => kinds::rank(&case, phases, (subjects, among), *at_most),
        ClaimKind::Spread { .. } => kinds::spread(&case),
        ClaimKind::Fails { phase, subjects } => kinds::fails(&case, phase, subjects),
    }
}

/// Whether the claim is about a subject that the run has with the mount defaults of the original's
/// kernel and with today's.
fn has_both_defaults(claim: &Claim, evidence: &Evidence<'_>) -> bool {
    let kind = &claim.holds.kind;
    let named = kind.subjects();
    let is_meant = |name: &&String| kind.compares_all() || named.contains(&name.as_str());
    let mut meant = evidence.claims.then.keys().filter(is_meant);
    meant.any(|name| evidence.defaults(name).is_some())
}

/// The subjects of the claim for which the run has a stand-in.
fn stand_ins(claim: &Claim, evidence: &Evidence<'_>) -> Vec<StandIn> {
    let mut stand_ins: Vec<StandIn> = Vec::new();
    for name in claim.holds.kind.subjects() {
        let Ok(Member {
            label,
            stands_for: Some(original),
            ..
        }) = evidence.member(name)
        else {
            continue;
        };
        if !stand_ins.iter().any(|known| known.original == original) {
            stand_ins.push(StandIn {
                original,
                measured: label,
            });
        }
    }
    stand_ins
}

impl ClaimKind {
    /// The subjects of the claim, by the original's names.
    pub fn subjects(&self) -> Vec<&str> {
        let lists: Vec<&[String]> = match self {
            Self::Faster { subjects, than, .. } => vec![subjects, than],
            Self::Best(among) | Self::Worst(among) => {
                vec![&among.subjects, among.among.as_deref().unwrap_or_default()]
            }
            Self::Order { subjects, .. }
            | Self::Phases { subjects, .. }
            | Self::Gain { subjects, .. }
            | Self::Value { subjects, .. }
            | Self::Sequence { subjects, .. }
            | Self::Fails { subjects, .. } => vec![subjects],
            Self::Trend {
                subjects,
                relative_to,
                ..
            } => vec![subjects, relative_to],
            Self::Rank {
                subjects, among, ..
            } => vec![subjects, among],
            Self::Wins { subject, among, .. } => vec![
                std::slice::from_ref(subject),
                among.as_deref().unwrap_or_default(),
            ],
            Self::Spread { groups, .. } => groups.iter().map(Vec::as_slice).collect(),
        };
        lists.into_iter().flatten().map(String::as_str).collect()
    }

    /// Whether it compares with all subjects that were measured, without naming them.
    pub fn compares_all(&self) -> bool {
        match self {
            Self::Best(among) | Self::Worst(among) => among.among.is_none(),
            Self::Wins { among, .. } => among.is_none(),
            _ => false,
        }
    }

    /// The dimension of a trend.
    pub fn over(&self) -> Option<&String> {
        match self {
            Self::Trend { over, .. } => Some(over),
            _ => None,
        }
    }

    pub fn phases(&self) -> Vec<&str> {
        fn of(phases: &[String]) -> Vec<&str> {
            phases.iter().map(String::as_str).collect()
        }
        match self {
            Self::Faster { phases, .. }
            | Self::Order { phases, .. }
            | Self::Trend { phases, .. }
            | Self::Value { phases, .. }
            | Self::Wins { phases, .. }
            | Self::Rank { phases, .. }
            | Self::Spread { phases, .. } => of(phases),
            Self::Best(among) | Self::Worst(among) => of(&among.phases),
            Self::Phases { pair, .. } => vec![&pair.phase, &pair.than],
            Self::Gain { pair, against, .. } => {
                vec![&pair.phase, &pair.than, &against.phase, &against.than]
            }
            Self::Sequence { phase, .. } | Self::Fails { phase, .. } => vec![phase],
        }
    }
}
