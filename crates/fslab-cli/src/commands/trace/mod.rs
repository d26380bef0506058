//! `fslab trace`.

mod command;
pub(crate) mod text;

pub(crate) use command::*;
