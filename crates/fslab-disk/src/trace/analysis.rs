//! Computes the insight of each window from a trace, in one pass and in constant memory.
//!
//! A request counts in the window in which it completes, with all of its time, including time
//! before the window. Only queue depth and idle time are cut at the window's edges.

use std::io::Read;

use fslab_model::{DeviceInsight, Window};

use super::error::DiskTraceError;
use super::queue::Queue;
use super::reader::Reader;
use super::record::Record;
use super::schedule::Schedule;
use super::tally::{Tally, Track};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceInsight {
    /// One per window, in the given order.
    pub windows: Vec<DeviceInsight>,
    /// Of the entire trace, from the first submission to the last completion; `None` for an empty
    /// trace.
    pub whole: Option<DeviceInsight>,
    /// When the last request completed; 0 for an empty trace.
    pub end_ns: u64,
    /// Number of records.
    pub records: u64,
    /// Bytes of an incomplete last record, left by a guest that was stopped.
    pub torn_bytes: usize,
}

/// Reads the trace of a disk to its end and computes the insight of each window. Windows may
/// overlap; a request at the edge of two adjacent windows counts in one.
///
/// # Errors
/// Those of the reader; and `Record` for a request beyond the disk's last sector.
pub fn analyse<R: Read>(
    reader: Reader<R>,
    windows: &[Window],
    capacity_sectors: u64,
) -> Result<TraceInsight, DiskTraceError> {
    analyse_all(vec![reader], windows, capacity_sectors)
}

/// As [`analyse`] for several disks of `capacity_sectors` each, as if one disk had the addresses of
/// all, one after the other: the first of the second disk is the sum of those of the first. What
/// follows on what, and how far heads move, is each disk's own; there is work while any disk works.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_all<R: Read>(
    readers: Vec<Reader<R>>,
    windows: &[Window],
    disk_sectors: u64,
) -> Result<TraceInsight, DiskTraceError> {
    let capacity_sectors = disk_sectors.saturating_mul(readers.len() as u64);
    let mut analysis = Analysis {
        capacity_sectors,
        tracks: readers.iter().map(|_| Track::new()).collect(),
        queue: Queue::new(windows),
        schedule: Schedule::new(windows),
        stages: windows.iter().map(|_| Stage::Coming).collect(),
        whole: None,
        span: Window {
            begin_ns: u64::MAX,
            end_ns: 0,
        },
    };
    let mut merged = Merged::of(readers)?;
    while let Some((disk, record)) = merged.next()? {
        if !record.op.is_background() && record.end() > disk_sectors {
            return Err(DiskTraceError::Record {
                number: merged.records_of(disk) - 1,
                problem: "lies beyond the end of the disk",
            });
        }
        analysis.add(disk, disk_sectors, record);
    }
    let readers = merged.readers;
    let end_ns = analysis.span.end_ns;
    let (windows, whole) = analysis.finish();
    Ok(TraceInsight {
        windows,
        whole,
        end_ns,
        records: readers.iter().map(Reader::records).sum(),
        torn_bytes: readers.iter().map(Reader::torn_bytes).sum(),
    })
}

/// The records of several traces in the order of their ends; of equal ones, that of the first disk.
struct Merged<R> {
    readers: Vec<Reader<R>>,
    /// The next record of each, which was read and not returned yet.
    next: Vec<Option<Record>>,
}

impl<R: Read> Merged<R> {
    fn of(mut readers: Vec<Reader<R>>) -> Result<Self, DiskTraceError> {
        let next = readers.iter_mut().map(|reader| reader.next().transpose());
        let next = next.collect::<Result<_, _>>()?;
        Ok(Self { readers, next })
    }

    fn next(&mut self) -> Result<Option<(usize, Record)>, DiskTraceError> {
        let ends = self.next.iter().enumerate();
        let ends = ends.filter_map(|(disk, record)| Some((record.as_ref()?.done_ns, disk)));
        let Some((_, disk)) = ends.min() else {
            return Ok(None);
        };
        let following = self.readers[disk].next().transpose()?;
        let record = std::mem::replace(&mut self.next[disk], following);
        Ok(record.map(|record| (disk, record)))
    }

    /// Records of a disk that were returned.
    fn records_of(&self, disk: usize) -> u64 {
        self.readers[disk].records() - u64::from(self.next[disk].is_some())
    }
}

/// The state of a window. Only an open one needs the memory of its counts.
enum Stage {
    Coming,
    Open(Box<Tally>),
    Over(Box<DeviceInsight>),
}

impl Stage {
    fn end(&mut self) {
        *self = match std::mem::replace(self, Self::Coming) {
            Self::Open(tally) => Self::Over(Box::new(tally.finish())),
            other => other,
        };
    }

    fn into_insight(mut self, window: Window, capacity_sectors: u64) -> DeviceInsight {
        self.end();
        match self {
            Self::Over(insight) => *insight,
            Self::Coming | Self::Open(_) => Tally::of(window, capacity_sectors).finish(),
        }
    }
}

struct Analysis {
    capacity_sectors: u64,
    /// One for each disk.
    tracks: Vec<Track>,
    queue: Queue,
    schedule: Schedule,
    stages: Vec<Stage>,
    whole: Option<Tally>,
    span: Window,
}

impl Analysis {
    fn add(&mut self, disk: usize, disk_sectors: u64, record: Record) {
        let relation = self.tracks[disk].follow(&record);
        let record = &Record {
            sector: record
                .sector
                .saturating_add(disk_sectors.saturating_mul(disk as u64)),
            ..record
        };
        let done_ns = record.done_ns;
        let stages = &mut self.stages;
        let open = (self.schedule).during(done_ns.saturating_sub(1), done_ns, |index| {
            stages[index].end();
        });
        for (index, window) in open {
            let stage = &mut self.stages[index];
            if let Stage::Coming = stage {
                *stage = Stage::Open(Box::new(Tally::of(window, self.capacity_sectors)));
            }
            if let Stage::Open(tally) = stage {
                tally.add(record, relation);
            }
        }
        let capacity_sectors = self.capacity_sectors;
        self.whole
            .get_or_insert_with(|| Tally::open_ended(record.submit_ns, capacity_sectors))
            .add(record, relation);
        self.span.begin_ns = self.span.begin_ns.min(record.submit_ns);
        self.span.end_ns = done_ns;
        if !record.op.is_background() {
            self.queue.add(record.submit_ns, done_ns);
        }
    }

    fn finish(self) -> (Vec<DeviceInsight>, Option<DeviceInsight>) {
        let (depths, whole_depth) = self.queue.finish();
        let with_depth = |mut insight: DeviceInsight, depth: fslab_model::Depth| {
            insight.depth = fslab_model::Depth {
                max: insight.depth.max,
                ..depth
            };
            insight
        };
        let windows = self.stages.into_iter().zip(depths).enumerate();
        let windows = windows.map(|(index, (stage, depth))| {
            let window = self.schedule.window(index);
            with_depth(stage.into_insight(window, self.capacity_sectors), depth)
        });
        let whole = self.whole.map(|tally| {
            let mut whole = with_depth(tally.finish(), whole_depth);
            whole.window = self.span;
            whole
        });
        (windows.collect(), whole)
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::{PictureLayer, PowerCounts, ServiceTimes, TimeParts, Traffic};
    use proptest::prelude::*;

    use super::super::{Flags, Op, Writer};
    use super::*;

    const CAPACITY: u64 = 9_600;

    fn record(op: Op, times_ns: [u64; 3], (sector, sectors): (u64, u32)) -> Record {
        let [submit_ns, start_ns, done_ns] = times_ns;
        Record {
            submit_ns,
            start_ns,
            done_ns,
            sector,
            sectors,
            op,
            depth: u16::from(!op.is_background()),
            ..Record::default()
        }
    }

    fn insight(records: &[Record], windows: &[Window]) -> Result<TraceInsight, DiskTraceError> {
        let mut writer = Writer::new(Vec::new()).expect("memory");
        for record in records {
            writer.add(record).expect("memory");
        }
        let trace = writer.finish().expect("memory");
        analyse(Reader::new(&trace[..]).expect("a trace"), windows, CAPACITY)
    }

    fn window(begin_ns: u64, end_ns: u64) -> Window {
        Window { begin_ns, end_ns }
    }

    #[test]
    fn several_disks_work_side_by_side_each_with_its_own_heads() {
        let trace = |records: &[Record]| {
            let mut writer = Writer::new(Vec::new()).expect("memory");
            records
                .iter()
                .for_each(|it| writer.add(it).expect("memory"));
            writer.finish().expect("memory")
        };
        let first = trace(&[
            record(Op::Write, [0, 0, 100], (0, 8)),
            record(Op::Write, [100, 100, 200], (8, 8)),
        ]);
        let second = trace(&[record(Op::Write, [50, 50, 150], (4_000, 8))]);
        let readers = [&first, &second].map(|it| Reader::new(&it[..]).expect("a trace"));
        let found = analyse_all(readers.into(), &[window(0, 200)], CAPACITY).expect("traces");
        let insight = &found.windows[0];
        assert_eq!(insight.capacity_sectors, 2 * CAPACITY);
        assert_eq!(insight.writes.all, traffic(3, 3 * 8 * 512));
        // The second write of the first disk follows on its first, whatever the other disk did.
        assert_eq!(insight.writes.sequential.requests, 1);
        assert_eq!((insight.seeks.accesses, insight.seeks.seeks), (3, 0));
        assert_eq!((insight.depth.busy_ns, insight.depth.depth_ns), (200, 300));
        assert_eq!((found.records, found.end_ns), (3, 200));
        let beyond = trace(&[record(Op::Write, [0, 0, 9], (CAPACITY, 8))]);
        let readers = [&first, &beyond].map(|it| Reader::new(&it[..]).expect("a trace"));
        let refused = analyse_all(readers.into(), &[], CAPACITY);
        assert!(matches!(
            refused,
            Err(DiskTraceError::Record { number: 0, .. })
        ));
    }

    fn traffic(requests: u64, bytes: u64) -> Traffic {
        Traffic { requests, bytes }
    }

    fn entries(counts: &PowerCounts) -> Vec<(u64, u64)> {
        counts.entries().filter(|(_, count)| *count > 0).collect()
    }

    /// A read that seeks, a cached write with its flush, a readahead and a FUA write that continue
    /// where others ended, and a discard.
    fn small_trace() -> Vec<Record> {
        let marked = Flags::METADATA | Flags::SYNC;
        vec![
            Record {
                flags: marked,
                part_ns: [100, 900, 500, 400, 0],
                ..record(Op::Read, [1_000, 1_000, 3_000], (0, 8))
            },
            Record {
                flags: Flags::CACHED,
                depth: 2,
                part_ns: [100, 0, 0, 0, 1_900],
                ..record(Op::Write, [2_000, 3_000, 5_000], (100, 16))
            },
            Record {
                part_ns: [0, 2_000, 1_000, 800, 0],
                ..record(Op::MediaWrite, [5_000, 5_100, 8_900], (100, 16))
            },
            Record {
                part_ns: [100, 0, 0, 0, 0],
                ..record(Op::Flush, [5_000, 5_000, 9_000], (0, 0))
            },
            Record {
                flags: Flags::READAHEAD,
                ..record(Op::Read, [10_000, 10_000, 11_000], (8, 8))
            },
            Record {
                flags: Flags::FUA,
                depth: 2,
                ..record(Op::Write, [10_500, 11_000, 14_000], (116, 4))
            },
            record(Op::Discard, [15_000, 15_000, 15_000], (9_000, 600)),
        ]
    }

    #[test]
    fn the_first_window_of_a_small_trace_is_as_computed_by_hand() {
        let found = insight(&small_trace(), &[window(1_000, 9_000)]).expect("a trace");
        let first = &found.windows[0];
        assert_eq!(first.reads.all, traffic(1, 4_096));
        assert_eq!(first.reads.metadata, traffic(1, 4_096));
        assert_eq!(first.reads.sync, traffic(1, 4_096));
        assert_eq!(first.reads.sequential, Traffic::default());
        assert_eq!(
            first.reads.time,
            TimeParts {
                waiting_ns: 0,
                command_ns: 100,
                seek_ns: 900,
                rotation_ns: 500,
                transfer_ns: 400,
                cache_ns: 0,
                other_ns: 100,
            }
        );
        assert_eq!(first.writes.all, traffic(1, 8_192));
        assert_eq!(first.writes.cached, traffic(1, 8_192));
        assert_eq!(first.writes.time.waiting_ns, 1_000);
        assert_eq!(entries(&first.writes.sizes), [(16, 1)]);
        assert_eq!(first.flushes.all, traffic(1, 0));
        assert_eq!(first.flushes.time.other_ns, 3_900);
        let four = 4_000;
        let times = ServiceTimes {
            p50_ns: four,
            p95_ns: four,
            p99_ns: four,
            p999_ns: four,
            max_ns: four,
        };
        assert_eq!(first.flushes.service, Some(times));
        assert_eq!(first.background_writes, traffic(1, 8_192));
        assert_eq!(
            first.background_write_time,
            TimeParts {
                waiting_ns: 100,
                seek_ns: 2_000,
                rotation_ns: 1_000,
                transfer_ns: 800,
                ..TimeParts::default()
            }
        );
        let media = first.media_time();
        assert_eq!(
            [media.seek_ns, media.rotation_ns, media.transfer_ns],
            [900 + 2_000, 500 + 1_000, 400 + 800]
        );
        assert_eq!(first.media_write_bytes(), 8_192);
        assert_eq!((first.seeks.accesses, first.seeks.seeks), (2, 1));
        assert_eq!(first.seeks.distance_sectors, 92);
        assert_eq!(entries(&first.seeks.distances), [(64, 1)]);
        assert_eq!((first.depth.busy_ns, first.depth.depth_ns), (8_000, 9_000));
        assert_eq!(entries(&first.depth.times_ns), [(1, 7_000), (2, 1_000)]);
        assert_eq!((first.depth.max, first.idle_ns()), (2, 0));
        assert_eq!(first.mean_depth(), Some(1.125));
        assert_eq!(first.time().response_ns(), 2_000 + 3_000 + 4_000);
        assert_eq!(first.metadata_share(), Some(1.0 / 3.0));
    }

    #[test]
    fn the_second_window_continues_from_the_first() {
        let windows = [window(1_000, 9_000), window(9_000, 20_000)];
        let found = insight(&small_trace(), &windows).expect("a trace");
        let second = &found.windows[1];
        assert_eq!(second.reads.sequential, traffic(1, 4_096));
        assert_eq!(second.readahead, traffic(1, 4_096));
        assert_eq!(second.writes.sequential, traffic(1, 2_048));
        assert_eq!(second.fua_writes, traffic(1, 2_048));
        assert_eq!(second.discards.all, traffic(1, 307_200));
        assert_eq!(second.discards.service.map(|times| times.max_ns), Some(0));
        assert_eq!(second.sequential_share(), Some(1.0));
        assert_eq!((second.seeks.accesses, second.seeks.seeks), (2, 2));
        assert_eq!(second.seeks.distance_sectors, 108 + 100);
        assert_eq!(
            (second.depth.busy_ns, second.depth.depth_ns),
            (4_000, 4_500)
        );
        assert_eq!(second.idle_ns(), 7_000);
        assert_eq!(second.media_write_bytes(), 2_048);
        let picture = &second.picture;
        let written = picture.levels(PictureLayer::Written).expect("a picture");
        let set = written.iter().position(|level| *level > 0);
        // Sector 116 is in band 1 of 100 sectors; a slice is 46 ns long.
        assert_eq!(picture.slice_ns, 46);
        assert_eq!(set, Some(picture.columns + (5_000 - 1) / 46));
        let whole = found.whole.expect("records");
        assert_eq!(whole.window, window(1_000, 15_000));
        assert_eq!(whole.depth.busy_ns, 12_000);
        assert_eq!((whole.seeks.accesses, whole.seeks.seeks), (4, 3));
        assert_eq!((found.records, found.torn_bytes), (7, 0));
    }

    #[test]
    fn each_member_of_an_array_has_its_own_heads() {
        let on = |member, done_ns, sector| Record {
            member,
            ..record(Op::Read, [done_ns - 1, done_ns - 1, done_ns], (sector, 8))
        };
        let records = [on(0, 10, 0), on(1, 20, 800), on(0, 30, 8), on(1, 40, 900)];
        let found = insight(&records, &[]).expect("a trace");
        let seeks = found.whole.expect("records").seeks;
        assert_eq!((seeks.accesses, seeks.seeks), (4, 1));
        assert_eq!(seeks.distance_sectors, 900 - 808);
    }

    #[test]
    fn an_array_has_no_distance_between_a_request_and_background_work_of_a_member() {
        let of = |op, member, done_ns, sector| Record {
            member,
            ..record(op, [done_ns - 1, done_ns - 1, done_ns], (sector, 8))
        };
        let trace = |member| {
            [
                of(Op::Read, member, 10, 1_000),
                of(Op::MediaWrite, member, 20, 40),
                of(Op::Read, member, 30, 1_008),
                of(Op::MediaWrite, member, 40, 50),
            ]
        };
        let seeks = |records: &[Record]| {
            let seeks = insight(records, &[]).expect("a trace").whole;
            let seeks = seeks.expect("records").seeks;
            (seeks.accesses, seeks.seeks, seeks.distance_sectors)
        };
        // A single disk has one head position.
        assert_eq!(seeks(&trace(0)), (4, 3, 968 + 960 + 966));
        // The member's second write starts 2 sectors after the end of its first.
        assert_eq!(seeks(&trace(1)), (4, 1, 2));
        // Member 0 counts as a member once another one was seen.
        let mut records = vec![of(Op::Read, 1, 5, 0)];
        records.extend(trace(0));
        assert_eq!(seeks(&records), (5, 1, 2));
    }

    #[test]
    fn the_picture_is_of_requests_alone() {
        let cached = Record {
            flags: Flags::CACHED,
            ..record(Op::Write, [1, 1, 2], (4_000, 8))
        };
        // A member writes it back at the member's address.
        let own = Record {
            member: 3,
            ..record(Op::MediaWrite, [2, 2, 900], (1_000, 8))
        };
        let ahead = record(Op::MediaRead, [2, 2, 950], (9_000, 8));
        let picture = |records: &[Record]| {
            let found = insight(records, &[window(0, 1_000)]).expect("a trace");
            found.windows[0].picture.clone()
        };
        let with = picture(&[cached, own, ahead]);
        assert_eq!(with, picture(&[cached]));
        let written = with.levels(PictureLayer::Written).expect("a picture");
        // Sector 4,000 is in band 40 of 100 sectors.
        let set: Vec<usize> = (0..written.len()).filter(|at| written[*at] > 0).collect();
        assert_eq!(set, [40 * with.columns]);
        assert!(with.is_blank(PictureLayer::Read));
    }

    #[test]
    fn a_request_beyond_the_disk_is_refused_and_background_work_there_is_not() {
        let beyond = record(Op::Write, [1, 1, 2], (CAPACITY - 7, 8));
        let within = record(Op::Write, [1, 1, 2], (CAPACITY - 8, 8));
        let refused = insight(&[within, beyond], &[]);
        assert!(matches!(
            refused,
            Err(DiskTraceError::Record { number: 1, .. })
        ));
        let own = record(Op::MediaWrite, [1, 1, 2], (CAPACITY, 8));
        assert!(insight(&[own], &[]).is_ok());
    }

    #[test]
    fn an_empty_trace_has_no_whole_and_empty_windows() {
        let found = insight(&[], &[window(5, 10)]).expect("a trace");
        assert_eq!(found.whole, None);
        assert_eq!(found.windows[0].idle_ns(), 5);
        assert_eq!(found.windows[0].moved(), Traffic::default());
    }

    prop_compose! {
        fn any_record()(
            op in prop_oneof![
                Just(Op::Read), Just(Op::Write), Just(Op::Flush), Just(Op::Discard),
                Just(Op::MediaRead), Just(Op::MediaWrite)
            ],
            begin_ns in 1_000..900_000_u64,
            spans_ns in [0..5_000_u64, 0..50_000_u64],
            place in (0..CAPACITY - 64, 1..64_u32),
            flags in any::<u32>(),
            member in 0..3_u8,
            command in 0.0..1.0_f64,
        ) -> Record {
            let times = [begin_ns, begin_ns + spans_ns[0], begin_ns + spans_ns[0] + spans_ns[1]];
            let command_ns = (spans_ns[1] as f64 * command) as u64;
            Record {
                flags: Flags(flags),
                member,
                part_ns: [command_ns, 0, 0, 0, 0],
                ..record(op, times, place)
            }
        }
    }

    /// The sums of all additive counts.
    fn sums(insights: &[DeviceInsight]) -> Vec<u64> {
        let mut sums = vec![0; 40];
        for it in insights {
            let mut values = Vec::new();
            for kind in [&it.reads, &it.writes, &it.flushes, &it.discards] {
                let traffic = [kind.all, kind.metadata, kind.cached, kind.sequential];
                values.extend(traffic.iter().flat_map(|it| [it.requests, it.bytes]));
                values.extend([kind.time.response_ns(), kind.sizes.total()]);
            }
            values.resize(40, 0);
            let rest = [
                it.fua_writes.requests,
                it.readahead.bytes,
                it.background_reads.bytes,
                it.background_writes.requests,
                it.background_read_time.response_ns(),
                it.background_write_time.response_ns(),
                it.seeks.accesses,
                it.seeks.distance_sectors,
                it.depth.busy_ns,
                it.depth.depth_ns,
                it.depth.times_ns.total(),
            ];
            sums.resize(40 + rest.len(), 0);
            values.extend(rest);
            sums.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += value);
        }
        sums
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 24,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn windows_without_gaps_add_up_to_the_whole(
            records in proptest::collection::vec(any_record(), 1..200),
            mut edges in proptest::collection::vec(0..1_000_000_u64, 0..8),
        ) {
            let mut records = records;
            records.sort_by_key(|record| record.done_ns);
            edges.extend([0, 1_000_000]);
            edges.sort_unstable();
            let windows: Vec<Window> = edges.windows(2).map(|it| window(it[0], it[1])).collect();
            let found = insight(&records, &windows).expect("a trace");
            let whole = found.whole.expect("records");
            prop_assert_eq!(sums(&found.windows), sums(&[whole]));
            let again = insight(&records, &windows).expect("a trace");
            prop_assert_eq!(again.windows, found.windows);
        }
    }
}
