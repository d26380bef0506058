//! Any data job that the engine can issue, every knob of it in the study's hands.

use std::path::PathBuf;

use fslab_engine::{
    Access, Advice, Amount, Content, DataJob, Direction, OpenMode, OpenSync, Pace, Preparation,
    RunContext, Sharing, StdioTuning, SyncPolicy, UringTuning, Workers, run_data,
};
use fslab_model::{Bytes, Headline, Need, PhaseKind};
use serde::{Deserialize, Serialize};

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
    record: Bytes,
    offset: u64,
    direction: Direction,
    access: Access,
    amount: Amount,
    ramp_up_ns: u64,
    pace: Pace,
    open: OpenMode,
    preparation: Preparation,
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
            record: Bytes::mib(1),
            offset: job.offset_bytes,
            direction: job.direction,
            access: job.access,
            amount: job.amount,
            ramp_up_ns: job.ramp_up_ns,
            pace: job.pace,
            open: OpenMode::Create,
            preparation: job.preparation,
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
    fn job(&self) -> DataJob {
        DataJob {
            file: self.file.clone(),
            file_bytes: self.file_size.bytes(),
            record_bytes: self.record.0,
            offset_bytes: self.offset,
            direction: self.direction,
            access: self.access,
            amount: self.amount,
            ramp_up_ns: self.ramp_up_ns,
            pace: self.pace,
            open: self.open,
            preparation: self.preparation,
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
        let job = self.job();
        let mut files: Vec<_> = (0..self.threads)
            .map(|thread| job.file_of(thread))
            .collect();
        files.dedup();
        Some(files)
    }

    fn needs(&self) -> Vec<Need> {
        let end = self.file_size.bytes().saturating_add(self.offset);
        vec![Need::FileBytes(Bytes(end))]
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
            Direction::Mix { .. } => PhaseKind::Mixed,
        }
    }

    fn run(parameters: &IoParameters, context: &RunContext) -> Result<Finished, RunError> {
        // An engine that does not parse was refused when the plan was made.
        let named = parse_engine(parameters.engine.as_deref()).ok().flatten();
        let engine = named.unwrap_or(context.engine);
        Ok(run_data(
            &RunContext {
                engine,
                ..context.clone()
            },
            &parameters.job(),
        )?
        .into())
    }
}
