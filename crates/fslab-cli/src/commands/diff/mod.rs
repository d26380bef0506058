//! `fslab diff` and `fslab gate`: comparisons of stored runs.

mod command;
pub(crate) mod form;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod phase_activities;
pub(crate) mod runs;

pub(crate) use command::*;
