//! Any data job that the engine can issue, every knob of it in the study's hands.

use std::path::{Path, PathBuf};

use fslab_engine::{
    Access, Advice, Amount, Content, DataJob, Direction, EngineKind, OpenMode, OpenSync, Pace,
    Preparation, RunContext, Sharing, StdioTuning, SyncPolicy, UringTuning, Workers, run_data,
};
use fslab_model::{Bytes, Headline, Need, PhaseKind};
use serde::{Deserialize, Serialize};

use crate::big_file::longest_file;
use crate::parameters::{Size, demand_inside, parse_engine};
use crate::workload::{Definition, Finished, RunError, WorkloadParameters};

pub(crate) struct Io;

/// Parameters of `io`. Each is defined where the engine's [`DataJob`] defines it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IoParameters {
    /// Another engine than the plan's.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    file: PathBuf,
    file_size: Size,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<Bytes>,
    record: Bytes,
    offset: u64,
    direction: Direction,
    access: Access,
    amount: Amount,
    ramp_up_ns: u64,
    pace: Pace,
    open: OpenMode,
    preparation: Preparation,
    positioned: bool,
    direct: bool,
    open_sync: OpenSync,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<Advice>,
    sync: SyncPolicy,
    content: Content,
    generation: u32,
    verify: bool,
    older_generations: bool,
    threads: u32,
    workers: Workers,
    sharing: Sharing,
    uring: UringTuning,
    stdio: StdioTuning,
}

impl Default for IoParameters {
    fn default() -> Self {
        let job = DataJob::write("data", 1, 1);
        Self {
            engine: None,
            file: job.file,
            file_size: Size::Written("1/4".into()),
            segment: job.segment_bytes.map(Bytes),
            record: Bytes::mib(1),
            offset: job.offset_bytes,
            direction: job.direction,
            access: job.access,
            amount: job.amount,
            ramp_up_ns: job.ramp_up_ns,
            pace: job.pace,
            open: OpenMode::Create,
            preparation: job.preparation,
            positioned: job.positioned,
            direct: job.direct,
            open_sync: job.open_sync,
            advice: job.advice,
            sync: job.sync,
            content: job.content,
            generation: job.generation,
            verify: job.verify,
            older_generations: job.older_generations,
            threads: job.threads,
            workers: job.workers,
            sharing: job.sharing,
            uring: job.uring,
            stdio: job.stdio,
        }
    }
}

impl IoParameters {
    /// The file, below the root.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// The engine that is named, or else that of the plan.
    pub(super) fn engine(&self, context: &RunContext) -> EngineKind {
        // An engine that does not parse was refused when the plan was made.
        let named = parse_engine(self.engine.as_deref()).ok().flatten();
        named.unwrap_or(context.engine)
    }

    /// The job.
    pub(super) fn job(&self) -> DataJob {
        DataJob {
            file: self.file.clone(),
            file_bytes: self.file_size.bytes(),
            segment_bytes: self.segment.map(|segment| segment.0),
            record_bytes: self.record.0,
            offset_bytes: self.offset,
            direction: self.direction,
            access: self.access,
            amount: self.amount,
            ramp_up_ns: self.ramp_up_ns,
            pace: self.pace,
            open: self.open,
            preparation: self.preparation,
            positioned: self.positioned,
            direct: self.direct,
            open_sync: self.open_sync,
            advice: self.advice,
            sync: self.sync,
            content: self.content,
            generation: self.generation,
            verify: self.verify,
            older_generations: self.older_generations,
            threads: self.threads,
            workers: self.workers,
            sharing: self.sharing,
            uring: self.uring,
            stdio: self.stdio,
        }
    }
}

impl WorkloadParameters for IoParameters {
    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        demand_inside(&self.file)?;
        self.file_size = Size::Bytes(self.file_size.resolve(size)?);
        parse_engine(self.engine.as_deref())?;
        // The engine knows what makes no sense; a plan should know it before a disk is formatted.
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let files = match self.sharing {
            Sharing::Own => u64::from(self.threads),
            Sharing::Shared => 1,
        };
        Bytes(
            self.file_size
                .bytes()
                .saturating_add(self.offset)
                .saturating_mul(files),
        )
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        Some(self.job().files())
    }

    fn needs(&self) -> Vec<Need> {
        let end = self.file_size.bytes().saturating_add(self.offset);
        vec![longest_file(end, self.segment)]
    }
}

impl Definition for Io {
    type Parameters = IoParameters;
    const NAME: &'static str = "io";
    const TITLE: &'static str = "any job on the data of files, every knob of the engine";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn kind(parameters: &IoParameters) -> PhaseKind {
        match parameters.direction {
            Direction::Read => PhaseKind::Read,
            Direction::Write => PhaseKind::Write,
            Direction::Mix { .. } | Direction::Update | Direction::ReadUpdate { .. } => {
                PhaseKind::Mixed
            }
        }
    }

    fn run(parameters: &IoParameters, context: &RunContext) -> Result<Finished, RunError> {
        let context = RunContext {
            engine: parameters.engine(context),
            ..context.clone()
        };
        Ok(run_data(&context, &parameters.job())?.into())
    }
}
