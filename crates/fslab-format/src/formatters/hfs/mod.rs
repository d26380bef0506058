//! HFS, the predecessor of HFS+.

mod catalog;
mod formatter;
mod layout;
mod mdb;
mod name;
#[cfg(test)]
mod tests;

pub(crate) use formatter::Hfs;
