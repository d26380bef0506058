//! Disk profiles: the parameters of a simulated disk, each group of them with its source.
//!
//! Owns the file format and what is possible; the model owns what the numbers do.
//!
//! ```text
//!     Profile
//!       Device, Interface, Cache        what every disk has
//!       Medium::HardDisk                Media, Seek, ReadAhead, WriteBack
//!       Medium::Flash                   Flash
//!       Array                           several such disks as one
//!       DataSheet                       what the whole must come to: no parameter
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

pub use data_sheet::DataSheet;
pub use derived::{DerivedFigure, DerivedValue};
pub use device::{Array, Cache, Device, Interface, RaidLevel};
pub use document::{Medium, PROFILE_FORMAT, Profile};
pub use flash::{Flash, FlashMapping};
pub use hard_disk::{HardDisk, Media, ReadAhead, Seek, WriteBack};
pub use quantity::{BytesPerSecond, Nanoseconds, OperationsPerSecond, Permille};
