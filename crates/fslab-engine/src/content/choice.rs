//! How much of the data a compressing or deduplicating file system can save.

use serde::{Deserialize, Serialize};

/// What the data of a job is like. By default nothing of it can be compressed or shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Content {
    /// Percent of each block of 4 KiB that is zero bytes: 0 to 100; the stamp always stays.
    pub compressible_percent: u8,
    /// Percent of the blocks of 4 KiB that are all the same: 0 to 100. These carry no stamp.
    pub duplicate_percent: u8,
}

impl Content {
    /// Why the choice makes no sense; `None` where it does.
    pub(crate) fn fault(self) -> Option<String> {
        let wrong = [
            ("compressible", self.compressible_percent),
            ("duplicate", self.duplicate_percent),
        ]
        .into_iter()
        .find(|(_, percent)| *percent > 100)?;
        Some(format!("{} % of {} data", wrong.1, wrong.0))
    }
}
