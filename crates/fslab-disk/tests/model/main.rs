//! The model of a disk, held against closed forms, cases computed by hand, and itself.

mod array;
mod cache;
mod flash;
mod hdd;
mod host;
mod parameters;
mod plain_disk;
mod properties;
mod queue;
mod read_ahead;
