//! The definition of a workload, as a file of `workloads/` has it.

use serde::{Deserialize, Serialize};

use crate::{FORMAT_VERSION, Headline, Parameters, PhaseKind};

/// The most characters of a workload's name.
const NAME_LENGTH_MAX: usize = 64;
/// The most characters of its title and of its description.
const TEXT_LENGTH_MAX: usize = 4_096;

/// A workload: a kind of job, the values of its parameters, and which of them a study may set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadDefinition {
    /// Version of the format: 1.
    pub format: u32,
    /// Its name in studies, and that of its file: lower-case letters, digits and hyphens, at most
    /// 64 characters.
    pub name: String,
    /// What it does, in one line.
    pub title: String,
    /// What it does in detail, what is timed, and where it comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The kind of job: `data`, `files`, `personality`, ...
    pub job: String,
    /// The side of the device with which its bytes are compared: `read`, `write`, `mixed` or
    /// `metadata`. Some jobs derive it from their parameters; then this is that of the defaults.
    pub kind: PhaseKind,
    /// The figure by which subjects are compared: `throughput`, `operation-rate`, `duration`, or
    /// the name of a metric.
    pub headline: Headline,
    /// The parameters that a study may set; where it is left out, all of the job's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_set: Option<Vec<String>>,
    /// Values of the job's parameters; those that are left out have the job's own default.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    pub defaults: Parameters,
}

impl WorkloadDefinition {
    /// Reads a file of `workloads/`.
    ///
    /// # Errors
    /// With line, column and key where the text is no TOML of this shape.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Whether its version, its name and the length of its texts are acceptable.
    ///
    /// # Errors
    /// The key, and what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        if self.format == 0 || self.format > FORMAT_VERSION {
            return Err(format!(
                "format = {}; this fslab reads format {FORMAT_VERSION}",
                self.format
            ));
        }
        if !Self::is_name(&self.name) {
            return Err(format!(
                "name = {:?}; a name has 1 to {NAME_LENGTH_MAX} lower-case letters, digits and \
                 hyphens",
                self.name
            ));
        }
        let texts = [("title", &self.title), ("about", &self.about)];
        for (key, text) in texts {
            let is_plain = |c: char| !c.is_control() || (c == '\n' && key == "about");
            if text.chars().count() > TEXT_LENGTH_MAX || !text.chars().all(is_plain) {
                return Err(format!(
                    "{key} has more than {TEXT_LENGTH_MAX} characters, or control characters"
                ));
            }
        }
        Ok(())
    }

    /// Whether `name` can be that of a workload, and of its file.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (1..=NAME_LENGTH_MAX).contains(&name.len())
            && name.chars().all(is_plain)
            && !name.starts_with('-')
    }
}
