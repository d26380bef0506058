//! `fslab store`, `list`, `delete`, `import` and `export`: runs in the store and other formats.

pub(crate) mod args;
mod command;
pub(crate) mod csv_args;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod list;

pub(crate) use command::*;
