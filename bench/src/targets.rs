//! What fslab must reach, and whether it did. A target that could not be measured says so.

use crate::counting::{Count, Counter};
use crate::results::Results;
use crate::series::Series;
use crate::verdict::Judged;
use crate::work::{Figure, Work};

/// User-space instructions per operation at most.
const INSTRUCTIONS_MAX: f64 = 300.0;
/// Rate over that of the loop in C at least.
const RATIO_TO_C_MIN: f64 = 0.97;
/// Part of the rate of reading that verification may cost.
const VERIFICATION_COST_MAX: f64 = 0.10;
/// User time per operation over that of fio at most.
const USER_TIME_TO_FIO_MAX: f64 = 1.0 / 3.0;
/// User time of all runs of fio together at least, for it to be held against anything.
const USER_TIME_MIN_NS: f64 = 200e6;
/// Peak resident memory at most.
const RESIDENT_KIB_MAX: u64 = 32 << 10;
/// Growth of resident memory with fifty times the operations that still counts as constant: the
/// kernel counts resident pages per processor, and rounds.
const RESIDENT_GROWTH_KIB_MAX: u64 = 512;

/// A row of the measurements, and where it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    /// What was done.
    pub(crate) work: Work,
    /// Where; `any` for what does not depend on it.
    pub(crate) place: &'static str,
}

impl Row {
    fn of(series: &Series) -> Self {
        Self {
            work: series.work,
            place: series.place,
        }
    }
}

/// A target of a row.
pub(crate) type JudgedRow = Judged<Row>;

/// Every target of what was measured; none of small amounts, whose figures mean nothing.
pub(crate) fn judge(results: &Results) -> Vec<JudgedRow> {
    let mut judged = Vec::new();
    if results.quick {
        return judged;
    }
    for count in &results.counts {
        judged.extend(instructions(count));
    }
    for series in results.series.iter().filter(|it| it.contender == "fslab") {
        judged.extend(beside_c(results, series));
        judged.extend(ahead_of_peers(results, series));
        judged.extend(verification(results, series));
        judged.extend(user_time(results, series));
    }
    judged.extend(memory(results));
    judged.sort_by_key(|Judged { subject: row, .. }| {
        (row.work as u8, row.place != "any", row.place != "tmpfs")
    });
    judged
}

fn instructions(count: &Count) -> Option<JudgedRow> {
    let single = matches!(
        count.figure,
        Figure::RandomRead | Figure::BackwardRead | Figure::Create | Figure::Stat | Figure::Unlink
    );
    let counted = count.counter == Counter::Instructions && count.contender == "fslab";
    (single && counted).then(|| Judged {
        subject: Row {
            work: count.work,
            place: "any",
        },
        target: format!(
            "{}: at most {INSTRUCTIONS_MAX:.0} user instructions per operation",
            count.figure
        ),
        found: format!("{:.0}", count.per_operation),
        reached: Some(count.per_operation <= INSTRUCTIONS_MAX),
    })
}

fn beside_c(results: &Results, series: &Series) -> Option<JudgedRow> {
    if series.work == Work::Files {
        return None;
    }
    let ratio = series.ratio_to(results.beside(series, "C")?)?;
    Some(Judged {
        subject: Row::of(series),
        target: format!(
            "{}: at least {RATIO_TO_C_MIN} of the loop in C",
            series.figure
        ),
        found: format!("{:.3} ({:.3}..{:.3})", ratio.median, ratio.min, ratio.max),
        reached: Some(ratio.median >= RATIO_TO_C_MIN),
    })
}

/// fslab need not be ahead where fio has a ring too: there the loop in C is the measure.
fn ahead_of_peers(results: &Results, series: &Series) -> Vec<JudgedRow> {
    let must = matches!(
        series.work,
        Work::Pread | Work::Backward | Work::Mmap | Work::Names
    ) || matches!(series.figure, Figure::FilesWrite | Figure::FilesVerified);
    if !must {
        return Vec::new();
    }
    let peers = results.peers(series);
    peers
        .iter()
        .map(|peer| {
            let ratio = series.ratio_to(peer);
            Judged {
                subject: Row::of(series),
                target: format!("{}: ahead of {}", series.figure, peer.contender),
                found: ratio.map_or_else(
                    || format!("{} reported no rate", peer.contender),
                    |it| format!("{:.2} ({:.2}..{:.2})", it.median, it.min, it.max),
                ),
                reached: ratio.map(|ratio| ratio.median > 1.0),
            }
        })
        .collect()
}

fn verification(results: &Results, series: &Series) -> Option<JudgedRow> {
    if series.figure != Figure::FilesVerified {
        return None;
    }
    let plain = results.series.iter().find(|it| {
        (it.place, it.contender, it.figure) == (series.place, "fslab", Figure::FilesRead)
    })?;
    let ratio = series.ratio_to(plain)?;
    let percent = |part: f64| part * 100.0;
    Some(Judged {
        subject: Row::of(series),
        target: format!(
            "verification costs at most {:.0} % of the rate",
            percent(VERIFICATION_COST_MAX)
        ),
        found: format!(
            "{:.1} % ({:.1}..{:.1})",
            percent(1.0 - ratio.median),
            percent(1.0 - ratio.max),
            percent(1.0 - ratio.min)
        ),
        reached: Some(1.0 - ratio.median <= VERIFICATION_COST_MAX),
    })
}

fn user_time(results: &Results, series: &Series) -> Option<JudgedRow> {
    let fio = results.beside(series, "fio")?;
    let (own_ns, fio_ns) = (
        series.user_ns_per_operation()?,
        fio.user_ns_per_operation()?,
    );
    Some(Judged {
        subject: Row::of(series),
        target: format!("{}: user time at most a third of fio's", series.figure),
        found: format!("{own_ns:.0} ns, fio {fio_ns:.0} ns"),
        // Counted in ticks of 4 ms: with few of them nothing can be said.
        reached: (fio.user_ns_beyond_start() >= USER_TIME_MIN_NS)
            .then_some(own_ns <= fio_ns * USER_TIME_TO_FIO_MAX),
    })
}

/// One verdict for each row and place: that of its most demanding figure.
fn memory(results: &Results) -> Vec<JudgedRow> {
    let mut judged: Vec<(JudgedRow, u64)> = Vec::new();
    let own = results.series.iter().filter(|it| it.contender == "fslab");
    for series in own {
        let Some([full, small]) = series.resident_kib() else {
            continue;
        };
        let constant = full <= small + RESIDENT_GROWTH_KIB_MAX;
        let verdict = Judged {
            subject: Row::of(series),
            target: "less than 32 MiB resident, constant".to_owned(),
            found: format!(
                "{:.1} MiB, {:.1} MiB with a fiftieth of the operations",
                full as f64 / 1024.0,
                small as f64 / 1024.0
            ),
            reached: Some(full < RESIDENT_KIB_MAX && constant),
        };
        let demand = if constant { full } else { u64::MAX };
        let same = |it: &&mut (JudgedRow, u64)| it.0.subject == Row::of(series);
        match judged.iter_mut().find(same) {
            Some(known) if known.1 < demand => *known = (verdict, demand),
            Some(_) => {}
            None => judged.push((verdict, demand)),
        }
    }
    judged.into_iter().map(|(judged, _)| judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::series;

    fn judge_series(all: Vec<Series>) -> Vec<(String, Option<bool>)> {
        let results = Results {
            series: all,
            ..Results::default()
        };
        judge(&results)
            .into_iter()
            .map(|it| (it.target, it.reached))
            .collect()
    }

    #[test]
    fn a_rate_is_held_against_c_and_against_every_peer() {
        let figure = Figure::RandomRead;
        let judged = judge_series(vec![
            series("fslab", figure, &[98.0]),
            series("C", figure, &[100.0]),
            series("fio", figure, &[99.0]),
            series("sysbench", figure, &[90.0]),
        ]);
        let of = |words: &str| {
            judged
                .iter()
                .find(|(target, _)| target.contains(words))
                .and_then(|(_, reached)| *reached)
        };
        assert_eq!(of("loop in C"), Some(true));
        assert_eq!(of("ahead of fio"), Some(false));
        assert_eq!(of("ahead of sysbench"), Some(true));
        assert_eq!(of("third of fio"), Some(false));
        assert_eq!(of("32 MiB"), Some(true));
    }

    #[test]
    fn what_a_name_costs_is_held_against_its_target_and_small_amounts_against_nothing() {
        let count = |figure, per_operation| Count {
            contender: "fslab",
            work: Work::Names,
            figure,
            counter: Counter::Instructions,
            per_operation,
        };
        let mut results = Results {
            counts: vec![count(Figure::Stat, 300.0), count(Figure::Unlink, 301.0)],
            ..Results::default()
        };
        let reached: Vec<_> = judge(&results).iter().map(|it| it.reached).collect();
        assert_eq!(reached, [Some(true), Some(false)]);
        results.quick = true;
        assert_eq!(judge(&results), []);
    }

    #[test]
    fn verification_is_held_against_reading() {
        let judged = judge_series(vec![
            series("fslab", Figure::FilesRead, &[100.0]),
            series("fslab", Figure::FilesVerified, &[89.0]),
        ]);
        let verification = judged.iter().find(|(it, _)| it.contains("verification"));
        assert_eq!(verification.map(|(_, reached)| *reached), Some(Some(false)));
    }

    #[test]
    fn a_peer_that_told_no_rate_is_not_behind() {
        let mut silent = series("bonnie++", Figure::RandomRead, &[1.0]);
        silent.samples[0].rate = None;
        let judged = judge_series(vec![series("fslab", Figure::RandomRead, &[98.0]), silent]);
        let ahead = judged.iter().find(|(it, _)| it.contains("bonnie++"));
        assert_eq!(ahead.map(|(_, reached)| *reached), Some(None));
    }
}
