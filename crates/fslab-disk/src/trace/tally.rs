//! The counts of one window.

use fslab_model::{
    DeviceInsight, KindInsight, LatencyHistogram, PictureLayer, ServiceTimes, TimeParts, Window,
};

use super::canvas::Canvas;
use super::record::{Flags, Op, Record};

const SECTOR_BYTES: u64 = 512;
/// Which of the heads of a member: that of any access, of requests, of what the disk did itself.
const ANY: usize = 0;
const REQUEST: usize = 1;
const OWN: usize = 2;

/// How a record stands to those before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relation {
    /// Whether it begins where the request of its kind before it ended.
    pub(super) sequential: bool,
    /// Whether the media were read or written for it.
    pub(super) on_media: bool,
    /// How far from the end of the access before it that one begins; `None` for the first.
    pub(super) distance: Option<u64>,
}

/// Follows the records of a trace in their order.
pub(super) struct Track {
    /// Where the last read and the last write ended.
    ends: [Option<u64>; 2],
    /// Where the last access to the media ended, by member and by who asked for it.
    heads: [[Option<u64>; 3]; 256],
    /// Whether a member other than the first was seen. In an array a request has the array's
    /// address and what a member did by itself has the member's: no distance lies between them.
    array: bool,
}

impl Track {
    pub(super) fn new() -> Self {
        Self {
            ends: [None; 2],
            heads: [[None; 3]; 256],
            array: false,
        }
    }

    pub(super) fn follow(&mut self, record: &Record) -> Relation {
        let mut relation = Relation::default();
        if let Op::Read | Op::Write = record.op {
            let end = self.ends[record.op as usize].replace(record.end());
            relation.sequential = end == Some(record.sector);
        }
        relation.on_media = match record.op {
            Op::Read | Op::Write => !record.flags.contains(Flags::CACHED),
            Op::MediaRead | Op::MediaWrite => true,
            Op::Flush | Op::Discard => false,
        };
        self.array |= record.member > 0;
        if relation.on_media {
            let own = if record.op.is_background() {
                OWN
            } else {
                REQUEST
            };
            let heads = &mut self.heads[usize::from(record.member)];
            let head = if self.array { heads[own] } else { heads[ANY] };
            heads[ANY] = Some(record.end());
            heads[own] = Some(record.end());
            relation.distance = head.map(|head| head.abs_diff(record.sector));
        }
        relation
    }
}

/// What was counted in a window so far.
pub(super) struct Tally {
    insight: DeviceInsight,
    canvas: Canvas,
    /// By kind of request, from the first of that kind on.
    service: [Option<Service>; 4],
}

/// How long requests of one kind took.
#[derive(Default)]
struct Service {
    histogram: LatencyHistogram,
    max_ns: u64,
}

impl Tally {
    pub(super) fn of(window: Window, capacity_sectors: u64) -> Self {
        Self::on(
            Canvas::of(window, capacity_sectors),
            window,
            capacity_sectors,
        )
    }

    /// For all records, from `begin_ns` on.
    pub(super) fn endless(begin_ns: u64, capacity_sectors: u64) -> Self {
        let window = Window {
            begin_ns,
            end_ns: begin_ns,
        };
        let canvas = Canvas::endless(begin_ns, capacity_sectors);
        Self::on(canvas, window, capacity_sectors)
    }

    fn on(canvas: Canvas, window: Window, capacity_sectors: u64) -> Self {
        Self {
            insight: DeviceInsight {
                window,
                capacity_sectors,
                ..DeviceInsight::default()
            },
            canvas,
            service: [const { None }; 4],
        }
    }

    pub(super) fn add(&mut self, record: &Record, relation: Relation) {
        let bytes = u64::from(record.sectors) * SECTOR_BYTES;
        let insight = &mut self.insight;
        if relation.on_media {
            let seeks = &mut insight.seeks;
            seeks.accesses += 1;
            if let Some(distance) = relation.distance.filter(|distance| *distance > 0) {
                seeks.seeks += 1;
                seeks.distance_sectors += distance;
                seeks.distances.add(distance, 1);
            }
        }
        let kind = match record.op {
            Op::Read => &mut insight.reads,
            Op::Write => &mut insight.writes,
            Op::Flush => &mut insight.flushes,
            Op::Discard => &mut insight.discards,
            Op::MediaRead => {
                insight.background_read_time += time(record);
                return insight.background_reads.count(bytes);
            }
            Op::MediaWrite => {
                insight.background_write_time += time(record);
                return insight.background_writes.count(bytes);
            }
        };
        count(kind, record, relation, bytes);
        insight.depth.max = insight.depth.max.max(u64::from(record.depth));
        if record.op == Op::Read && record.flags.contains(Flags::READAHEAD) {
            insight.readahead.count(bytes);
        }
        if record.op == Op::Write && record.flags.contains(Flags::FUA) {
            insight.fua_writes.count(bytes);
        }
        self.service[record.op as usize]
            .get_or_insert_default()
            .add(record.done_ns - record.start_ns);
        let metadata = record.flags.contains(Flags::METADATA);
        let layer = match (record.op, metadata) {
            (Op::Read, false) => PictureLayer::Read,
            (Op::Read, true) => PictureLayer::ReadMetadata,
            (Op::Write, false) => PictureLayer::Written,
            (Op::Write, true) => PictureLayer::WrittenMetadata,
            _ => return,
        };
        // What the disk does by itself is never painted: it was painted when it was asked for, and
        // a member of an array has addresses that are not the array's.
        self.canvas
            .paint(layer, record.done_ns, record.sector, record.sectors);
    }

    /// The window's insight, all but its depth.
    pub(super) fn finish(self) -> DeviceInsight {
        let mut insight = self.insight;
        insight.picture = self.canvas.finish();
        let kinds = [
            &mut insight.reads,
            &mut insight.writes,
            &mut insight.flushes,
            &mut insight.discards,
        ];
        for (kind, service) in kinds.into_iter().zip(&self.service) {
            kind.service = service.as_ref().and_then(Service::times);
        }
        insight
    }
}

fn count(kind: &mut KindInsight, record: &Record, relation: Relation, bytes: u64) {
    kind.all.count(bytes);
    for (mark, traffic) in [
        (Flags::METADATA, &mut kind.metadata),
        (Flags::SYNC, &mut kind.sync),
        (Flags::CACHED, &mut kind.cached),
    ] {
        if record.flags.contains(mark) {
            traffic.count(bytes);
        }
    }
    if relation.sequential {
        kind.sequential.count(bytes);
    }
    kind.sizes.add(u64::from(record.sectors), 1);
    kind.time += time(record);
}

fn time(record: &Record) -> TimeParts {
    let [command_ns, seek_ns, rotation_ns, transfer_ns, cache_ns] = record.part_ns;
    let known_ns: u64 = record.part_ns.iter().sum();
    TimeParts {
        waiting_ns: record.start_ns - record.submit_ns,
        command_ns,
        seek_ns,
        rotation_ns,
        transfer_ns,
        cache_ns,
        other_ns: record.done_ns - record.start_ns - known_ns,
    }
}

impl Service {
    fn add(&mut self, ns: u64) {
        self.histogram.record(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// The quantiles; a histogram rounds them up, but none is beyond the longest.
    fn times(&self) -> Option<ServiceTimes> {
        let at = |percentile| {
            let ns = self.histogram.percentile_ns(percentile)?;
            Some(ns.min(self.max_ns))
        };
        Some(ServiceTimes {
            p50_ns: at(50.0)?,
            p95_ns: at(95.0)?,
            p99_ns: at(99.0)?,
            p999_ns: at(99.9)?,
            max_ns: self.max_ns,
        })
    }
}
