//! Everything that was measured.

use crate::counting::{Count, Counter};
use crate::series::Series;
use crate::work::{Amounts, Figure, Work};

/// A contender's commands for a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Who.
    pub(crate) contender: &'static str,
    /// The row.
    pub(crate) work: Work,
    /// As they would be typed.
    pub(crate) lines: Vec<String>,
}

/// The options that a contender was given since they make it faster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Who.
    pub(crate) contender: &'static str,
    /// The row.
    pub(crate) work: Work,
    /// The options, in words of the program.
    pub(crate) options: &'static str,
}

/// Everything that was measured, and with what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    /// Facts about the machine, a name and a value each.
    pub(crate) machine: Vec<(String, String)>,
    /// The contenders and their versions, or why they did not take part.
    pub(crate) versions: Vec<(&'static str, Result<String, String>)>,
    /// The rows.
    pub(crate) works: Vec<Work>,
    /// How much was done.
    pub(crate) amounts: Option<Amounts>,
    /// Rounds that count.
    pub(crate) rounds: u32,
    /// Whether the amounts were too small to mean anything.
    pub(crate) quick: bool,
    /// The rates.
    pub(crate) series: Vec<Series>,
    /// Instructions and system calls.
    pub(crate) counts: Vec<Count>,
    /// What was run.
    pub(crate) commands: Vec<Commands>,
    /// The best settings.
    pub(crate) settings: Vec<Setting>,
    /// What a reader must know: remarks on contenders, failures, what was not measured.
    pub(crate) remarks: Vec<String>,
}

impl Results {
    /// Whether a contender takes part: its program has a version.
    pub(crate) fn takes_part(&self, contender: &str) -> bool {
        let is_there = |it: &(&str, Result<String, String>)| it.0 == contender && it.1.is_ok();
        self.versions.iter().any(is_there)
    }

    /// The options that a contender was given in a row since they make it faster; empty if its
    /// defaults are best.
    pub(crate) fn setting(&self, work: Work, contender: &str) -> &'static str {
        self.settings
            .iter()
            .find(|it| (it.work, it.contender) == (work, contender))
            .map_or("", |it| it.options)
    }

    /// The same figure of another contender.
    pub(crate) fn beside(&self, series: &Series, contender: &str) -> Option<&Series> {
        self.same_figure(series)
            .into_iter()
            .find(|other| other.contender == contender)
    }

    /// The same figure of every contender that is neither fslab nor the loop in C.
    pub(crate) fn peers(&self, series: &Series) -> Vec<&Series> {
        let is_peer = |other: &&Series| !matches!(other.contender, "fslab" | "C");
        self.same_figure(series)
            .into_iter()
            .filter(is_peer)
            .collect()
    }

    fn same_figure(&self, series: &Series) -> Vec<&Series> {
        let key = |it: &Series| (it.place, it.work, it.figure);
        self.series
            .iter()
            .filter(|other| key(other) == key(series))
            .collect()
    }

    /// What was counted per operation; `None` where it was not.
    pub(crate) fn count(
        &self,
        work: Work,
        figure: Figure,
        contender: &str,
        counter: Counter,
    ) -> Option<f64> {
        self.counts
            .iter()
            .find(|it| {
                (it.work, it.figure, it.contender, it.counter) == (work, figure, contender, counter)
            })
            .map(|it| it.per_operation)
    }
}
