//! An original's figures beside a run's.
//!
//! Absolute figures of two machines are not comparable: each is shown relative to the same subject
//! on its side, and the two orders of the subjects are compared.

use fslab_model::{Better, RunRecord};
use fslab_stats::{RankCorrelation, Summary, rank_correlation};
use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{Basis, Evidence, Member, Ranges};
use crate::missing::MissingReason;
use crate::one_factor::{LeftOut, OneFactor, fit};
use crate::published::score_of;
use crate::ratio::Selection;
use crate::{Original, PublishedRow, Quantity, Score};

/// One subject's figure, then and now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThenAndNowRow {
    /// The subject, by the original's name.
    pub subject: String,
    /// The subject of the run; `None` if the run lacks it.
    pub measured_as: Option<String>,
    /// The figure as the original printed it, without its unit.
    pub printed: String,
    /// The original's unit.
    pub unit: Option<String>,
    /// The original's figure in nanoseconds, per second, or percent.
    pub then: f64,
    /// The run's, likewise; `None` if it was not measured. Infinite if the phase took no time,
    /// which is null in JSON.
    pub now: Option<f64>,
    /// `then`, relative to the reference's.
    pub then_ratio: Option<f64>,
    /// `now`, relative to the reference's.
    pub now_ratio: Option<f64>,
    /// `now` over the group's factor times `then`: 1 on the diagonal. `None` if the row is left out
    /// of the factor.
    pub residual: Option<f64>,
    /// Why there is no `now`.
    pub gap: Option<String>,
}

/// The agreement of two orders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Agreement {
    /// Spearman's rank correlation.
    pub rho: f64,
    /// The number of subjects.
    pub n: usize,
    /// The share of random orders whose correlation is as far from 0.
    pub p_value: Option<f64>,
    /// The 95 % interval.
    pub interval: Option<[f64; 2]>,
}

impl From<RankCorrelation> for Agreement {
    fn from(found: RankCorrelation) -> Self {
        Self {
            rho: found.rho,
            n: found.n,
            p_value: found.p_value,
            interval: found.interval.map(|ends| [ends.low, ends.high]),
        }
    }
}

/// One figure of one phase, over all subjects.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThenAndNowGroup {
    /// The original's table: the place of the first row, without the row.
    pub table: String,
    /// The phase.
    pub phase: String,
    /// The original's name of the figure.
    pub metric: String,
    /// The part of the phase.
    pub part: Option<String>,
    /// The quantity of the figure.
    pub quantity: Quantity,
    /// The original's best subject among those that were measured.
    pub reference: Option<String>,
    /// One row per subject, in the original's order.
    pub rows: Vec<ThenAndNowRow>,
    /// The agreement of the two orders; `None` below two subjects, or if all are equal. A phase
    /// that took no time has the highest rate.
    pub agreement: Option<Agreement>,
    /// The best single factor from `then` to `now`; `None` without a subject that has both.
    pub one_factor: Option<OneFactor>,
    /// The subjects that the factor leaves out.
    pub left_out: Vec<LeftOut>,
}

/// An original's figures beside a run's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThenAndNow {
    /// The study.
    pub study: String,
    /// The run.
    pub run: String,
    /// The scale of the run.
    pub scale: String,
    /// The groups of the phases that both have, in the original's order.
    pub groups: Vec<ThenAndNowGroup>,
}

impl ThenAndNow {
    /// The number of figures that were measured.
    pub fn compared(&self) -> usize {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.filter(|row| row.now.is_some()).count()
    }
}

/// The original's figures with the run's. Phases that the run lacks are left out, and so are
/// percentages of the largest, which repeat other figures.
pub fn then_and_now(original: &Original, run: &RunRecord) -> ThenAndNow {
    let evidence = Evidence::of(&original.claims, run, Basis::Run);
    let mut groups: Vec<ThenAndNowGroup> = Vec::new();
    for row in &original.published.rows {
        let Some((metric, score)) = counterpart(row) else {
            continue;
        };
        let (Some(subject), Some(then)) = (&row.subject, row.in_base_unit()) else {
            continue;
        };
        // The mean over all subjects has no counterpart.
        if !evidence.has_phase(&row.phase) || subject == "mean" {
            continue;
        }
        let index = groups.iter().position(|group| {
            group.phase == row.phase && group.metric == metric && group.part == row.part
        });
        let index = index.unwrap_or_else(|| {
            groups.push(group_of(row, metric, score));
            groups.len() - 1
        });
        let rows = &mut groups[index].rows;
        // The original's text may repeat a table: the first row counts.
        if !rows.iter().any(|known| known.subject == *subject) {
            rows.push(row_of(&evidence, row, (subject, then), score));
        }
    }
    for group in &mut groups {
        let better = score_of(&group.metric, group.part.as_deref());
        finish(group, better.map_or(Better::Lower, Score::better));
    }
    ThenAndNow {
        study: original.claims.study.clone(),
        run: run.header.run.to_string(),
        scale: run.header.plan.scale.to_string(),
        groups,
    }
}

fn counterpart(row: &PublishedRow) -> Option<(&str, Score)> {
    let metric = row.metric.as_deref()?;
    Some((metric, score_of(metric, row.part.as_deref())?))
}

fn group_of(row: &PublishedRow, metric: &str, score: Score) -> ThenAndNowGroup {
    ThenAndNowGroup {
        table: table_of(&row.place).to_owned(),
        phase: row.phase.clone(),
        metric: metric.to_owned(),
        part: row.part.clone(),
        quantity: score.measure().into(),
        reference: None,
        rows: Vec::new(),
        agreement: None,
        one_factor: None,
        left_out: Vec::new(),
    }
}

/// The table of a place: `table of compilation, row make` is in the table of compilation.
fn table_of(place: &str) -> &str {
    place.split(',').next().unwrap_or(place).trim()
}

fn row_of(
    evidence: &Evidence<'_>,
    row: &PublishedRow,
    (subject, then): (&str, f64),
    score: Score,
) -> ThenAndNowRow {
    let member = evidence.member(subject);
    let now = match &member {
        Ok(member) => measured(evidence, member, &row.phase, score),
        Err(gap) => Err(gap.clone()),
    };
    ThenAndNowRow {
        subject: subject.to_owned(),
        measured_as: member.ok().map(|member| member.label),
        printed: row.printed.clone(),
        unit: row.unit.clone(),
        then,
        now: now.as_ref().ok().copied(),
        then_ratio: None,
        now_ratio: None,
        residual: None,
        gap: now.err().map(MissingReason::into_text),
    }
}

/// The figure of a phase: the mean over the points, then over the repeats.
fn measured(
    evidence: &Evidence<'_>,
    member: &Member,
    phase: &str,
    score: Score,
) -> Result<f64, MissingReason> {
    let phases = [phase.to_owned()];
    let ranges = Ranges::new();
    if matches!(score, Score::Deviation(_)) {
        let selection = Selection {
            phases: &phases,
            ranges: &ranges,
            score,
        };
        let sample = evidence.sample(member, selection)?;
        let sd = Summary::of(&sample).and_then(|summary| summary.sd);
        return sd.ok_or_else(|| "a deviation needs two repeats".into());
    }
    let repeats = evidence.figures(member, &phases, &ranges, score)?;
    let of_repeat = |repeat: &crate::evidence::RepeatFigures<'_>| {
        let sum: f64 = repeat.figures.values().map(|figure| figure.value).sum();
        sum / repeat.figures.len() as f64
    };
    Ok(repeats.iter().map(of_repeat).sum::<f64>() / repeats.len() as f64)
}

/// Sets the reference, the ratios to it, the agreement of the orders, and the factor.
fn finish(group: &mut ThenAndNowGroup, better: Better) {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    let both = |row: &&ThenAndNowRow| usable(row.then) && row.now.is_some_and(usable);
    let candidates = group.rows.iter().filter(both);
    let best = match better {
        Better::Higher => candidates.max_by(|a, b| a.then.total_cmp(&b.then)),
        Better::Lower | Better::Neither => candidates.min_by(|a, b| a.then.total_cmp(&b.then)),
    };
    let reference = best.map(|row| (row.subject.clone(), row.then, row.now));
    if let Some((subject, then, now)) = reference {
        for row in &mut group.rows {
            row.then_ratio = Some(row.then / then);
            row.now_ratio = row.now.zip(now).map(|(value, now)| value / now);
        }
        group.reference = Some(subject);
    }
    let pairs: Vec<(f64, f64)> = group
        .rows
        .iter()
        .filter_map(|row| Some((row.then, row.now?)))
        .collect();
    let (then, now): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    group.agreement = rank_correlation(&then, &now).map(Agreement::from);
    fit(group);
}
