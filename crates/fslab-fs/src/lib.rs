//! The catalogue of file systems: mkfs, mount and check of each, its capabilities, and its
//! availability on this machine.
//!
//! Owns the facts about file systems, not measurements. Formats and mounts nothing itself: it
//! returns the commands and calls, and a trial runs them. A new file system is one file below
//! `catalogue` and one line in the registry.
//!
//! ```text
//!     registry --> FileSystem --+-- Driver          what mounts it        --> Mounting
//!                               +-- Mkfs            what makes it         --> CommandLine --> Tool
//!                               +-- CheckCommand    what checks it        --> CommandLine --> Tool
//!                               +-- Capabilities    its features and limits
//!                               +-- Reservation...  what a choice depends on beside its speed
//!     BlockLayer                         below a file system   --> Stack on the disks of a subject
//!     NetworkFileSystem             a protocol that serves one    --> NetworkMounting
//!     Host (this machine's properties) --> probe(FileSystem, Host) --> Probe, per venue
//!     a directory --> recognise --> network_mount      a device --> signature
//! ```

mod catalogue;
mod check;
mod details;
mod driver;
mod facts;
mod features;
mod file_system;
mod host;
mod layer;
mod layers;
mod mkfs;
mod mkfs_defaults;
mod mount_call;
mod mount_words;
mod mounting;
mod network;
mod network_mount;
mod nfs;
mod nine_p;
mod option_rule;
mod probe;
mod recognise;
mod registry;
mod repair;
mod reservations;
mod signature;
mod smb;
mod spread;
mod stack;
mod tool;

pub use check::{CheckCommand, CheckVerdict};
pub use details::{Details, FactDetails, ToolDetails};
pub use driver::{
    Companion, Driver, DriverChoice, DriverReleases, FuseDriver, KernelConfig, KernelDriver,
    MountSource, PoolDriver, ServingDriver,
};
pub use facts::{FactDifference, FactsTable};
pub use features::FeatureTable;
pub use file_system::{Class, Feature, FileSystem, KernelBug, MinimumSize};
pub use host::{GuestKernel, Host, Privilege, unreadable};
pub use layer::{BlockLayer, find_layer, layers};
pub use mkfs::Mkfs;
pub use mkfs_defaults::{DefaultOption, DefaultsHistory, MkfsDefaults, has_defaults};
pub use mount_call::MountCall;
pub use mounting::{CompanionCommand, MountPlace, Mounting, PoolCommands};
pub use network::{
    NetworkDetails, NetworkFact, NetworkFileSystem, NetworkMounting, NetworkServer, Served,
    ServerProgram, network_file_system, network_obstacles, network_tools,
};
pub use network_mount::network_mount;
pub use option_rule::{KeyRule, OptionRule, OptionValue};
pub use probe::{Obstacle, Probe, VenueProbe, probe};
pub use recognise::{Recognised, recognise, recognise_in};
pub use registry::{all, find, parse_subject, parse_subjects, selects_all, title_of};
pub use signature::{Signature, read_signature, signature};
pub use spread::{SpreadProfile, SpreadRule};
pub use stack::{LAYER_PREFIX, Stack, StackPart, layer_obstacles, layer_tools};
pub use tool::{CommandLine, OutputStream, SearchPath, Tool, VersionSource};
