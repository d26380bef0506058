//! The access patterns of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order in which the records of a file are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// First to last, repeatedly.
    Sequential,
    /// Last to first.
    Reverse,
    /// Every `stride_records`-th record, then those beside them, until each was accessed once.
    Strided {
        /// Distance between successive records, in records.
        #[schemars(range(min = 1))]
        stride_records: u64,
    },
    /// Uniformly random, with replacement.
    RandomUniform,
    /// Each record once in random order; then again in another order.
    RandomOnce,
    /// The record of rank k with a probability proportional to 1/k^theta; ranks are scattered over
    /// the file.
    Zipf {
        /// The exponent, above 0; the Yahoo! Cloud Serving Benchmark uses 0.99.
        theta: f64,
    },
    /// As the self-similar distribution of Gray and others: of the accesses, 1 - `h` go to the
    /// share `h` of the records, and within these again; records are scattered over the file.
    Pareto {
        /// The share, above 0 and below 1.
        h: f64,
    },
    /// A share of the accesses goes to a share of the records, which are scattered over the file.
    HotCold {
        /// Percent of the records that are hot.
        #[schemars(range(min = 1, max = 99))]
        hot_space_percent: u8,
        /// Percent of the accesses that go to hot records.
        #[schemars(range(max = 100))]
        hot_access_percent: u8,
    },
}

impl Access {
    /// True if it reaches each record before one for the second time, so that threads can divide
    /// the records of a file among them.
    pub(crate) fn covers(self) -> bool {
        matches!(
            self,
            Self::Sequential | Self::Reverse | Self::Strided { .. } | Self::RandomOnce
        )
    }

    /// Why the pattern is invalid; `None` if it is valid.
    pub(crate) fn fault(self) -> Option<String> {
        match self {
            Self::Strided { stride_records: 0 } => Some("a stride of 0 records".into()),
            Self::Zipf { theta } if !(theta > 0.0 && theta < 100.0) => Some(format!(
                "a Zipf exponent of {theta}, which is not between 0 and 100"
            )),
            Self::Pareto { h } if !(h > 0.0 && h < 1.0) => Some(format!(
                "a Pareto share of {h}, which is not between 0 and 1"
            )),
            Self::HotCold {
                hot_space_percent,
                hot_access_percent,
            } if !(1..=99).contains(&hot_space_percent) || hot_access_percent > 100 => {
                Some(format!(
                    "{hot_access_percent} % of the accesses on {hot_space_percent} % of the file"
                ))
            }
            _ => None,
        }
    }
}
