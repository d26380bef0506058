//! Formatters: each makes an empty file system for which no other program is shipped.
//!
//! Owns the on-disk structures of an empty volume, written from their specifications, and nothing
//! that works on a volume in use. Randomness and the clock come in through [`FormatOptions`]: the
//! same options give the same bytes.
//!
//! ```text
//!     registry --> Formatter --(FormatOptions)--> Volume (an image file or a block device)
//! ```

mod error;
mod formatter;
mod formatters;
mod record;
mod registry;
mod volume;

pub use error::FormatError;
pub use formatter::{FormatOptions, Formatter, format, parse_identity};
pub use registry::{all, find};
pub use volume::Volume;
