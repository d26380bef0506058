//! The table of engines. A new engine is one file and one line here.

use std::borrow::Cow;

use super::engine::Engine;
use crate::drive::Stonewall;
use crate::engines::{MMAP, NULL, PSYNC, STDIO, URING};
use crate::made::stonewall_note;
use crate::{EngineError, EngineKind, Measured, MetadataJob, MetadataOperation, Order, RunContext};

const ENGINES: &[&Engine] = &[&PSYNC, &URING, &MMAP, &STDIO, &NULL];

/// The engine of that name.
pub(crate) fn engine(kind: EngineKind) -> &'static Engine {
    let known = ENGINES.iter().find(|engine| engine.kind == kind);
    known.expect("every kind of engine stands in the table")
}

/// Runs a metadata job.
pub fn run_metadata(context: &RunContext, job: &MetadataJob) -> Result<Measured, EngineError> {
    job.validate()?;
    let engine = engine(context.engine);
    let run = engine.run_metadata.ok_or_else(|| {
        EngineError::unsupported(format!(
            "the engine {} issues no metadata operations; psync does",
            engine.kind
        ))
    })?;
    let (job, threads) = match &context.ranks {
        None => (Cow::Borrowed(job), 0..job.threads),
        Some(ranks) => {
            let all = job.of_ranks(ranks.count);
            all.validate_of_ranks()?;
            (Cow::Owned(all), ranks.workers(job.threads))
        }
    };
    let (made, base) = (&context.made, &job.directory);
    if job.operation == MetadataOperation::Create {
        made.forget(base);
    }
    let part = made.of(base, job.threads)?;
    if part.is_some() && job.order == Order::Readdir && job.has_gaps() {
        return Err(EngineError::bad_input(format!(
            "{} was made until a stonewall by threads with a range of its files each, and cannot be \
             used in readdir order",
            base.display()
        ))
        .hint("use sharing = \"shared\" or base_per_worker = true"));
    }
    let stonewall =
        (job.stonewall_ns).map(|_| Stonewall::new(threads.len() as u32, context.ranks.as_ref()));
    let mut measured = run(context, &job, threads, stonewall.as_ref())?;
    if let Some(most) = stonewall.and_then(|it| it.most()) {
        made.note(base, job.threads, most);
        measured.notes.push(stonewall_note(most, "files"));
    } else if job.operation == MetadataOperation::Unlink {
        made.forget(base);
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_engine_is_in_the_table() {
        for kind in EngineKind::ALL {
            assert_eq!(engine(*kind).kind, *kind);
        }
    }
}
