//! The figures and tables that a study defines, in the form of its original's.
//!
//! ```text
//!     FigureSpec --Selection--> phases and points --layout--> Exhibit: table, values, drawing
//!     ThenAndNow --Picture--> the columns of a table -----------^
//!     PairedPhases ---------------------------------------------^
//! ```

mod bars;
mod bonnie;
mod content;
mod curves;
mod exhibited;
mod iozone;
mod lists;
mod loser;
mod paired;
mod published;
mod selection;
mod then_and_now;

pub use bonnie::bonnie_csv;
pub(crate) use exhibited::with_looks;
pub use exhibited::{Exhibit, exhibits};
pub use iozone::iozone_report;
pub(crate) use lists::{lists_of, plot as list_plot};
pub use paired::{PairedPanel, PairedPhases, PairedPoint};
pub(crate) use then_and_now::pictures;
pub use then_and_now::then_and_now_pictures;
