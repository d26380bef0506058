//! Jobs: their parameters and validation.

mod data;
mod data_validation;
mod file_options;
pub mod limits;
mod metadata;
mod metadata_validation;
mod pace;
mod shares;
mod sizes;
mod tree;
mod tuning;

pub use data::{Amount, DataJob, Direction, OpenMode, OpenSync, Preparation, Sharing};
pub use data::{SyncCall, SyncEvery, SyncPolicy, Workers};
pub use file_options::{Digest, DirectoryTiming, FileKind, NameStyle, Refusal};
pub(crate) use metadata::Items;
pub use metadata::{MetadataJob, MetadataOperation, MetadataSync, Names, Order};
pub use pace::Pace;
pub use shares::{RecordShare, ZoneShare};
pub use sizes::{FileSizes, WeightedSize};
pub(crate) use tree::DirectoryNumber;
pub use tree::TreeShape;
pub use tuning::{Advice, StdioTuning, UringTuning};
