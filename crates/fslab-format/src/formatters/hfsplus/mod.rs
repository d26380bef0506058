//! HFS+ and its case-sensitive variant HFSX.

mod catalog;
mod formatter;
mod header;
mod layout;
mod name;
#[cfg(test)]
mod tests;

pub(crate) use formatter::{HFS_PLUS, HFSX};
