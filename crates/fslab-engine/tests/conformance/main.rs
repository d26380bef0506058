//! One suite over every engine: what a job leaves in files, in figures and in errors is the same
//! whoever issues it. The null engine keeps no data, so the tests of data leave it out.

mod content;
mod failures;
mod figures;
mod file_phases;
mod metadata;
mod scene;
mod segments;
mod settings;
mod tickets;
mod together;
mod updates;
mod workers;
