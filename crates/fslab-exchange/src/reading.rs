//! What a reader finds in one output: trials, each with its phases, and the tool that made them.

use fslab_model::{
    Facts, Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, StepRecord, Swept,
};

/// What one output holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// The tool with its version, as far as the output tells it: `fio 3.33`.
    pub(crate) tool: String,
    /// What issued the operations, where the output tells it.
    pub(crate) engine: Option<String>,
    /// The trials, in the order in which they stand there.
    pub(crate) trials: Vec<Measured>,
    /// What was not read, and why; for whoever imports.
    pub(crate) notes: Vec<String>,
}

/// One trial, as the output has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// What the output calls the subject; `None` where it names none.
    pub(crate) subject: Option<String>,
    /// The repeat, where the output numbers them; else trials count in their order.
    pub(crate) repeat: Option<u32>,
    /// mkfs, mount, unmount, check.
    pub(crate) steps: Vec<StepRecord>,
    /// The phases.
    pub(crate) phases: Vec<PhaseRecord>,
    /// What else the output says.
    pub(crate) facts: Facts,
    /// Seconds since 1970 when it was measured, where the output tells it.
    pub(crate) began_unix_s: Option<u64>,
}

/// A phase as a reader begins it.
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) workload: String,
    pub(crate) kind: PhaseKind,
    pub(crate) headline: Headline,
    pub(crate) parameters: Parameters,
    pub(crate) swept: Option<Swept>,
}

impl Draft {
    /// A record without any figure yet.
    pub(crate) fn record(self) -> PhaseRecord {
        let spec = PhaseSpec {
            swept: self.swept,
            ..PhaseSpec::new(self.name, self.workload, self.parameters)
        };
        PhaseRecord::empty(&spec, self.kind, self.headline, PhaseOutcome::Done)
    }
}

/// A name as studies write them: `Directory creation` is `directory-creation`.
pub(crate) fn plain_name(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "._+".contains(c)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}

/// A number that is finite and not negative.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust reads "inf", "NaN" and "1_0" otherwise than these tools write numbers.
    let is_plain = text
        .chars()
        .all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    let number: f64 = text.parse().ok().filter(|_| is_plain)?;
    is_plausible(number).then_some(number)
}

/// Whether a number is not negative, and what is derived from it, its inverse and its multiples, is
/// finite.
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
