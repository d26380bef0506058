//! The exchange with other tools, over real outputs.

mod arbitrary;
mod fixture;
mod fixtures;
mod io500_export;
mod meeting;
mod own;
mod parallel_round_trips;
mod rare;
mod recognition;
mod refusals;
mod round_trips;
mod subjects;
