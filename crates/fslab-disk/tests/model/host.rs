//! A host for a simulated disk: submits requests, advances time, and keeps all completions.

use fslab_simdisk_sys::{DiskDone, DiskModel, DiskOp, DiskRequest};

use crate::parameters::Parameters;

/// A request without its tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostRequest {
    pub(crate) op: DiskOp,
    pub(crate) sector: u64,
    pub(crate) sectors: u32,
    pub(crate) fua: bool,
}

pub(crate) fn read(sector: u64, sectors: u32) -> HostRequest {
    HostRequest {
        op: DiskOp::Read,
        sector,
        sectors,
        fua: false,
    }
}

pub(crate) fn write(sector: u64, sectors: u32) -> HostRequest {
    HostRequest {
        op: DiskOp::Write,
        sector,
        sectors,
        fua: false,
    }
}

pub(crate) fn write_through(sector: u64, sectors: u32) -> HostRequest {
    HostRequest {
        fua: true,
        ..write(sector, sectors)
    }
}

pub(crate) fn flush() -> HostRequest {
    HostRequest {
        op: DiskOp::Flush,
        sector: 0,
        sectors: 0,
        fua: false,
    }
}

/// A disk, its clock, and its completions.
pub(crate) struct Host {
    pub(crate) model: DiskModel,
    pub(crate) now_ns: u64,
    /// Completed requests.
    pub(crate) done: Vec<DiskDone>,
    /// Completed background work.
    pub(crate) background: Vec<DiskDone>,
    tags: u64,
}

impl Host {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let model = DiskModel::new(&parameters.text()).expect("the parameters are right");
        Self {
            model,
            now_ns: 0,
            done: Vec::new(),
            background: Vec::new(),
            tags: 0,
        }
    }

    /// Submits a request now and returns its tag, counted from 0.
    pub(crate) fn submit(&mut self, request: HostRequest) -> u64 {
        let tag = self.tags;
        self.tags += 1;
        let HostRequest {
            op,
            sector,
            sectors,
            fua,
        } = request;
        self.model.submit(
            self.now_ns,
            DiskRequest {
                tag,
                sector,
                sectors,
                op,
                fua,
            },
        );
        tag
    }

    /// Takes all completions up to now; returns the number of requests among them.
    fn take(&mut self) -> usize {
        let before = self.done.len();
        while let Some(done) = self.model.take(self.now_ns) {
            assert!(
                done.done_ns <= self.now_ns,
                "{done:?} ends after {}",
                self.now_ns
            );
            if done.tag.is_some() {
                self.done.push(done);
            } else {
                self.background.push(done);
            }
        }
        self.done.len() - before
    }

    /// Advances to `ns`.
    pub(crate) fn wait_until(&mut self, ns: u64) {
        while let Some(next_ns) = self.model.next_ns().filter(|&next_ns| next_ns <= ns) {
            self.now_ns = self.now_ns.max(next_ns);
            self.take();
        }
        self.now_ns = ns;
        self.take();
    }

    /// Advances until the disk has no more events.
    pub(crate) fn wait_for_all(&mut self) {
        while let Some(next_ns) = self.model.next_ns() {
            self.now_ns = self.now_ns.max(next_ns);
            self.take();
        }
    }

    /// Advances until at least one more request completes.
    pub(crate) fn wait_for_one(&mut self) {
        loop {
            let next_ns = self.model.next_ns().expect("requests are in flight");
            self.now_ns = self.now_ns.max(next_ns);
            if self.take() > 0 {
                return;
            }
        }
    }

    /// Submits one request and waits for its completion.
    pub(crate) fn serve(&mut self, request: HostRequest) -> DiskDone {
        let tag = self.submit(request);
        loop {
            self.wait_for_one();
            if let Some(done) = self.done.iter().rev().find(|done| done.tag == Some(tag)) {
                return *done;
            }
        }
    }

    /// Runs all requests at that queue depth; returns the time until the last completes.
    pub(crate) fn keep_busy(
        &mut self,
        depth: usize,
        requests: impl IntoIterator<Item = HostRequest>,
    ) -> u64 {
        let begin_ns = self.now_ns;
        let before = self.done.len();
        let mut submitted = 0;
        for request in requests {
            while submitted - (self.done.len() - before) >= depth {
                self.wait_for_one();
            }
            self.submit(request);
            submitted += 1;
        }
        while self.done.len() - before < submitted {
            self.wait_for_one();
        }
        self.now_ns - begin_ns
    }
}

/// Pseudo-random numbers (splitmix64), the same in every run.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Asserts that a figure is within a share of the expected one.
#[track_caller]
pub(crate) fn assert_near(what: &str, found: f64, expected: f64, share: f64) {
    let off = (found - expected).abs() / expected;
    assert!(
        off <= share,
        "{what}: {found} where {expected} is expected, {:.2} % off",
        off * 100.0
    );
}
