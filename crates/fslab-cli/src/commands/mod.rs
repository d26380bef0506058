//! The subcommands, each with an `exec`; one with several files is a directory.

mod clean;
mod command;
mod completions;
mod config;
mod crash;
mod diff;
mod disk;
mod fs;
mod lab;
mod layer;
mod machine;
mod man;
mod measure;
mod mkfs;
mod platform;
mod report;
mod schema;
mod store;
mod study;
mod trace;
mod trial;
mod worker;
mod workload;

#[cfg(feature = "render")]
use fslab_render::Renderer;
#[cfg(not(feature = "render"))]
use report::no_renderer::Renderer;

pub(crate) use command::Command;
pub(crate) use measure::precision_text::describe_precision;
pub(crate) use measure::venue_args::{OPTION_VENUES, VenueName};
#[cfg(test)]
pub(crate) use schema::FORMATS;
