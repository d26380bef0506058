//! Comparison of two runs.

use std::collections::BTreeSet;
use std::slice::from_ref;

use crate::certainty::Speed;
use crate::contrast::{Contrast, contrasts, values};
use crate::dimension::{Difference, Dimension, differences, ensure_alike, ensure_comparable};
use crate::meeting::Meetings;
use crate::merge::{PairedRun, SideRanges, merge_pair};
use crate::pairing::{Pair, pairs, subjects};
use crate::{Analysis, EXACT_TOLERANCE, TOLERANCE, answer_in_words, wording};
use fslab_model::{Failure, MetricDefinition, Percent, RunRecord, Subject};
use fslab_stats::{Estimate, Interval, Verdict, benjamini_hochberg, verdict};

/// The largest corrected p-value of a stated difference: of all stated ones, this share is expected
/// to be false.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// What to compare in two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Pairs of subjects of the base and the new run; if empty, those with the same name.
    pub pairs: Vec<(Subject, Subject)>,
    /// Dimensions that may differ in addition to the one studied.
    pub waived: Vec<Dimension>,
    /// Metrics; if empty, the headline of each phase.
    pub metrics: Vec<&'static MetricDefinition>,
    /// The relative difference that does not matter.
    pub tolerance: Percent,
    /// How the phases were made to meet; `None` if they meet by name alone.
    pub meetings: Option<Meetings>,
    /// True if the sides are of two tools: that is the dimension studied, and all others may
    /// differ, since most are known of one side alone. They are named.
    pub across_tools: bool,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            waived: Vec::new(),
            metrics: Vec::new(),
            tolerance: Percent::of_share(TOLERANCE),
            meetings: None,
            across_tools: false,
        }
    }
}

/// A comparison of one run with another, or of several with several.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Names of the base runs.
    pub base: Vec<String>,
    /// Names of the new runs.
    pub new: Vec<String>,
    /// The dimensions in which they differ.
    pub differences: Vec<Difference>,
    /// Phases of one name that are defined differently, with the difference; they are not compared.
    pub others: Vec<(String, String)>,
    /// Subjects that only one side has.
    pub unpaired: Vec<String>,
    /// Requested metrics that neither side has.
    pub unmeasured: Vec<&'static MetricDefinition>,
    /// Every figure that either side has, by subject, phases in the order of the study.
    pub contrasts: Vec<Contrast>,
    /// Each subject over all its phases, if both sides have several.
    pub overall: Vec<Overall>,
    /// The relative difference that does not matter.
    pub tolerance: Percent,
    /// How the phases were made to meet; `None` if they meet by name alone.
    pub meetings: Option<Meetings>,
    /// Numbers of repeats of base and new run, if they differ.
    pub repeats: Option<(u32, u32)>,
    /// The answers of base and new run, in a few words; `None` if a side has several runs, or one
    /// without an answer.
    pub answers: Option<(String, String)>,
}

/// A subject over all phases that both sides have.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    pub subject: String,
    /// The number of phases.
    pub phases: usize,
    /// The ratio of the geometric means of their headline figures; above 1 is better.
    pub speed: Estimate,
}

impl Diff {
    /// Compares one run with another: [`Diff::of_runs`] with one each.
    ///
    /// # Errors
    /// Bad input, if the two are not comparable or have nothing in common.
    pub fn of(base: &RunRecord, new: &RunRecord, question: &Question) -> Result<Self, Failure> {
        Self::of_runs(from_ref(base), from_ref(new), question)
    }

    /// Compares `new` with `base`. If a side has several runs, the spread between them counts
    /// instead of that between repeats.
    ///
    /// # Errors
    /// Bad input, if runs are not comparable or have nothing in common.
    ///
    /// # Panics
    /// If a side has no run.
    pub fn of_runs(
        base: &[RunRecord],
        new: &[RunRecord],
        question: &Question,
    ) -> Result<Self, Failure> {
        let (first, last) = (&base[0], &new[0]);
        let pairs = pairs(first, last, &question.pairs)?;
        let differences = differences(first, last, &pairs);
        let waived = match question.across_tools {
            true => Dimension::ALL,
            false => &*question.waived,
        };
        ensure_comparable(first, last, &differences, waived)?;
        ensure_alike(base, &question.waived)?;
        ensure_alike(new, &question.waived)?;
        let mut diff = Self {
            base: wording::run_names(base),
            new: wording::run_names(new),
            differences,
            others: Vec::new(),
            unpaired: unpaired(first, last, &pairs),
            unmeasured: Vec::new(),
            contrasts: Vec::new(),
            overall: Vec::new(),
            tolerance: question.tolerance,
            meetings: question.meetings.clone(),
            repeats: Some((first.header.plan.repeats, last.header.plan.repeats))
                .filter(|(base, new)| base != new),
            answers: match (base, new) {
                ([base], [new]) => answer_in_words(base).zip(answer_in_words(new)),
                _ => None,
            },
        };
        let mut measured = BTreeSet::new();
        for pair in pairs {
            let paired = merge_pair(base, new, pair);
            let analysis = Analysis::uncorrected(&paired.run);
            let subject = title(first, last, pair);
            diff.add(&subject, &analysis, &paired, &question.metrics);
            if !question.metrics.is_empty() {
                measured.extend(names_measured(&analysis));
            }
        }
        let is_absent = |metric: &&&MetricDefinition| {
            let mut contrasts = diff.contrasts.iter();
            !contrasts.any(|contrast| contrast.metric == **metric)
        };
        let unmeasured = question.metrics.iter().filter(is_absent).copied().collect();
        diff.unmeasured = unmeasured;
        if !question.metrics.is_empty() && diff.contrasts.is_empty() && diff.others.is_empty() {
            let (base, new) = (named(&diff.base), named(&diff.new));
            let wanted = listed(&question.metrics);
            let text = format!("neither {base} nor {new} has a figure of {wanted}");
            let measured: Vec<_> = measured.into_iter().collect();
            let hint = format!("measured were {}", measured.join(", "));
            let hint = (!measured.is_empty()).then_some(hint);
            return Err(Failure::bad_input(text).with_hint(hint));
        }
        if diff.contrasts.iter().all(|c| c.absence().is_some()) {
            let (base, new) = (named(&diff.base), named(&diff.new));
            let why = why_none(&diff.others, question.meetings.as_ref());
            let text = format!("{base} and {new} have no phase in common{why}");
            return Err(Failure::bad_input(text).hint(
                "run the same study at the same scale for both, or name phases that compare: \
                 --map THEIRS=OURS; --dry-run lists them",
            ));
        }
        diff.judge();
        Ok(diff)
    }

    /// Adds the contrasts of a pair's joined run in `metrics`; if empty, in each phase's headline.
    fn add(
        &mut self,
        subject: &str,
        analysis: &Analysis,
        paired: &PairedRun,
        metrics: &[&'static MetricDefinition],
    ) {
        let sides = &paired.sides;
        if metrics.is_empty() {
            let found = contrasts(subject, analysis, sides, None);
            self.contrasts.extend(found);
            self.overall.extend(overall(subject, analysis, sides));
        }
        for metric in metrics {
            let found = contrasts(subject, analysis, sides, Some(metric));
            self.contrasts.extend(found);
        }
        for other in &paired.others {
            if !self.others.contains(other) {
                self.others.push(other.clone());
            }
        }
    }

    /// Tests, corrects over all contrasts, and sets each verdict.
    fn judge(&mut self) {
        let is_tested = |c: &&Contrast| !c.exact && c.speed.is_some_and(|s| s.interval.is_some());
        let family = self.contrasts.iter().filter(is_tested).count();
        for contrast in self.contrasts.iter_mut().filter(|c| !c.exact) {
            contrast.test = contrast.as_speed().and_then(|speed| speed.test(family));
        }
        let tested = |contrast: &Contrast| contrast.test.as_ref().map(|test| test.p_value);
        let p_values: Vec<f64> = self.contrasts.iter().filter_map(tested).collect();
        let mut corrected = benjamini_hochberg(&p_values).into_iter();
        let tolerance = self.tolerance.share();
        for contrast in &mut self.contrasts {
            if contrast.test.is_some() {
                contrast.p_corrected = corrected.next();
            }
            contrast.verdict = word(contrast, tolerance);
        }
    }

    /// The diff as a line: `2 faster, 1 slower, 5 the same`.
    pub fn summary(&self) -> String {
        let count = |wanted: fn(Verdict) -> bool| self.with(wanted).count();
        let missing = self
            .contrasts
            .iter()
            .filter(|c| c.absence().is_some())
            .count();
        let counts = [
            (count(|v| v == Verdict::Faster), "faster"),
            (count(|v| v == Verdict::Slower), "slower"),
            (count(|v| matches!(v, Verdict::Same { .. })), "the same"),
            (count(|v| v == Verdict::Undecided), "undecided"),
            (missing, "without comparison"),
        ];
        let words = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = words
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        words.join(", ")
    }

    /// The contrasts of one verdict.
    pub fn with(&self, wanted: impl Fn(Verdict) -> bool) -> impl Iterator<Item = &Contrast> {
        let compared = self.contrasts.iter().filter(|c| c.absence().is_none());
        compared.filter(move |contrast| wanted(contrast.verdict))
    }
}

/// Faster and slower require the interval and the corrected test; the same requires the interval
/// alone.
fn word(contrast: &Contrast, tolerance: f64) -> Verdict {
    let Some(speed) = contrast.speed else {
        return Verdict::Undecided;
    };
    if contrast.exact {
        let value = Interval {
            low: speed.value,
            high: speed.value,
        };
        let near = (1.0 + EXACT_TOLERANCE).recip()..=1.0 + EXACT_TOLERANCE;
        return match near.contains(&speed.value) {
            true => Verdict::Same {
                within: EXACT_TOLERANCE,
            },
            false => verdict(Some(value), tolerance),
        };
    }
    let decided = contrast.p_corrected.is_some_and(|p| p <= FALSE_DISCOVERIES);
    match verdict(speed.interval, tolerance) {
        Verdict::Faster | Verdict::Slower if !decided => Verdict::Undecided,
        verdict => verdict,
    }
}

fn overall(subject: &str, analysis: &Analysis, sides: &SideRanges) -> Option<Overall> {
    let overall = analysis.overall.as_ref()?;
    let comparison = &overall.comparison;
    let (base, new) = (
        values(comparison, sides.base.clone()),
        values(comparison, sides.new.clone()),
    );
    Some(Overall {
        subject: subject.to_owned(),
        phases: overall.phases.len(),
        speed: Speed::of(comparison.metric.better, &base, &new)?
            .estimate()?
            .widened(comparison.resolution),
    })
}

/// Names of the metrics that any trial of a joined run has.
fn names_measured(analysis: &Analysis) -> BTreeSet<&'static str> {
    let repeats = analysis.phases.iter().flat_map(|phase| &phase.cells);
    let repeats = repeats.flat_map(|cell| &cell.repeats);
    let metrics = repeats.flat_map(|repeat| &repeat.metrics);
    let of_phases = metrics.map(|metric| metric.definition.name);
    let of_trials = analysis.steps.iter().map(|step| step.metric.name);
    of_phases.chain(of_trials).collect()
}

fn listed(metrics: &[&MetricDefinition]) -> String {
    let names: Vec<String> = metrics.iter().map(|it| it.name.to_owned()).collect();
    wording::list(&names)
}

/// The runs of a side as text.
pub fn named(runs: &[String]) -> String {
    match runs {
        [first, second, third, more @ ..] if !more.is_empty() => {
            format!("{first}, {second}, {third} and {} more", more.len())
        }
        few => wording::list(few),
    }
}

fn title(base: &RunRecord, new: &RunRecord, pair: Pair) -> String {
    let name = |run: &RunRecord, place: usize| {
        let subject = subjects(run).nth(place);
        subject.map(ToString::to_string).unwrap_or_default()
    };
    let (of_base, of_new) = (name(base, pair.base), name(new, pair.new));
    match of_base == of_new {
        true => of_base,
        false => format!("{of_new} against {of_base}"),
    }
}

fn unpaired(base: &RunRecord, new: &RunRecord, pairs: &[Pair]) -> Vec<String> {
    // Two subjects of one run: none is unpaired.
    if base.header.run == new.header.run {
        return Vec::new();
    }
    let of_base = subjects(base).enumerate().filter_map(|(place, subject)| {
        let is_paired = pairs.iter().any(|pair| pair.base == place);
        (!is_paired).then(|| format!("{subject} is in {} alone", base.header.run))
    });
    let of_new = subjects(new).enumerate().filter_map(|(place, subject)| {
        let is_paired = pairs.iter().any(|pair| pair.new == place);
        (!is_paired).then(|| format!("{subject} is in {} alone", new.header.run))
    });
    of_base.chain(of_new).collect()
}

fn why_none(others: &[(String, String)], meetings: Option<&Meetings>) -> String {
    if meetings.is_some_and(|meetings| meetings.pairs.is_empty()) {
        return ": no phase of either does what one of the other does".to_owned();
    }
    let reasons: Vec<String> = others
        .iter()
        .map(|(phase, what)| format!("{phase} ({what})"))
        .collect();
    match reasons.is_empty() {
        true => " with a figure in both".to_owned(),
        false => format!(" that is asked the same: {}", wording::list(&reasons)),
    }
}
