//! The subcommands, one per file, each with an `exec`.

mod answer;
mod bundle;
mod bundled;
mod clean;
mod command;
mod compare;
mod compared_form;
mod compared_runs;
mod completions;
mod config;
mod crash;
mod crash_judge;
mod crash_replay;
mod crash_requests;
mod crash_table;
mod csv_args;
mod delete;
mod diff;
mod disk;
mod disk_plot;
mod disk_test;
mod execution;
mod export;
mod faults;
mod faults_table;
mod figure_files;
mod fs;
mod gate;
mod guest_lab;
mod history;
mod import;
mod kept_states;
mod lab;
mod lab_progress;
mod lab_status;
mod layers;
mod list;
mod machine;
mod man;
mod mkfs;
#[cfg(not(feature = "render"))]
mod no_renderer;
mod output_file;
mod part_files;
mod phase_activities;
mod plan_args;
mod plan_text;
mod platform;
mod precision_text;
mod report;
mod run;
mod schema;
mod show;
mod store;
mod store_args;
mod study;
mod study_check;
mod study_text;
mod trace;
mod trace_text;
mod trial;
mod venue_args;
mod worker;
mod workload;

#[cfg(feature = "render")]
use fslab_render::Renderer;
#[cfg(not(feature = "render"))]
use no_renderer::Renderer;

pub(crate) use command::Command;
pub(crate) use precision_text::describe_precision;
#[cfg(test)]
pub(crate) use schema::FORMATS;
pub(crate) use venue_args::{OPTION_VENUES, VenueName};
