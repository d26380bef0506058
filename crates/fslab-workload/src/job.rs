//! The trait of a kind of job: its parameters, what they need, how it is run.

use std::marker::PhantomData;
use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_model::{Brings, Bytes, Need, Parameters, PhaseKind};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::parameters::{from_map, to_map};
use crate::workload::{Finished, RunError};

/// A kind of job is its type of parameters; `Default` has the values that a workload leaves out.
pub(crate) trait Job: Serialize + DeserializeOwned + Default + JsonSchema + 'static {
    /// Name in workload files.
    const NAME: &'static str;
    /// True if it creates names and links that fslab has not chosen.
    const FOREIGN_NAMES: bool = false;
    /// Parameters for which 0 or an empty text means the workload's default.
    const ZERO_IS_DEFAULT: &'static [&'static str] = &[];

    /// Turns shares of `size` into bytes and validates; the error describes the invalid value.
    fn resolve(&mut self, size: Bytes) -> Result<(), String>;
    /// See [`crate::Workload::footprint`].
    fn footprint(&self) -> Bytes;
    /// See [`crate::Workload::data_files`].
    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }
    /// See [`crate::Workload::needs`].
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }
    /// See [`crate::Workload::brings`]. A job lists here each program that it starts and each file
    /// of the machine that it reads; a guest has nothing else.
    fn brings(&self) -> Brings {
        Brings::default()
    }
    /// The kind of the phase if it depends on the parameters.
    fn kind(&self) -> Option<PhaseKind> {
        None
    }
    /// See [`crate::Workload::foreign`]. A job that starts programs without implementing it is
    /// refused at run time.
    fn foreign(&self) -> Option<String> {
        None
    }
    /// Whether [`Job::lay_out`] may write files.
    fn lays_out(&self) -> bool {
        false
    }
    /// See [`crate::Workload::lay_out`].
    fn lay_out(&self, _context: &RunContext) -> Result<u64, RunError> {
        Ok(0)
    }
    /// Runs it once.
    fn run(&self, context: &RunContext) -> Result<Finished, RunError>;
}

/// Invalid parameters of a job.
#[derive(Debug)]
pub(crate) enum JobError {
    /// A parameter is unknown or of the wrong type.
    Shape(serde_json::Error),
    /// A parameter has an invalid value.
    Value(String),
}

impl From<serde_json::Error> for JobError {
    fn from(error: serde_json::Error) -> Self {
        Self::Shape(error)
    }
}

/// Parameters of a job for a file system of known size.
pub(crate) struct Resolved {
    /// All parameters.
    pub(crate) parameters: Parameters,
    /// Names of those that were computed from the size or from other parameters.
    pub(crate) derived: Vec<String>,
}

/// A job without its type: parameters are a map, which may leave out those with defaults.
pub(crate) trait AnyJob: Sync {
    fn name(&self) -> &'static str;
    fn schema(&self) -> Schema;
    fn foreign_names(&self) -> bool;
    fn zero_is_default(&self) -> &'static [&'static str];
    fn resolve(&self, parameters: &Parameters, size: Bytes) -> Result<Resolved, JobError>;
    fn footprint(&self, parameters: &Parameters) -> Result<Bytes, JobError>;
    fn data_files(&self, parameters: &Parameters) -> Result<Option<Vec<PathBuf>>, JobError>;
    fn needs(&self, parameters: &Parameters) -> Result<Vec<Need>, JobError>;
    fn brings(&self, parameters: &Parameters) -> Result<Brings, JobError>;
    fn kind(&self, parameters: &Parameters) -> Result<Option<PhaseKind>, JobError>;
    fn foreign(&self, parameters: &Parameters) -> Result<Option<String>, JobError>;
    fn lays_out(&self, parameters: &Parameters) -> Result<bool, JobError>;
    fn lay_out(
        &self,
        parameters: &Parameters,
        context: &RunContext,
    ) -> Result<Result<u64, RunError>, JobError>;
    fn run(
        &self,
        parameters: &Parameters,
        context: &RunContext,
    ) -> Result<Result<Finished, RunError>, JobError>;
}

/// The job `J` as an [`AnyJob`].
pub(crate) struct Typed<J>(PhantomData<fn() -> J>);

impl<J: Job> Typed<J> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<J: Job> AnyJob for Typed<J> {
    fn name(&self) -> &'static str {
        J::NAME
    }

    fn schema(&self) -> Schema {
        schemars::schema_for!(J)
    }

    fn foreign_names(&self) -> bool {
        J::FOREIGN_NAMES
    }

    fn zero_is_default(&self) -> &'static [&'static str] {
        J::ZERO_IS_DEFAULT
    }

    fn resolve(&self, parameters: &Parameters, size: Bytes) -> Result<Resolved, JobError> {
        let mut job: J = from_map(parameters)?;
        let before = to_map(&job)?;
        job.resolve(size).map_err(JobError::Value)?;
        let parameters = to_map(&job)?;
        let is_derived = |(name, value): &(&String, _)| before.get(*name) != Some(*value);
        let derived = parameters.iter().filter(is_derived);
        Ok(Resolved {
            derived: derived.map(|(name, _)| name.clone()).collect(),
            parameters,
        })
    }

    fn footprint(&self, parameters: &Parameters) -> Result<Bytes, JobError> {
        Ok(from_map::<J>(parameters)?.footprint())
    }

    fn data_files(&self, parameters: &Parameters) -> Result<Option<Vec<PathBuf>>, JobError> {
        Ok(from_map::<J>(parameters)?.data_files())
    }

    fn needs(&self, parameters: &Parameters) -> Result<Vec<Need>, JobError> {
        Ok(from_map::<J>(parameters)?.needs())
    }

    fn brings(&self, parameters: &Parameters) -> Result<Brings, JobError> {
        Ok(from_map::<J>(parameters)?.brings())
    }

    fn kind(&self, parameters: &Parameters) -> Result<Option<PhaseKind>, JobError> {
        Ok(from_map::<J>(parameters)?.kind())
    }

    fn foreign(&self, parameters: &Parameters) -> Result<Option<String>, JobError> {
        Ok(from_map::<J>(parameters)?.foreign())
    }

    fn lays_out(&self, parameters: &Parameters) -> Result<bool, JobError> {
        Ok(from_map::<J>(parameters)?.lays_out())
    }

    fn lay_out(
        &self,
        parameters: &Parameters,
        context: &RunContext,
    ) -> Result<Result<u64, RunError>, JobError> {
        Ok(from_map::<J>(parameters)?.lay_out(context))
    }

    fn run(
        &self,
        parameters: &Parameters,
        context: &RunContext,
    ) -> Result<Result<Finished, RunError>, JobError> {
        Ok(from_map::<J>(parameters)?.run(context))
    }
}
