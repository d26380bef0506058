//! Labs: kernels, root images and layers of guests; their sources, builds and cache.
//!
//! Owns the user's cache of labs and everything written there. Does not start guests. Needs no
//! privileges: packages are downloaded and unpacked, never installed.
//!
//! ```text
//!     BuildRequest --> source (Debian's package, a tarball, a tree) --+
//!     recipe (configuration and drivers, embedded) -------------------+--> key --> build --> Cache
//! ```
//!
//! A kernel's key is a digest of everything it is built from; a name points to one key at a time.

mod additions;
mod architecture;
mod archive;
mod assembly_dir;
mod build_dir;
mod builder;
mod bundle;
mod cache;
mod compilation;
mod error;
mod fragment;
mod kept_objects;
mod kernel;
mod key;
mod lab;
mod lab_builder;
mod layers;
mod lock;
mod members;
mod name;
mod packages;
mod padded;
mod pc;
mod progress;
mod recipe;
mod root;
mod source;
mod stored;
mod tools;
mod unpacked;

pub use architecture::Architecture;
pub use archive::{export_lab, import_lab};
pub use builder::{BuildRequest, Built, build};
pub use bundle::{
    BundleFile, BundleInput, BundleLayer, BundleParts, BundleVenue, Manifest, TakenBundle,
    find_bundle, read_manifest, take_bundle, write_bundle,
};
pub use cache::{Cache, KernelList, LabList};
pub use error::LabError;
pub use kernel::{Kernel, KernelFacts};
pub use key::{Fingerprint, KernelKey, sha256_of};
pub use lab::Lab;
pub use lab_builder::{BuiltLab, build_lab};
pub use layers::{BaseRoot, Draft, Layer, LayerFacts, LayerRequest, drafts};
pub use name::KernelName;
pub use padded::{padded, padded_bytes, write_padded};
pub use pc::{GuestInitramfs, LabInitramfs, PcFacts};
pub use progress::{BuildStage, Objects, Progress};
pub use root::{
    Elf, FileSource, Image, ImageFile, MissingProgram, Node, PACKAGES, PROGRAM, PROGRAM_BYTES,
    RootFacts, RootProgram, Tree, WRITABLE, find_library, listed_programs, loader_cache,
};
pub use source::{SourceKind, SourceRequest};
pub use tools::{BUILD_TOOLS, BuildTool, guest_program, install_hint, missing_tools, runs_here};
pub use unpacked::unpack_source;
