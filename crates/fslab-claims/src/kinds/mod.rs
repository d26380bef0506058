//! The kinds of claim, one file for each group that is evaluated alike.

mod between_phases;
mod between_subjects;
mod failures;
mod sequence;
mod spread;
mod trend;
mod value;

pub(crate) use between_phases::{AGED, gain, phases};
pub(crate) use between_subjects::{extreme, faster, order, rank, wins};
pub(crate) use failures::fails;
pub(crate) use sequence::sequence;
pub(crate) use spread::spread;
pub(crate) use trend::trend;
pub(crate) use value::value;
