//! Random records of a file whose parts have different shares of the accesses.

use fslab_stats::Random;

use crate::jobs::ZoneShare;

/// Parts of a region, from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Zones(Vec<Zone>);

#[derive(Clone, Copy, Debug)]
struct Zone {
    /// Percent of the accesses that go to it or to one before it.
    access_percent_to: u64,
    first: u64,
    records: u64,
}

impl Zones {
    /// `shares`, which are 100 % together, of a region of `records` records. A part has at least
    /// one record.
    pub(crate) fn new(shares: &[ZoneShare], records: u64) -> Self {
        let (mut access_percent_to, mut space_percent_to) = (0, 0);
        let border = |percent: u64| (u128::from(records) * u128::from(percent) / 100) as u64;
        let zones = shares.iter().map(|share| {
            let first = border(space_percent_to).min(records - 1);
            access_percent_to += u64::from(share.access_percent);
            space_percent_to += u64::from(share.space_percent);
            Zone {
                access_percent_to,
                first,
                records: border(space_percent_to).saturating_sub(first).max(1),
            }
        });
        Self(zones.collect())
    }

    /// The next record.
    #[inline]
    pub(crate) fn next(&self, random: &mut Random) -> u64 {
        let draw = random.below(100);
        let zone = self.0.iter().find(|zone| draw < zone.access_percent_to);
        zone.map_or(0, |zone| zone.first + random.below(zone.records))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_share_of_the_accesses() {
        let share = |access_percent, space_percent| ZoneShare {
            access_percent,
            space_percent,
        };
        let zones = Zones::new(&[share(50, 5), share(30, 15), share(20, 80)], 1_000);
        let mut random = Random::new(5, 1);
        let mut counts = [0_u32; 3];
        for _ in 0..100_000 {
            let record = zones.next(&mut random);
            assert!(record < 1_000);
            counts[usize::from(record >= 50) + usize::from(record >= 200)] += 1;
        }
        for (count, percent) in counts.into_iter().zip([50, 30, 20]) {
            assert!(count.abs_diff(percent * 1_000) < 1_000, "{counts:?}");
        }
    }

    #[test]
    fn a_part_of_less_than_a_record_has_one() {
        let share = |access_percent, space_percent| ZoneShare {
            access_percent,
            space_percent,
        };
        let zones = Zones::new(&[share(50, 1), share(50, 99)], 2);
        let mut random = Random::new(5, 1);
        assert!((0..100).all(|_| zones.next(&mut random) < 2));
    }
}
