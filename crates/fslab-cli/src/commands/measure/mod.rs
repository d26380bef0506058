//! Runs of studies: `fslab compare`, `run` and `bundle`, with their options and their plan.

pub(crate) mod bundle;
pub(crate) mod bundled;
pub(crate) mod compare;
pub(crate) mod execution;
pub(crate) mod guest_lab;
pub(crate) mod layers;
mod own_program;
pub(crate) mod pilot;
pub(crate) mod plan_args;
pub(crate) mod plan_text;
pub(crate) mod precision_text;
pub(crate) mod run;
pub(crate) mod trusted_file;
pub(crate) mod vary;
pub(crate) mod venue_args;
