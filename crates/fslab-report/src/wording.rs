//! Wording of figures and names, shared by sentences, tables and charts.

use fslab_compare::{Comparison, EXACT_TOLERANCE, Standing};
use fslab_model::{Bytes, MetricDefinition, Rate, Rounds, SubjectPlan, Unit, format_ns};
use fslab_stats::{Interval, Verdict};

pub use fslab_compare::wording::{heading, list, percent, phase};

/// An interval with a larger ratio of its ends says nothing: digits would look like knowledge.
const KNOWN_RATIO: f64 = 10.0;
/// The text for such an interval.
const UNKNOWN: &str = "unknown";

/// The text for a missing figure.
pub(crate) const NOTHING: &str = "–";

/// The verb of a workload, for sentences such as "ext4 reads at random 1.2 times as fast as XFS".
const VERBS: [(&str, &str); 15] = [
    ("append", "appends with fsync"),
    ("chmod", "changes modes"),
    ("create", "creates files"),
    ("list", "lists directories"),
    ("random-read", "reads at random"),
    ("random-write", "writes at random"),
    ("read", "reads sequentially"),
    ("read-files", "reads small files"),
    ("reread", "rereads"),
    ("rewrite", "rewrites"),
    ("stat", "looks up attributes"),
    ("strided-read", "reads in strides"),
    ("unlink", "removes files"),
    ("write", "writes sequentially"),
    ("write-files", "writes small files"),
];

/// The subject's name in a sentence; complete if it has options or stages.
pub fn name(planned: &SubjectPlan) -> String {
    let title = planned.title.clone().filter(|_| planned.subject.is_plain());
    title.unwrap_or_else(|| planned.subject.to_string())
}

/// The verb of `workload`, if it has one.
pub(crate) fn verb(workload: &str) -> Option<&'static str> {
    let workload = workload.strip_prefix("seq-").unwrap_or(workload);
    VERBS
        .iter()
        .find(|(known, _)| *known == workload)
        .map(|(_, verb)| *verb)
}

/// "1 trial", "3 trials".
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number as f64))
}

/// A ratio to about three digits: `0.012`, `0.83`, `1.21`, `12.3`, `1,234`.
pub fn ratio(value: f64) -> String {
    let size = value.abs();
    if size >= 99.95 {
        thousands(value)
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.0995 || size == 0.0 {
        format!("{value:.2}")
    } else if size >= 0.000_95 {
        format!("{value:.4}")
    } else {
        format!("{value:.1e}")
    }
}

/// A sensitivity as "± 6.1 %".
pub fn sensitivity(share: f64) -> String {
    match share < fslab_stats::RESOLUTION {
        true => "< 0.1 %".to_owned(),
        false => format!("± {}", percent(share)),
    }
}

/// A share as a setting: "5 %", "2.5 %".
pub fn share(share: f64) -> String {
    percent(share).replace(".0 %", " %")
}

/// The rounds of a trial: "2 mounts of each file system, 3 iterations in each".
pub fn rounds(rounds: Rounds) -> String {
    let Rounds { mounts, iterations } = rounds;
    format!(
        "{} of each file system, {} in each",
        count(mounts as usize, "mount"),
        count(iterations as usize, "iteration")
    )
}

/// True if the ends of an interval are within a factor of 10.
pub fn is_known(interval: Interval) -> bool {
    interval.high / interval.low < KNOWN_RATIO
}

/// "1.12 to 1.31"; "unknown" for an interval wider than a factor of 10.
pub fn ratio_interval(interval: Interval) -> String {
    if !is_known(interval) {
        return UNKNOWN.to_owned();
    }
    format!("{} to {}", ratio(interval.low), ratio(interval.high))
}

/// "faster", "the same within 5 %".
pub fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Faster => "faster".to_owned(),
        Verdict::Slower => "slower".to_owned(),
        Verdict::Same { within } => format!("the same within {}", share(within)),
        Verdict::Undecided => "undecided".to_owned(),
    }
}

/// A subject's verdict against the best: "fastest", "best, not alone", "slower". `None` without a
/// figure of the subject.
pub fn verdict_on(comparison: &Comparison, subject: usize) -> Option<String> {
    let best = comparison.best?;
    let entry = comparison.entries.get(subject)?;
    entry.to_best?;
    Some(match entry.standing {
        Standing::Winner => "fastest".to_owned(),
        _ if subject == best => "best, not alone".to_owned(),
        Standing::Same if comparison.exact => verdict(Verdict::Same {
            within: EXACT_TOLERANCE,
        }),
        _ => verdict(comparison.verdict(subject, best)),
    })
}

/// A p-value to two digits: `0.43`, `0.012`, `< 0.0001`.
pub fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "< 0.0001".to_owned()
    } else if p < 0.001 {
        format!("{p:.4}")
    } else if p < 0.0995 {
        format!("{p:.3}")
    } else {
        format!("{p:.2}")
    }
}

/// A ratio as a difference: "12.3 % above", "4.0 % below".
pub fn away(times: f64) -> String {
    match times >= 1.0 {
        true => format!("{} above", percent(times - 1.0)),
        false => format!("{} below", percent(1.0 - times)),
    }
}

/// An integer with commas; a very large one as a power of ten.
pub(crate) fn thousands(value: f64) -> String {
    if !value.is_finite() || value.abs() >= 1e15 {
        return format!("{value:.2e}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 {
        text.insert(0, '-');
    }
    text
}

/// A figure with its unit.
pub fn figure(metric: &MetricDefinition, value: f64) -> String {
    match metric.unit {
        Unit::BytesPerSecond => Rate::Bytes(value).to_string(),
        Unit::OperationsPerSecond => Rate::Operations(value).to_string(),
        Unit::Nanoseconds => format_ns(value),
        // Medians of bytes may be half-way between two; a cast saturates.
        Unit::Bytes => Bytes(value.round() as u64).to_string(),
        Unit::Count => thousands(value),
        Unit::Ratio => ratio(value),
    }
}

/// An interval of figures, with one unit if both ends have the same: `400–431 MB/s`.
pub fn figure_interval(metric: &MetricDefinition, interval: Interval) -> String {
    let (low, high) = (figure(metric, interval.low), figure(metric, interval.high));
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, low_unit)), Some((_, high_unit))) if low_unit == high_unit => {
            format!("{number}–{high}")
        }
        _ => format!("{low}–{high}"),
    }
}

/// A command line, quoted for a shell.
pub(crate) fn command_line(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions::{DEVICE_WRITES, LATENCY_P99, THROUGHPUT};

    use super::*;

    #[test]
    fn a_verdict_on_the_best_says_whether_it_is_alone_and_exact_figures_have_their_own_tolerance() {
        let verdicts = |comparison: &Comparison| -> Vec<String> {
            let subjects = 0..comparison.entries.len();
            let each = subjects.filter_map(|subject| verdict_on(comparison, subject));
            each.collect()
        };
        let exact = vec![vec![100.0], vec![99.5], vec![50.0]];
        let exact = Comparison::timed(&THROUGHPUT, exact, true);
        assert_eq!(
            verdicts(&exact),
            ["best, not alone", "the same within 1 %", "slower"]
        );
        let measured = vec![vec![100.0, 101.0, 99.0], vec![10.0, 10.1, 9.9], vec![]];
        let measured = Comparison::timed(&THROUGHPUT, measured, false);
        assert_eq!(verdicts(&measured), ["fastest", "slower"]);
    }

    #[test]
    fn ratios_and_counts_are_readable_at_every_size() {
        let ratios = [0.0, 0.000_01, 0.0123, 0.83, 1.2134, 12.34, 1234.0].map(ratio);
        assert_eq!(
            ratios,
            ["0.00", "1.0e-5", "0.0123", "0.83", "1.21", "12.3", "1,234"]
        );
        let intervals = [(0.9, 1.3), (2e-8, 4.0), (0.2, 1.9)];
        let intervals = intervals.map(|(low, high)| ratio_interval(Interval { low, high }));
        assert_eq!(intervals, ["0.90 to 1.30", "unknown", "0.20 to 1.90"]);
        let shares = [0.0, 0.000_1, 0.123_4, 0.999_9, 1.0].map(percent);
        assert_eq!(shares, ["0 %", "< 0.1 %", "12.3 %", "100 %", "100 %"]);
        let counts = [0.0, 999.0, 1_000.0, 1_234_567.0, -1_000.0, 1e18].map(thousands);
        assert_eq!(
            counts,
            ["0", "999", "1,000", "1,234,567", "-1,000", "1.00e18"]
        );
    }

    #[test]
    fn p_values_and_differences_are_readable_at_every_size() {
        let p_values = [1.0, 0.43, 0.0995, 0.0123, 0.00057, 0.00001, 0.0].map(p_value);
        assert_eq!(
            p_values,
            [
                "1.00", "0.43", "0.10", "0.012", "0.0006", "< 0.0001", "< 0.0001"
            ]
        );
        assert_eq!(
            [1.25, 0.9, 1.0].map(away),
            ["25.0 % above", "10.0 % below", "0 % above"]
        );
        assert_eq!(
            verdict(Verdict::Same { within: 0.05 }),
            "the same within 5 %"
        );
    }

    #[test]
    fn an_interval_names_its_unit_once_where_it_can() {
        let close = Interval {
            low: 400e6,
            high: 431e6,
        };
        assert_eq!(figure_interval(&THROUGHPUT, close), "400–431 MB/s");
        let wide = Interval {
            low: 9e5,
            high: 2e6,
        };
        assert_eq!(figure_interval(&LATENCY_P99, wide), "900 µs–2.00 ms");
        assert_eq!(figure(&DEVICE_WRITES, 12_345.0), "12,345");
    }

    #[test]
    fn names_are_those_of_their_makers_and_options_stay() {
        let planned = |text: &str, title: Option<&str>| SubjectPlan {
            title: title.map(str::to_owned),
            ..SubjectPlan::existing(text.parse().expect("a subject"))
        };
        assert_eq!(name(&planned("xfs", Some("XFS"))), "XFS");
        assert_eq!(name(&planned("hammer", None)), "hammer");
        for text in ["xfs:mkfs=-m reflink=0", "xfs:age=churn"] {
            assert_eq!(name(&planned(text, Some("XFS"))), text);
        }
    }

    #[test]
    fn lists_and_headings_read_as_english() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(list(&words[..1]), "a");
        assert_eq!(heading("random-read-4k"), "Random read 4k");
        assert_eq!(count(1, "trial"), "1 trial");
    }

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let words = ["mkfs", "-L", "it's", "", "a b"].map(str::to_owned);
        assert_eq!(command_line(&words), r"mkfs -L 'it'\''s' '' 'a b'");
    }
}
