//! Iterates over records of several lengths, in order or at random offsets.

use fslab_stats::Random;

use super::zones::Zones;
use super::{Access, Extent, Region};
use crate::jobs::DataJob;

/// The state of an iteration.
#[derive(Clone, Debug)]
pub(crate) struct SplitCursor {
    /// Percent of the records that have this length or one before it, and the length.
    lengths: Vec<(u64, u64)>,
    /// The shortest length, at whose multiples records begin.
    unit: u64,
    start: u64,
    bytes: u64,
    /// Offset of the next record within the region; `None` if offsets are random.
    next: Option<u64>,
    zones: Option<Zones>,
    random: Random,
}

impl SplitCursor {
    /// A cursor over `region` for the valid `job`; `None` if its records have one length.
    pub(crate) fn new(region: Region, job: &DataJob, random: Random) -> Option<Self> {
        let unit = job.record_split.iter().map(|it| it.bytes.0).min()?;
        let mut percent_to = 0;
        let lengths = job.record_split.iter().map(|share| {
            percent_to += u64::from(share.percent);
            (percent_to, share.bytes.0)
        });
        let zones = (!job.zones.is_empty()).then(|| Zones::new(&job.zones, region.bytes / unit));
        Some(Self {
            lengths: lengths.collect(),
            unit,
            start: region.start,
            bytes: region.bytes,
            next: (job.access == Access::Sequential).then_some(0),
            zones,
            random,
        })
    }

    /// The next extent; cursors never end.
    #[inline]
    pub(crate) fn next(&mut self) -> Extent {
        let draw = self.random.below(100);
        let of_draw = self.lengths.iter().find(|(percent, _)| draw < *percent);
        let length = of_draw
            .map_or(self.unit, |(_, bytes)| *bytes)
            .min(self.bytes);
        let last = self.bytes - length;
        let at = match (self.next, &self.zones) {
            (Some(next), _) if next <= last => next,
            (Some(_), _) => 0,
            (None, Some(zones)) => (zones.next(&mut self.random) * self.unit).min(last),
            (None, None) => self.random.below(last / self.unit + 1) * self.unit,
        };
        if self.next.is_some() {
            self.next = Some(at + length);
        }
        Extent {
            offset: self.start + at,
            length: length as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::RecordShare;
    use fslab_model::Bytes;

    fn walk(access: Access, count: usize) -> Vec<Extent> {
        let share = |bytes, percent| RecordShare {
            bytes: Bytes(bytes),
            percent,
        };
        let job = DataJob {
            access,
            record_split: vec![share(512, 25), share(4096, 75)],
            ..DataJob::read("f", 64 << 10, 4096)
        };
        job.validate().expect("makes sense");
        let region = Region {
            start: 8192,
            bytes: 64 << 10,
            record_bytes: 4096,
            step_bytes: 4096,
        };
        let cursor = SplitCursor::new(region, &job, Random::new(3, 1));
        let mut cursor = cursor.expect("records of several lengths");
        (0..count).map(|_| cursor.next()).collect()
    }

    #[test]
    fn random_records_have_their_shares_and_stay_inside_the_file() {
        let extents = walk(Access::RandomUniform, 10_000);
        let short = extents.iter().filter(|it| it.length == 512).count();
        assert!((2_300..2_700).contains(&short), "{short}");
        for extent in extents {
            assert!(extent.offset >= 8192 && extent.offset.is_multiple_of(512));
            assert!(extent.offset + extent.length as u64 <= 8192 + (64 << 10));
        }
    }

    #[test]
    fn sequential_records_follow_each_other_and_begin_again() {
        let extents = walk(Access::Sequential, 1_000);
        assert_eq!(extents[0].offset, 8192);
        for pair in extents.windows(2) {
            let end = pair[0].offset + pair[0].length as u64;
            assert!(pair[1].offset == end || pair[1].offset == 8192);
        }
        let passes = extents.iter().filter(|it| it.offset == 8192).count();
        assert!(passes > 10, "{passes}");
    }
}
