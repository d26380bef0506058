//! Iterates over the records of a part of a file in the order of an access pattern, without
//! allocating.

use super::zipf::Zipf;
use super::zones::Zones;
use super::{Access, Permutation};
use crate::jobs::ZoneShare;
use fslab_stats::Random;

/// A range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Offset in the file.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) length: usize,
}

/// The part of a file that a cursor visits, divided into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Offset of its first record.
    pub(crate) start: u64,
    /// Length in bytes; not 0. The last record may be short.
    pub(crate) bytes: u64,
    /// Record length in bytes; not 0.
    pub(crate) record_bytes: u64,
    /// From the start of one record to that of the next; more than a record if those of others are
    /// between.
    pub(crate) step_bytes: u64,
}

impl Region {
    /// Number of records, including a short last one.
    pub(crate) fn records(self) -> u64 {
        self.bytes.div_ceil(self.record_bytes)
    }

    #[inline]
    fn extent(self, index: u64) -> Extent {
        let from = index * self.record_bytes;
        let length = self.record_bytes.min(self.bytes - from);
        Extent {
            offset: self.start + index * self.step_bytes,
            length: length as usize,
        }
    }
}

/// The state of an iteration.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    region: Region,
    records: u64,
    next: u64,
    order: Order,
    random: Random,
}

#[derive(Clone, Debug)]
enum Order {
    Sequential,
    Reverse,
    Strided(u64),
    Uniform,
    Once(Permutation),
    Zipf(Zipf, Permutation),
    /// The exponent of a uniform number.
    Pareto(f64, Permutation),
    Zoned(Zones),
    HotCold {
        hot: u64,
        hot_access_percent: u64,
        scatter: Permutation,
    },
}

impl Cursor {
    /// A cursor over `region` in the order of `access`, which must be valid.
    pub(crate) fn new(region: Region, access: Access, mut random: Random) -> Self {
        let records = region.records();
        let order = match access {
            Access::Sequential => Order::Sequential,
            Access::Reverse => Order::Reverse,
            Access::Strided { stride_records } => Order::Strided(stride_records),
            Access::RandomUniform => Order::Uniform,
            Access::RandomOnce => Order::Once(Permutation::new(records, &mut random)),
            Access::Zipf { theta } => Order::Zipf(
                Zipf::new(records, theta),
                Permutation::new(records, &mut random),
            ),
            Access::Pareto { h } => Order::Pareto(
                h.ln() / (1.0 - h).ln(),
                Permutation::new(records, &mut random),
            ),
            Access::HotCold {
                hot_space_percent,
                hot_access_percent,
            } => Order::HotCold {
                hot: share(records, hot_space_percent),
                hot_access_percent: hot_access_percent.into(),
                scatter: Permutation::new(records, &mut random),
            },
        };
        Self {
            region,
            records,
            next: 0,
            order,
            random,
        }
    }

    /// The same with uniformly random accesses divided among `zones`, if there are any.
    pub(crate) fn with_zones(mut self, zones: &[ZoneShare]) -> Self {
        if !zones.is_empty() {
            self.order = Order::Zoned(Zones::new(zones, self.records));
        }
        self
    }

    /// The next extent; cursors never end.
    #[inline]
    pub(crate) fn next(&mut self) -> Extent {
        let index = match &self.order {
            Order::Uniform => self.random.below(self.records),
            Order::Zipf(zipf, scatter) => scatter.at(zipf.next(&mut self.random) - 1),
            Order::Pareto(exponent, scatter) => {
                let share = self.random.unit().powf(*exponent);
                let rank = (share * self.records as f64) as u64;
                scatter.at(rank.min(self.records - 1))
            }
            Order::Zoned(zones) => zones.next(&mut self.random),
            Order::HotCold {
                hot,
                hot_access_percent,
                scatter,
            } => {
                let cold = self.records - hot;
                if cold == 0 || self.random.below(100) < *hot_access_percent {
                    scatter.at(self.random.below(*hot))
                } else {
                    scatter.at(hot + self.random.below(cold))
                }
            }
            Order::Sequential => self.next,
            Order::Reverse => self.records - 1 - self.next,
            Order::Strided(stride) => strided(self.next, *stride, self.records),
            Order::Once(permutation) => permutation.at(self.next),
        };
        self.next += 1;
        if self.next == self.records {
            self.restart();
        }
        self.region.extent(index)
    }

    #[cold]
    fn restart(&mut self) {
        self.next = 0;
        if let Order::Once(permutation) = &mut self.order {
            *permutation = Permutation::new(self.records, &mut self.random);
        }
    }
}

/// `percent` of `records`, at least one.
fn share(records: u64, percent: u8) -> u64 {
    let share = u128::from(records) * u128::from(percent) / 100;
    (share as u64).max(1)
}

/// The `turn`-th record of a strided walk: every `stride`-th record from the first, then from the
/// second, and so on.
fn strided(turn: u64, stride: u64, records: u64) -> u64 {
    // The first `longer` lanes have one more record than the others.
    let (short, longer) = (records / stride, records % stride);
    let in_longer = longer * (short + 1);
    if turn < in_longer {
        (turn % (short + 1)) * stride + turn / (short + 1)
    } else {
        let rest = turn - in_longer;
        (rest % short) * stride + longer + rest / short
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn walk(access: Access, bytes: u64, record_bytes: u64, steps: u64) -> Vec<Extent> {
        let region = Region {
            start: 100,
            bytes,
            record_bytes,
            step_bytes: record_bytes,
        };
        let mut cursor = Cursor::new(region, access, Random::new(9, 1));
        (0..steps).map(|_| cursor.next()).collect()
    }

    fn indices(access: Access, records: u64) -> Vec<u64> {
        let extents = walk(access, records * 10, 10, records);
        extents
            .iter()
            .map(|extent| (extent.offset - 100) / 10)
            .collect()
    }

    #[test]
    fn sequential_reverse_and_strided_walks_are_in_order() {
        assert_eq!(indices(Access::Sequential, 4), [0, 1, 2, 3]);
        assert_eq!(indices(Access::Reverse, 4), [3, 2, 1, 0]);
        let strided = Access::Strided { stride_records: 3 };
        assert_eq!(indices(strided, 8), [0, 3, 6, 1, 4, 7, 2, 5]);
        let wide = Access::Strided {
            stride_records: 100,
        };
        assert_eq!(indices(wide, 3), [0, 1, 2]);
    }

    #[test]
    fn the_last_record_is_short_if_the_file_is_no_multiple() {
        let extents = walk(Access::Sequential, 25, 10, 4);
        let shape: Vec<_> = extents.iter().map(|e| (e.offset, e.length)).collect();
        assert_eq!(shape, [(100, 10), (110, 10), (120, 5), (100, 10)]);
    }

    #[test]
    fn a_second_random_pass_has_another_order() {
        let extents = walk(Access::RandomOnce, 1_000, 10, 200);
        assert_ne!(extents[..100], extents[100..]);
    }

    #[test]
    fn of_a_pareto_share_of_the_records_the_rest_of_the_accesses() {
        let mut counts = vec![0_u32; 100];
        for extent in walk(Access::Pareto { h: 0.2 }, 1_000, 10, 100_000) {
            counts[usize::try_from((extent.offset - 100) / 10).expect("small")] += 1;
        }
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let few: u32 = counts[..20].iter().sum();
        assert!((78_500..81_500).contains(&few), "{few}");
    }

    #[test]
    fn hot_records_get_their_share_of_the_accesses() {
        let access = Access::HotCold {
            hot_space_percent: 10,
            hot_access_percent: 90,
        };
        let mut counts = vec![0_u32; 100];
        for extent in walk(access, 1_000, 10, 100_000) {
            counts[usize::try_from((extent.offset - 100) / 10).expect("small")] += 1;
        }
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let hot: u32 = counts[..10].iter().sum();
        assert!((88_000..92_000).contains(&hot), "{hot}");
    }

    proptest! {
        #[test]
        fn walks_that_cover_a_file_visit_each_byte_once(
            bytes in 1_u64..20_000, record_bytes in 1_u64..700, stride in 1_u64..50,
        ) {
            for access in [
                Access::Sequential,
                Access::Reverse,
                Access::Strided { stride_records: stride },
                Access::RandomOnce,
            ] {
                let records = bytes.div_ceil(record_bytes);
                let mut extents = walk(access, bytes, record_bytes, records);
                extents.sort_unstable_by_key(|extent| extent.offset);
                let mut at = 100;
                for extent in extents {
                    prop_assert_eq!(extent.offset, at);
                    at += extent.length as u64;
                }
                prop_assert_eq!(at, 100 + bytes);
            }
        }

        #[test]
        fn walks_with_replacement_stay_inside_the_file(
            bytes in 1_u64..20_000, record_bytes in 1_u64..700,
        ) {
            for access in [
                Access::RandomUniform,
                Access::Zipf { theta: 0.99 },
                Access::Pareto { h: 0.2 },
                Access::HotCold { hot_space_percent: 20, hot_access_percent: 80 },
            ] {
                for extent in walk(access, bytes, record_bytes, 200) {
                    prop_assert!(extent.offset >= 100 && extent.length > 0);
                    prop_assert!(extent.offset + extent.length as u64 <= 100 + bytes);
                    prop_assert_eq!((extent.offset - 100) % record_bytes, 0);
                }
            }
        }
    }
}
