//! `fslab study`.

pub(crate) mod check;
mod command;
pub(crate) mod text;

pub(crate) use command::*;
