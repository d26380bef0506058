//! The public interface of the store.

mod damage;
mod deleting;
mod listed;
mod losing;
mod opening;
mod past_versions;
mod queries;
mod resuming;
mod round_trip;
mod sample;
mod scale;
mod selecting;
mod sharing;
mod strangers;
