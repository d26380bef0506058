//! The integration tests: one binary over the built command, as a user would run it.
//!
//! Tests that format and mount run where root and loop devices are there, and say why where not.

mod ageing;
mod bad_input;
mod bad_machine;
mod block_venue;
mod browser;
mod bundles;
mod claims;
mod configuration;
mod confinement;
mod counted_machine;
mod crash;
mod directory_venue;
mod disk;
mod disk_faults;
mod disturbances;
mod exchange;
mod failing_device;
mod fake_path;
mod figure_files;
mod gate;
mod guest_venue;
mod harness;
mod hung_device;
mod interruption;
mod labs;
mod leases;
mod loop_venue;
mod meeting;
mod network;
mod packages;
mod programs;
mod repeats;
mod results_script;
mod schemas;
mod setup_script;
mod sim_venue;
mod stores;
mod studies;
mod terminal;
mod trace;
mod verification;
mod windows;
mod workers;
mod workloads;
