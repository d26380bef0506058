//! `fslab disk`.

mod command;
pub(crate) mod fit;
pub(crate) mod plot;
pub(crate) mod profiles;
pub(crate) mod test;

pub(crate) use command::*;
