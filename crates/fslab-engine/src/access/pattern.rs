//! The patterns there are, as a job names them.

use serde::{Deserialize, Serialize};

/// In what order the records of a file are visited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// From the first to the last, then again from the first.
    Sequential,
    /// From the last to the first.
    Reverse,
    /// Every `stride_records`-th record, then those beside them, until each was visited once.
    Strided {
        /// Distance from one visited record to the next, in records; at least 1.
        stride_records: u64,
    },
    /// Each time any record, with replacement.
    RandomUniform,
    /// Each record exactly once, in a random order; then again in another order.
    RandomOnce,
    /// Record of rank k with a probability proportional to 1/k^theta; ranks are scattered over the
    /// file.
    Zipf {
        /// The exponent: more than 0; 0.99 is what the Yahoo! Cloud Serving Benchmark uses.
        theta: f64,
    },
    /// A share of the accesses goes to a share of the file, which lies scattered over it.
    HotCold {
        /// Percent of the records that are hot: 1 to 99.
        hot_space_percent: u8,
        /// Percent of the accesses that go to hot records: 0 to 100.
        hot_access_percent: u8,
    },
}

impl Access {
    /// Why the pattern makes no sense; `None` where it does.
    pub(crate) fn fault(self) -> Option<String> {
        match self {
            Self::Strided { stride_records: 0 } => Some("a stride of 0 records".into()),
            Self::Zipf { theta } if !(theta > 0.0 && theta < 100.0) => Some(format!(
                "a Zipf exponent of {theta}, which is not between 0 and 100"
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
