//! The figures and tables that a study defines, in the form of its original's.
//!
//! ```text
//!     FigureSpec --Selection--> phases and points --layout--> Exhibit: table, values, drawing
//! ```

mod bars;
mod bonnie;
mod curves;
mod exhibited;
mod iozone;
mod lists;
mod loser;
mod published;
mod selection;

pub use bonnie::bonnie_csv;
pub(crate) use exhibited::with_looks;
pub use exhibited::{Exhibit, exhibits};
pub use iozone::iozone_report;
pub(crate) use lists::{lists_of, plot as list_plot};
