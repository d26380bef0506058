//! Where a kernel's source comes from: Debian's package, a tree, a tarball.

mod apt_sources;
mod archive;
mod debian;
mod origin;
mod tree;

pub(crate) use origin::Origin;
pub use origin::{SourceKind, SourceRequest};
