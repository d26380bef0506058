//! Sources of a kernel: Debian's package, a tree, a tarball.

mod apt;
mod apt_sources;
mod archive;
mod debian;
mod maintainers;
mod origin;
mod tree;

pub(crate) use apt::{Apt, DebianPackage};
pub(crate) use maintainers::maintenance_in;
pub(crate) use origin::Origin;
pub use origin::{SourceKind, SourceRequest};
pub(crate) use tree::COPY as TREE_COPY;
