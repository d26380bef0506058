//! Charts as PNG and PDF: the same bytes on every machine.
//!
//! Owns the fonts and what is written of SVG. Opens no files. Its dependencies take a quarter of a
//! build: `make demo` builds the command without it (feature `render` of fslab-cli).

mod pdf;
mod renderer;

pub use renderer::{DrawingFormat, Renderer};
