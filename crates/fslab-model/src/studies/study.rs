//! A study: what to measure, declared in TOML.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::SIZE_PATTERN;
use crate::units::{Seconds, deserialize_seconds};
use crate::{
    AnswerMeasure, AnswerSpec, FigureSpec, OriginalSetup, Parameters, Percent, Rounds, ScaleRules,
    ScoreSpec, StudyQuestion, Sweep, TomlError, WEIGHT_MAX, WorkloadDefinition, check_format,
    from_toml, is_default,
};

/// The state of the caches when a phase begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// Kept: as the phase before left them.
    #[default]
    Keep,
    /// Dropped: nothing of the file system is in memory; the method depends on the venue.
    Cold,
    /// Warmed: the phase's files and metadata are read before the phase is timed.
    Warm,
}

/// One phase. Keys that are not listed here are parameters of its workload; those that are left
/// out have the workload's defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseEntry {
    /// Name of the phase, unique in the study: 1 to 64 letters, digits, spaces or `. _ + -`.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9 ._+-]*$"))]
    pub name: String,
    /// Name of the workload that it runs; docs/workloads.md lists them.
    pub workload: String,
    /// What the caches hold when it begins.
    #[serde(default)]
    pub cache: CachePolicy,
    /// Whether sync and unmount right after the phase are timed, for durable throughput.
    #[serde(default)]
    pub settle: bool,
    /// Group of phases that it belongs to. After a failure only the rest of its group is skipped;
    /// without a group, all phases that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Name of the sweep at whose points it runs. Its parameters name a dimension's value as
    /// `"$DIMENSION"`. Phases of one sweep that follow each other run together at each point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<String>,
    /// Whether it runs unless `--set phase.NAME.enabled=...` says otherwise. Default: `true`.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub enabled: bool,
    /// Parameters of the workload.
    #[serde(flatten)]
    pub parameters: Parameters,
}

fn yes() -> bool {
    true
}

/// Most characters of a name in a study.
const NAME_LENGTH_MAX: usize = 64;

/// A study: what is measured, on which file systems, how often. The file `study.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// Short name: 1 to 64 letters, digits, spaces or `. _ + -`.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9 ._+-]*$"))]
    pub name: String,
    /// Title for lists, one line.
    pub title: String,
    /// Purpose, in a few sentences.
    #[serde(default)]
    pub description: String,
    /// Other names of a built-in study for `fslab run`: lower-case letters, digits and `-`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The question that it answers, and by which phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<StudyQuestion>,
    /// What the answer to the question counts. Default: the geometric mean of the headline figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerSpec>,
    /// A score of each subject, computed from several phases. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreSpec>,
    /// File systems with their options, where the command line names none: `"ext4"`,
    /// `"xfs:mkfs=-m reflink=0"`.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// Size of each file system, with its unit: `"4GiB"`.
    #[schemars(regex(pattern = SIZE_PATTERN))]
    pub size: String,
    /// Memory of a guest, with its unit; used by the venues `guest` and `sim`. Default: `"1GiB"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SIZE_PATTERN))]
    pub memory: Option<String>,
    /// The most memory of a guest that waits to be written, with its unit (vm.dirty_bytes; writing
    /// back begins at half of it). Default: a fifth of the memory, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SIZE_PATTERN))]
    pub dirty_limit: Option<String>,
    /// Profile of the disk that the venue `sim` simulates: a name of `fslab disk list`, or a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Repeats of each subject; with `repeats_max`, the minimum. Default: 3.
    #[serde(default = "default_repeats")]
    #[schemars(range(min = 1, max = 10_000))]
    pub repeats: u32,
    /// Maximum repeats of a subject: beyond `repeats` it is repeated until its key figures are
    /// known to within `target`. Default: `repeats` are fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub repeats_max: Option<u32>,
    /// Largest half-width of the 95 % interval of a key figure, as a share of the figure. Default:
    /// `"5%"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Percent>,
    /// Phases whose headline figures decide whether a subject is repeated. Default: all phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<String>,
    /// How often the phases run in each repeat. Default: once.
    #[serde(default, skip_serializing_if = "Rounds::is_one")]
    pub rounds: Rounds,
    /// Time limit of one trial: a number of seconds, 1 or more, or a time such as `"10min"`.
    #[serde(
        default = "default_trial_limit_s",
        deserialize_with = "deserialize_seconds"
    )]
    #[schemars(with = "Seconds")]
    pub trial_limit_s: u32,
    /// The original that it repeats. Default: it repeats none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<OriginalSetup>,
    /// What `--scale` makes smaller, and the scale where the command line names none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scale: ScaleRules,
    /// Sweeps by name.
    #[serde(default, rename = "sweep", skip_serializing_if = "BTreeMap::is_empty")]
    pub sweeps: BTreeMap<String, Sweep>,
    /// Facts of the machine that the figures depend on, such as `device.read_ahead_kb = "128"`. A
    /// trial that finds another value skips every phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_facts: BTreeMap<String, String>,
    /// Figures and tables of the report, in the shape of the original's.
    #[serde(default, rename = "figure", skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureSpec>,
    /// The phases, in the order in which they run.
    #[serde(rename = "phase")]
    #[schemars(length(min = 1))]
    pub phases: Vec<PhaseEntry>,
    /// The user's workloads that the phases name, from files beside that of the study.
    #[serde(skip)]
    #[schemars(skip)]
    pub workloads: BTreeMap<String, WorkloadDefinition>,
}

impl Study {
    /// Reads a `study.toml`.
    pub fn from_toml(text: &str) -> Result<Self, TomlError> {
        let study: Self = from_toml(text)?;
        study.check().map_err(|error| error.located(text))?;
        Ok(study)
    }

    fn check(&self) -> Result<(), TomlError> {
        check_format(self.format, crate::FORMAT_VERSION)?;
        if self.phases.is_empty() {
            return Err(TomlError::new(["phase"], "the study has no phase"));
        }
        check_name(&["name"], &self.name)?;
        for (index, phase) in self.phases.iter().enumerate() {
            check_name(&["phase", &phase.name, "name"], &phase.name)?;
            let mut earlier = self.phases[..index].iter();
            if earlier.any(|earlier| earlier.name == phase.name) {
                let path = ["phase", &phase.name];
                return Err(TomlError::new(path, "two phases have this name"));
            }
        }
        self.check_aliases()?;
        let question = self.question.as_ref().and_then(|it| it.phases.as_deref());
        self.check_phases("question", question.unwrap_or_default())?;
        self.check_answer()?;
        let scored: Vec<String> = self
            .score
            .iter()
            .flat_map(|it| it.phases().cloned())
            .collect();
        self.check_phases("score", &scored)?;
        let original = self.original.as_ref().map(|it| it.phases.as_slice());
        self.check_phases("original", original.unwrap_or_default())
    }

    fn check_answer(&self) -> Result<(), TomlError> {
        let Some(answer) = &self.answer else {
            return Ok(());
        };
        let is_phase = |name: &String| self.phases.iter().any(|phase| phase.name == *name);
        if let Some(name) = answer.weights.keys().find(|name| !is_phase(name)) {
            let problem = format!("the study has no phase '{name}'");
            return Err(TomlError::new(["answer", "weights", name], problem));
        }
        if let Some((name, weight)) = answer.invalid_weight() {
            let problem = format!("{weight}: a weight is from 0 to {WEIGHT_MAX:e}");
            return Err(TomlError::new(["answer", "weights", name], problem));
        }
        if answer.measure == AnswerMeasure::Score && self.score.is_none() {
            let problem = "'score': the study has no [score]";
            return Err(TomlError::new(["answer", "measure"], problem));
        }
        Ok(())
    }

    fn check_aliases(&self) -> Result<(), TomlError> {
        let is_plain = |alias: &String| {
            let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            !alias.is_empty() && alias.len() <= NAME_LENGTH_MAX && alias.chars().all(allowed)
        };
        match self.aliases.iter().find(|alias| !is_plain(alias)) {
            None => Ok(()),
            Some(alias) => {
                let problem =
                    format!("{alias:?}: an alias has 1 to 64 lower-case letters, digits or -");
                Err(TomlError::new(["aliases"], problem))
            }
        }
    }

    /// Refuses a misspelt phase in the key `phases` of a table: it would be left out.
    fn check_phases(&self, table: &str, listed: &[String]) -> Result<(), TomlError> {
        let is_phase = |name: &String| self.phases.iter().any(|phase| phase.name == *name);
        match listed.iter().find(|name| !is_phase(name)) {
            None => Ok(()),
            Some(name) => {
                let problem = format!("the study has no phase '{name}'");
                Err(TomlError::new([table, "phases"], problem))
            }
        }
    }
}

fn check_name(path: &[&str], name: &str) -> Result<(), TomlError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " ._+-".contains(c);
    if name.trim().is_empty() || name.len() > NAME_LENGTH_MAX || !name.chars().all(allowed) {
        let problem = format!("{name:?}: a name has 1 to 64 letters, digits, spaces or . _ + -");
        return Err(TomlError::new(path.iter().copied(), problem));
    }
    Ok(())
}

fn default_repeats() -> u32 {
    3
}

fn default_trial_limit_s() -> u32 {
    3600
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "format = 1\nname = 'q'\ntitle = 't'\nsize = '1GiB'\nrepeats = 3\n\
                        trial_limit_s = 60\n";

    #[test]
    fn a_study_without_a_time_limit_has_one_of_an_hour() {
        let text = format!(
            "{}[[phase]]\nname = 'w'\nworkload = 'write'\n",
            HEAD.replace("trial_limit_s = 60\n", "")
        );
        assert_eq!(
            Study::from_toml(&text).expect("a study").trial_limit_s,
            3600
        );
    }

    #[test]
    fn parameters_that_are_not_our_words_go_to_the_workload() {
        let text = format!("{HEAD}[[phase]]\nname='w'\nworkload='write'\nrecord='1MiB'\n");
        let study = Study::from_toml(&text).expect("a study");
        assert_eq!(study.phases[0].parameters["record"], "1MiB");
        assert_eq!(study.phases[0].cache, CachePolicy::Keep);
    }

    fn refusal(text: &str) -> String {
        Study::from_toml(text).expect_err("refused").to_string()
    }

    #[test]
    fn a_key_that_is_misspelt_is_refused_by_its_name_and_position() {
        let text = format!("repeat = 10\n{HEAD}[[phase]]\nname='w'\nworkload='write'\n");
        let error = Study::from_toml(&text).expect_err("refused");
        assert_eq!(error.to_string(), "line 1, column 1: repeat: unknown key");
        assert_eq!(error.hint.as_deref(), Some("did you mean 'repeats'?"));
    }

    #[test]
    fn names_are_short_plain_and_not_blank() {
        let read = |study: &str, phase: &str| {
            let head = HEAD.replace("'q'", &format!("{study:?}"));
            Study::from_toml(&format!(
                "{head}[[phase]]\nname={phase:?}\nworkload='write'\n"
            ))
        };
        assert!(read("a b", "4K_random.read+sync-1").is_ok());
        assert!(read("q", &"x".repeat(64)).is_ok());
        for bad in ["", " ", "a/b", "a\nb", "a\tb", "größe", &"x".repeat(65)] {
            let phase = read("q", bad).expect_err(bad).to_string();
            assert!(phase.starts_with("line 8, column 1: phase."), "{phase}");
            let study = read(bad, "p").expect_err(bad).to_string();
            assert!(study.starts_with("line 2, column 1: name: "), "{study}");
        }
    }

    #[test]
    fn a_question_about_an_unknown_phase_and_an_alias_with_blanks_are_refused() {
        let phase = "[[phase]]\nname='w'\nworkload='write'\n";
        let with = |key: &str| format!("{key}\n{HEAD}{phase}");
        let read = |key: &str| Study::from_toml(&with(key));
        let study = read("question = { text = 'Which?', phases = ['w'] }").expect("a study");
        assert!(study.question.is_some_and(|question| question.counts("w")));
        let unknown = refusal(&with("question = { text = 'Which?', phases = ['v'] }"));
        assert!(unknown.ends_with("the study has no phase 'v'"), "{unknown}");
        let original =
            "original = { data = '1GiB', memory = '1GiB', phases = ['v'], source = 's' }";
        let unknown = refusal(&with(original));
        let expected = "original.phases: the study has no phase 'v'";
        assert!(unknown.ends_with(expected), "{unknown}");
        assert!(read("aliases = ['usb', 'usb-3']").is_ok());
        for bad in ["", "USB", "a b"] {
            let error = refusal(&with(&format!("aliases = ['{bad}']")));
            assert!(error.contains("aliases: "), "{error}");
        }
    }

    #[test]
    fn a_study_without_phases_with_twins_or_of_tomorrow_is_refused() {
        let phase = "[[phase]]\nname='w'\nworkload='write'\n";
        let twins = refusal(&format!("{HEAD}{phase}{phase}"));
        assert!(
            twins.ends_with("phase.w: two phases have this name"),
            "{twins}"
        );
        let none = refusal(&format!("{HEAD}phase = []\n"));
        assert_eq!(none, "line 7, column 1: phase: the study has no phase");
        let later = format!("{HEAD}{phase}").replace("format = 1", "format = 99");
        let later = refusal(&later);
        assert!(
            later.starts_with("line 1, column 1: format: version 99"),
            "{later}"
        );
        assert!(refusal("x").starts_with("line 1, column "));
    }
}
