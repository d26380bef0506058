//! Checks the model of a disk against closed forms, cases computed by hand, and a second
//! simulation.

mod array;
mod cache;
mod controller;
mod flash;
mod hdd;
mod host;
mod parameters;
mod plain_disk;
mod properties;
mod queue;
mod read_ahead;
