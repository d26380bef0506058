//! HFS, which HFS+ took the place of.

mod catalog;
mod formatter;
mod layout;
mod mdb;
mod name;
#[cfg(test)]
mod tests;

pub(crate) use formatter::Hfs;
