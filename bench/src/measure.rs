//! The rounds of a row: the two that are compared, in the order A B B A where runs are short and
//! A B where they are long, then every peer; the other way around in every second round. The first
//! round warms memory and caches, and is not counted.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::child::{self, Used};
use crate::contenders::{Contender, Programs, Task};
use crate::error::BenchError;
use crate::place::Place;
use crate::series::{Sample, Series};
use crate::work::{Amounts, Figure, Work};

/// A second, smaller run of everything does this part of the work: the difference between the two
/// is free of what a program does once.
const SMALL_PART: u64 = 50;

/// What all rows have in common.
pub(crate) struct Settings {
    /// Rounds that count.
    pub(crate) rounds: u32,
    /// How much is done.
    pub(crate) amounts: Amounts,
    /// Raised when the user interrupts the bench.
    pub(crate) stop: Arc<AtomicBool>,
    /// The compiled reference programs.
    pub(crate) programs: Programs,
}

/// A row in one place.
pub(crate) struct RowMeasured {
    /// What was measured.
    pub(crate) series: Vec<Series>,
    /// Peers that failed, and why.
    pub(crate) failures: Vec<String>,
}

/// Measures `work` in `place`. The first two contenders are those that are compared; `peers` who
/// fail in the first round are left out, and named.
pub(crate) fn measure_row(
    settings: &Settings,
    place: &Place,
    work: Work,
    pair: [&dyn Contender; 2],
    peers: &[&dyn Contender],
) -> Result<RowMeasured, BenchError> {
    let mut row = RowMeasured {
        series: Vec::new(),
        failures: Vec::new(),
    };
    for contender in pair {
        run_once(settings, place, work, contender, settings.amounts)?;
    }
    let mut able = Vec::new();
    for peer in peers {
        match run_once(settings, place, work, *peer, settings.amounts) {
            Ok(results) if results.is_empty() => {}
            Ok(_) => able.push(*peer),
            Err(BenchError::Interrupted) => return Err(BenchError::Interrupted),
            Err(error) => row.failures.push(format!("{}: {error}", peer.name())),
        }
    }
    for round in 0..settings.rounds {
        for contender in order(round, work.is_short(), pair, &able) {
            let results = run_once(settings, place, work, contender, settings.amounts)?;
            for (figure, rate, used) in results {
                let sample = Sample { round, rate, used };
                row.series_of(work, place, contender, figure, settings)
                    .samples
                    .push(sample);
            }
        }
        let everybody = pair.into_iter().chain(able.iter().copied());
        for contender in everybody.filter(|contender| !contender.is_one_process()) {
            let amounts = settings.amounts.divided(SMALL_PART);
            for (figure, _, used) in run_once(settings, place, work, contender, amounts)? {
                let series = row.series_of(work, place, contender, figure, settings);
                series.small.extend(used);
            }
        }
    }
    Ok(row)
}

impl RowMeasured {
    fn series_of(
        &mut self,
        work: Work,
        place: &Place,
        contender: &dyn Contender,
        figure: Figure,
        settings: &Settings,
    ) -> &mut Series {
        let (place, name) = (place.name(), contender.name());
        let known = self
            .series
            .iter()
            .position(|series| series.contender == name && series.figure == figure);
        let index = known.unwrap_or_else(|| {
            self.series.push(Series {
                place,
                work,
                figure,
                contender: name,
                operations: work.operations(&settings.amounts),
                small_operations: work.operations(&settings.amounts.divided(SMALL_PART)),
                samples: Vec::new(),
                small: Vec::new(),
            });
            self.series.len() - 1
        });
        &mut self.series[index]
    }
}

fn order<'a>(
    round: u32,
    mirrored: bool,
    [a, b]: [&'a dyn Contender; 2],
    peers: &[&'a dyn Contender],
) -> Vec<&'a dyn Contender> {
    let forward = round.is_multiple_of(2);
    let mut order = if forward { vec![a, b] } else { vec![b, a] };
    if mirrored {
        order.extend(order.clone().iter().rev());
    }
    if forward {
        order.extend(peers);
    } else {
        order.extend(peers.iter().rev());
    }
    order
}

/// What one run gave for a figure.
type RunFigure = (Figure, Option<f64>, Option<Used>);

fn run_once(
    settings: &Settings,
    place: &Place,
    work: Work,
    contender: &dyn Contender,
    amounts: Amounts,
) -> Result<Vec<RunFigure>, BenchError> {
    if settings.stop.load(Ordering::Relaxed) {
        return Err(BenchError::Interrupted);
    }
    let room = place.room(work)?;
    let memory_bytes = work.memory_bytes(&amounts);
    if memory_bytes > 0 {
        child::run(&settings.programs.touch(memory_bytes), room.path(), &[])?;
    }
    let results = run_in(
        settings,
        place.scratch(),
        room.path(),
        work,
        contender,
        amounts,
    );
    match results {
        // The child of an interrupted bench is interrupted too.
        Err(_) if settings.stop.load(Ordering::Relaxed) => Err(BenchError::Interrupted),
        Err(error) => Err(error),
        Ok(results) => {
            room.clear()?;
            Ok(results)
        }
    }
}

fn run_in(
    settings: &Settings,
    scratch: &Path,
    directory: &Path,
    work: Work,
    contender: &dyn Contender,
    amounts: Amounts,
) -> Result<Vec<RunFigure>, BenchError> {
    let task = Task {
        work,
        amounts,
        directory,
    };
    let mut results = Vec::new();
    for invocation in contender.invocations(&task) {
        let (text, used) =
            child::run_accounted(&invocation, &task.start(), &settings.programs, scratch)?;
        let used = Some(used).filter(|_| !contender.is_one_process());
        let rates = (invocation.read)(&text)?;
        results.extend(rates.into_iter().map(|(figure, rate)| (figure, rate, used)));
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::peers;

    #[test]
    fn the_pair_is_mirrored_within_a_round_of_short_runs_and_rounds_are_mirrored() {
        let names = |round, mirrored| {
            let all = peers(&[], true);
            let [fio, sysbench, bonnie] = [0, 1, 2].map(|index: usize| all[index].as_ref());
            order(round, mirrored, [fio, sysbench], &[bonnie, fio])
                .iter()
                .map(|contender| contender.name())
                .collect::<Vec<_>>()
        };
        let (a, b, c) = ("fio", "sysbench", "bonnie++");
        assert_eq!(names(0, true), [a, b, b, a, c, a]);
        assert_eq!(names(1, true), [b, a, a, b, a, c]);
        assert_eq!(names(1, false), [b, a, a, c]);
    }
}
