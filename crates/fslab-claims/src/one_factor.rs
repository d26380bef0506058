//! The best single factor between an original's figures and a run's, and the subjects that do not
//! follow it.
//!
//! Two machines differ by a factor before the file systems do. The factor and all distances from it
//! are on logarithms; a figure that has none is left out, with its reason.

use fslab_stats::{quantile, rank_correlation};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Quantity;
use crate::then_and_now::{Agreement, ThenAndNowGroup, ThenAndNowRow};

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
