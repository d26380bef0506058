//! A study that is made from the job file of another tool: its phases, and what follows from them.

use std::collections::BTreeMap;

use fslab_model::{Bytes, CachePolicy, Parameters, PhaseEntry, Study};
use toml::Value as TomlValue;

use crate::problem::{Findings, JobFileError, JobFileProblem};

/// A job file as a study.
#[derive(Clone, Debug)]
pub struct TranslatedStudy {
    pub study: Study,
    /// The same as the text of a `study.toml`.
    pub toml: String,
    /// What was left out or is expressed otherwise, each with its reason.
    pub notes: Vec<String>,
}

/// Limit of the phases that a job file makes.
pub(crate) const PHASES_MAX: usize = 1_000;
/// Smallest file system of a study that is made.
const SIZE_MIN: u64 = 1 << 30;
/// Its size is a multiple of this.
const SIZE_STEP: u64 = 64 << 20;
/// Rate in bytes per second with which time limits count: that of a slow disk.
const SLOW_RATE: u64 = 10_000_000;
/// Shortest time limit of a trial.
const LIMIT_S_MIN: u64 = 3_600;

/// A phase of the draft.
pub(crate) struct DraftPhase {
    pub(crate) name: String,
    pub(crate) workload: &'static str,
    pub(crate) cache: CachePolicy,
    /// False for a phase that prepares others.
    pub(crate) is_measured: bool,
    pub(crate) parameters: Parameters,
    /// Seconds that it takes at least, if the file says so.
    pub(crate) seconds: u64,
    /// Bytes that it moves, where they decide its time.
    pub(crate) bytes: u64,
}

/// What a study is made from.
pub(crate) struct Draft<'a> {
    /// The name of the file without directory.
    pub(crate) file: &'a str,
    /// The tool whose file it is.
    pub(crate) tool: &'a str,
    pub(crate) phases: Vec<DraftPhase>,
    /// Bytes of each file or tree at its largest, by name.
    pub(crate) space: BTreeMap<String, u64>,
}

impl Draft<'_> {
    /// The study.
    pub(crate) fn finish(self, mut findings: Findings) -> Result<TranslatedStudy, JobFileError> {
        let made = match findings.is_refused() {
            true => None,
            false => match self.study() {
                Ok(made) => Some(made),
                Err(cause) => {
                    findings.refuse(JobFileProblem::new(self.file, cause));
                    None
                }
            },
        };
        let ((study, toml), notes) = findings.finish(made)?;
        Ok(TranslatedStudy { study, toml, notes })
    }

    fn study(&self) -> Result<(Study, String), String> {
        let measured = self.phases.iter().filter(|phase| phase.is_measured);
        let measured: Vec<_> = measured.map(|phase| phase.name.clone()).collect();
        let mut study = toml::Table::new();
        let stem = self
            .file
            .rsplit_once('.')
            .map_or(self.file, |(stem, _)| stem);
        let (tool, file) = (self.tool, self.file);
        let name = plain_name(stem);
        let mut put = |key: &str, value: TomlValue| {
            study.insert(key.to_owned(), value);
        };
        put("format", 1.into());
        put("name", name.clone().into());
        put("title", format!("{tool}: {name}").into());
        let description = format!("From the {tool} file {}.", plain_name(file));
        put("description", description.into());
        let subjects = ["ext4", "xfs", "btrfs"].map(TomlValue::from);
        put("subjects", subjects.to_vec().into());
        put("size", size_text(self.size_bytes()).into());
        put("repeats", 3.into());
        put("trial_limit_s", self.limit_s().into());
        let text = format!("Which file system runs {name} fastest?");
        let question = [("text", text.into()), ("phases", measured.into())];
        put("question", table(question));
        let scale = [
            ("parameters", strings(SCALED)),
            ("size_min", "320MiB".into()),
        ];
        put("scale", table(scale));
        let phases = self.phases.iter().map(phase_table);
        let phases = phases.collect::<Result<Vec<_>, _>>()?;
        put("phase", TomlValue::Array(phases));
        let text = toml::to_string(&study).map_err(|error| error.to_string())?;
        let study = Study::from_toml(&text).map_err(|error| error.to_string())?;
        Ok((study, text))
    }

    /// Room for all files, and as much as a file system needs for itself.
    fn size_bytes(&self) -> u64 {
        let sum = self
            .space
            .values()
            .fold(0_u64, |sum, it| sum.saturating_add(*it));
        let roomy = sum.saturating_add(sum / 4).saturating_add(SIZE_STEP);
        let roomy = roomy.checked_next_multiple_of(SIZE_STEP).unwrap_or(roomy);
        roomy.max(SIZE_MIN)
    }

    fn limit_s(&self) -> i64 {
        let of_phase = |phase: &DraftPhase| phase.seconds.saturating_add(phase.bytes / SLOW_RATE);
        let sum = self
            .phases
            .iter()
            .map(of_phase)
            .fold(0, u64::saturating_add);
        let limit_s = sum.saturating_mul(2).saturating_add(600).max(LIMIT_S_MIN);
        i64::from(u32::try_from(limit_s).unwrap_or(u32::MAX))
    }
}

/// What of a study that is made becomes smaller with its scale.
const SCALED: [&str; 8] = [
    "file_size",
    "files",
    "operations",
    "amount",
    "time_limit_ns",
    "ramp_up_ns",
    "start_delay_ns",
    "seconds",
];

fn strings<const N: usize>(texts: [&str; N]) -> TomlValue {
    TomlValue::Array(texts.map(TomlValue::from).to_vec())
}

fn table<const N: usize>(entries: [(&str, TomlValue); N]) -> TomlValue {
    let entries = entries.map(|(key, value)| (key.to_owned(), value));
    TomlValue::Table(entries.into_iter().collect())
}

fn phase_table(phase: &DraftPhase) -> Result<TomlValue, String> {
    let entry = PhaseEntry {
        name: phase.name.clone(),
        workload: phase.workload.to_owned(),
        cache: phase.cache,
        settle: false,
        group: None,
        sweep: None,
        enabled: true,
        parameters: phase.parameters.clone(),
    };
    let mut made = TomlValue::try_from(&entry).map_err(|error| error.to_string())?;
    if let Some(table) = made.as_table_mut() {
        table.retain(|key, value| {
            let is_default = match key {
                "settle" => *value == TomlValue::Boolean(false),
                "enabled" => *value == TomlValue::Boolean(true),
                "cache" => value.as_str() == Some("keep"),
                _ => false,
            };
            !is_default
        });
    }
    Ok(made)
}

/// A size as a study has it: in the largest unit in which it is an integer.
pub(crate) fn size_text(bytes: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes > 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    debug_assert_eq!(format!("{bytes}B").parse(), Ok(Bytes(bytes)));
    format!("{bytes}B")
}

/// Characters of a name in a study.
const NAME_CHARS_MAX: usize = 56;

/// `text` with only those characters that names of studies, phases and files have.
pub(crate) fn plain_name(text: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "._+-".contains(c) => c,
        _ => '-',
    };
    let name: String = text
        .trim()
        .chars()
        .take(NAME_CHARS_MAX)
        .map(plain)
        .collect();
    match name.trim_matches('.') {
        "" => "job".to_owned(),
        _ if name.starts_with('.') => format!("job{name}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_the_largest_unit_in_which_it_is_whole() {
        for (bytes, text) in [
            (4096, "4KiB"),
            (3 << 30, "3GiB"),
            (1_500, "1500B"),
            (5 << 20, "5MiB"),
        ] {
            assert_eq!(size_text(bytes), text);
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
        }
    }

    #[test]
    fn names_are_plain_and_never_lead_out_of_a_directory() {
        assert_eq!(plain_name("burn 50%_qsort"), "burn-50-_qsort");
        assert_eq!(plain_name(".."), "job");
        assert_eq!(plain_name("../x"), "job..-x");
        assert_eq!(plain_name(""), "job");
        assert_eq!(plain_name(&"x".repeat(90)).len(), NAME_CHARS_MAX);
    }
}
