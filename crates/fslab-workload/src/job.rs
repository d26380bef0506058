//! The trait that a kind of job implements: its parameters, what they need, and how it is run.

use std::marker::PhantomData;
use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_model::{Brings, Bytes, Need, Parameters, PhaseKind};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::parameters::{from_map, to_map};
use crate::workload::{Finished, RunError};

/// A kind of job, as a type of parameters; `Default` has what a workload leaves out.
pub(crate) trait Job: Serialize + DeserializeOwned + Default + JsonSchema + 'static {
    /// Its name in the files of workloads.
    const NAME: &'static str;
    /// Whether names and links that it makes come from outside of fslab.
    const FOREIGN_NAMES: bool = false;
    /// Parameters for which a study writes 0, or an empty text, to get the workload's default.
    const ZERO_IS_DEFAULT: &'static [&'static str] = &[];

    /// Turns shares of `size` into bytes and says what makes no sense.
    fn settle(&mut self, size: Bytes) -> Result<(), String>;
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
    /// See [`crate::Workload::brings`]. A job that starts a program or reads a file of the machine
    /// lists it here; a guest has nothing else.
    fn brings(&self) -> Brings {
        Brings::default()
    }
    /// The kind of the phase, where it depends on the parameters.
    fn kind(&self) -> Option<PhaseKind> {
        None
    }
    /// See [`crate::Workload::foreign`]. A job that starts programs and does not implement it is
    /// refused when it runs.
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

/// Why parameters of a job cannot be used.
#[derive(Debug)]
pub(crate) enum JobError {
    /// One is unknown, or of the wrong type.
    Shape(serde_json::Error),
    /// One has a value that makes no sense.
    Value(String),
}

impl From<serde_json::Error> for JobError {
    fn from(error: serde_json::Error) -> Self {
        Self::Shape(error)
    }
}

/// Parameters of a job for a file system of known size.
pub(crate) struct Settled {
    /// All of them.
    pub(crate) parameters: Parameters,
    /// Those that were computed: from the size, or from other parameters.
    pub(crate) derived: Vec<String>,
}

/// A job whose parameters are a map that holds all of them that have no default.
pub(crate) trait AnyJob: Sync {
    fn name(&self) -> &'static str;
    fn schema(&self) -> Schema;
    fn foreign_names(&self) -> bool;
    fn zero_is_default(&self) -> &'static [&'static str];
    fn settle(&self, parameters: &Parameters, size: Bytes) -> Result<Settled, JobError>;
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

/// The job `J`, for the table of jobs.
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

    fn settle(&self, parameters: &Parameters, size: Bytes) -> Result<Settled, JobError> {
        let mut job: J = from_map(parameters)?;
        let before = to_map(&job)?;
        job.settle(size).map_err(JobError::Value)?;
        let parameters = to_map(&job)?;
        let is_derived = |(name, value): &(&String, _)| before.get(*name) != Some(*value);
        let derived = parameters.iter().filter(is_derived);
        Ok(Settled {
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
