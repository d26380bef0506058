//! How caches are dropped before a cold phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The method of dropping caches for a cold phase. Results of different methods are not compared.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ColdMethod {
    /// sync, unmount, mount again, drop_caches: data and metadata are cold.
    Remount,
    /// sync and drop_caches on a mounted file system: data and most metadata are cold.
    Drop,
    /// fsync and POSIX_FADV_DONTNEED on the phase's own files, verified with mincore(2): data is
    /// cold, metadata is not. Cold metadata phases are skipped.
    Evict,
}

impl ColdMethod {
    /// The method's name in plans and reports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
