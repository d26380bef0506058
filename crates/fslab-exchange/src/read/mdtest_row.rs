//! The tables of mdtest's summary: what their figures are, their columns, and their rows.
//!
//! A table of times holds seconds of an entire phase in every version, whatever its head calls
//! them: `summarize_results` prints `res->time`, which `updateResult` sets to the end of the phase
//! less its beginning. The head was `time` up to 4.0, `time (in ops/sec)` from 2023 and `time (in
//! ms/op)` from 2024 on.

use fslab_model::definitions::{ELAPSED, OPERATION_RATE};
use fslab_model::{PhaseOutcome, PhaseRecord};

/// The figure of a table of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// Operations a second.
    Rate,
    /// Seconds of the entire phase.
    Time,
}

impl Table {
    /// The table that begins with `line`.
    pub(super) fn of(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("SUMMARY")?;
        let (what, iterations) = rest.split_once(':')?;
        if !iterations.contains("iteration") {
            return None;
        }
        match what.trim() {
            "" | "rate" | "rate (in ops/sec)" => Some(Self::Rate),
            "time" | "time (in ops/sec)" | "time (in ms/op)" => Some(Self::Time),
            _ => None,
        }
    }
}

/// The columns after the operation: `Max`, `Min`, `Mean`, `Std Dev`.
pub(super) struct Columns {
    pub(super) values: Vec<String>,
}

impl Columns {
    /// With `--showRankStatistics` columns of the ranks precede those of the iterations: `per Rank:
    /// Max  Min  Mean  per Iteration: Max  Min  Mean  Std Dev`.
    pub(super) fn of(head: &str) -> Self {
        let head = head
            .replace("Std Dev", "Std-Dev")
            .replace("per Rank:", "per-Rank:")
            .replace("per Iteration:", "per-Iteration:");
        let mut group = "";
        let mut values = Vec::new();
        for word in head.split_whitespace().skip(1) {
            match word {
                "per-Rank:" => group = "rank ",
                "per-Iteration:" => group = "",
                word => values.push(format!("{group}{word}")),
            }
        }
        Self { values }
    }

    /// The operation and its values; `None` if there are too few values.
    pub(super) fn split<'r>(&self, row: &'r str) -> Option<(&'r str, Vec<&'r str>)> {
        let mut rest = row;
        let mut values = Vec::new();
        for _ in &self.values {
            let (front, value) = rest.trim_end().rsplit_once(char::is_whitespace)?;
            let is_value = value.contains(|c: char| c.is_ascii_digit());
            if !is_value && !["NA", "nan", "-nan"].contains(&value) {
                return None;
            }
            values.push(value);
            rest = front;
        }
        values.reverse();
        let title = rest.trim().trim_end_matches(':').trim_end();
        let is_title = title.starts_with(|c: char| c.is_ascii_alphabetic())
            && !title.contains(|c: char| c.is_ascii_digit());
        is_title.then_some((title, values))
    }
}

/// The figures of one row.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) max: Option<f64>,
    pub(super) min: Option<f64>,
    pub(super) mean: Option<f64>,
    deviation: Option<f64>,
}

/// Half of the last digit of a time.
const HALF_MS: f64 = 0.0005;
/// The share of a time that its rounding may be without a note.
const ROUNDING_MAX: f64 = 0.01;

impl Figures {
    pub(super) fn of(columns: &Columns, values: &[Option<f64>]) -> Self {
        let find = |name: &str| {
            let place = columns
                .values
                .iter()
                .position(|column| column.starts_with(name))?;
            values.get(place).copied().flatten()
        };
        Self {
            max: find("Max"),
            min: find("Min"),
            mean: find("Mean"),
            deviation: find("Std"),
        }
    }

    /// A note on the spread of several iterations.
    fn spread(&self, iterations: Option<u64>, unit: &str) -> Option<String> {
        let iterations = iterations.filter(|count| *count > 1)?;
        let (min, max) = self.min.zip(self.max)?;
        let deviation = self
            .deviation
            .map_or_else(String::new, |sd| format!(", standard deviation {sd}"));
        Some(format!(
            "The mean of {iterations} iterations, of which mdtest's summary keeps no more than: \
             smallest {min}, largest {max}{deviation} {unit}."
        ))
    }

    pub(super) fn rate(&self, record: &mut PhaseRecord, iterations: Option<u64>) {
        let Some(mean) = self.mean.filter(|mean| *mean > 0.0) else {
            record.outcome = PhaseOutcome::Skipped {
                reason: "mdtest did not run it".to_owned(),
            };
            return;
        };
        record.outcome = PhaseOutcome::Done;
        record.figures.insert(OPERATION_RATE.name.to_owned(), mean);
        record.notes.extend(self.spread(iterations, "op/s"));
    }

    /// The time of the entire phase, and, without a rate, the rate of `items` in that time.
    pub(super) fn time(
        &self,
        record: &mut PhaseRecord,
        items: Option<u64>,
        iterations: Option<u64>,
    ) {
        let Some(mean) = self.mean.filter(|mean| *mean > 0.0) else {
            if record.outcome != PhaseOutcome::Done {
                record.outcome = PhaseOutcome::Skipped {
                    reason: "mdtest did not run it, or it took less than half a millisecond"
                        .to_owned(),
                };
            }
            return;
        };
        record
            .figures
            .insert(ELAPSED.name.to_owned(), (mean * 1e9).round());
        if record.outcome == PhaseOutcome::Done {
            return;
        }
        record.outcome = PhaseOutcome::Done;
        record.notes.extend(self.spread(iterations, "s"));
        let Some(items) = items else {
            return;
        };
        let rate = items as f64 / mean;
        record.figures.insert(OPERATION_RATE.name.to_owned(), rate);
        let rounding = match HALF_MS > ROUNDING_MAX * mean {
            true => format!(
                ", rounded to a millisecond: between {:.0} and {:.0} op/s",
                items as f64 / (mean + HALF_MS),
                items as f64 / (mean - HALF_MS).max(HALF_MS / 2.0)
            ),
            false => String::new(),
        };
        record.notes.push(format!(
            "The rate is computed: {items} items in the {mean} s that mdtest gives{rounding}."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_whatever_the_head_calls_them() {
        let table = |what: &str| Table::of(&format!("SUMMARY{what}: (of 1 iterations)"));
        for what in ["", " rate", " rate (in ops/sec)"] {
            assert_eq!(table(what), Some(Table::Rate), "{what}");
        }
        for what in [" time", " time (in ops/sec)", " time (in ms/op)"] {
            assert_eq!(table(what), Some(Table::Time), "{what}");
        }
        assert_eq!(table(" latency"), None);
    }
}
