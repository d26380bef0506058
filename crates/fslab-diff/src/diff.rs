//! Two runs beside each other.

use fslab_model::{MetricDefinition, Percent, RunRecord, Subject};
use fslab_report::{Analysis, EXACT_TOLERANCE, TOLERANCE, wording};
use fslab_stats::{
    Estimate, Interval, Verdict, benjamini_hochberg, difference_test_among, verdict,
};

use crate::DiffError;
use crate::contrast::{Contrast, contrasts};
use crate::dimension::{Difference, Dimension, demand_comparable, differences};
use crate::joint::{BASE, Joint, NEW, joint};
use crate::pairing::{Pair, pairs, subjects};

/// A difference is stated where the corrected p-value is at most this: of the differences that a
/// diff states, this share is expected to be none.
pub(crate) const FALSE_DISCOVERIES: f64 = 0.05;

/// What is asked about two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Subjects that are compared, of the base and of the new run; empty: those of one name.
    pub pairs: Vec<(Subject, Subject)>,
    /// Dimensions that may differ beside the one that is studied.
    pub waived: Vec<Dimension>,
    /// Metrics; empty: the headline of each phase.
    pub metrics: Vec<&'static MetricDefinition>,
    /// The difference that does not matter.
    pub tolerance: Percent,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            waived: Vec::new(),
            metrics: Vec::new(),
            tolerance: Percent::of_share(TOLERANCE),
        }
    }
}

/// Two runs beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Name of the run that is compared with.
    pub base: String,
    /// Name of the run that is compared.
    pub new: String,
    /// In what else they differ.
    pub differences: Vec<Difference>,
    /// Phases of one name that were not asked the same, with what differs: they are not compared.
    pub others: Vec<(String, String)>,
    /// Subjects that only one run has.
    pub unpaired: Vec<String>,
    /// Every figure that either run has, subject by subject, phases in the order of the study.
    pub contrasts: Vec<Contrast>,
    /// Each subject over all its phases, where it has several in both runs.
    pub overall: Vec<Overall>,
    /// The difference that does not matter.
    pub tolerance: Percent,
}

/// A subject over all phases that both runs have.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// The subject.
    pub subject: String,
    /// How many phases.
    pub phases: usize,
    /// The ratio of the geometric means of their headline figures; above 1 is better.
    pub speed: Estimate,
}

impl Diff {
    /// Compares `new` with `base`.
    ///
    /// # Errors
    /// [`DiffError`], where the two do not compare or have nothing in common.
    pub fn of(base: &RunRecord, new: &RunRecord, question: &Question) -> Result<Self, DiffError> {
        let pairs = pairs(base, new, &question.pairs)?;
        let differences = differences(base, new, &pairs);
        demand_comparable(base, new, &differences, &question.waived)?;
        let mut diff = Self {
            base: base.header.run.to_string(),
            new: new.header.run.to_string(),
            differences,
            others: Vec::new(),
            unpaired: unpaired(base, new, &pairs),
            contrasts: Vec::new(),
            overall: Vec::new(),
            tolerance: question.tolerance,
        };
        for pair in pairs {
            let Joint { run, others } = joint(base, new, pair);
            let analysis = Analysis::of(&run);
            let subject = title(base, new, pair);
            match question.metrics.as_slice() {
                [] => {
                    diff.contrasts.extend(contrasts(&subject, &analysis, None));
                    diff.overall.extend(overall(&subject, &analysis));
                }
                metrics => metrics.iter().for_each(|metric| {
                    let of_metric = contrasts(&subject, &analysis, Some(metric));
                    diff.contrasts.extend(of_metric);
                }),
            }
            let news = others
                .into_iter()
                .filter(|other| !diff.others.contains(other));
            diff.others.extend(news.collect::<Vec<_>>());
        }
        if diff.contrasts.iter().all(|c| c.absence().is_some()) {
            return Err(DiffError::NoPhase {
                base: diff.base,
                new: diff.new,
                why: why_none(&diff.others),
            });
        }
        diff.judge();
        Ok(diff)
    }

    /// Tests, corrects over all contrasts, and puts each into a word.
    fn judge(&mut self) {
        let is_tested = |c: &&Contrast| !c.exact && c.speed.is_some_and(|s| s.interval.is_some());
        let family = self.contrasts.iter().filter(is_tested).count();
        for contrast in self.contrasts.iter_mut().filter(|c| !c.exact) {
            let (new, base) = (&contrast.new.values, &contrast.base.values);
            contrast.test = difference_test_among(new, base, family);
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

    /// The diff in a few words: `2 faster, 1 slower, 5 the same`.
    #[must_use]
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
        let told = counts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        told.join(", ")
    }

    /// The contrasts of one verdict.
    pub fn with(&self, wanted: impl Fn(Verdict) -> bool) -> impl Iterator<Item = &Contrast> {
        let compared = self.contrasts.iter().filter(|c| c.absence().is_none());
        compared.filter(move |contrast| wanted(contrast.verdict))
    }
}

/// Faster and slower need the interval and the corrected test; the same needs the interval alone.
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

fn overall(subject: &str, analysis: &Analysis) -> Option<Overall> {
    let overall = analysis.overall.as_ref()?;
    Some(Overall {
        subject: subject.to_owned(),
        phases: overall.phases.len(),
        speed: overall.comparison.speed(NEW, BASE)?,
    })
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

fn why_none(others: &[(String, String)]) -> String {
    let told: Vec<String> = others
        .iter()
        .map(|(phase, what)| format!("{phase} ({what})"))
        .collect();
    match told.is_empty() {
        true => " with a figure in both".to_owned(),
        false => format!(" that is asked the same: {}", wording::list(&told)),
    }
}
