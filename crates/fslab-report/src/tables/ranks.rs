//! How evenly the ranks of a load worked: when they started, and the slowest.

use std::collections::BTreeMap;

use fslab_model::{PhaseRecord, definitions, format_ns};

use super::cells::subject_cell;
use crate::{Column, Table, TableCell, wording};
use fslab_compare::{Analysis, PhaseAnalysis};

/// The fact with the machine of each rank.
const HOSTS_FACT: &str = "ranks.hosts";

/// A row for each phase and subject; `None` for a run of one rank.
pub fn ranks(analysis: &Analysis) -> Option<Table> {
    let count = analysis.run.header.plan.ranks as usize;
    if count < 2 {
        return None;
    }
    let trials = analysis.run.trials.iter();
    let hosts = trials
        .filter_map(|trial| trial.facts.get(HOSTS_FACT))
        .next();
    let hosts: Vec<&str> = hosts.map(|it| it.split(' ').collect()).unwrap_or_default();
    let mut rows = Vec::new();
    for phase in analysis.phases.iter().flat_map(PhaseAnalysis::points) {
        for ((index, subject), cell) in analysis.subjects().enumerate().zip(&phase.cells) {
            let records: Vec<&PhaseRecord> = cell.done().collect();
            let Some(slowest) = slowest(&records, count) else {
                continue;
            };
            let skew_ns = skews_ns(&records).fold(0.0, f64::max);
            let host = hosts
                .get(slowest.rank)
                .map_or(String::new(), |host| format!(" on {host}"));
            rows.push(vec![
                subject_cell(index, subject),
                TableCell::new(wording::phase(phase.name)),
                TableCell::new(format_ns(skew_ns)),
                TableCell::new(format!("{:.0} %", slowest.first_done_share * 100.0)),
                TableCell::new(format!("rank {}{host}", slowest.rank)),
                TableCell::new(format!("{:.2}", slowest.by_median)),
            ]);
        }
    }
    (!rows.is_empty()).then(|| Table {
        caption: format!("{count} ranks"),
        columns: vec![
            Column::left("Subject"),
            Column::left("Phase"),
            Column::right("Starts apart, at most"),
            Column::right("First done after"),
            Column::left("Slowest"),
            Column::right("Its time, by the median rank's"),
        ],
        rows,
        notes: vec![
            "First done: when the first rank was done, as a share of the phase. The slowest is that \
             with the longest mean time over the repeats."
                .to_owned(),
        ],
    })
}

fn skews_ns<'a>(records: &'a [&PhaseRecord]) -> impl Iterator<Item = f64> + 'a {
    let skew = |it: &&PhaseRecord| it.figures.get(definitions::START_SKEW.name).copied();
    records.iter().filter_map(skew)
}

/// The slowest rank of a phase.
#[derive(Debug, PartialEq)]
struct Slowest {
    rank: usize,
    /// Its mean time per that of the median rank.
    by_median: f64,
    /// Mean time until the first was done, per time of the phase.
    first_done_share: f64,
}

/// `None` if no repeat has the times of its ranks.
fn slowest(records: &[&PhaseRecord], ranks: usize) -> Option<Slowest> {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    let (mut shares, mut repeats) = (0.0, 0.0);
    for record in records {
        let threads = record.threads.len() / ranks;
        let (elapsed_ns, first_done_ns) = record.elapsed_ns.zip(record.first_done_ns)?;
        if threads == 0 || elapsed_ns == 0 {
            return None;
        }
        for (rank, of_rank) in record.threads.chunks(threads).enumerate() {
            let longest = of_rank.iter().map(|thread| thread.elapsed_ns).max();
            *sums.entry(rank).or_default() += longest.unwrap_or(0) as f64;
        }
        shares += first_done_ns as f64 / elapsed_ns as f64;
        repeats += 1.0;
    }
    let (rank, longest) = sums.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
    let mut times: Vec<f64> = sums.values().copied().collect();
    times.sort_by(f64::total_cmp);
    let median = times[(times.len() - 1) / 2];
    Some(Slowest {
        rank: *rank,
        by_median: longest / median,
        first_done_share: shares / repeats,
    })
}

#[cfg(test)]
mod tests {
    use fslab_model::{Parameters, PhaseKind, PhaseOutcome, PhaseSpec, ThreadRecord};

    use super::*;

    fn record(times_ns: &[u64]) -> PhaseRecord {
        let spec = PhaseSpec::new("write", "write", Parameters::new());
        let thread = |elapsed_ns: &u64| ThreadRecord {
            elapsed_ns: *elapsed_ns,
            operations: 1,
            bytes: 1,
            latencies: Vec::new(),
            cpu: None,
        };
        let headline = fslab_model::Headline::Throughput;
        PhaseRecord {
            elapsed_ns: times_ns.iter().copied().max(),
            first_done_ns: times_ns.iter().copied().min(),
            threads: times_ns.iter().map(thread).collect(),
            ..PhaseRecord::empty(&spec, PhaseKind::Write, headline, PhaseOutcome::Done)
        }
    }

    #[test]
    fn the_slowest_rank_is_that_of_the_longest_thread_over_all_repeats() {
        // Two threads a rank.
        let (one, other) = (
            record(&[10, 10, 10, 40, 10, 20]),
            record(&[10, 10, 10, 40, 10, 100]),
        );
        let found = slowest(&[&one, &other], 3).expect("has threads");
        assert_eq!((found.rank, found.by_median), (2, 1.5));
        let share = (10.0 / 40.0 + 10.0 / 100.0) / 2.0;
        assert!((found.first_done_share - share).abs() < 1e-9);
        assert_eq!(
            slowest(&[&record(&[])], 3),
            None,
            "the times of ranks are not known"
        );
    }
}
