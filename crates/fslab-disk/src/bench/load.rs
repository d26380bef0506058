//! Runs operations on the model in a closed loop, each split into requests as the kernel splits it.

use std::collections::{HashMap, VecDeque};

use fslab_simdisk_sys::{DiskDone, DiskModel, DiskOp, DiskRequest};

use fslab_model::Failure;

use crate::Profile;
use crate::profile::{Medium, Permille};
use fslab_stats::Random;

pub(super) const SECTOR: u64 = 512;

/// The addresses of operations.
#[derive(Clone, Debug)]
pub(super) enum Addresses {
    /// Random multiples of the operation's size in the first `span` sectors.
    Random { span: u64, random: Random },
    /// In order from `sector` on, and from sector 0 again at the end of the disk.
    Sequential { sector: u64 },
}

/// The operations to run.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) op: DiskOp,
    /// Size of an operation.
    pub(super) bytes: u64,
    /// Operations in flight.
    pub(super) depth: u32,
    pub(super) addresses: Addresses,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    /// From the start of the first operation to the end of the last.
    pub(super) elapsed_ns: u64,
    /// Sum over all operations.
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

/// A run starts no operation after either limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunLimit {
    pub(super) operations: u64,
    pub(super) elapsed_ns: u64,
}

/// Runs loads on a disk in virtual time.
pub(super) struct LoadRunner {
    model: DiskModel,
    now_ns: u64,
    /// Sectors of the largest request.
    request_sectors: u64,
    next_tag: u64,
    /// Requests that wait for room in the disk's queue.
    waiting: VecDeque<DiskRequest>,
    /// Operations in flight, by the tag of their requests.
    pending: HashMap<u64, PendingOperation>,
}

struct PendingOperation {
    started_ns: u64,
    requests: u32,
}

/// A completed operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) started_ns: u64,
    pub(super) ended_ns: u64,
    /// The completion of its last request.
    pub(super) done: DiskDone,
}

impl LoadRunner {
    /// A new disk for that operation. For reads, all of a flash disk is written beforehand, since
    /// unwritten flash is read without the medium.
    pub(super) fn new(profile: &Profile, op: DiskOp) -> Result<Self, Failure> {
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
            pending: HashMap::new(),
        })
    }

    pub(super) fn sectors(&self) -> u64 {
        self.model.capacity_sectors()
    }

    pub(super) fn depth(&self) -> u32 {
        self.model.queue_depth()
    }

    /// Runs the load and calls `on_completion` for each operation.
    pub(super) fn run(
        &mut self,
        load: &mut Load,
        limit: RunLimit,
        mut on_completion: impl FnMut(&Completion),
    ) -> Measured {
        let begun_ns = self.now_ns;
        let (mut started, mut measured) = (0, Measured::default());
        let deadline_ns = begun_ns.saturating_add(limit.elapsed_ns);
        loop {
            while started < limit.operations
                && self.pending.len() < load.depth as usize
                && self.now_ns < deadline_ns
            {
                self.start(load);
                started += 1;
            }
            if self.pending.is_empty() {
                return measured;
            }
            self.advance(|completion| {
                measured.operations += 1;
                measured.bytes += load.bytes;
                measured.elapsed_ns = completion.ended_ns - begun_ns;
                measured.latency_ns += u128::from(completion.ended_ns - completion.started_ns);
                on_completion(completion);
            });
        }
    }

    /// Runs one operation.
    pub(super) fn run_one(&mut self, op: DiskOp, sector: u64, bytes: u64) -> Option<Completion> {
        let mut load = Load {
            op,
            bytes,
            depth: 1,
            addresses: Addresses::Sequential { sector },
        };
        let mut last = None;
        let limit = RunLimit {
            operations: 1,
            elapsed_ns: u64::MAX,
        };
        self.run(&mut load, limit, |completion| last = Some(*completion));
        last
    }

    /// Lets `ns` pass without requests; the disk goes on with its background work.
    pub(super) fn idle(&mut self, ns: u64) {
        let end_ns = self.now_ns + ns;
        while let Some(next_ns) = self.model.next_ns().filter(|next_ns| *next_ns <= end_ns) {
            self.now_ns = self.now_ns.max(next_ns);
            while self.model.take(self.now_ns).is_some() {}
        }
        self.now_ns = end_ns;
    }

    fn start(&mut self, load: &mut Load) {
        let sectors = (load.bytes / SECTOR).max(1);
        let sector = load.addresses.next(sectors, self.model.capacity_sectors());
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
        self.pending.insert(
            tag,
            PendingOperation {
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

    /// Advances to the next event of the model and takes what is done by then.
    fn advance(&mut self, mut on_completion: impl FnMut(&Completion)) {
        let next_ns = self.model.next_ns();
        let next_ns = next_ns.expect("a disk with requests has a next event");
        self.now_ns = self.now_ns.max(next_ns);
        while let Some(done) = self.model.take(self.now_ns) {
            let Some(tag) = done.tag else { continue };
            let pending = self.pending.get_mut(&tag);
            let pending = pending.expect("the disk completes each request once");
            pending.requests -= 1;
            if pending.requests == 0 {
                let started_ns = pending.started_ns;
                self.pending.remove(&tag);
                on_completion(&Completion {
                    started_ns,
                    ended_ns: done.done_ns,
                    done,
                });
            }
        }
        self.submit();
    }
}

impl Addresses {
    fn next(&mut self, sectors: u64, capacity: u64) -> u64 {
        match self {
            Self::Random { span, random } => {
                let slots = ((*span).min(capacity) / sectors).max(1);
                random.below(slots) * sectors
            }
            Self::Sequential { sector } => {
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
