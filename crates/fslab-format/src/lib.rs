//! Formatters: each makes an empty file system for which no other program is packaged.
//!
//! Owns the on-disk structures of an empty volume, written from their specifications; does not work
//! on volumes in use. Random numbers and time come in through [`FormatOptions`]: the same options
//! give the same bytes.
//!
//! ```text
//!     registry --> Formatter --(FormatOptions)--> Volume (an image file or a block device)
//! ```

mod formatter;
mod formatters;
mod record;
mod registry;
mod volume;

pub use formatter::{FormatOptions, Formatter, format, parse_identity};
pub use registry::{all, find};
pub use volume::Volume;
