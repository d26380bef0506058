//! Engines, access patterns, and the recording of latencies.
//!
//! Owns the measuring loops and the operations in them; independent of studies, file systems and
//! reports. Prints nothing. A job gives figures or an error: features that an engine, the kernel or
//! the file system lacks are errors, and never replaced by another engine.
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
mod engine;
mod engines;
mod error;
mod evict;
mod jobs;
mod kind;
mod lay_out;
mod made;
mod measured;
mod ranks;
mod recording;
mod registry;
mod thread_recorder;

pub use access::Access;
pub use calibrate::{Calibration, calibrate};
pub use content::Content;
pub use context::{RunContext, StopFlag};
pub use data_run::{Together, run_data, run_data_together};
pub use error::EngineError;
pub use evict::evict;
pub use jobs::limits;
pub use jobs::{
    Advice, Amount, DataJob, Direction, FileSizes, MetadataJob, MetadataOperation, MetadataSync,
    Names, OpenMode, OpenSync, Order, Pace, Preparation, RecordShare, Sharing, StdioTuning,
    SyncCall, SyncEvery, SyncPolicy, TreeShape, UringTuning, WeightedSize, Workers, ZoneShare,
};
pub use jobs::{Digest, DirectoryTiming, FileKind, NameStyle, Refusal};
pub use kind::{EngineKind, ParseEngineError};
pub use lay_out::{lay_out, lays_out};
pub use measured::{Measured, ThreadMeasured};
pub use ranks::{RankLink, Ranks};
pub use recording::cpu_use;
pub use registry::run_metadata;
pub use thread_recorder::{Filler, OperationKind, ThreadRecorder, run_recorded_threads};

pub use fslab_stats::{Random, mix};
