//! A load on a disk: operations in a closed loop, each of as many requests as the system would make
//! of it.

use std::collections::{HashMap, VecDeque};

use fslab_simdisk_sys::{DiskDone, DiskModel, DiskOp, DiskRequest};

use crate::profile::{Medium, Permille};
use crate::{DiskError, Profile};
use fslab_stats::Random;

pub(super) const SECTOR: u64 = 512;

/// Where operations go.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Anywhere in the first `span` sectors, at a multiple of the operation's size.
    Anywhere { span: u64, random: Random },
    /// One behind the other from that sector on; from the beginning again at the end of the disk.
    Onwards { sector: u64 },
}

/// What is asked of a disk.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) op: DiskOp,
    /// Of an operation.
    pub(super) bytes: u64,
    /// Operations under way at a time.
    pub(super) depth: u32,
    pub(super) place: Place,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    /// From the first operation's start to the last one's end.
    pub(super) elapsed_ns: u64,
    /// Of all operations together.
    pub(super) latency_ns: u128,
}

impl Measured {
    pub(super) fn operations_per_s(&self) -> f64 {
        self.operations as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }

    pub(super) fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }

    pub(super) fn mean_ns(&self) -> f64 {
        self.latency_ns as f64 / self.operations.max(1) as f64
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    pub(super) operations: u64,
    pub(super) elapsed_ns: u64,
}

/// A disk under load, at a moment of its virtual time.
pub(super) struct Desk {
    model: DiskModel,
    now_ns: u64,
    /// Sectors of the largest request.
    request_sectors: u64,
    next_tag: u64,
    /// Requests that wait for room in the disk.
    waiting: VecDeque<DiskRequest>,
    /// Operations under way, by the tag of all of their requests.
    open: HashMap<u64, Open>,
}

struct Open {
    started_ns: u64,
    requests: u32,
}

/// An operation that ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) started_ns: u64,
    pub(super) ended_ns: u64,
    /// The answer to its last request.
    pub(super) done: DiskDone,
}

impl Desk {
    /// A fresh disk for that operation. Flash that was never written has nothing to be read: for
    /// reading, all of it was.
    pub(super) fn new(profile: &Profile, op: DiskOp) -> Result<Self, DiskError> {
        let mut profile = profile.clone();
        if let (Medium::Flash(flash), DiskOp::Read) = (&mut profile.medium, op) {
            flash.used = Permille(1000);
        }
        Ok(Self {
            model: profile.model()?,
            now_ns: 0,
            request_sectors: (profile.device.max_request.0 / SECTOR).max(1),
            next_tag: 0,
            waiting: VecDeque::new(),
            open: HashMap::new(),
        })
    }

    pub(super) fn sectors(&self) -> u64 {
        self.model.capacity_sectors()
    }

    pub(super) fn depth(&self) -> u32 {
        self.model.queue_depth()
    }

    /// Lets the load run, and tells of every operation that ends.
    pub(super) fn run(
        &mut self,
        load: &mut Load,
        until: Until,
        mut told: impl FnMut(&Ended),
    ) -> Measured {
        let begun_ns = self.now_ns;
        let (mut started, mut measured) = (0, Measured::default());
        let deadline_ns = begun_ns.saturating_add(until.elapsed_ns);
        loop {
            while started < until.operations
                && self.open.len() < load.depth as usize
                && self.now_ns < deadline_ns
            {
                self.start(load);
                started += 1;
            }
            if self.open.is_empty() {
                return measured;
            }
            self.advance(|ended| {
                measured.operations += 1;
                measured.bytes += load.bytes;
                measured.elapsed_ns = ended.ended_ns - begun_ns;
                measured.latency_ns += u128::from(ended.ended_ns - ended.started_ns);
                told(ended);
            });
        }
    }

    /// One operation by itself.
    pub(super) fn one(&mut self, op: DiskOp, sector: u64, bytes: u64) -> Option<Ended> {
        let mut load = Load {
            op,
            bytes,
            depth: 1,
            place: Place::Onwards { sector },
        };
        let mut last = None;
        let until = Until {
            operations: 1,
            elapsed_ns: u64::MAX,
        };
        self.run(&mut load, until, |ended| last = Some(*ended));
        last
    }

    /// Waits until the disk has nothing more to do by itself, but not longer than that.
    pub(super) fn rest(&mut self, ns: u64) {
        let end_ns = self.now_ns + ns;
        while let Some(next_ns) = self.model.next_ns().filter(|next_ns| *next_ns <= end_ns) {
            self.now_ns = self.now_ns.max(next_ns);
            while self.model.take(self.now_ns).is_some() {}
        }
        self.now_ns = end_ns;
    }

    fn start(&mut self, load: &mut Load) {
        let sectors = (load.bytes / SECTOR).max(1);
        let sector = load.place.next(sectors, self.model.capacity_sectors());
        let tag = self.next_tag;
        self.next_tag += 1;
        let mut requests = 0;
        let mut from = 0;
        while from < sectors {
            let length = (sectors - from).min(self.request_sectors);
            self.waiting.push_back(DiskRequest {
                tag,
                sector: sector + from,
                sectors: u32::try_from(length).expect("a request is below 1 GiB"),
                op: load.op,
                fua: false,
            });
            requests += 1;
            from += length;
        }
        let started_ns = self.now_ns;
        self.open.insert(
            tag,
            Open {
                started_ns,
                requests,
            },
        );
        self.submit();
    }

    fn submit(&mut self) {
        while self.model.has_room() {
            let Some(request) = self.waiting.pop_front() else {
                return;
            };
            self.model.submit(self.now_ns, request);
        }
    }

    /// To the next moment at which something ends.
    fn advance(&mut self, mut told: impl FnMut(&Ended)) {
        let next_ns = self.model.next_ns();
        let next_ns = next_ns.expect("a disk with requests has something to do");
        self.now_ns = self.now_ns.max(next_ns);
        while let Some(done) = self.model.take(self.now_ns) {
            let Some(tag) = done.tag else { continue };
            let open = self.open.get_mut(&tag);
            let open = open.expect("the disk answers what was asked, once");
            open.requests -= 1;
            if open.requests == 0 {
                let started_ns = open.started_ns;
                self.open.remove(&tag);
                told(&Ended {
                    started_ns,
                    ended_ns: done.done_ns,
                    done,
                });
            }
        }
        self.submit();
    }
}

impl Place {
    fn next(&mut self, sectors: u64, capacity: u64) -> u64 {
        match self {
            Self::Anywhere { span, random } => {
                let slots = ((*span).min(capacity) / sectors).max(1);
                random.below(slots) * sectors
            }
            Self::Onwards { sector } => {
                if *sector + sectors > capacity {
                    *sector = 0;
                }
                let found = *sector;
                *sector += sectors;
                found
            }
        }
    }
}
