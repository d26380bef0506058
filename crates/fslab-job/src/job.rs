//! The trait of a kind of job: its parameters, what they need, how it is run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use fslab_engine::RunContext;
use fslab_model::{Brings, Bytes, Need, Parameters, PhaseKind, TomlError};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::outcome::{Finished, RunError};
use crate::parameters::{from_map, to_map};
use crate::value_range::check_ranges;

/// A kind of job is its type of parameters; `Default` has the values that a workload leaves out.
pub trait Job: Serialize + DeserializeOwned + Default + JsonSchema + 'static {
    /// Name in workload files.
    const NAME: &'static str;
    /// True if it creates names and links that fslab has not chosen.
    const FOREIGN_NAMES: bool = false;
    /// True if several ranks can run it as one load: see [`fslab_engine::Ranks`].
    const RANKS: bool = false;
    /// Parameters for which 0 or an empty text means the workload's default.
    const ZERO_IS_DEFAULT: &'static [&'static str] = &[];

    /// Turns shares of `size` into bytes and validates; the error describes the invalid value.
    fn resolve(&mut self, size: Bytes) -> Result<(), String>;
    /// Upper bound of the bytes of all files at the end of the phase, to compare with free space.
    fn footprint(&self) -> Bytes;
    /// The files whose pages must be evicted to make the phase cold; `None` if evicting file data
    /// does not make it cold. With more than one of `ranks` they are those of all.
    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
        None
    }
    /// Capabilities that the file system needs; without them the phase is skipped.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }
    /// Each program that it starts and each file of the machine that it reads; a guest has nothing
    /// else.
    fn brings(&self) -> Brings {
        Brings::default()
    }
    /// The kind of the phase if it depends on the parameters.
    fn kind(&self) -> Option<PhaseKind> {
        None
    }
    /// Describes the texts of the study that a program would interpret as commands; `None` if there
    /// are none. A job that starts programs without implementing it is refused at run time.
    fn foreign(&self) -> Option<String> {
        None
    }
    /// Whether [`Job::lay_out`] may write files.
    fn lays_out(&self) -> bool {
        false
    }
    /// Writes files that it reads and that are missing, before the phase; gives the bytes that were
    /// missing.
    fn lay_out(&self, _context: &RunContext) -> Result<u64, RunError> {
        Ok(0)
    }
    /// Runs it once.
    fn run(&self, context: &RunContext) -> Result<Finished, RunError>;
}

/// Invalid parameters of a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A parameter is unknown or of the wrong type.
    #[error(transparent)]
    Shape(#[from] Box<TomlError>),
    /// A parameter has an invalid value.
    #[error("{0}")]
    Value(String),
}

impl JobError {
    /// The error with its hint in parentheses.
    pub fn with_hint(&self) -> String {
        match self {
            Self::Shape(error) => match &error.hint {
                Some(hint) => format!("{error} ({hint})"),
                None => error.to_string(),
            },
            Self::Value(problem) => problem.clone(),
        }
    }
}

/// Parameters of a job for a file system of known size.
pub struct ResolvedJob {
    pub parameters: Parameters,
    /// Names of those that were computed from the size or from other parameters.
    pub derived: Vec<String>,
}

/// A function of the parameters of a job, which are a map and may leave out those with defaults.
pub type JobFunction<T> = fn(&Parameters) -> Result<T, JobError>;

/// Files whose pages are evicted; `None` if that makes nothing cold.
pub type DataFiles = Option<Vec<PathBuf>>;

/// A kind of job without its type: a line in the table of a crate.
pub struct JobKind {
    /// See [`Job::NAME`].
    pub name: &'static str,
    /// See [`Job::FOREIGN_NAMES`].
    pub foreign_names: bool,
    /// See [`Job::RANKS`].
    pub ranks: bool,
    /// See [`Job::ZERO_IS_DEFAULT`].
    pub zero_is_default: &'static [&'static str],
    /// The schema of the parameters.
    pub schema: fn() -> Arc<Schema>,
    /// See [`Job::resolve`].
    pub resolve: fn(&Parameters, Bytes) -> Result<ResolvedJob, JobError>,
    /// See [`Job::footprint`].
    pub footprint: JobFunction<Bytes>,
    /// See [`Job::data_files`].
    pub data_files: fn(&Parameters, u32) -> Result<DataFiles, JobError>,
    /// See [`Job::needs`].
    pub needs: JobFunction<Vec<Need>>,
    /// See [`Job::brings`].
    pub brings: JobFunction<Brings>,
    /// See [`Job::kind`].
    pub kind: JobFunction<Option<PhaseKind>>,
    /// See [`Job::foreign`].
    pub foreign: JobFunction<Option<String>>,
    /// See [`Job::lays_out`].
    pub lays_out: JobFunction<bool>,
    /// See [`Job::lay_out`].
    pub lay_out: fn(&Parameters, &RunContext) -> Result<u64, RunError>,
    /// See [`Job::run`].
    pub run: fn(&Parameters, &RunContext) -> Result<Finished, RunError>,
}

impl JobKind {
    /// The kind of job with the parameters `J`.
    pub const fn of<J: Job>() -> Self {
        Self {
            name: J::NAME,
            foreign_names: J::FOREIGN_NAMES,
            ranks: J::RANKS,
            zero_is_default: J::ZERO_IS_DEFAULT,
            schema: schema::<J>,
            resolve: resolve::<J>,
            footprint: |map| Ok(typed::<J>(map)?.footprint()),
            data_files: |map, ranks| Ok(typed::<J>(map)?.data_files(ranks)),
            needs: |map| Ok(typed::<J>(map)?.needs()),
            brings: |map| Ok(typed::<J>(map)?.brings()),
            kind: |map| Ok(typed::<J>(map)?.kind()),
            foreign: |map| Ok(typed::<J>(map)?.foreign()),
            lays_out: |map| Ok(typed::<J>(map)?.lays_out()),
            lay_out: |map, context| typed::<J>(map)?.lay_out(context),
            run: |map, context| typed::<J>(map)?.run(context),
        }
    }
}

fn typed<J: Job>(map: &Parameters) -> Result<J, JobError> {
    from_map(map).map_err(|error| Box::new(error).into())
}

/// Schemas by the name of the job: made once, since a plan resolves each phase of each cell.
static SCHEMAS: Mutex<BTreeMap<&str, Arc<Schema>>> = Mutex::new(BTreeMap::new());

fn schema<J: Job>() -> Arc<Schema> {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    let made = schemas.entry(J::NAME).or_insert_with(|| {
        let settings = SchemaSettings::draft07();
        Arc::new(settings.into_generator().into_root_schema_for::<J>())
    });
    Arc::clone(made)
}

/// The job with the parameters in `map`, each in its range, and all parameters.
fn in_range<J: Job>(map: &Parameters) -> Result<(J, Parameters), JobError> {
    let job: J = typed(map)?;
    let parameters = to_map(&job);
    check_ranges(schema::<J>().as_value(), &parameters).map_err(JobError::Value)?;
    Ok((job, parameters))
}

/// The job with the parameters in `map`, complete and checked, for a file system of `size` bytes.
pub fn resolved<J: Job>(map: &Parameters, size: Bytes) -> Result<J, JobError> {
    let (mut job, _) = in_range::<J>(map)?;
    job.resolve(size).map_err(JobError::Value)?;
    Ok(job)
}

fn resolve<J: Job>(map: &Parameters, size: Bytes) -> Result<ResolvedJob, JobError> {
    let (mut job, before) = in_range::<J>(map)?;
    job.resolve(size).map_err(JobError::Value)?;
    let parameters = to_map(&job);
    let is_derived = |(name, value): &(&String, _)| before.get(*name) != Some(*value);
    let derived = parameters.iter().filter(is_derived);
    Ok(ResolvedJob {
        derived: derived.map(|(name, _)| name.clone()).collect(),
        parameters,
    })
}
