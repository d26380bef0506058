//! `fslab lab`.

mod command;
pub(crate) mod progress;
pub(crate) mod status;

pub(crate) use command::*;
