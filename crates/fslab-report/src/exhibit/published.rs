//! Published figures of the original that were also measured here.

use fslab_claims::{Original, PublishedRow};
use fslab_model::definitions::{ELAPSED, TOTAL};
use fslab_model::{MetricDefinition, Subject, Unit};

/// Names of published metrics that correspond to rates and to times.
const RATES: [&str; 2] = ["rate", "operations"];
const TIMES: [&str; 2] = ["mean", "elapsed"];

/// The published figures; empty without an original.
pub(super) struct PublishedFigures<'a> {
    pub(super) original: Option<&'a Original>,
}

impl PublishedFigures<'_> {
    /// The published figure of a phase in the unit used here. The original may have separate times
    /// of the run, the unmount and their total.
    pub(super) fn value(
        &self,
        subject: &Subject,
        phase: &str,
        metric: &MetricDefinition,
    ) -> Option<f64> {
        let original = self.original?;
        let names: &[&str] = match metric.unit {
            Unit::BytesPerSecond | Unit::OperationsPerSecond => &RATES,
            Unit::Nanoseconds => &TIMES,
            _ => return None,
        };
        let part = |row: &PublishedRow| match (row.part.as_deref(), metric.name) {
            (Some("total"), name) => name == TOTAL.name,
            (Some("run"), name) => name == ELAPSED.name,
            (part, name) => part.is_none() && name != TOTAL.name,
        };
        let theirs = self.names_of(subject);
        let is_ours = |row: &&PublishedRow| {
            row.phase == phase
                && part(row)
                && row.metric.as_deref().is_some_and(|m| names.contains(&m))
                && row.subject.as_deref().is_some_and(|s| theirs.contains(&s))
        };
        let mut rows = original.published.rows.iter().filter(is_ours);
        rows.find_map(PublishedRow::in_base_unit)
    }

    /// The original's names of a subject: its file system, or the one that it stands in for.
    fn names_of<'s>(&'s self, subject: &'s Subject) -> Vec<&'s str> {
        let stand_ins = self.original.into_iter().flat_map(|o| &o.claims.stand_in);
        let mut names: Vec<&str> = stand_ins
            .filter(|(_, ours)| *ours == subject.fs())
            .map(|(theirs, _)| theirs.as_str())
            .collect();
        names.push(subject.fs());
        names
    }

    /// Published figures scaled so that the original's best subject equals its value here, because
    /// only ratios of two machines are comparable. `pairs` are published and measured figures, one
    /// pair per subject.
    pub(super) fn scaled(
        pairs: &[(Option<f64>, Option<f64>)],
        less_is_better: bool,
    ) -> Vec<Option<f64>> {
        let both = pairs
            .iter()
            .filter_map(|(then, now)| Some((((*then)?), ((*now)?))));
        let both = both.filter(|(then, now)| *then > 0.0 && *now > 0.0);
        let sign = if less_is_better { -1.0 } else { 1.0 };
        let best = both.max_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)));
        let Some((then_best, now_best)) = best else {
            return vec![None; pairs.len()];
        };
        let place = |(then, _): &(Option<f64>, Option<f64>)| Some((*then)? / then_best * now_best);
        pairs.iter().map(place).collect()
    }
}

/// The note on the marks of published figures.
pub(super) const NOTE: &str = "The upright marks are the published figures, all multiplied by one \
    factor for each group of bars, so that the best of the original is as fast as it is here: \
    ratios of two machines compare, rates do not.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_the_original_lies_where_it_was_measured_and_the_others_in_proportion() {
        let pairs = [
            (Some(50.0), Some(900.0)),
            (Some(100.0), Some(1000.0)),
            (None, Some(5.0)),
            (Some(25.0), None),
        ];
        let more = PublishedFigures::scaled(&pairs, false);
        assert_eq!(more, [Some(500.0), Some(1000.0), None, Some(250.0)]);
        let less = PublishedFigures::scaled(&pairs, true);
        assert_eq!(less, [Some(900.0), Some(1800.0), None, Some(450.0)]);
        assert_eq!(
            PublishedFigures::scaled(&[(None, Some(1.0))], false),
            [None]
        );
    }
}
