//! The machine and the data of the original that a study repeats, and how a plan's compare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Bytes;

/// Largest relative difference of two ratios of data to memory that are alike.
const TOLERANCE: f64 = 0.1;

/// What the original worked on: decides whether its data fits into memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OriginalSetup {
    /// The most data of one phase, with its unit: `"2000MiB"`.
    pub data: Bytes,
    /// Memory of the machine: `"512MiB"`.
    pub memory: Bytes,
    /// The study's phases that are the original's. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<String>,
    /// Where the original states the two, or what is assumed in its place.
    #[schemars(length(min = 1))]
    pub source: String,
}

/// The most data of one phase of a plan and the memory of its machine, beside the original's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataToMemory {
    /// The most data of one phase.
    pub data_bytes: Bytes,
    /// Memory of the machine or guest.
    pub memory_bytes: Bytes,
    /// The original's.
    pub original: OriginalSetup,
}

impl DataToMemory {
    /// The plan's data as a multiple of its memory.
    pub fn ratio(&self) -> f64 {
        ratio(self.data_bytes, self.memory_bytes)
    }

    /// The original's data as a multiple of its memory.
    pub fn original_ratio(&self) -> f64 {
        ratio(self.original.data, self.original.memory)
    }

    /// What differs, as a sentence without its period; `None` if the two ratios differ by a tenth
    /// or less.
    pub fn difference(&self) -> Option<String> {
        let (now, then) = (self.ratio(), self.original_ratio());
        let is_alike = (now / then - 1.0).abs() <= TOLERANCE;
        (!is_alike).then(|| {
            format!(
                "data is {} times the memory ({} with {}), in the original {} times ({} with {})",
                significant(now),
                self.data_bytes,
                self.memory_bytes,
                significant(then),
                self.original.data,
                self.original.memory
            )
        })
    }
}

fn ratio(data: Bytes, memory: Bytes) -> f64 {
    data.0 as f64 / memory.0.max(1) as f64
}

/// Two significant digits.
fn significant(ratio: f64) -> String {
    let magnitude = ratio.abs().log10().floor();
    let decimals = (1.0 - magnitude).clamp(0.0, 6.0) as usize;
    format!("{ratio:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(data: Bytes, memory: Bytes) -> DataToMemory {
        DataToMemory {
            data_bytes: data,
            memory_bytes: memory,
            original: OriginalSetup {
                data: Bytes::mib(2000),
                memory: Bytes::mib(1000),
                phases: Vec::new(),
                source: "page 1".into(),
            },
        }
    }

    #[test]
    fn ratios_within_a_tenth_are_alike_and_others_are_stated() {
        for memory in [Bytes::mib(1000), Bytes::mib(950), Bytes::mib(1090)] {
            assert_eq!(compared(Bytes::mib(2000), memory).difference(), None);
        }
        assert_eq!(
            compared(Bytes::mib(200), Bytes::mib(100)).difference(),
            None
        );
        for memory in [Bytes::mib(890), Bytes::mib(1120)] {
            let difference = compared(Bytes::mib(2000), memory).difference();
            assert!(difference.is_some(), "{memory}");
        }
        let small = compared(Bytes::mib(40), Bytes::gib(1)).difference();
        assert_eq!(
            small.as_deref(),
            Some(
                "data is 0.039 times the memory (40 MiB with 1 GiB), in the original 2.0 times \
                 (2000 MiB with 1000 MiB)"
            )
        );
    }
}
