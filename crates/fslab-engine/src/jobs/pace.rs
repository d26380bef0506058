//! Closed and open loop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When operations are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Closed loop: each when the previous one has completed.
    #[default]
    AsFastAsPossible,
    /// Open loop: a fixed rate per thread. Latencies count from the intended start, so that a stall
    /// affects all operations due in it (no coordinated omission).
    Fixed {
        /// Operations per second and thread.
        per_second: f64,
    },
    /// Open loop with exponential intervals, as of independent users; latencies as in `Fixed`.
    Poisson {
        /// Mean number of operations per second and thread.
        per_second: f64,
    },
    /// Closed loop with a pause after a number of operations. Not with uring.
    Pause {
        /// Length of the pause in nanoseconds.
        pause_ns: u64,
        /// Operations between two pauses.
        #[schemars(range(min = 1))]
        operations: u64,
    },
}

impl Pace {
    /// Why the pace is invalid; `None` if it is valid.
    pub(crate) fn fault(self) -> Option<String> {
        match self {
            Self::Fixed { per_second } | Self::Poisson { per_second }
                if !(per_second > 0.0 && per_second <= 1e9) =>
            {
                Some(format!("{per_second} operations per second"))
            }
            Self::Pause { operations: 0, .. } => Some("a pause after 0 operations".into()),
            _ => None,
        }
    }
}
