//! What the report says of runs with a known story, through the crate's public face alone.

mod disk;
mod disk_story;
mod escaping;
mod exact;
mod exports;
mod figures;
mod fixture;
mod page;
mod summary;
mod tables;
