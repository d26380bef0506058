//! How long the files of a tree are: a pure function of the seed and the file's number.

use crate::random::mix;
use serde::{Deserialize, Serialize};

/// How long the files of a tree are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSizes {
    /// All the same, in bytes.
    Fixed(u64),
    /// Any length between the two, both included, with the same probability.
    Uniform {
        /// The shortest, in bytes.
        min: u64,
        /// The longest, in bytes.
        max: u64,
    },
    /// As many files between 1 and 2 KiB as between 1 and 2 MiB: the logarithm is uniform.
    LogUniform {
        /// The shortest, in bytes; at least 1.
        min: u64,
        /// The longest, in bytes.
        max: u64,
    },
    /// Any distribution, as a table.
    Weighted(Vec<WeightedSize>),
}

/// One row of a table of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// The share of files with this length, relative to the other weights.
    pub weight: u32,
    /// The length in bytes.
    pub bytes: u64,
}

impl From<u64> for FileSizes {
    fn from(bytes: u64) -> Self {
        Self::Fixed(bytes)
    }
}

impl FileSizes {
    /// The length of file `number` in bytes.
    pub(crate) fn of(&self, seed: u64, number: u64) -> u64 {
        let draw = || mix(seed ^ 0x7369_7a65, number);
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Uniform { min, max } => min + scaled(draw(), max - min + 1),
            Self::LogUniform { min, max } => {
                let unit = draw() as f64 / u64::MAX as f64;
                let (low, high) = ((*min as f64).ln(), (*max as f64).ln());
                ((low + unit * (high - low)).exp() as u64).clamp(*min, *max)
            }
            Self::Weighted(rows) => {
                let total = rows.iter().map(|row| u64::from(row.weight)).sum();
                let mut left = scaled(draw(), total);
                for row in rows {
                    match left.checked_sub(row.weight.into()) {
                        None => return row.bytes,
                        Some(rest) => left = rest,
                    }
                }
                0
            }
        }
    }

    /// The length of the longest file in bytes.
    #[must_use]
    pub fn longest(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Uniform { max, .. } | Self::LogUniform { max, .. } => *max,
            Self::Weighted(rows) => rows.iter().map(|row| row.bytes).max().unwrap_or(0),
        }
    }

    /// Why the sizes make no sense; `None` where they do.
    pub(crate) fn fault(&self) -> Option<String> {
        match self {
            Self::Uniform { min, max } | Self::LogUniform { min, max } if min > max => {
                Some(format!("files of {min} to {max} bytes"))
            }
            Self::LogUniform { min: 0, .. } => {
                Some("logarithmically distributed sizes from 0 bytes".into())
            }
            Self::Weighted(rows) if rows.iter().all(|row| row.weight == 0) => {
                Some("a table of sizes without any weight".into())
            }
            _ if self.longest() > 1 << 62 => Some("files of more than 4 EiB".into()),
            _ => None,
        }
    }
}

/// `draw`, of 64 random bits, as a number below `bound`.
fn scaled(draw: u64, bound: u64) -> u64 {
    ((u128::from(draw) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_inside_their_range_and_are_decided_by_the_seed() {
        let uniform = FileSizes::Uniform { min: 10, max: 12 };
        let sizes: Vec<u64> = (0..1000).map(|number| uniform.of(1, number)).collect();
        assert!((10..=12).all(|size| sizes.contains(&size)));
        assert!(sizes.iter().all(|size| (10..=12).contains(size)));
        assert_eq!(uniform.of(1, 5), uniform.of(1, 5));
        let log = FileSizes::LogUniform {
            min: 1 << 10,
            max: 1 << 20,
        };
        let below = (0..1000)
            .filter(|number| log.of(1, *number) < 1 << 15)
            .count();
        assert!(
            (450..550).contains(&below),
            "half are below the geometric mean: {below}"
        );
    }

    #[test]
    fn weights_are_kept() {
        let rows = vec![
            WeightedSize {
                weight: 3,
                bytes: 100,
            },
            WeightedSize {
                weight: 0,
                bytes: 200,
            },
            WeightedSize {
                weight: 1,
                bytes: 300,
            },
        ];
        let sizes = FileSizes::Weighted(rows);
        let count = |bytes| {
            (0..10_000)
                .filter(|number| sizes.of(1, *number) == bytes)
                .count()
        };
        assert!((7_300..7_700).contains(&count(100)));
        assert_eq!(count(200), 0);
        assert_eq!(sizes.longest(), 300);
    }

    #[test]
    fn ranges_that_are_upside_down_are_refused() {
        assert!(FileSizes::Uniform { min: 2, max: 1 }.fault().is_some());
        assert!(FileSizes::LogUniform { min: 0, max: 1 }.fault().is_some());
        assert!(FileSizes::Weighted(Vec::new()).fault().is_some());
        assert!(FileSizes::Fixed(0).fault().is_none());
    }
}
