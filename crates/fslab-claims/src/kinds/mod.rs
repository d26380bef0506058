//! The kinds of claim, one file for each group that is evaluated alike.

mod between_phases;
mod between_subjects;
mod failures;
mod sequence;
mod spread;
mod trend;
mod value;

pub(crate) use between_phases::{gain, phases};
pub(crate) use between_subjects::{extreme, faster, order, wins};
pub(crate) use failures::fails;
pub(crate) use sequence::sequence;
pub(crate) use spread::spread;
pub(crate) use trend::trend;
pub(crate) use value::value;
