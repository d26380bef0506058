//! HFS, the predecessor of HFS+.

mod formatter;
mod layout;
#[cfg(test)]
mod tests;

pub(crate) use formatter::Hfs;
