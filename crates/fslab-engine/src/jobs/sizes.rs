//! Lengths of the files of a tree: a pure function of the seed and the file's number.

use std::fmt;

use fslab_model::Bytes;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};

use fslab_stats::mix;

/// Lengths of the files of a tree.
///
/// Parsed from a size (for all files), a list of sizes (a series), or a table with the name of the
/// distribution; sizes are bytes, or strings with a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileSizes {
    /// The same for all files, in bytes.
    Fixed(u64),
    /// Uniformly distributed.
    Uniform {
        /// The shortest, in bytes.
        min: u64,
        /// The longest, in bytes.
        max: u64,
    },
    /// The logarithm is uniform: as many files between 1 and 2 KiB as between 1 and 2 MiB.
    LogUniform {
        /// The shortest, in bytes; at least 1.
        min: u64,
        /// The longest, in bytes.
        max: u64,
    },
    /// Any distribution, as a table.
    Weighted(Vec<WeightedSize>),
    /// In turn, repeatedly.
    Series(Vec<u64>),
}

/// One row of a table of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// Relative share of files with this length.
    pub weight: u32,
    /// The length in bytes.
    pub bytes: u64,
}

impl From<u64> for FileSizes {
    fn from(bytes: u64) -> Self {
        Self::Fixed(bytes)
    }
}

/// The distributions by name, with sizes as strings.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Named {
    Fixed(Bytes),
    Uniform { min: Bytes, max: Bytes },
    LogUniform { min: Bytes, max: Bytes },
    Weighted(Vec<WeightedSize>),
    Series(Vec<Bytes>),
}

impl From<Named> for FileSizes {
    fn from(named: Named) -> Self {
        match named {
            Named::Fixed(bytes) => Self::Fixed(bytes.0),
            Named::Uniform { min, max } => Self::Uniform {
                min: min.0,
                max: max.0,
            },
            Named::LogUniform { min, max } => Self::LogUniform {
                min: min.0,
                max: max.0,
            },
            Named::Weighted(rows) => Self::Weighted(rows),
            Named::Series(sizes) => Self::Series(sizes.iter().map(|size| size.0).collect()),
        }
    }
}

impl<'de> Deserialize<'de> for FileSizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = FileSizes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"4KiB\", a list of sizes, or a distribution of them")
            }

            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<FileSizes, E> {
                Ok(FileSizes::Fixed(bytes))
            }

            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<FileSizes, E> {
                let fixed = u64::try_from(bytes).map(FileSizes::Fixed);
                fixed.map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<FileSizes, E> {
                let bytes: Bytes = text.parse().map_err(E::custom)?;
                Ok(FileSizes::Fixed(bytes.0))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<FileSizes, A::Error> {
                let mut sizes = Vec::new();
                while let Some(size) = list.next_element::<Bytes>()? {
                    sizes.push(size.0);
                }
                Ok(FileSizes::Series(sizes))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<FileSizes, A::Error> {
                Named::deserialize(MapAccessDeserializer::new(map)).map(FileSizes::from)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl FileSizes {
    /// The length of file `number` in bytes.
    #[inline]
    pub(crate) fn of(&self, seed: u64, number: u64) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            _ => self.drawn(seed, number),
        }
    }

    /// As `of`, which is inlined, for every distribution.
    fn drawn(&self, seed: u64, number: u64) -> u64 {
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
            Self::Series(sizes) => sizes[(number % sizes.len() as u64) as usize],
        }
    }

    /// Total length of `files` files in bytes: exact if the sizes determine it, else an upper bound
    /// that one in ten thousand trees exceeds.
    pub fn total_bytes(&self, files: u64) -> u64 {
        let longest = files.saturating_mul(self.longest());
        let (mean, spread) = match self {
            Self::Fixed(_) => return longest,
            Self::Series(sizes) => {
                let turns = files / sizes.len() as u64;
                let rest = (files % sizes.len() as u64) as usize;
                let sum = |sizes: &[u64]| sizes.iter().copied().fold(0, u64::saturating_add);
                return sum(sizes)
                    .saturating_mul(turns)
                    .saturating_add(sum(&sizes[..rest]));
            }
            Self::Uniform { min, max } => (*min as f64 / 2.0 + *max as f64 / 2.0, max - min),
            Self::LogUniform { min, max } if min == max => return longest,
            Self::LogUniform { min, max } => {
                let (low, high) = (*min as f64, *max as f64);
                ((high - low) / (high / low).ln(), max - min)
            }
            Self::Weighted(rows) => {
                let total: f64 = rows.iter().map(|row| f64::from(row.weight)).sum();
                let weighted = rows
                    .iter()
                    .map(|row| f64::from(row.weight) * row.bytes as f64);
                (weighted.sum::<f64>() / total, self.longest())
            }
        };
        // Four standard deviations of the sum; that of a single file is at most half of the range.
        let count = files as f64;
        let most = mean * count + 2.0 * spread as f64 * count.sqrt();
        (most.ceil() as u64).min(longest)
    }

    /// Length of the longest file in bytes.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Uniform { max, .. } | Self::LogUniform { max, .. } => *max,
            Self::Weighted(rows) => rows.iter().map(|row| row.bytes).max().unwrap_or(0),
            Self::Series(sizes) => sizes.iter().copied().max().unwrap_or(0),
        }
    }

    /// Why the sizes are invalid; `None` if they are valid.
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
            Self::Series(sizes) if sizes.is_empty() => Some("an empty series of sizes".into()),
            _ if self.longest() > 1 << 62 => Some("files of more than 4 EiB".into()),
            _ => None,
        }
    }
}

/// Scales `draw`, 64 random bits, to a number below `bound`.
fn scaled(draw: u64, bound: u64) -> u64 {
    ((u128::from(draw) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_inside_their_range_and_follow_from_the_seed() {
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
    fn a_series_repeats_and_its_total_is_exact() {
        let series = FileSizes::Series(vec![5, 7, 11]);
        let sizes: Vec<u64> = (0..7).map(|number| series.of(1, number)).collect();
        assert_eq!(sizes, [5, 7, 11, 5, 7, 11, 5]);
        assert_eq!(series.longest(), 11);
        assert_eq!(series.total_bytes(7), sizes.iter().sum::<u64>());
        assert!(FileSizes::Series(Vec::new()).fault().is_some());
    }

    #[test]
    fn the_total_of_random_sizes_is_slightly_above_that_of_trees() {
        let rows = vec![
            WeightedSize {
                weight: 2,
                bytes: 100,
            },
            WeightedSize {
                weight: 1,
                bytes: 100_000,
            },
        ];
        for sizes in [
            FileSizes::Uniform { min: 0, max: 9_000 },
            FileSizes::LogUniform {
                min: 1024,
                max: 281_900,
            },
            FileSizes::Weighted(rows),
        ] {
            let files = 3_500;
            let estimate = sizes.total_bytes(files);
            for seed in 0..20 {
                let held: u64 = (0..files).map(|number| sizes.of(seed, number)).sum();
                assert!(held <= estimate, "{sizes:?}: {held} of {estimate}");
                assert!(held * 13 / 10 > estimate, "{sizes:?}: {held} of {estimate}");
            }
        }
    }

    #[test]
    fn sizes_are_parsed_as_written_by_users_and_in_plans() {
        let read = |text: &str| serde_json::from_str::<FileSizes>(text);
        for (text, sizes) in [
            ("4096", FileSizes::Fixed(4096)),
            ("\"4KiB\"", FileSizes::Fixed(4096)),
            ("{\"fixed\": 7}", FileSizes::Fixed(7)),
            ("[\"1KiB\", 5]", FileSizes::Series(vec![1024, 5])),
            ("{\"series\": [1, 2]}", FileSizes::Series(vec![1, 2])),
            (
                "{\"log-uniform\": {\"min\": \"1KiB\", \"max\": 9000}}",
                FileSizes::LogUniform {
                    min: 1024,
                    max: 9000,
                },
            ),
        ] {
            assert_eq!(read(text).expect(text), sizes);
            let kept = serde_json::to_string(&sizes).expect("numbers and names");
            assert_eq!(read(&kept).expect("as it was kept"), sizes, "{kept}");
        }
        for bad in ["-1", "\"4 furlongs\"", "{\"gauss\": 1}", "true"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reversed_ranges_are_refused() {
        assert!(FileSizes::Uniform { min: 2, max: 1 }.fault().is_some());
        assert!(FileSizes::LogUniform { min: 0, max: 1 }.fault().is_some());
        assert!(FileSizes::Weighted(Vec::new()).fault().is_some());
        assert!(FileSizes::Fixed(0).fault().is_none());
    }
}
