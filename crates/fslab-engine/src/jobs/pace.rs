//! When operations are issued.

use serde::{Deserialize, Serialize};

/// When operations are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Closed loop: each as soon as the one before it is done.
    #[default]
    AsFastAsPossible,
    /// Open loop: so many each second and thread, at equal distances. A latency counts from the
    /// intended start, so that a stall is felt by all who wait (coordinated omission is avoided).
    Fixed {
        /// Operations per second and thread.
        per_second: f64,
    },
    /// Open loop with exponential distances, as of independent users; latencies as in `Fixed`.
    Poisson {
        /// Mean number of operations per second and thread.
        per_second: f64,
    },
}

impl Pace {
    /// Why the pace makes no sense; `None` where it does.
    pub(crate) fn fault(self) -> Option<String> {
        match self {
            Self::Fixed { per_second } | Self::Poisson { per_second }
                if !(per_second > 0.0 && per_second <= 1e9) =>
            {
                Some(format!("{per_second} operations per second"))
            }
            _ => None,
        }
    }
}
