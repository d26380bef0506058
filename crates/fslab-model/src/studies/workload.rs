//! The definition of a workload, as in a file of `workloads/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FORMAT_VERSION, Headline, Parameters, PhaseKind, TomlError, check_format, from_toml};

/// Most characters of a workload's name.
const NAME_LENGTH_MAX: usize = 64;
/// Most characters of its title and of its description.
const TEXT_LENGTH_MAX: usize = 4_096;

/// A workload: a kind of job, the values of its parameters, and which of them a study may set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadDefinition {
    /// Version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// Its name in studies, and that of its file: lower-case letters, digits and hyphens, at most
    /// 64 characters.
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{0,63}$"))]
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
    pub fn from_toml(text: &str) -> Result<Self, TomlError> {
        let definition: Self = from_toml(text)?;
        definition.check().map_err(|error| error.located(text))?;
        Ok(definition)
    }

    /// The workload as a TOML file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("it was read from TOML")
    }

    /// Checks version, name and the length of the texts.
    pub fn check(&self) -> Result<(), TomlError> {
        check_format(self.format, FORMAT_VERSION)?;
        if !Self::is_name(&self.name) {
            let problem = format!(
                "{:?}: a name has 1 to {NAME_LENGTH_MAX} lower-case letters, digits and hyphens",
                self.name
            );
            return Err(TomlError::new(["name"], problem));
        }
        let texts = [("title", &self.title), ("about", &self.about)];
        for (key, text) in texts {
            let is_plain = |c: char| !c.is_control() || (c == '\n' && key == "about");
            if text.chars().count() > TEXT_LENGTH_MAX || !text.chars().all(is_plain) {
                let problem =
                    format!("more than {TEXT_LENGTH_MAX} characters, or control characters");
                return Err(TomlError::new([key], problem));
            }
        }
        Ok(())
    }

    /// True if `name` is valid for a workload and its file.
    pub fn is_name(name: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (1..=NAME_LENGTH_MAX).contains(&name.len())
            && name.chars().all(is_plain)
            && !name.starts_with('-')
    }
}
