//! The table of all formatters: a new one is a file below `formatters/` and a line here.

use fslab_model::{Failure, did_you_mean, nearest_name};

use crate::Formatter;
use crate::formatters::{Affs, Bcachefs, HFS_PLUS, HFSX, Hfs, Hpfs, Reiserfs35, UFS1, UFS2};

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
pub fn find(name: &str) -> Result<&'static dyn Formatter, Failure> {
    let names = || ALL.iter().map(|formatter| formatter.name());
    ALL.iter()
        .copied()
        .find(|formatter| formatter.name() == name)
        .ok_or_else(|| {
            let failure = Failure::bad_input(format!("fslab has no formatter '{name}'"));
            failure.hint(match nearest_name(name, names()) {
                Some(nearest) => did_you_mean(nearest),
                None => "fslab mkfs --list names them all".to_owned(),
            })
        })
}
