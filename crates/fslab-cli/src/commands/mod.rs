//! The subcommands, one a file; each has an `exec`.

mod clean;
mod command;
mod compare;
mod disk;
mod disk_axis;
mod disk_drawing;
mod disk_plot;
mod disk_test;
mod execution;
mod export;
mod figure_files;
mod fs;
mod guest_init;
mod guest_kernel;
mod lab;
mod lab_progress;
mod list;
mod mkfs;
mod place_args;
mod plan_args;
mod plan_text;
mod report;
mod run;
mod show;
mod store_args;
mod study;
mod study_check;
mod study_text;
mod trace;
mod trace_text;
mod trial;

pub(crate) use command::Command;
