//! Bundles: everything that a study needs on a machine without compiler, package manager and
//! network, in one file.
//!
//! ```text
//!     bundle.json              what follows, with the SHA-256 of each part
//!     study.toml               the study, and the files beside it
//!     workloads/NAME.toml  claims.toml  published.csv  disk.toml
//!     inputs/SHA256            files that phases name
//!     layers/SHA256.json .img  programs and files for guests
//!     lab/...                  the parts of a lab
//! ```
//!
//! A bundle is untrusted: only these names are read, in this order, within limits, and
//! nothing of it is executed here.

mod manifest;
mod reading;
mod writing;

pub use manifest::{BundleFile, BundleInput, BundleLayer, BundleVenue, Manifest};
pub use reading::{TakenBundle, find_bundle, read_manifest, take_bundle};
pub use writing::{BundleParts, write_bundle};
