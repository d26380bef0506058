//! Statistics of a simulated disk's trace in a phase: requests and their time by part.
//! docs/figures.md defines the figures derived from it.
//!
//! All values are integer counts, sums and quantiles, so that equal traces give equal bytes;
//! methods compute shares and means.
//!
//! ```text
//!     DeviceInsight --> KindInsight   reads, writes, flushes, discards: how many, how long
//!                  |--> Seeks         how the heads, or the addresses, moved
//!                  |--> Depth         how many requests were in the disk at once
//!                  '--> Picture       which part of the disk was read and written when
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Picture, is_default};

/// Bytes of a sector, the unit of a disk's addresses.
const SECTOR_BYTES: u64 = 512;

/// A span of time on the CLOCK_MONOTONIC of the trial's system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// When it began.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// Cost of a phase to the host of the trial's guest. Measured: it differs from run to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCost {
    /// Processor time of the guest, including the file system's.
    pub cpu_ns: u64,
    /// Real time.
    pub real_ns: u64,
}

/// Requests and the bytes that they moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// Their number.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Counts of integers by powers of two: entry `i` counts those in `2^i..2^(i + 1)`. Counts may be
/// weighted, for example by nanoseconds. Has no empty entries at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct PowerCounts(Vec<u64>);

/// The list has more entries than there are powers of two, or its sum exceeds 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("counts by powers of two are at most 64 entries, and together less than 2^64")]
pub struct PowerCountsError;

impl TryFrom<Vec<u64>> for PowerCounts {
    type Error = PowerCountsError;

    fn try_from(counts: Vec<u64>) -> Result<Self, Self::Error> {
        let mut all = counts.iter().copied();
        let total = all.try_fold(0_u64, u64::checked_add);
        match counts.len() <= u64::BITS as usize && total.is_some() {
            true => Ok(Self(counts)),
            false => Err(PowerCountsError),
        }
    }
}

/// The time of requests by part, summed over them. Requests that overlap each have their own: the
/// sum may exceed the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeParts {
    /// From the submission until the disk began the request.
    pub waiting_ns: u64,
    /// The interface's and the controller's overhead.
    pub command_ns: u64,
    /// Movement of the heads.
    pub seek_ns: u64,
    /// Rotational delay.
    pub rotation_ns: u64,
    /// To or from the media.
    pub transfer_ns: u64,
    /// To or from the disk's cache, and waiting for room in it.
    pub cache_ns: u64,
    /// The rest: waiting for a part of the disk in use by another request.
    pub other_ns: u64,
}

/// Quantiles of the time from a request's start to its end, to three digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceTimes {
    /// Median.
    pub p50_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Maximum.
    pub max_ns: u64,
}

/// Requests of one kind from every source: the file system, and mkfs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindInsight {
    /// All of them.
    pub all: Traffic,
    /// Those that the file system marked as metadata.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metadata: Traffic,
    /// Those marked as synchronous, for which a process waits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync: Traffic,
    /// Reads answered by the disk's cache, and writes that end in it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cached: Traffic,
    /// Those that begin at the end of the previous one of the same kind.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sequential: Traffic,
    /// Their time by part.
    pub time: TimeParts,
    /// Quantiles of their durations; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceTimes>,
    /// Their sizes in sectors.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sizes: PowerCounts,
}

/// Places of the accesses to the media: by requests that no cache answered, and by the disk itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seeks {
    /// Accesses to the media.
    pub accesses: u64,
    /// Accesses that do not begin at the end of the previous one on the same member of the array.
    pub seeks: u64,
    /// The sum of their distances in sectors.
    pub distance_sectors: u64,
    /// Their distances in sectors.
    pub distances: PowerCounts,
}

/// The number of requests in the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Depth {
    /// Time with at least one request.
    pub busy_ns: u64,
    /// The integral of the depth over time.
    pub depth_ns: u64,
    /// The largest depth found by a request, itself included.
    pub max: u64,
    /// Time by depth.
    pub times_ns: PowerCounts,
}

/// The work of a simulated disk in a span of time. A request belongs to the span in which it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceInsight {
    /// The span.
    pub window: Window,
    /// Size of the disk.
    pub capacity_sectors: u64,
    /// Reads.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reads: KindInsight,
    /// Writes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub writes: KindInsight,
    /// Flushes of the disk's cache; they move no bytes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flushes: KindInsight,
    /// Discards; their bytes are those given up.
    #[serde(default, skip_serializing_if = "is_default")]
    pub discards: KindInsight,
    /// Writes with FUA: on the media when they end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fua_writes: Traffic,
    /// Reads ahead.
    #[serde(default, skip_serializing_if = "is_default")]
    pub readahead: Traffic,
    /// The disk's own reads.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background_reads: Traffic,
    /// The disk's own writes: write-back of its cache, and moved data.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background_writes: Traffic,
    /// The time of the disk's own reads, by part.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background_read_time: TimeParts,
    /// The time of the disk's own writes, by part.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background_write_time: TimeParts,
    /// Places of the accesses to the media.
    pub seeks: Seeks,
    /// The number of requests in the disk.
    pub depth: Depth,
    /// The picture of reads and writes by address and time.
    pub picture: Picture,
}

/// `part / total`; `None` if `total` is 0.
fn share(part: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| part as f64 / total as f64)
}

impl Window {
    /// True if an end at `ns` is in the window. The begin is excluded, so adjacent windows share
    /// nothing.
    pub fn contains(self, ns: u64) -> bool {
        self.begin_ns < ns && ns <= self.end_ns
    }

    /// Its length; 0 if it ends before it begins.
    pub fn length_ns(self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }
}

impl Traffic {
    /// Counts a request of `bytes`.
    pub fn count(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
    }
}

impl std::ops::Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl From<PowerCounts> for Vec<u64> {
    fn from(counts: PowerCounts) -> Self {
        counts.0
    }
}

impl PowerCounts {
    /// Adds `weight` to the count of `value`; 0 is not counted.
    pub fn add(&mut self, value: u64, weight: u64) {
        let Some(power) = value.checked_ilog2().filter(|_| weight > 0) else {
            return;
        };
        let power = power as usize;
        if self.0.len() <= power {
            self.0.resize(power + 1, 0);
        }
        self.0[power] += weight;
    }

    /// The counts, each with the smallest value that it counts.
    pub fn entries(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let least = |power: usize| 1_u64.checked_shl(power as u32).unwrap_or(u64::MAX);
        self.0
            .iter()
            .enumerate()
            .map(move |(power, count)| (least(power), *count))
    }

    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl TimeParts {
    /// From the starts to the ends of the requests.
    pub fn service_ns(&self) -> u64 {
        self.command_ns
            + self.seek_ns
            + self.rotation_ns
            + self.transfer_ns
            + self.cache_ns
            + self.other_ns
    }

    /// From the submissions to the ends of the requests.
    pub fn response_ns(&self) -> u64 {
        self.waiting_ns + self.service_ns()
    }

    /// Only the parts in which the media work.
    pub fn on_media(self) -> Self {
        Self {
            seek_ns: self.seek_ns,
            rotation_ns: self.rotation_ns,
            transfer_ns: self.transfer_ns,
            ..Self::default()
        }
    }
}

impl std::ops::AddAssign for TimeParts {
    fn add_assign(&mut self, other: Self) {
        self.waiting_ns += other.waiting_ns;
        self.command_ns += other.command_ns;
        self.seek_ns += other.seek_ns;
        self.rotation_ns += other.rotation_ns;
        self.transfer_ns += other.transfer_ns;
        self.cache_ns += other.cache_ns;
        self.other_ns += other.other_ns;
    }
}

impl Seeks {
    /// Mean distance of a seek in bytes; `None` without seeks.
    pub fn mean_bytes(&self) -> Option<f64> {
        share(self.distance_sectors, self.seeks).map(|sectors| sectors * SECTOR_BYTES as f64)
    }
}

impl DeviceInsight {
    /// Time without requests in the disk.
    pub fn idle_ns(&self) -> u64 {
        self.window.length_ns().saturating_sub(self.depth.busy_ns)
    }

    /// Mean number of requests in the disk over the span, idle time included.
    pub fn mean_depth(&self) -> Option<f64> {
        share(self.depth.depth_ns, self.window.length_ns())
    }

    /// Reads and writes together.
    pub fn moved(&self) -> Traffic {
        self.reads.all + self.writes.all
    }

    /// Share of the requests that begin at the end of the previous one of the same kind.
    pub fn sequential_share(&self) -> Option<f64> {
        let sequential = self.reads.sequential + self.writes.sequential;
        share(sequential.requests, self.moved().requests)
    }

    /// Share of the bytes read and written that the file system marked as metadata.
    pub fn metadata_share(&self) -> Option<f64> {
        let metadata = self.reads.metadata + self.writes.metadata;
        share(metadata.bytes, self.moved().bytes)
    }

    /// Bytes written to the media: by requests that did not end in the cache, and by the disk
    /// itself.
    pub fn media_write_bytes(&self) -> u64 {
        let direct = (self.writes.all.bytes).saturating_sub(self.writes.cached.bytes);
        direct + self.background_writes.bytes
    }

    /// The time of all requests, by part.
    pub fn time(&self) -> TimeParts {
        let mut time = self.reads.time;
        time += self.writes.time;
        time += self.flushes.time;
        time += self.discards.time;
        time
    }

    /// The media's time by part: for requests that waited for it, and for the disk's own work. Only
    /// the parts of the media are set.
    pub fn media_time(&self) -> TimeParts {
        let mut time = self.time();
        time += self.background_read_time;
        time += self.background_write_time;
        time.on_media()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_document_have_no_more_entries_than_numbers_have_powers() {
        let read = |counts: Vec<u64>| serde_json::from_value::<PowerCounts>(counts.into());
        assert_eq!(read(vec![1; 64]).expect("64 powers").total(), 64);
        assert!(read(vec![1; 65]).is_err());
        assert!(read(vec![u64::MAX, 1]).is_err());
    }

    #[test]
    fn windows_that_touch_share_no_moment() {
        let (first, second) = (
            Window {
                begin_ns: 10,
                end_ns: 20,
            },
            Window {
                begin_ns: 20,
                end_ns: 30,
            },
        );
        for ns in 0..40 {
            assert!(!(first.contains(ns) && second.contains(ns)), "{ns}");
        }
        assert!(!first.contains(10) && first.contains(20) && second.contains(21));
    }

    #[test]
    fn counts_by_powers_of_two_end_with_the_largest_value() {
        let mut counts = PowerCounts::default();
        for (value, weight) in [(0, 7), (1, 1), (3, 2), (4, 3), (7, 4), (9, 0)] {
            counts.add(value, weight);
        }
        let entries: Vec<_> = counts.entries().collect();
        assert_eq!(entries, [(1, 1), (2, 2), (4, 7)]);
        counts.add(u64::MAX, 1);
        assert_eq!(counts.entries().last(), Some((1 << 63, 1)));
        assert_eq!(counts.total(), 11);
    }

    #[test]
    fn what_did_not_happen_takes_no_room_and_has_no_share() {
        let nothing = DeviceInsight::default();
        let json = serde_json::to_string(&nothing).expect("serialises");
        assert!(!json.contains("reads"), "{json}");
        assert!(json.len() < 400, "{json}");
        let back: DeviceInsight = serde_json::from_str(&json).expect("reads");
        assert_eq!(back, nothing);
        assert_eq!(nothing.sequential_share(), None);
        assert_eq!(nothing.mean_depth(), None);
        assert_eq!(nothing.seeks.mean_bytes(), None);
    }

    #[test]
    fn the_media_are_written_by_uncached_writes_and_by_the_disk_itself() {
        let mut insight = DeviceInsight::default();
        insight.writes.all.bytes = 1_000;
        insight.writes.cached.bytes = 700;
        insight.background_writes.bytes = 900;
        assert_eq!(insight.media_write_bytes(), 1_200);
    }
    #[test]
    fn the_time_of_the_media_is_that_of_requests_and_of_the_disk_itself_without_waiting() {
        let of = |seek_ns, cache_ns| TimeParts {
            waiting_ns: 7,
            command_ns: 11,
            seek_ns,
            rotation_ns: 2 * seek_ns,
            transfer_ns: 3 * seek_ns,
            cache_ns,
            other_ns: 13,
        };
        let mut insight = DeviceInsight::default();
        insight.reads.time = of(1, 0);
        insight.writes.time = of(0, 500);
        insight.background_read_time = of(10, 0);
        insight.background_write_time = of(100, 0);
        let media = TimeParts {
            seek_ns: 111,
            rotation_ns: 222,
            transfer_ns: 333,
            ..TimeParts::default()
        };
        assert_eq!(insight.media_time(), media);
        assert_eq!(insight.time().cache_ns, 500);
    }
}
