//! The exchange with other tools, over outputs that the tools themselves wrote.

mod arbitrary;
mod fixture;
mod fixtures;
mod refusals;
mod round_trips;
mod subjects;
