//! `cargo xtask dist`: what is published, in `dist/`: for each target a tarball and packages, with
//! licences, a bill of materials, symbols and checksums.
//!
//! ```text
//!     binary (static, stripped) --+
//!     man pages, completions -----+--> tree --> tarball, fslab.deb
//!     notices, SBOM --------------+
//!     lab, sources, copyright -------> tree --> tarball, fslab-guest.deb
//! ```
//!
//! A further target is one entry of [`targets`].

mod binary;
mod debian;
mod dependencies;
mod documents;
mod guest;
mod needed;
mod notices;
mod package;
mod port;
mod release;
mod sbom;
mod targets;

pub(crate) use release::{USAGE, run};
