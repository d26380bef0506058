//! A study: the declaration that a person writes in TOML.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{FigureSpec, Parameters, Percent, Rounds, ScaleRules, Sweep, WorkloadDefinition};

/// How warm the caches are when a phase begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// As the phase before left them.
    #[default]
    Keep,
    /// Nothing of the file system is in memory: see [`crate::ColdMethod`].
    Cold,
    /// Everything that the phase will look at was looked at before its clock started.
    Warm,
}

/// One phase of a study, as written; what is left out, the workload's defaults fill in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseEntry {
    /// The phase's name in this study; results are told apart by it.
    pub name: String,
    /// Which workload it issues.
    pub workload: String,
    /// What the caches hold when it begins.
    #[serde(default)]
    pub cache: CachePolicy,
    /// Whether sync and unmount right after it are timed, for durable throughput.
    #[serde(default)]
    pub settle: bool,
    /// The group of phases that it belongs to: after a failure the rest of its group is skipped,
    /// and nothing else. Without one, everything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The sweep whose points it runs at. Its values stand in parameters as `"$DIMENSION"`. Phases
    /// of one sweep that follow each other run together at each point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<String>,
    /// Whether it runs unless somebody asks for it.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub enabled: bool,
    /// Parameters of the workload.
    #[serde(flatten)]
    pub parameters: Parameters,
}

fn yes() -> bool {
    true
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The most characters of a name that a study gives.
const NAME_LENGTH_MAX: usize = 64;

/// A study, as `study.toml` declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Version of the format; 1.
    pub format: u32,
    /// Its short name.
    pub name: String,
    /// One line for lists.
    pub title: String,
    /// What it is for, in a few sentences.
    #[serde(default)]
    pub description: String,
    /// Subjects where the command line names none.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// Size of each file system, with a unit.
    pub size: String,
    /// Memory of a guest, with a unit; the venues that have no guest do not heed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The profile of the disk that the venue `sim` simulates; the others do not heed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Repeats of each cell; with `repeats_max`, the least.
    pub repeats: u32,
    /// The most repeats of a cell: beyond the least it is repeated until its figures are known to
    /// within `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_max: Option<u32>,
    /// How far the 95 % interval of a cell's key figures may reach from them: `"5%"`, which it is
    /// where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Percent>,
    /// The phases whose headline figures decide whether a cell is repeated; without any, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<String>,
    /// How often the phases run in each repeat.
    #[serde(default, skip_serializing_if = "Rounds::is_one")]
    pub rounds: Rounds,
    /// Time limit of one trial, in seconds.
    pub trial_limit_s: u32,
    /// What becomes smaller with `--scale`, and the scale where none is asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scale: ScaleRules,
    /// Sweeps by name.
    #[serde(default, rename = "sweep", skip_serializing_if = "BTreeMap::is_empty")]
    pub sweeps: BTreeMap<String, Sweep>,
    /// Facts of the machine without which the figures would mean something else:
    /// `read_ahead_kb = "128"`. A trial that finds another value says so and runs no phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_facts: BTreeMap<String, String>,
    /// Figures and tables in the shape of the original's.
    #[serde(default, rename = "figure", skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureSpec>,
    /// The phases, in order.
    #[serde(rename = "phase")]
    pub phases: Vec<PhaseEntry>,
    /// The user's workloads that the phases name, from files beside that of the study.
    #[serde(skip)]
    pub workloads: BTreeMap<String, WorkloadDefinition>,
}

/// Why a text is not a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// It is not TOML, or not of this shape.
    #[error("the study is not readable")]
    Syntax(#[source] Box<toml::de::Error>),
    /// It is from a later fslab.
    #[error("the study has format {found}, and this fslab reads up to {known}")]
    Format {
        /// What the file says.
        found: u32,
        /// What we read.
        known: u32,
    },
    /// A name that would not stand in tables, file names and columns as it is.
    #[error(
        "the {what} has the name {name:?}; a name has 1 to 64 letters, digits, spaces or . _ + -"
    )]
    Name {
        /// `study` or `phase`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two phases of one name.
    #[error("the study has two phases named '{0}'")]
    DuplicatePhase(String),
    /// It has nothing to measure.
    #[error("the study has no phase")]
    NoPhase,
}

impl Study {
    /// Reads a `study.toml`.
    ///
    /// # Errors
    /// [`StudyError`], which names what is wrong; the source of `Syntax` names line and column.
    pub fn from_toml(text: &str) -> Result<Self, StudyError> {
        let study: Self =
            toml::from_str(text).map_err(|error| StudyError::Syntax(Box::new(error)))?;
        if study.format > crate::FORMAT_VERSION {
            return Err(StudyError::Format {
                found: study.format,
                known: crate::FORMAT_VERSION,
            });
        }
        if study.phases.is_empty() {
            return Err(StudyError::NoPhase);
        }
        check_name("study", &study.name)?;
        for (index, phase) in study.phases.iter().enumerate() {
            check_name("phase", &phase.name)?;
            if study.phases[..index]
                .iter()
                .any(|earlier| earlier.name == phase.name)
            {
                return Err(StudyError::DuplicatePhase(phase.name.clone()));
            }
        }
        Ok(study)
    }
}

fn check_name(what: &'static str, name: &str) -> Result<(), StudyError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " ._+-".contains(c);
    if name.trim().is_empty() || name.len() > NAME_LENGTH_MAX || !name.chars().all(allowed) {
        let name = name.to_owned();
        return Err(StudyError::Name { what, name });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "format = 1\nname = 'q'\ntitle = 't'\nsize = '1GiB'\nrepeats = 3\n\
                        trial_limit_s = 60\n";

    #[test]
    fn parameters_that_are_not_our_words_go_to_the_workload() {
        let text = format!("{HEAD}[[phase]]\nname='w'\nworkload='write'\nrecord='1MiB'\n");
        let study = Study::from_toml(&text).expect("a study");
        assert_eq!(study.phases[0].parameters["record"], "1MiB");
        assert_eq!(study.phases[0].cache, CachePolicy::Keep);
    }

    #[test]
    fn a_word_that_is_misspelt_is_refused_by_its_name() {
        let text = format!("repeat = 10\n{HEAD}[[phase]]\nname='w'\nworkload='write'\n");
        let Err(StudyError::Syntax(error)) = Study::from_toml(&text) else {
            panic!("must be refused")
        };
        assert!(
            error.to_string().contains("unknown field `repeat`"),
            "{error}"
        );
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
            let phase = read("q", bad);
            assert!(
                matches!(phase, Err(StudyError::Name { what: "phase", .. })),
                "{bad:?}"
            );
            let study = read(bad, "p");
            assert!(
                matches!(study, Err(StudyError::Name { what: "study", .. })),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_study_without_phases_with_twins_or_of_tomorrow_is_refused() {
        let phase = "[[phase]]\nname='w'\nworkload='write'\n";
        let twins = format!("{HEAD}{phase}{phase}");
        assert!(matches!(
            Study::from_toml(&twins),
            Err(StudyError::DuplicatePhase(_))
        ));
        let none = format!("{HEAD}phase = []\n");
        assert!(matches!(Study::from_toml(&none), Err(StudyError::NoPhase)));
        let later = format!("{HEAD}{phase}").replace("format = 1", "format = 99");
        assert!(matches!(
            Study::from_toml(&later),
            Err(StudyError::Format { found: 99, .. })
        ));
        assert!(matches!(Study::from_toml("x"), Err(StudyError::Syntax(_))));
    }
}
