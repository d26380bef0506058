//! The speed of virtual time: what a second on a simulated disk costs the machine below.
//!
//! ```text
//!     args --- sequence --- session     runs `fslab compare --venue sim`, reads its record
//!                       |-- footprint   what its images and traces take meanwhile
//!                       '-- requests    the model of a disk alone, request by request
//!              findings --- goals       what must be reached
//!                       --- page        tables, and the page that is kept
//! ```

mod args;
mod findings;
mod footprint;
mod goals;
mod page;
mod requests;
mod sequence;
mod session;

pub(crate) use args::SimArgs;
pub(crate) use page::page;
pub(crate) use sequence::measure;
