//! The exchange with other tools, over real outputs.

mod arbitrary;
mod fixture;
mod fixtures;
mod meeting;
mod own;
mod refusals;
mod round_trips;
mod subjects;
