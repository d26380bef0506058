//! Claims that compare subjects: `faster`, `best`, `worst`, `order`, `wins`.

use crate::evidence::Member;
use crate::findings::{all_must_hold, decisive};
use crate::judgement::{Case, Judgement};
use crate::missing::MissingReason;
use crate::ratio::{Ratio, Selection};
use crate::{Among, ClaimKind, ClaimOutcome, Finding, Limits, Position, Quantity, Score};

impl Case<'_, '_> {
    pub(crate) fn selection<'q>(&'q self, phases: &'q [String]) -> Selection<'q> {
        Selection {
            phases,
            ranges: &self.ranges,
            score: self.claim.holds.score,
        }
    }

    /// The ratio of two subjects.
    fn ratio(&self, phases: &[String], a: &Member, b: &Member) -> Result<Ratio, MissingReason> {
        self.evidence.compare(a, b, self.selection(phases))
    }

    /// The ratio of two subjects as a finding.
    fn finding(
        &self,
        prefix: &str,
        phases: &[String],
        [a, b]: [&Member; 2],
        limits: Limits,
    ) -> Finding {
        let ratio = self.ratio(phases, a, b);
        Finding::of_ratio(prefix, [&a.label, &b.label], ratio, limits)
    }

    fn pair(&self, phases: &[String], a: &str, b: &str, limits: Limits) -> Finding {
        let members = self
            .evidence
            .member(a)
            .and_then(|a| Ok((a, self.evidence.member(b)?)));
        match members {
            Err(gap) => Finding::gap(format!("{a} / {b}"), gap, limits),
            Ok((a, b)) => self.finding("", phases, [&a, &b], limits),
        }
    }
}

/// Evaluates `faster`: each of the first list against each of the second.
pub(crate) fn faster(
    case: &Case<'_, '_>,
    phases: &[String],
    (subjects, than): (&[String], &[String]),
    limits: Limits,
) -> Judgement {
    let pairs = subjects
        .iter()
        .flat_map(|a| than.iter().map(move |b| (a, b)));
    Judgement::all(
        pairs
            .map(|(a, b)| case.pair(phases, a, b, limits))
            .collect(),
    )
}

/// Evaluates `order`: `subjects` from the best to the worst.
pub(crate) fn order(case: &Case<'_, '_>, phases: &[String], subjects: &[String]) -> Judgement {
    let limits = Limits::at_least(1.0);
    let pairs = subjects
        .windows(2)
        .map(|two| case.pair(phases, &two[0], &two[1], limits));
    Judgement::all(pairs.collect())
}

/// The subjects that `subjects` are compared with, and why others were left out.
fn others(
    case: &Case<'_, '_>,
    phases: &[String],
    among: Option<&[String]>,
    subjects: &[Member],
) -> Result<(Vec<Member>, Vec<MissingReason>), MissingReason> {
    let all = match among {
        Some(names) => {
            let members = names.iter().map(|name| case.evidence.member(name));
            members.collect::<Result<Vec<_>, _>>()?
        }
        None => case.evidence.fresh_members(),
    };
    let (mut others, mut left_out) = (Vec::new(), Vec::new());
    for member in all {
        if subjects.iter().any(|subject| subject.cell == member.cell) {
            continue;
        }
        match missing_figures(case, phases, &member) {
            Some(gap) => left_out.push(gap),
            None => others.push(member),
        }
    }
    Ok((others, left_out))
}

/// Why there is nothing to compare with.
fn no_rival(left_out: Vec<MissingReason>) -> MissingReason {
    let gap = MissingReason::from("there is no other subject to compare with");
    left_out.into_iter().next().unwrap_or(gap)
}

/// Why the subject has no figure in these phases; `None` if it has one.
fn missing_figures(
    case: &Case<'_, '_>,
    phases: &[String],
    member: &Member,
) -> Option<MissingReason> {
    match case.claim.holds.score {
        // A subject that always failed has a share of failures, too.
        Score::FailedPercent => None,
        score => case
            .evidence
            .figures(member, phases, &case.ranges, score)
            .err(),
    }
}

/// Evaluates `best` and `worst`.
pub(crate) fn extreme(case: &Case<'_, '_>, among: &Among, is_best: bool) -> Judgement {
    let phases = &among.phases;
    let members = among.subjects.iter().map(|name| case.evidence.member(name));
    let subjects: Vec<Member> = match members.collect() {
        Ok(members) => members,
        Err(gap) => return Judgement::missing(gap),
    };
    let (others, left_out) = match others(case, phases, among.among.as_deref(), &subjects) {
        Ok(others) => others,
        Err(gap) => return Judgement::missing(gap),
    };
    let limits = match (is_best, among.within) {
        (true, within) => Limits::at_least(1.0 - within.unwrap_or(0.0)),
        (false, within) => Limits::at_most(1.0 + within.unwrap_or(0.0)),
    };
    // With a distance, each of `subjects` must be near the best of them, too; without one, they
    // need not be ordered among themselves.
    let rivals: Vec<&Member> = match among.within {
        Some(_) => others.iter().chain(&subjects).collect(),
        None => others.iter().collect(),
    };
    let mut findings = Vec::new();
    for subject in &subjects {
        for other in rivals.iter().filter(|other| other.cell != subject.cell) {
            findings.push(case.finding("", phases, [subject, other], limits));
        }
    }
    if findings.is_empty() {
        return Judgement::missing(no_rival(left_out));
    }
    let mut judgement = Judgement::all(findings);
    let left_out = left_out.into_iter().map(MissingReason::into_text);
    let left_out = left_out.map(|gap| format!("left out: {gap}"));
    judgement.remarks.extend(left_out);
    judgement
}

/// Evaluates `rank`: fewer than `at_most` others are ahead of each of `subjects`.
pub(crate) fn rank(
    case: &Case<'_, '_>,
    phases: &[String],
    (subjects, among): (&[String], &[String]),
    at_most: usize,
) -> Judgement {
    let limits = Limits::at_most(at_most as f64);
    let finding = |name: &String| match ranked(case, phases, (name, among)) {
        Err(gap) => Finding::gap(name.clone(), gap, limits),
        Ok((label, ahead, open)) => Finding {
            outcome: match (ahead + 1 > at_most, ahead + open.len() + 1 > at_most) {
                (true, _) => ClaimOutcome::Fails,
                (false, true) => ClaimOutcome::Undecided,
                (false, false) => ClaimOutcome::Holds,
            },
            value: Some((ahead + 1) as f64),
            quantity: Quantity::Number,
            places: 1,
            remark: (!open.is_empty()).then(|| format!("not decided: {}", open.join(", "))),
            ..Finding::gap(format!("{label} among {}", among.len()), "", limits)
        },
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

/// The name of the subject, the number of others certainly ahead of it, and those of which that is
/// not decided.
fn ranked(
    case: &Case<'_, '_>,
    phases: &[String],
    (name, among): (&str, &[String]),
) -> Result<(String, usize, Vec<String>), MissingReason> {
    let subject = case.evidence.member(name)?;
    let others = others(case, phases, Some(among), std::slice::from_ref(&subject))?;
    let (others, left_out) = others;
    if let Some(gap) = left_out.into_iter().next() {
        return Err(gap);
    }
    let (mut ahead, mut open) = (0, Vec::new());
    for other in &others {
        let found = case.finding("", phases, [&subject, other], Limits::at_least(1.0));
        match found.outcome {
            ClaimOutcome::Holds => {}
            ClaimOutcome::Fails => ahead += 1,
            _ => open.push(other.label.clone()),
        }
    }
    Ok((subject.label, ahead, open))
}

/// Evaluates `wins`: first, or last, in at least a number of phases.
pub(crate) fn wins(case: &Case<'_, '_>) -> Judgement {
    let ClaimKind::Wins {
        subject,
        phases,
        among,
        position,
        at_least,
    } = &case.claim.holds.kind
    else {
        return Judgement::missing("it is no claim of wins");
    };
    let subject = match case.evidence.member(subject) {
        Ok(member) => member,
        Err(gap) => return Judgement::missing(gap),
    };
    let findings: Vec<Finding> = phases
        .iter()
        .map(|phase| win(case, phase, &subject, among.as_deref(), *position))
        .collect();
    let count = |outcome| findings.iter().filter(|it| it.outcome == outcome).count();
    let (won, lost) = (count(ClaimOutcome::Holds), count(ClaimOutcome::Fails));
    let open = count(ClaimOutcome::Undecided);
    let outcome = if won >= *at_least {
        ClaimOutcome::Holds
    } else if phases.len() - lost < *at_least {
        ClaimOutcome::Fails
    } else if won + open >= *at_least {
        ClaimOutcome::Undecided
    } else if count(ClaimOutcome::NotApplicable) > 0 {
        ClaimOutcome::NotApplicable
    } else {
        ClaimOutcome::NotMeasured
    };
    let place = match position {
        Position::First => "first",
        Position::Last => "last",
    };
    let remark = format!(
        "{} is {place} in {won} of {} phases, and {at_least} are needed",
        subject.label,
        phases.len()
    );
    Judgement {
        outcome,
        findings,
        remarks: vec![remark],
    }
}

/// Whether `subject` is first, or last, in one phase, with its decisive ratio.
fn win(
    case: &Case<'_, '_>,
    phase: &str,
    subject: &Member,
    among: Option<&[String]>,
    position: Position,
) -> Finding {
    let phases = [phase.to_owned()];
    let limits = match position {
        Position::First => Limits::at_least(1.0),
        Position::Last => Limits::at_most(1.0),
    };
    let others = others(case, &phases, among, std::slice::from_ref(subject));
    let (others, left_out) = match others {
        Ok(others) => others,
        Err(gap) => return Finding::gap(format!("{phase}: {}", subject.label), gap, limits),
    };
    if others.is_empty() {
        let what = format!("{phase}: {}", subject.label);
        return Finding::gap(what, no_rival(left_out), limits);
    }
    let prefix = format!("{phase}: ");
    let ratio = |other: &Member| case.finding(&prefix, &phases, [subject, other], limits);
    let ratios: Vec<Finding> = others.iter().map(ratio).collect();
    let outcome = all_must_hold(&ratios);
    let mut finding = decisive(&ratios, outcome)
        .cloned()
        .unwrap_or_else(|| Finding::gap(phase.to_owned(), "there is no other subject", limits));
    if finding.remark.is_none() && !left_out.is_empty() {
        let left_out = left_out.into_iter().map(MissingReason::into_text);
        let left_out: Vec<String> = left_out.collect();
        finding.remark = Some(format!("left out: {}", left_out.join("; ")));
    }
    finding
}
