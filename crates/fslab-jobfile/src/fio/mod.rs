//! fio's job files.

mod amounts;
mod engines;
mod groups;
mod io;
mod job;
mod metadata;
mod option_table;
mod options;
mod parameters;
mod reading;
mod sections;
mod setters;
mod settings;
mod units;
mod values;

pub use options::{FioOption, FioRule, fio_options};
pub(crate) use reading::read;
