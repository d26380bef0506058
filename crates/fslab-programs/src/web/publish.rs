//! The job `web-publish`: writes a site.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, RunError};
use fslab_model::{LatencyCounts, OperationLatency};
use fslab_sys::ResourceUse;

use super::parameters::PublishParameters;
use super::site::{self, Site};
use crate::error::ProgramError;
use crate::figures::{Account, synthetic_program, virtual_note};

/// Bytes per write(2).
const RECORD_BYTES: usize = 1 << 20;
const SYNTHETIC_NS: u64 = 80_000;

/// Writes the files one after the other, each with open, write and close, without sync.
pub(crate) fn run_publish(
    parameters: &PublishParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    let site = parameters.site();
    if context.engine == EngineKind::Null {
        let bytes = Some(site.bytes());
        return Ok(synthetic_program(context.seed, site.files, bytes, SYNTHETIC_NS).into());
    }
    Ok(publish(&site, context)?)
}

fn publish(site: &Site, context: &RunContext) -> Result<Finished, ProgramError> {
    let root = context.root.join(&site.directory);
    fs::create_dir_all(&root)
        .map_err(|error| ProgramError::io("make the directory", &root, &error))?;
    let mut record = vec![0; RECORD_BYTES];
    let mut latency = LatencyCounts::default();
    let (start_ns, used) = (fslab_sys::monotonic_ns(), ResourceUse::of_process());
    let mut made = None;
    for file in 0..site.files {
        if context.stop.is_raised() {
            return Err(ProgramError::interrupted("web-publish"));
        }
        let directory = site.directory_of(file);
        if made.as_ref() != Some(&directory) {
            let path = root.join(&directory);
            fs::create_dir(&path)
                .map_err(|error| ProgramError::io("make the directory", &path, &error))?;
            made = Some(directory);
        }
        let path = root.join(site.path(file));
        let began_ns = fslab_sys::monotonic_ns();
        let source = Source {
            seed: context.seed,
            file,
            bytes: site.file_bytes,
        };
        source
            .write(&path, &mut record)
            .map_err(|error| ProgramError::io("write", &path, &error))?;
        latency.record(fslab_sys::monotonic_ns() - began_ns);
    }
    let account = Account {
        start_ns,
        elapsed_ns: fslab_sys::monotonic_ns() - start_ns,
        operations: site.files,
        bytes: Some(site.bytes()),
        used: Some(ResourceUse::of_process().since(used)),
    };
    let mut measured = account.measured();
    measured.latencies = vec![OperationLatency {
        operation: "create".into(),
        histogram: latency.histogram(),
    }];
    Ok(Finished {
        notes: virtual_note().into_iter().collect(),
        ..measured.into()
    })
}

/// The content of a file.
struct Source {
    seed: u64,
    file: u64,
    bytes: u64,
}

impl Source {
    fn write(&self, path: &Path, record: &mut [u8]) -> io::Result<()> {
        let mut to = File::create_new(path)?;
        let mut offset = 0;
        while offset < self.bytes {
            let left = usize::try_from(self.bytes - offset).unwrap_or(usize::MAX);
            let part = &mut record[..left.min(RECORD_BYTES)];
            site::content(self.seed, self.file, offset, part);
            to.write_all(part)?;
            offset += part.len() as u64;
        }
        Ok(())
    }
}
