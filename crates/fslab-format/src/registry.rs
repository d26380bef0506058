//! The table of all formatters: a new one is a file below `formatters/` and a line here.

use fslab_model::nearest_name;

use crate::formatters::{Affs, Bcachefs, HFS_PLUS, HFSX, Hfs, Hpfs, Reiserfs35, UFS1, UFS2};
use crate::{FormatError, Formatter};

/// Sorted by name.
static ALL: &[&dyn Formatter] = &[
    &Affs,
    &Bcachefs,
    &Hfs,
    &HFS_PLUS,
    &HFSX,
    &Hpfs,
    &Reiserfs35,
    &UFS1,
    &UFS2,
];

/// Every formatter, sorted by name.
pub fn all() -> &'static [&'static dyn Formatter] {
    ALL
}

/// The formatter of that name.
pub fn find(name: &str) -> Result<&'static dyn Formatter, FormatError> {
    let names = || ALL.iter().map(|formatter| formatter.name());
    ALL.iter()
        .copied()
        .find(|formatter| formatter.name() == name)
        .ok_or_else(|| FormatError::Unknown {
            name: name.to_owned(),
            nearest: nearest_name(name, names()),
        })
}
