//! One suite for all engines: a job leaves the same files, figures and errors with each. The null
//! engine has no data, so data tests leave it out.

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
