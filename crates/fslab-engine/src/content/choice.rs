//! Compressibility and duplication of written data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Properties of a job's data. By default it cannot be compressed or deduplicated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Content {
    /// Percent of each 4 KiB block that is zero; the stamp is always present.
    #[schemars(range(max = 100))]
    pub compressible_percent: u8,
    /// Percent of the 4 KiB blocks that are identical. They have no stamp.
    #[schemars(range(max = 100))]
    pub duplicate_percent: u8,
}

impl Content {
    /// Why the choice is invalid; `None` if it is valid.
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
