//! HFS+ and its case-sensitive variant HFSX.

mod formatter;
mod layout;
#[cfg(test)]
mod tests;

pub(crate) use formatter::{HFS_PLUS, HFSX};
