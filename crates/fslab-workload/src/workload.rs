//! A workload: a job with defaults and the list of parameters that a study may set.

use std::borrow::Cow;
use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_job::{Finished, JobError, JobKind, RunError};
use fslab_model::{
    Brings, Bytes, Failure, FailureKind, Headline, Need, Parameters, PhaseKind, PhaseSpec,
    TomlError, WorkloadDefinition, did_you_mean, nearest_name, suggestion,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::catalogue;
use crate::times;

/// Error in the workload of a phase.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// No workload has that name.
    #[error("there is no workload '{name}'")]
    Unknown {
        /// The given name.
        name: String,
        /// The most similar known name.
        nearest: Option<&'static str>,
    },
    /// A parameter is unknown, missing or of the wrong type.
    #[error("invalid parameters of workload '{workload}'")]
    Parameters {
        workload: String,
        /// The error, with the parameter's name.
        #[source]
        source: Box<TomlError>,
    },
    /// A parameter has an invalid value.
    #[error("workload '{workload}' cannot run: {problem}")]
    Value {
        workload: String,
        /// Which value, and why.
        problem: String,
    },
    /// The definition is invalid.
    #[error("cannot use the definition of workload '{workload}': {problem}")]
    Definition {
        workload: String,
        /// The key, and what is wrong with it.
        problem: String,
    },
}

impl WorkloadError {
    /// Advice for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest, .. } => nearest.map(did_you_mean),
            Self::Parameters { source, .. } => source.hint.clone(),
            Self::Value { .. } | Self::Definition { .. } => None,
        }
    }
}

/// A workload, built in or defined by the user: a job and its definition.
#[derive(Clone)]
pub struct Workload {
    definition: WorkloadDefinition,
    job: &'static JobKind,
    /// The job's parameters that a study may set.
    may_set: Vec<String>,
}

/// Documentation of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ParameterInfo {
    /// Its name.
    pub name: String,
    /// Its type, with the range or the words: `integer, 1 to 1024`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Meaning and unit.
    pub meaning: String,
    /// What each word of an enumeration means.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<WordInfo>,
    /// Default, or the value that a workload fixes; null if it depends on other parameters.
    pub default: Option<Value>,
}

/// Documentation of a word that a parameter may be.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WordInfo {
    /// The word.
    pub word: String,
    /// What it means.
    pub meaning: String,
}

impl Workload {
    /// The workload that `definition` describes.
    pub fn new(definition: WorkloadDefinition) -> Result<Self, WorkloadError> {
        let failed = |problem| WorkloadError::Definition {
            workload: definition.name.clone(),
            problem,
        };
        definition
            .check()
            .map_err(|error| failed(error.to_string()))?;
        let job = catalogue::job(&definition.job).map_err(failed)?;
        let known = catalogue::parameters_of(job);
        let is_known = |name: &String| known.iter().any(|parameter| parameter.name == *name);
        let unknown = |key: &str, name: &str| {
            let nearest = nearest_name(name, known.iter().map(|it| it.name.as_str()));
            format!(
                "{key} has '{name}', which is no parameter of the job '{}'{}",
                definition.job,
                suggestion(nearest)
            )
        };
        for name in definition.may_set.iter().flatten() {
            if !is_known(name) {
                return Err(failed(unknown("may_set", name)));
            }
        }
        for name in definition.defaults.keys() {
            if !is_known(name) {
                return Err(failed(unknown("defaults", name)));
            }
        }
        (job.kind)(&definition.defaults)
            .map_err(|error| failed(format!("defaults: {}", error.with_hint())))?;
        let all = || {
            known
                .iter()
                .map(|parameter| parameter.name.clone())
                .collect()
        };
        Ok(Self {
            may_set: definition.may_set.clone().unwrap_or_else(all),
            job,
            definition,
        })
    }

    /// The workload of a planned phase: of the phase's definition if it has one, else the built-in
    /// workload of that name.
    ///
    /// # Errors
    /// [`WorkloadError`]: an unknown name, or a definition that cannot be used.
    pub fn of_phase(phase: &PhaseSpec) -> Result<Cow<'static, Self>, WorkloadError> {
        match &phase.definition {
            None => catalogue::find(&phase.workload).map(Cow::Borrowed),
            Some(definition) => {
                let failed = |problem: &str| WorkloadError::Definition {
                    workload: phase.workload.clone(),
                    problem: problem.into(),
                };
                if definition.name != phase.workload {
                    return Err(failed("the definition has another name"));
                }
                if catalogue::find(&definition.name).is_ok() {
                    return Err(failed(
                        "a built-in workload has its name; choose another one",
                    ));
                }
                Self::new((**definition).clone()).map(Cow::Owned)
            }
        }
    }

    pub fn definition(&self) -> &WorkloadDefinition {
        &self.definition
    }

    /// Its name in studies.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Why no phase of it can run on this platform; `None` if it can.
    pub fn refused_here(&self) -> Option<String> {
        let ability = catalogue::demanded_by(self.job)?;
        ability.demand().err()
    }

    /// One-line description.
    pub fn title(&self) -> &str {
        &self.definition.title
    }

    /// The metric by which it is compared.
    pub fn headline(&self) -> Headline {
        self.definition.headline
    }

    /// The kind of a phase with these parameters: read, write, mixed or metadata.
    pub fn kind(&self, parameters: &Parameters) -> PhaseKind {
        let kind = (self.job.kind)(&self.merged(parameters));
        kind.ok().flatten().unwrap_or(self.definition.kind)
    }

    /// Fills in defaults, turns shares of `size` into bytes, and validates. The result has the
    /// parameters that a study may set and computed ones, and none that follows from the definition
    /// alone.
    pub fn resolve(&self, given: &Parameters, size: Bytes) -> Result<Parameters, WorkloadError> {
        let given = times::as_numbers(given, &|name| self.may_set(name))
            .map_err(|problem| self.error(JobError::Value(problem)))?;
        if let Some(name) = given.keys().find(|name| !self.may_set(name)) {
            return Err(self.refused(name));
        }
        let merged = self.merged(&given);
        let resolved = self.typed((self.job.resolve)(&merged, size))?;
        let mut all = resolved.parameters;
        all.retain(|name, _| self.may_set(name) || resolved.derived.contains(name));
        // A parameter that the job does not serialize has the job's default, which may differ from
        // the workload's.
        for name in self.definition.defaults.keys() {
            if self.may_set(name) && !all.contains_key(name) {
                all.insert(name.clone(), merged[name].clone());
            }
        }
        Ok(all)
    }

    /// Every parameter of the job: those of `resolved`, and those that follow from the definition.
    ///
    /// # Errors
    /// If `resolved` is not a result of [`Workload::resolve`].
    pub fn job_parameters(&self, resolved: &Parameters) -> Result<Parameters, WorkloadError> {
        // Sizes are in bytes already, so that no share of a size is left.
        let job = (self.job.resolve)(&self.merged(resolved), Bytes(0));
        Ok(self.typed(job)?.parameters)
    }

    /// Upper bound of the bytes of all files at the end of the phase, to compare with free space.
    ///
    /// # Errors
    /// If `resolved` is not a result of [`Workload::resolve`].
    pub fn footprint(&self, resolved: &Parameters) -> Result<Bytes, WorkloadError> {
        self.typed((self.job.footprint)(&self.merged(resolved)))
    }

    /// The files whose pages must be evicted to make the phase cold; `None` if evicting file data
    /// does not make it cold. With more than one of `ranks` they are those of all.
    ///
    /// # Errors
    /// If `resolved` is not a result of [`Workload::resolve`].
    pub fn data_files(
        &self,
        resolved: &Parameters,
        ranks: u32,
    ) -> Result<Option<Vec<PathBuf>>, WorkloadError> {
        self.typed((self.job.data_files)(&self.merged(resolved), ranks))
    }

    /// True if several ranks can run it as one load.
    pub fn runs_on_ranks(&self) -> bool {
        self.job.ranks
    }

    /// Capabilities that the file system needs; without them the phase is skipped.
    ///
    /// # Errors
    /// If `resolved` is not a result of [`Workload::resolve`].
    pub fn needs(&self, resolved: &Parameters) -> Result<Vec<Need>, WorkloadError> {
        self.typed((self.job.needs)(&self.merged(resolved)))
    }

    /// Describes the texts of the study that a program would interpret as commands with these
    /// parameters; `None` if there are none. Invalid parameters count as such texts.
    pub fn foreign(&self, parameters: &Parameters) -> Option<String> {
        let foreign = (self.job.foreign)(&self.merged(parameters));
        foreign.unwrap_or_else(|_| {
            let name = self.name();
            Some(format!("parameters of {name} that cannot be read"))
        })
    }

    /// True if it creates names and links that fslab has not chosen: it then runs only in
    /// confinement ([`RunContext::confinement`]).
    pub fn has_foreign_names(&self) -> bool {
        self.job.foreign_names
    }

    /// True if it takes a disk out of the array below the file system.
    pub fn fails_disk(&self) -> bool {
        self.job.name == fslab_programs::FAIL_DISK
    }

    /// Programs and files of the machine that it needs and that a guest must be given.
    ///
    /// # Errors
    /// If `resolved` is not a result of [`Workload::resolve`].
    pub fn brings(&self, resolved: &Parameters) -> Result<Brings, WorkloadError> {
        self.typed((self.job.brings)(&self.merged(resolved)))
    }

    /// Whether [`Workload::lay_out`] may write files.
    ///
    /// # Errors
    /// Where `resolved` was not made by [`Workload::resolve`].
    pub fn lays_out(&self, resolved: &Parameters) -> Result<bool, WorkloadError> {
        self.typed((self.job.lays_out)(&self.merged(resolved)))
    }

    /// Writes files that it reads and that are missing, before the phase; gives the bytes that were
    /// missing.
    pub fn lay_out(&self, resolved: &Parameters, context: &RunContext) -> Result<u64, RunError> {
        self.ran((self.job.lay_out)(&self.merged(resolved), context))
    }

    /// Runs it once.
    pub fn run(&self, resolved: &Parameters, context: &RunContext) -> Result<Finished, RunError> {
        self.ran((self.job.run)(&self.merged(resolved), context))
    }

    /// The parameters that a study may set, in the job's order. Some defaults are a share of
    /// `size`, the size of the file system.
    pub fn parameters(&self, size: Bytes) -> Vec<ParameterInfo> {
        let defaults = self.resolve(&Parameters::new(), size).unwrap_or_default();
        let known = catalogue::parameters_of(self.job).iter();
        let settable = known.filter(|parameter| self.may_set(&parameter.name));
        settable
            .map(|parameter| ParameterInfo {
                default: [&defaults, &self.definition.defaults]
                    .into_iter()
                    .find_map(|values| values.get(&parameter.name))
                    .or(parameter.default.as_ref())
                    .cloned(),
                ..parameter.clone()
            })
            .collect()
    }

    /// The parameters that the definition fixes, with their values, in the job's order.
    pub fn fixed(&self) -> Vec<ParameterInfo> {
        let known = catalogue::parameters_of(self.job).iter();
        let fixed = known.filter(|parameter| !self.may_set(&parameter.name));
        fixed
            .filter_map(|parameter| {
                let value = self.definition.defaults.get(&parameter.name)?;
                Some(ParameterInfo {
                    default: Some(value.clone()),
                    ..parameter.clone()
                })
            })
            .collect()
    }

    /// True if a study may set this parameter.
    pub fn may_set(&self, name: &str) -> bool {
        self.may_set.iter().any(|known| known == name)
    }

    /// The definition's parameters, overridden by `given`.
    fn merged(&self, given: &Parameters) -> Parameters {
        let mut merged = self.definition.defaults.clone();
        for (name, value) in given {
            let is_zero = value.as_u64() == Some(0) || value.as_str() == Some("");
            let is_default = is_zero && self.job.zero_is_default.contains(&name.as_str());
            if !(is_default && merged.contains_key(name)) {
                merged.insert(name.clone(), value.clone());
            }
        }
        merged
    }

    fn refused(&self, name: &str) -> WorkloadError {
        let mut known = catalogue::parameters_of(self.job).iter();
        let error = if known.any(|parameter| parameter.name == name) {
            let problem = format!("the workload '{}' does not use it", self.name());
            TomlError::new([name], problem)
        } else {
            let known: Vec<_> = self.may_set.iter().map(String::as_str).collect();
            TomlError::unknown_key([name], &known)
        };
        self.error(JobError::Shape(Box::new(error)))
    }

    fn typed<T>(&self, result: Result<T, JobError>) -> Result<T, WorkloadError> {
        result.map_err(|error| self.error(error))
    }

    fn ran<T>(&self, result: Result<T, RunError>) -> Result<T, RunError> {
        result.map_err(|error| match error {
            RunError::Parameters(error) => RunError::Failed(self.error(error).into()),
            other => other,
        })
    }

    fn error(&self, error: JobError) -> WorkloadError {
        let workload = self.name().to_owned();
        match error {
            JobError::Shape(source) => WorkloadError::Parameters { workload, source },
            JobError::Value(problem) => WorkloadError::Value { workload, problem },
        }
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        Self::new(FailureKind::BadInput, "cannot run the phase").because(&error)
    }
}
