//! Counts on the command line.

use clap::builder::RangedI64ValueParser;

pub(crate) fn counts() -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(1..)
}
