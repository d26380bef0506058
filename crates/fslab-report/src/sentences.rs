//! The summary of a run: sentences, the important ones first, each supported by intervals.

use std::collections::BTreeMap;
use std::fmt;

use fslab_model::TrialOutcome;
use fslab_stats::Estimate;

use crate::tables;
use crate::wording::{count, list, name, phase, ratio, ratio_interval, verb};
use fslab_compare::{Analysis, Comparison, FirstPlace, PhaseAnalysis, Standing};

/// The predicate of subjects of which nothing is decided.
const UNDECIDED: &str = "are undecided";
/// Most wins with a sentence; the table has them all.
const WINS_MAX: usize = 5;
/// Most subjects with a sentence on trailing.
const TRAILERS_MAX: usize = 3;
/// Most groups of phases without a winner with a sentence.
const NO_WINNER_MAX: usize = 4;
/// Most subjects named in a list; the others are counted.
const NAMES_MAX: usize = 5;

/// The kind of a sentence in the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentenceKind {
    /// How much of the run completed.
    Outcome,
    /// The scores of the study.
    Score,
    /// The number of wins.
    Tally,
    /// A difference that is certain.
    Claim,
    /// Subjects that are the same, or undecided.
    NoWinner,
    /// A caveat of the figures.
    Caveat,
}

/// One sentence of the summary, with its full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub kind: SentenceKind,
    pub text: String,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The summary of a run.
pub fn sentences(analysis: &Analysis) -> Vec<Sentence> {
    let writer = SummaryWriter {
        names: analysis.run.header.plan.subjects.iter().map(name).collect(),
        analysis,
    };
    let mut sentences = vec![writer.outcome()];
    if analysis.run.trials.is_empty() {
        return sentences;
    }
    sentences.extend(writer.score());
    sentences.extend(writer.tally());
    sentences.extend(writer.overall());
    sentences.extend(writer.wins());
    sentences.extend(writer.trailers());
    sentences.extend(writer.durable());
    sentences.extend(writer.no_winners());
    sentences.extend(writer.caveats());
    sentences
}

/// The sentence on one phase, for its part of the report; `None` if there is nothing to compare.
pub(crate) fn on_phase(analysis: &Analysis, phase: &PhaseAnalysis) -> Option<Sentence> {
    let writer = SummaryWriter {
        names: analysis.run.header.plan.subjects.iter().map(name).collect(),
        analysis,
    };
    let comparison = phase.comparison.as_ref()?;
    if !phase.is_disk_bound() {
        let mut text = "The disk worked for less than half of this phase".to_owned();
        if let FirstPlace::Winner(least) = phase.disk_time().first_place() {
            text += &format!("; {} needs least disk time", writer.names[least]);
        }
        return Some(sentence(SentenceKind::Caveat, text + "."));
    }
    if let Some(win) = Win::of(phase, comparison) {
        return Some(writer.win(&win));
    }
    let behind: Vec<usize> = comparison.with(Standing::Behind).collect();
    let (first, predicate) = without_winner(comparison)?;
    let mut text = format!("{} {predicate}", writer.names_of(&first));
    if !behind.is_empty() {
        text += &format!("; {} behind", are(&writer.names_of(&behind), behind.len()));
    }
    text.push('.');
    Some(sentence(SentenceKind::NoWinner, text))
}

fn sentence(kind: SentenceKind, text: String) -> Sentence {
    Sentence { kind, text }
}

fn are(names: &str, count: usize) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{names} {verb}")
}

/// The first subjects of a comparison without a winner, and their predicate.
fn without_winner(comparison: &Comparison) -> Option<(Vec<usize>, String)> {
    match comparison.first_place() {
        FirstPlace::Same(subjects) => {
            let tolerance = match comparison.exact {
                true => fslab_compare::EXACT_TOLERANCE,
                false => fslab_compare::TOLERANCE,
            };
            let percent = tolerance * 100.0;
            Some((subjects, format!("are the same within {percent:.0} %")))
        }
        FirstPlace::Undecided(subjects) => Some((subjects, UNDECIDED.to_owned())),
        FirstPlace::Winner(_) | FirstPlace::TooFew | FirstPlace::Nothing => None,
    }
}

/// "1.21 times as fast as ext4 (95 % interval 1.12 to 1.31)".
fn times(speed: Estimate, other: &str) -> String {
    let interval = speed
        .interval
        .map(|interval| format!(" (95 % interval {})", ratio_interval(interval)))
        .unwrap_or_default();
    format!("{} times as fast as {other}{interval}", ratio(speed.value))
}

/// A phase with a winner.
struct Win<'a> {
    phase: &'a PhaseAnalysis<'a>,
    winner: usize,
    /// The second, and the winner's speed relative to it.
    second: (usize, Estimate),
    /// The slowest, if another one.
    last: Option<(usize, Estimate)>,
}

impl<'a> Win<'a> {
    fn of(phase: &'a PhaseAnalysis<'a>, comparison: &Comparison) -> Option<Self> {
        let winner = comparison.winner()?;
        let order = comparison.order();
        let against = |subject: usize| Some((subject, comparison.speed(winner, subject)?));
        let second = against(*order.get(1)?)?;
        let last = order.get(2..).and_then(<[usize]>::last);
        Some(Self {
            phase,
            winner,
            second,
            last: last.and_then(|last| against(*last)),
        })
    }
}

struct SummaryWriter<'a> {
    analysis: &'a Analysis<'a>,
    names: Vec<String>,
}

impl SummaryWriter<'_> {
    fn outcome(&self) -> Sentence {
        let (run, kind) = (self.analysis.run, SentenceKind::Outcome);
        let (planned, done, recorded) = (run.trials_planned(), run.trials_done(), run.trials.len());
        if recorded == 0 {
            return sentence(kind, "No trial of this run has a record yet.".to_owned());
        }
        let mut text = if done == planned {
            match done {
                1 => "The only trial ran to the end".to_owned(),
                _ => format!("All {} ran to the end", count(done, "trial")),
            }
        } else {
            format!("{done} of {} ran to the end", count(planned, "trial"))
        };
        let failed: Vec<_> = run
            .trials
            .iter()
            .filter_map(|trial| match &trial.outcome {
                TrialOutcome::Failed { failure } => Some((trial, failure)),
                TrialOutcome::Done => None,
            })
            .collect();
        match failed.as_slice() {
            [] => {}
            [(trial, failure), more @ ..] => {
                let name = self.names.get(trial.trial.cell.0 as usize);
                let subject = name.map_or_else(|| trial.subject.to_string(), Clone::clone);
                let repeat = trial.trial.repeat + 1;
                let reason = failure.to_string();
                let reason = reason.trim_end_matches('.');
                match more.len() {
                    0 => text += &format!("; {subject} failed in repeat {repeat}: {reason}"),
                    more => {
                        text += &format!(
                            "; {} failed, first {subject} in repeat {repeat}: {reason}",
                            more + 1
                        );
                    }
                }
            }
        }
        let missing = planned.saturating_sub(recorded);
        if missing > 0 {
            text += &format!("; {missing} not run yet");
        }
        text.push('.');
        sentence(kind, text)
    }

    /// The phases that are decided or may be: those with intervals, and bound by the disk.
    fn compared(&self) -> impl Iterator<Item = (&PhaseAnalysis<'_>, &Comparison)> {
        self.analysis
            .phases
            .iter()
            .filter_map(|phase| Some((phase, phase.comparison.as_ref()?)))
            .filter(|(_, comparison)| comparison.has_intervals())
            .filter(|(_, comparison)| comparison.order().len() > 1)
            .filter(|(phase, _)| phase.is_disk_bound())
    }

    /// "IO500 score: 3.457 for ext4 and 2.103 for XFS."
    fn score(&self) -> Option<Sentence> {
        let score = self.analysis.score.as_ref()?;
        let entries = self.names.iter().zip(&score.comparison.entries);
        let scores = entries.filter_map(|(name, entry)| {
            let value = tables::digits(entry.mean()?);
            Some(format!("{value} for {name}"))
        });
        let scores: Vec<String> = scores.collect();
        if scores.is_empty() {
            return None;
        }
        let mut text = format!("{}: {}.", score.spec.name, list(&scores));
        if let Some(reason) = tables::not_comparable(self.analysis, score) {
            text += " ";
            text += &reason;
        }
        Some(sentence(SentenceKind::Score, text))
    }

    fn tally(&self) -> Option<Sentence> {
        let phases = self.compared().count();
        if phases < 2 {
            return None;
        }
        let mut wins = vec![0_usize; self.names.len()];
        self.compared()
            .filter_map(|(_, comparison)| comparison.winner())
            .for_each(|winner| wins[winner] += 1);
        let mut order: Vec<usize> = (0..wins.len()).filter(|s| wins[*s] > 0).collect();
        order.sort_by_key(|subject| std::cmp::Reverse(wins[*subject]));
        let text = if order.is_empty() {
            format!("In none of {phases} phases is one subject fastest with certainty")
        } else {
            let score = |(place, subject): (usize, &usize)| {
                let of = if place == 0 {
                    format!(" of {phases} phases")
                } else {
                    String::new()
                };
                format!("{} in {}{of}", self.names[*subject], wins[*subject])
            };
            let scores: Vec<String> = order.iter().enumerate().map(score).collect();
            format!("Fastest with certainty: {}", list(&scores))
        };
        let is_same = |(_, comparison): &(&PhaseAnalysis, &Comparison)| {
            matches!(comparison.first_place(), FirstPlace::Same(_))
        };
        let same = self.compared().filter(is_same).count();
        let undecided = phases - wins.iter().sum::<usize>() - same;
        let parts: Vec<String> = [("the same", same), ("undecided", undecided)]
            .iter()
            .filter(|(_, number)| *number > 0)
            .map(|(word, number)| format!("{word} in {number}"))
            .collect();
        let rest = match parts.is_empty() {
            true => String::new(),
            false => format!("; {}", parts.join(", ")),
        };
        let text = format!("{text}{rest}.");
        Some(sentence(SentenceKind::Tally, text))
    }

    /// The geometric mean over phases: the winner, or the first subjects.
    fn overall(&self) -> Option<Sentence> {
        let overall = self.analysis.overall.as_ref()?;
        let comparison = Some(&overall.comparison).filter(|it| it.has_intervals())?;
        let order = comparison.order();
        let (second, last) = (*order.get(1)?, *order.last()?);
        let over = format!(
            "Over {} (geometric mean)",
            count(overall.phases.len(), "phase")
        );
        let text = match (comparison.winner(), without_winner(comparison)) {
            (Some(winner), _) => {
                let ahead = |other: usize| {
                    let speed = comparison.speed(winner, other)?;
                    Some(times(speed, &self.names[other]))
                };
                let mut text = format!("{over}, {} is {}", self.names[winner], ahead(second)?);
                if last != second {
                    text += &format!(" and {}", ahead(last)?);
                }
                text
            }
            (None, Some((first, predicate))) => {
                format!("{over}, {} {predicate}", self.names_of(&first))
            }
            (None, None) => return None,
        };
        Some(sentence(SentenceKind::Tally, text + "."))
    }

    fn wins(&self) -> Vec<Sentence> {
        let mut wins: Vec<Win> = self
            .compared()
            .filter_map(|(phase, comparison)| Win::of(phase, comparison))
            .collect();
        wins.sort_by(|a, b| b.second.1.value.total_cmp(&a.second.1.value));
        wins.iter()
            .take(WINS_MAX)
            .map(|win| self.win(win))
            .collect()
    }

    /// "XFS writes sequentially 1.21 times as fast as ext4 (95 % interval 1.12 to 1.31)."
    fn win(&self, win: &Win) -> Sentence {
        let (second, speed) = win.second;
        let mut text = format!(
            "{} {}",
            self.doing(win.phase, win.winner),
            times(speed, &self.names[second])
        );
        if let Some((last, speed)) = win.last {
            text += &format!(" and {}", times(speed, &self.names[last]));
        }
        text.push('.');
        sentence(SentenceKind::Claim, text)
    }

    /// "XFS writes sequentially", or "In odd phase, XFS is" if the workload has no verb or several
    /// phases share it.
    fn doing(&self, of: &PhaseAnalysis, subject: usize) -> String {
        let twins = |other: &&PhaseAnalysis| other.workload == of.workload;
        let alone = self.analysis.phases.iter().filter(twins).count() == 1;
        match verb(of.workload).filter(|_| alone) {
            Some(verb) => format!("{} {verb}", self.names[subject]),
            None => format!("In {}, {} is", phase(of.name), self.names[subject]),
        }
    }

    /// Subjects that trail in phases without a winner, which the wins do not mention.
    fn trailers(&self) -> Vec<Sentence> {
        let mut trailing: Vec<(f64, Sentence)> = (0..self.names.len())
            .filter_map(|subject| {
                let mut behind: Vec<(&PhaseAnalysis, usize, Estimate)> = self
                    .compared()
                    .filter(|(_, c)| c.winner().is_none())
                    .filter(|(_, c)| c.entries[subject].standing == Standing::Behind)
                    .filter_map(|(p, c)| Some((p, c.best?, c.entries[subject].to_best?)))
                    .collect();
                behind.sort_by(|a, b| a.2.value.total_cmp(&b.2.value));
                let (worst, best, speed) = behind.first()?;
                let most = if behind.len() > 1 { "most in" } else { "in" };
                let text = format!(
                    "{} trails in {} without a winner, {most} {}: {}.",
                    self.names[subject],
                    count(behind.len(), "phase"),
                    phase(worst.name),
                    times(*speed, &self.names[*best])
                );
                Some((speed.value, sentence(SentenceKind::Claim, text)))
            })
            .collect();
        trailing.sort_by(|a, b| a.0.total_cmp(&b.0));
        trailing
            .into_iter()
            .take(TRAILERS_MAX)
            .map(|(_, sentence)| sentence)
            .collect()
    }

    /// The comparison of writes with sync and unmount included.
    fn durable(&self) -> Option<Sentence> {
        let settled = self.analysis.durable_throughput();
        let (of, comparison, win) = settled.iter().find_map(|(of, comparison)| {
            let winner = comparison.winner()?;
            let second = *comparison.order().get(1)?;
            let speed = comparison.speed(winner, second)?;
            Some((of, comparison, (winner, second, speed)))
        })?;
        let (winner, second, speed) = win;
        let rate = comparison.entries[winner].mean()?;
        let text = format!(
            "Until the data of {} is durable, sync and unmount counted, {} is {}, at {}.",
            phase(of.name),
            self.names[winner],
            times(speed, &self.names[second]),
            crate::wording::figure(comparison.metric, rate)
        );
        Some(sentence(SentenceKind::Claim, text))
    }

    fn no_winners(&self) -> Vec<Sentence> {
        let mut groups: BTreeMap<(Vec<usize>, String), Vec<String>> = BTreeMap::new();
        for (of, comparison) in self.compared() {
            if let Some(group) = without_winner(comparison) {
                groups.entry(group).or_default().push(phase(of.name));
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, phases)| std::cmp::Reverse(phases.len()));
        groups
            .iter()
            .take(NO_WINNER_MAX)
            .map(|((first, predicate), phases)| {
                let is_all = phases.len() > 3 && phases.len() == self.compared().count();
                let places = match is_all {
                    true => format!("each of the {} phases", phases.len()),
                    false => list(phases),
                };
                let text = format!("{} {predicate} in {places}.", self.names_of(first));
                sentence(SentenceKind::NoWinner, text)
            })
            .collect()
    }

    fn caveats(&self) -> Vec<Sentence> {
        let caveats = crate::caveats::caveats(self.analysis, &self.names);
        let caveat = |text| sentence(SentenceKind::Caveat, text);
        caveats.into_iter().map(caveat).collect()
    }

    fn names_of(&self, subjects: &[usize]) -> String {
        let named = if subjects.len() > NAMES_MAX {
            NAMES_MAX - 1
        } else {
            NAMES_MAX
        };
        let names = subjects
            .iter()
            .take(named)
            .map(|subject| self.names[*subject].clone());
        let mut names: Vec<String> = names.collect();
        if subjects.len() > named {
            names.push(format!("{} others", subjects.len() - named));
        }
        list(&names)
    }
}
