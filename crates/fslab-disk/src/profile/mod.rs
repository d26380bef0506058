//! Disk profiles: the parameters of a simulated disk, each group of them with its source.
//!
//! Owns the file format and its checks; the model owns the meaning of the numbers.
//!
//! ```text
//!     Profile
//!       Device, Interface, Cache        groups of every disk
//!       Medium::HardDisk                Media, Seek, ReadAhead, WriteBack
//!       Medium::Flash                   Flash
//!       Array                           a RAID array of such disks
//!       Controller                      a RAID controller's write cache
//!       EmptiedBy                       how the buffer is emptied before a cold phase
//!       DataSheet                       figures that the model must reach
//!     Uncertain                         of a group's keys, and the disks drawn within it
//! ```

mod check;
mod data_sheet;
mod derived;
mod device;
mod document;
mod flash;
mod group;
mod hard_disk;
mod parameters;
mod quantity;
mod schema;
mod simulated;
mod uncertainty;

pub use data_sheet::DataSheet;
pub use derived::{DerivedFigure, DerivedValue};
pub use device::{Array, Cache, Controller, Device, EmptiedBy, Interface, RaidLevel};
pub use document::{Medium, PROFILE_FORMAT, Profile};
pub use flash::{Flash, FlashMapping};
pub use hard_disk::{HardDisk, Media, ReadAhead, Seek, WriteBack};
pub use quantity::{BytesPerSecond, Nanoseconds, OperationsPerSecond, Permille};
pub use uncertainty::Uncertain;
pub(crate) use uncertainty::split_draw;
