//! Logs of the shapes at which a cost becomes a product: of requests and of what is pending, of
//! discards and of the sectors below them, of writes and of one sector. Each is a valid log of so
//! many requests.

use fslab_crash::{
    BlockId, BlockList, Contents, DiskLog, LogHead, LogRequest, PhaseWindow, RequestKind,
};

/// Sectors of the disk: 1 TiB.
const DISK_SECTORS: u64 = 1 << 31;
/// Sectors of a block.
const BLOCK: u32 = 8;

/// A shape of a log.
pub(crate) type Shape = (&'static str, fn(u32) -> DiskLog);

/// All shapes, by name.
pub(crate) const SHAPES: &[Shape] = &[
    ("flushes", flushes),
    ("pending-fua", pending_fua),
    ("durable", durable),
    ("never-flushed", never_flushed),
    ("flushed-pairs", flushed_pairs),
    ("one-sector", one_sector),
    ("huge-discards", huge_discards),
    ("overlapping", overlapping),
    ("long-writes", long_writes),
    ("queues", queues),
];

struct Builder {
    log: DiskLog,
    blocks: Vec<BlockId>,
    now_ns: u64,
}

impl Builder {
    fn new(has_volatile_cache: bool) -> Self {
        let mut contents = Contents::default();
        let blocks = (1..=4).map(|byte| contents.add(&[byte; 4096]).expect("room"));
        let blocks = blocks.collect();
        Self {
            log: DiskLog {
                head: LogHead {
                    subject: "ext4".into(),
                    lab: "0123456789ab".into(),
                    disk: "hdd-7200-ata100-2002".into(),
                    sectors: DISK_SECTORS,
                    volatile_cache: has_volatile_cache,
                    phases: Vec::new(),
                    scripts: Vec::new(),
                    databases: Vec::new(),
                },
                requests: Vec::new(),
                contents,
            },
            blocks,
            now_ns: 1000,
        }
    }

    /// Adds a request that takes so long, and waits until the next one.
    fn add(&mut self, kind: RequestKind, place: (u64, u32), takes_ns: u64, wait_ns: u64) {
        let (sector, sectors) = place;
        let number = self.log.requests.len();
        let count = sectors.div_ceil(BLOCK) as usize;
        let blocks = match kind {
            RequestKind::Write => {
                let block = self.blocks[number % self.blocks.len()];
                let list = std::iter::repeat_n(block, count);
                self.log.contents.add_list(list).expect("room")
            }
            RequestKind::Flush | RequestKind::Discard => BlockList::default(),
        };
        self.log.requests.push(LogRequest {
            kind,
            blocks,
            sector,
            sectors,
            submit_ns: self.now_ns,
            done_ns: self.now_ns + takes_ns,
            fua: false,
        });
        self.now_ns += wait_ns;
    }

    fn write(&mut self, sector: u64, takes_ns: u64) {
        self.add(RequestKind::Write, (sector, BLOCK), takes_ns, 10);
    }

    fn flush(&mut self) {
        self.add(RequestKind::Flush, (0, 0), 5, 10);
    }

    fn end(mut self) -> DiskLog {
        self.log.head.phases.push(PhaseWindow {
            name: "all".into(),
            begin_ns: 0,
            end_ns: self.now_ns,
        });
        self.log
    }
}

/// The place of a write: each its own.
fn place(number: u32) -> u64 {
    u64::from(number) * u64::from(BLOCK)
}

/// Flushes with nothing to flush: two moments each.
fn flushes(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    (0..count).for_each(|_| log.flush());
    log.end()
}

/// Writes past the cache, all submitted before the first is done: each end is a moment, at which
/// all that follow are pending.
fn pending_fua(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    for number in 0..count {
        log.write(place(number), 20 * u64::from(count));
    }
    let mut log = log.end();
    log.requests.iter_mut().for_each(|it| it.fua = true);
    log.head.phases[0].end_ns *= 4;
    log
}

/// Of a disk whose cache is durable: two moments for each request.
fn durable(count: u32) -> DiskLog {
    let mut log = Builder::new(false);
    for number in 0..count {
        log.write(place(number), 40 * u64::from(number % 50));
    }
    log.end()
}

/// Writes that no flush follows, and a few flushes of nothing before them.
fn never_flushed(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    for number in 0..count {
        match number % 1000 {
            // Submitted before any write is done, so it makes none durable.
            0 => log.add(RequestKind::Flush, (0, 0), 5, 0),
            _ => log.write(place(number), u64::from(count) * 40),
        }
    }
    log.end()
}

/// A write and its flush, again and again.
fn flushed_pairs(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    for number in 0..count {
        match number % 2 {
            0 => log.write(place(number), 5),
            _ => log.flush(),
        }
    }
    log.end()
}

/// One sector, written each time.
fn one_sector(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    let block = log.log.contents.add(&[7; 512]).expect("room");
    log.blocks = vec![block];
    for _ in 0..count {
        log.add(RequestKind::Write, (0, 1), 5, 10);
    }
    log.end()
}

/// Discards of nearly all the disk, between writes.
fn huge_discards(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    for number in 0..count {
        match number % 2 {
            0 => log.write(2 * place(number), 5),
            _ => log.add(
                RequestKind::Discard,
                (u64::from(number), u32::MAX >> 1),
                5,
                10,
            ),
        }
    }
    let mut log = log.end();
    log.head.sectors = 1 << 40;
    log
}

/// Writes of which each lies over half of the one before it.
fn overlapping(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    for number in 0..count {
        log.write(u64::from(number) * 4, 5);
        if number % 64 == 63 {
            log.flush();
        }
    }
    log.end()
}

/// Writes of 1 MiB to one place.
fn long_writes(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    for _ in 0..count {
        log.add(RequestKind::Write, (0, 2048), 5, 10);
    }
    log.end()
}

/// Many queues: requests that overtake each other, with flushes among them.
fn queues(count: u32) -> DiskLog {
    let mut log = Builder::new(true);
    for number in 0..count {
        match number % 7 {
            6 => log.flush(),
            5 => log.add(RequestKind::Discard, (place(number) / 3, 99), 300, 0),
            _ => log.write(
                place(number) / 2,
                u64::from(number.wrapping_mul(2_654_435_761) >> 20),
            ),
        }
    }
    log.end()
}
