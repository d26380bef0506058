//! The trait that a workload implements, and the one by which others know it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fslab_engine::{EngineError, Measured, RunContext};
use fslab_model::{
    Brings, Bytes, Failure, FailureKind, Headline, Need, Parameters, PhaseKind, ValueList,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::conformance::Problem;
use crate::parameters;
use crate::programs::ProgramError;

/// Why a phase of a study cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// No workload has that name.
    #[error("there is no workload '{name}'")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The known name that is nearest.
        nearest: Option<&'static str>,
    },
    /// A parameter is unknown, missing or of the wrong type.
    #[error("the parameters of workload '{workload}' are not usable")]
    Parameters {
        /// The workload.
        workload: &'static str,
        /// What is wrong, by name.
        #[source]
        source: serde_json::Error,
    },
    /// A parameter has a value that makes no sense.
    #[error("workload '{workload}' cannot run with {problem}")]
    Value {
        /// The workload.
        workload: &'static str,
        /// Which value, and why.
        problem: String,
    },
}

/// A workload as the rest of the program knows it: parameters are a map.
pub trait Workload: Sync {
    /// Its name in studies.
    fn name(&self) -> &'static str;
    /// What it does, in one line.
    fn title(&self) -> &'static str;
    /// Which side of the device it works on, with these parameters.
    fn kind(&self, parameters: &Parameters) -> PhaseKind;
    /// The figure it is known by.
    fn headline(&self) -> Headline;
    /// Fills in what `given` leaves out, turns shares of `size` into bytes, and validates.
    ///
    /// # Errors
    /// [`WorkloadError`] names the parameter.
    fn resolve(&self, given: &Parameters, size: Bytes) -> Result<Parameters, WorkloadError>;
    /// The most bytes that the files of this phase may take at its end, for a check against the
    /// room there is.
    ///
    /// # Errors
    /// Where `resolved` was not made by [`Workload::resolve`].
    fn footprint(&self, resolved: &Parameters) -> Result<Bytes, WorkloadError>;
    /// The files whose pages must not be resident where the phase is to find its data cold; `None`
    /// where evicting file data does not make the phase cold.
    ///
    /// # Errors
    /// Where `resolved` was not made by [`Workload::resolve`].
    fn data_files(&self, resolved: &Parameters) -> Result<Option<Vec<PathBuf>>, WorkloadError>;
    /// What it needs of a file system, with these parameters; where that is lacking, the phase is
    /// to be skipped.
    ///
    /// # Errors
    /// Where `resolved` was not made by [`Workload::resolve`].
    fn needs(&self, resolved: &Parameters) -> Result<Vec<Need>, WorkloadError>;
    /// What a phase with these parameters would have a program interpret that is the study's own,
    /// in a few words; parameters that cannot be read may hold anything. `None` where there is
    /// nothing.
    fn foreign(&self, parameters: &Parameters) -> Option<String>;
    /// Whether names and links that it makes come from outside of fslab: then it may run only where
    /// something keeps them in the tree ([`RunContext::confinement`]).
    fn has_foreign_names(&self) -> bool;
    /// Programs and files of the machine that it needs, with these parameters, and that a guest
    /// does not have of itself.
    ///
    /// # Errors
    /// Where `resolved` was not made by [`Workload::resolve`].
    fn brings(&self, resolved: &Parameters) -> Result<Brings, WorkloadError>;
    /// Runs it once.
    ///
    /// # Errors
    /// [`RunError`].
    fn run(&self, resolved: &Parameters, context: &RunContext) -> Result<Finished, RunError>;
}

/// What a phase left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Its figures.
    pub measured: Measured,
    /// What a reader of them must know.
    pub notes: Vec<String>,
    /// Figures that only this workload has, by the names of their metrics.
    pub figures: BTreeMap<String, f64>,
    /// Figures that have many values.
    pub lists: Vec<ValueList>,
}

impl From<Measured> for Finished {
    fn from(mut measured: Measured) -> Self {
        Self {
            notes: std::mem::take(&mut measured.notes),
            measured,
            figures: BTreeMap::new(),
            lists: Vec::new(),
        }
    }
}

/// Why a phase did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The parameters are not resolved.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// An operation failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It cannot be run here, for a reason that is no fault: the phase is to be skipped.
    #[error("{0}")]
    Impossible(String),
    /// The file system does not do what it must, or what its entry promises.
    #[error(transparent)]
    Conformance(#[from] Problem),
    /// A program of a phase did not do what it must.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Engine(error) => error.into(),
            RunError::Conformance(problem) => problem.into(),
            RunError::Program(error) => error.into(),
            RunError::Impossible(reason) => Self::new(FailureKind::Unsupported, reason),
            RunError::Workload(error) => error.into(),
        }
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        Self::new(FailureKind::BadInput, "cannot run the phase").because(&error)
    }
}

/// Parameters of a family of workloads; their `Default` holds what a study may leave out.
pub(crate) trait WorkloadParameters: Serialize + DeserializeOwned + Default {
    /// Turns shares of `size` into bytes and says what makes no sense.
    fn settle(&mut self, size: Bytes) -> Result<(), String>;
    /// See [`Workload::footprint`].
    fn footprint(&self) -> Bytes;
    /// See [`Workload::data_files`].
    fn data_files(&self) -> Option<Vec<PathBuf>>;
    /// See [`Workload::needs`].
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }
    /// See [`Workload::brings`]. What starts a program or reads a file of the machine says it here,
    /// or does not find it in a guest.
    fn brings(&self) -> Brings {
        Brings::default()
    }
}

/// What the author of a workload writes: the same with typed parameters.
pub(crate) trait Definition: Sync {
    type Parameters: WorkloadParameters;
    const NAME: &'static str;
    const TITLE: &'static str;
    const KIND: PhaseKind;
    const HEADLINE: Headline;
    /// See [`Workload::has_foreign_names`].
    const FOREIGN_NAMES: bool = false;

    /// The kind, where it depends on the parameters.
    fn kind(_parameters: &Self::Parameters) -> PhaseKind {
        Self::KIND
    }

    /// Fills in what only this workload has a default for.
    fn complete(_parameters: &mut Self::Parameters) {}

    /// See [`Workload::needs`]; where it is more than what the parameters need for any workload.
    fn needs(parameters: &Self::Parameters) -> Vec<Need> {
        parameters.needs()
    }

    /// See [`Workload::foreign`]. A workload that starts programs gives what its parameters say; if
    /// it does not, it is refused where it runs.
    fn foreign(_parameters: &Self::Parameters) -> Option<String> {
        None
    }

    fn run(parameters: &Self::Parameters, context: &RunContext) -> Result<Finished, RunError>;
}

impl<D: Definition> Workload for D {
    fn name(&self) -> &'static str {
        D::NAME
    }

    fn title(&self) -> &'static str {
        D::TITLE
    }

    fn kind(&self, parameters: &Parameters) -> PhaseKind {
        read::<D>(parameters).map_or(D::KIND, |typed| D::kind(&typed))
    }

    fn headline(&self) -> Headline {
        D::HEADLINE
    }

    fn resolve(&self, given: &Parameters, size: Bytes) -> Result<Parameters, WorkloadError> {
        let mut typed = read::<D>(given)?;
        D::complete(&mut typed);
        typed.settle(size).map_err(|problem| WorkloadError::Value {
            workload: D::NAME,
            problem,
        })?;
        parameters::to_map(&typed).map_err(|source| WorkloadError::Parameters {
            workload: D::NAME,
            source,
        })
    }

    fn footprint(&self, resolved: &Parameters) -> Result<Bytes, WorkloadError> {
        Ok(read::<D>(resolved)?.footprint())
    }

    fn data_files(&self, resolved: &Parameters) -> Result<Option<Vec<PathBuf>>, WorkloadError> {
        Ok(read::<D>(resolved)?.data_files())
    }

    fn needs(&self, resolved: &Parameters) -> Result<Vec<Need>, WorkloadError> {
        Ok(D::needs(&read::<D>(resolved)?))
    }

    fn foreign(&self, parameters: &Parameters) -> Option<String> {
        match read::<D>(parameters) {
            Ok(typed) => D::foreign(&typed),
            Err(_) => Some(format!("parameters of {} that cannot be read", D::NAME)),
        }
    }

    fn has_foreign_names(&self) -> bool {
        D::FOREIGN_NAMES
    }

    fn brings(&self, resolved: &Parameters) -> Result<Brings, WorkloadError> {
        Ok(read::<D>(resolved)?.brings())
    }

    fn run(&self, resolved: &Parameters, context: &RunContext) -> Result<Finished, RunError> {
        D::run(&read::<D>(resolved)?, context)
    }
}

fn read<D: Definition>(map: &Parameters) -> Result<D::Parameters, WorkloadError> {
    parameters::from_map(map).map_err(|source| WorkloadError::Parameters {
        workload: D::NAME,
        source,
    })
}
