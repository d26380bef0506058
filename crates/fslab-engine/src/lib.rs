//! How I/O is issued: engines, access patterns, latency recording.
//!
//! Owns the measuring loops and what they issue; knows nothing of studies, file systems or reports,
//! and prints nothing. A job goes in, figures come out; what an engine, the kernel or the file
//! system refuses is an error, never another engine.
//!
//! ```text
//!     RunContext, DataJob     --> registry --> engine --> drive --> recording --> Measured
//!     RunContext, MetadataJob --/              (target)   (loop)    (clock, histograms, series)
//! ```

mod access;
mod calibrate;
mod content;
mod context;
mod data_run;
mod drive;
mod engines;
mod error;
mod evict;
mod jobs;
mod kind;
mod lay_out;
mod logbook;
mod measured;
mod recording;
mod registry;

pub use access::Access;
pub use calibrate::{Calibration, calibrate};
pub use content::Content;
pub use context::{RunContext, StopFlag};
pub use data_run::{EngineJob, Together, run_data, run_data_together};
pub use error::EngineError;
pub use evict::evict;
pub use jobs::{
    Advice, Amount, DataJob, Direction, FileSizes, MetadataJob, MetadataOperation, MetadataSync,
    Names, OpenMode, OpenSync, Order, Pace, Preparation, Sharing, StdioTuning, SyncCall, SyncEvery,
    SyncPolicy, TreeShape, UringTuning, WeightedSize, Workers,
};
pub use jobs::{Digest, DirectoryTiming, FileKind, NameStyle, Refusal};
pub use kind::{EngineKind, ParseEngineError};
pub use lay_out::{lay_out, lays_out};
pub use logbook::{Filler, Kind, Logbook, run_crew};
pub use measured::{Measured, ThreadMeasured};
pub use registry::run_metadata;

pub use fslab_stats::{Random, mix};
