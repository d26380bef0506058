//! What the store promises, seen from outside.

mod damage;
mod deleting;
mod listed;
mod opening;
mod past_versions;
mod queries;
mod resuming;
mod round_trip;
mod sample;
mod scale;
mod selecting;
mod sharing;
