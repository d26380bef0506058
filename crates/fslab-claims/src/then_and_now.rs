//! An original's figures beside a run's.
//!
//! Absolute figures of two machines are not comparable: each is shown relative to the same subject
//! on its side, and the two orders of the subjects are compared.
//!
//! Two machines differ by a factor before the file systems do: the best single factor between an
//! original's figures and a run's is computed, and the subjects that do not follow it. The factor
//! and all distances from it are on logarithms; a figure that has none is left out, with its
//! reason.

use fslab_model::{Better, RunRecord};
use fslab_stats::{RankCorrelation, Summary, quantile, rank_correlation};
use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{Basis, Evidence, Member, Ranges};
use crate::missing::MissingReason;
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

/// The median absolute deviation of normal values times this is their standard deviation.
const MAD_SCALE: f64 = 1.4826;
/// Scaled median absolute deviations from the median beyond which a subject stands out.
const DEVIATIONS_MAX: f64 = 3.0;
/// A shorter time is none: in virtual time only the disk takes time, and no disk answers sooner.
const TIME_LEAST_NS: f64 = 1000.0;
/// A subject within this factor of the median never stands out.
const FACTOR_LEAST: f64 = 2.0;

/// The factor between then and now, over the subjects that have both figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OneFactor {
    /// The geometric mean of `now` / `then`.
    pub factor: f64,
    /// The number of subjects.
    pub n: usize,
    /// The agreement of the orders of these subjects.
    pub agreement: Option<Agreement>,
    /// Half of the residuals are within this factor of the median residual.
    pub spread: f64,
    /// A residual farther than this factor from the median residual is an outlier.
    pub limit: f64,
    /// The outliers, the farthest first.
    pub outliers: Vec<FactorOutlier>,
}

/// A subject far from the factor.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FactorOutlier {
    /// The subject, by the original's name.
    pub subject: String,
    /// `now` over the factor times `then`.
    pub residual: f64,
}

/// A subject without a logarithm on one of the sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The subject, by the original's name.
    pub subject: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a figure is left out of the factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// The run does not have it; the row's `gap` says why.
    NotMeasured,
    /// The time, or that of the rate, is too short to be measured.
    NoTime,
    /// It is 0 in the run.
    Zero,
    /// The original printed 0.
    PrintedZero,
}

impl LeftOutReason {
    pub const ALL: [Self; 4] = [
        Self::NotMeasured,
        Self::NoTime,
        Self::Zero,
        Self::PrintedZero,
    ];

    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotMeasured => "not measured",
            Self::NoTime => "without measurable time",
            Self::Zero => "0 in this run",
            Self::PrintedZero => "0 in the original",
        }
    }
}

/// Sets the factor of a group, the residuals of its rows, and what is left out.
///
/// The factor is that of least squares on logarithms, which is the geometric mean of the ratios. An
/// outlier's residual is farther from the median residual than three scaled median absolute
/// deviations (Hampel, "The influence curve and its role in robust estimation", Journal of the
/// American Statistical Association 69, 1974; three: Leys and others, "Detecting outliers", Journal
/// of Experimental Social Psychology 49, 2013), and than a factor of 2, since nearly equal ratios
/// have deviations near 0.
pub(crate) fn fit(group: &mut ThenAndNowGroup) {
    let mut points: Vec<(usize, f64, f64)> = Vec::new();
    for (index, row) in group.rows.iter().enumerate() {
        match figures(row, group.quantity) {
            Ok((then, now)) => points.push((index, then, now)),
            Err(reason) => group.left_out.push(LeftOut {
                subject: row.subject.clone(),
                reason,
            }),
        }
    }
    let logs = points.iter().map(|(_, then, now)| now.ln() - then.ln());
    let logs: Vec<f64> = logs.collect();
    let Some((median, deviation)) = median_and_deviation(&logs) else {
        return;
    };
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let limit = (DEVIATIONS_MAX * MAD_SCALE * deviation).max(FACTOR_LEAST.ln());
    let mut outliers = Vec::new();
    for ((index, ..), log) in points.iter().zip(&logs) {
        let (row, residual) = (&mut group.rows[*index], (log - mean).exp());
        row.residual = Some(residual);
        if (log - median).abs() > limit {
            let subject = row.subject.clone();
            outliers.push(((log - median).abs(), FactorOutlier { subject, residual }));
        }
    }
    outliers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (then, now): (Vec<f64>, Vec<f64>) = points.iter().map(|(_, t, n)| (*t, *n)).unzip();
    group.one_factor = Some(OneFactor {
        factor: mean.exp(),
        n: points.len(),
        agreement: rank_correlation(&then, &now).map(Agreement::from),
        spread: deviation.exp(),
        limit: limit.exp(),
        outliers: outliers.into_iter().map(|(_, outlier)| outlier).collect(),
    });
}

/// The two figures of a row, both above 0.
fn figures(row: &ThenAndNowRow, quantity: Quantity) -> Result<(f64, f64), LeftOutReason> {
    let now = row.now.ok_or(LeftOutReason::NotMeasured)?;
    // An infinite rate is of a phase that took no time.
    if !now.is_finite() || quantity == Quantity::Time && now < TIME_LEAST_NS {
        return Err(LeftOutReason::NoTime);
    }
    if now <= 0.0 {
        return Err(LeftOutReason::Zero);
    }
    match row.then > 0.0 {
        true => Ok((row.then, now)),
        false => Err(LeftOutReason::PrintedZero),
    }
}

fn median_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    let median = quantile(values, 0.5)?;
    let away: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    Some((median, quantile(&away, 0.5)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(quantity: Quantity, pairs: &[(f64, Option<f64>)]) -> ThenAndNowGroup {
        let rows = pairs.iter().enumerate().map(|(index, (then, now))| {
            let subject = char::from(b'a' + u8::try_from(index).expect("few"));
            ThenAndNowRow {
                subject: subject.to_string(),
                measured_as: None,
                printed: String::new(),
                unit: None,
                then: *then,
                now: *now,
                then_ratio: None,
                now_ratio: None,
                residual: None,
                gap: None,
            }
        });
        let mut group = ThenAndNowGroup {
            table: "t".into(),
            phase: "p".into(),
            metric: "m".into(),
            part: None,
            quantity,
            reference: None,
            rows: rows.collect(),
            agreement: None,
            one_factor: None,
            left_out: Vec::new(),
        };
        fit(&mut group);
        group
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{found}, and not {expected}"
        );
    }

    #[test]
    fn the_factor_is_the_geometric_mean_of_the_ratios() {
        // The ratios are 2, 4 and 8: their mean is 4, and the medians of 1/2, 1, 2 are 1 and 2.
        let group = group(
            Quantity::Rate,
            &[(10.0, Some(20.0)), (100.0, Some(400.0)), (1.0, Some(8.0))],
        );
        let found = group.one_factor.as_ref().expect("three points");
        close(found.factor, 4.0);
        close(found.spread, 2.0);
        close(found.limit, 2_f64.powf(3.0 * 1.4826));
        assert_eq!((found.n, found.outliers.len()), (3, 0));
        let residuals = group.rows.iter().map(|row| row.residual.expect("a point"));
        for (residual, expected) in residuals.zip([0.5, 1.0, 2.0]) {
            close(residual, expected);
        }
        // then: c, a, b; now: c, a, b.
        close(found.agreement.expect("three points").rho, 1.0);
    }

    #[test]
    fn an_outlier_is_beyond_three_scaled_deviations_and_beyond_a_factor_of_two() {
        // Logarithms to base 2 of the ratios: 0, 0, 1, 1, 2 and x. The median is 1 and the median
        // absolute deviation 1: the limit is 4.4478 from 1.
        let with = |log: f64| {
            let pairs = [0.0, 0.0, 1.0, 1.0, 2.0, log].map(|log| (1.0, Some(log.exp2())));
            group(Quantity::Rate, &pairs).one_factor.expect("points")
        };
        assert!(with(5.44).outliers.is_empty());
        let found = with(5.46);
        assert_eq!(found.outliers.len(), 1);
        assert_eq!(found.outliers[0].subject, "f");
        // The mean of the six is 9.46 / 6.
        close(found.outliers[0].residual, (5.46_f64 - 9.46 / 6.0).exp2());
        // Equal ratios have no deviation, and a subject within a factor of two is no outlier.
        let equal = |last: f64| {
            let mut pairs = [(3.0, Some(3.0)); 8];
            pairs[7].1 = Some(3.0 * last);
            group(Quantity::Rate, &pairs).one_factor.expect("points")
        };
        assert!(equal(1.99).outliers.is_empty() && equal(0.51).outliers.is_empty());
        assert_eq!(equal(2.01).outliers[0].subject, "h");
        assert_eq!(equal(0.49).outliers[0].subject, "h");
    }

    #[test]
    fn the_farthest_outlier_is_the_first() {
        let mut pairs = [(1.0, Some(1.0)); 9];
        (pairs[2].1, pairs[5].1) = (Some(8.0), Some(0.01));
        let found = group(Quantity::Rate, &pairs).one_factor.expect("points");
        let names: Vec<&str> = found.outliers.iter().map(|it| &*it.subject).collect();
        assert_eq!(names, ["f", "c"]);
    }

    #[test]
    fn what_has_no_logarithm_is_left_out_with_its_reason() {
        use LeftOutReason::{NoTime, NotMeasured, PrintedZero, Zero};
        let pairs = [
            (1.0, Some(1000.0)),
            (1.0, None),
            (1.0, Some(f64::INFINITY)),
            (1.0, Some(0.0)),
            (0.0, Some(2000.0)),
        ];
        let reasons = |quantity| -> Vec<LeftOutReason> {
            let group = group(quantity, &pairs);
            assert_eq!(group.one_factor.expect("a point").n, 1);
            group.left_out.iter().map(|it| it.reason).collect()
        };
        assert_eq!(
            reasons(Quantity::Percent),
            [NotMeasured, NoTime, Zero, PrintedZero]
        );
        assert_eq!(
            reasons(Quantity::Time),
            [NotMeasured, NoTime, NoTime, PrintedZero]
        );
        let short = group(Quantity::Time, &[(1.0, Some(999.0))]);
        assert_eq!((short.one_factor, short.left_out[0].reason), (None, NoTime));
        let none = group(Quantity::Rate, &[(1.0, None)]);
        assert_eq!((none.one_factor, none.left_out.len()), (None, 1));
    }
}
