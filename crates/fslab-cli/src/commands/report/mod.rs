//! `fslab report` and `fslab show`: what is written about runs.

pub(crate) mod answer;
pub(crate) mod answer_args;
mod command;
pub(crate) mod experiment;
pub(crate) mod figure_files;
#[cfg(not(feature = "render"))]
pub(crate) mod no_renderer;
pub(crate) mod part_files;
pub(crate) mod show;

pub(crate) use command::*;
