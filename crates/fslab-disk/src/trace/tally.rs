//! The counts of one window.

use fslab_model::{
    DeviceInsight, KindInsight, LatencyHistogram, PictureLayer, ServiceTimes, TimeParts, Window,
};

use super::canvas::Canvas;
use super::record::{Flags, Op, Record};

const SECTOR_BYTES: u64 = 512;
/// Indices of a member's head positions: of any access, of requests, of background work.
const ANY: usize = 0;
const REQUEST: usize = 1;
const BACKGROUND: usize = 2;

/// Relation of a record to earlier ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relation {
    /// Whether it begins where the previous request of its kind ended.
    pub(super) sequential: bool,
    /// Whether it accessed the media.
    pub(super) on_media: bool,
    /// Sectors between its begin and the end of the previous media access; `None` for the first.
    pub(super) distance: Option<u64>,
}

/// Follows the records of a trace in their order.
pub(super) struct Track {
    /// End of the last read and of the last write.
    ends: [Option<u64>; 2],
    /// End of the last media access, by member and by kind of access.
    heads: [[Option<u64>; 3]; 256],
    /// Whether a member other than the first was seen. In an array, requests have addresses of the
    /// array and background work has those of the member, so they have no distance.
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
            let by_kind = if record.op.is_background() {
                BACKGROUND
            } else {
                REQUEST
            };
            let heads = &mut self.heads[usize::from(record.member)];
            let head = if self.array {
                heads[by_kind]
            } else {
                heads[ANY]
            };
            heads[ANY] = Some(record.end());
            heads[by_kind] = Some(record.end());
            relation.distance = head.map(|head| head.abs_diff(record.sector));
        }
        relation
    }
}

/// The counts of a window.
pub(super) struct Tally {
    insight: DeviceInsight,
    canvas: Canvas,
    /// By kind of request; `None` before the first.
    service: [Option<Service>; 4],
}

/// Service times of one kind of request.
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
    pub(super) fn open_ended(begin_ns: u64, capacity_sectors: u64) -> Self {
        let window = Window {
            begin_ns,
            end_ns: begin_ns,
        };
        let canvas = Canvas::open_ended(begin_ns, capacity_sectors);
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
        // Background work is not painted: its request was, and a member's addresses are not the
        // array's.
        self.canvas
            .paint(layer, record.done_ns, record.sector, record.sectors);
    }

    /// The window's insight without the queue depth.
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

    /// The quantiles, at most the maximum, since the histogram rounds up.
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
