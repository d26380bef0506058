//! What is printed: colours, messages, progress, tables, bars, and documents written to files.

pub(crate) mod bars;
pub(crate) mod color;
pub(crate) mod heartbeat;
pub(crate) mod output_file;
pub(crate) mod paragraph;
pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod table;
