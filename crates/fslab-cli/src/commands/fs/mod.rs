//! `fslab fs`.

mod command;
mod facts;

pub(crate) use command::FsArgs;
