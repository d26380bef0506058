//! The result of reading one output: trials with their phases, and the tool.

use fslab_model::{
    Facts, Headline, MetricDefinition, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec,
    StepRecord, Swept,
};

/// The content of one output.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// The tool with its version, as far as the output has it: `fio 3.33`.
    pub(crate) tool: String,
    /// The engine, if the output names it.
    pub(crate) engine: Option<String>,
    /// The trials, in their order.
    pub(crate) trials: Vec<Measured>,
    /// What was not read, and why.
    pub(crate) notes: Vec<String>,
}

/// One trial of the output.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// The output's name of the subject; `None` if it has none.
    pub(crate) subject: Option<String>,
    /// The repeat, if the output numbers them; otherwise trials count in order.
    pub(crate) repeat: Option<u32>,
    /// mkfs, mount, unmount, check.
    pub(crate) steps: Vec<StepRecord>,
    pub(crate) phases: Vec<PhaseRecord>,
    /// Other facts in the output.
    pub(crate) facts: Facts,
    /// Time of the measurement in seconds since 1970, if the output has it.
    pub(crate) began_unix_s: Option<u64>,
    /// What tells the trial from another one with equal figures: the time of the execution, as the
    /// output has it, with the number of the iteration in it.
    pub(crate) stamp: Option<String>,
}

/// A new phase of a reader.
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) workload: String,
    pub(crate) kind: PhaseKind,
    pub(crate) headline: Headline,
    pub(crate) parameters: Parameters,
    pub(crate) swept: Option<Swept>,
}

impl Draft {
    /// A record without figures.
    pub(crate) fn record(self) -> PhaseRecord {
        let spec = PhaseSpec {
            swept: self.swept,
            ..PhaseSpec::new(self.name, self.workload, self.parameters)
        };
        PhaseRecord::empty(&spec, self.kind, self.headline, PhaseOutcome::Done)
    }
}

/// A name in the form of studies: `Directory creation` becomes `directory-creation`.
pub(crate) fn plain_name(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "._+".contains(c)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}

/// Stores a figure as printed. What is printed as 0 is below the tool's last digit: not measured.
pub(crate) fn put(record: &mut PhaseRecord, metric: &MetricDefinition, value: f64) {
    if value > 0.0 && is_plausible(value) {
        record.figures.insert(metric.name.to_owned(), value);
    }
}

/// Adds a value that the list does not have.
pub(crate) fn push_new<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

/// A finite number of at least 0.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust also accepts "inf" and "NaN", which these tools do not write as figures.
    let is_plain = text
        .chars()
        .all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    let number: f64 = text.parse().ok().filter(|_| is_plain)?;
    is_plausible(number).then_some(number)
}

/// True if a number is not negative, and figures derived from it, its inverse and its multiples,
/// are finite.
pub(crate) fn is_plausible(number: f64) -> bool {
    number == 0.0 || (1e-100..=1e100).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_and_not_negative() {
        assert_eq!(number(" 1.5e3 "), Some(1500.0));
        assert_eq!(number("0.000"), Some(0.0));
        for wrong in [
            "", "NaN", "inf", "-1", "1e999", "1e-320", "1,5", "0x10", "++",
        ] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn names_are_made_plain() {
        assert_eq!(plain_name("Directory creation "), "directory-creation");
        assert_eq!(plain_name("4K, random (read)"), "4k-random-read");
    }
}
