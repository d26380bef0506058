//! A host for a disk: submits requests, lets time pass, and keeps all answers.

use fslab_simdisk_sys::{DiskDone, DiskModel, DiskOp, DiskRequest};

use crate::parameters::Parameters;

/// A request of the tests: where, how much, and what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) op: DiskOp,
    pub(crate) sector: u64,
    pub(crate) sectors: u32,
    pub(crate) fua: bool,
}

pub(crate) fn read(sector: u64, sectors: u32) -> Ask {
    Ask {
        op: DiskOp::Read,
        sector,
        sectors,
        fua: false,
    }
}

pub(crate) fn write(sector: u64, sectors: u32) -> Ask {
    Ask {
        op: DiskOp::Write,
        sector,
        sectors,
        fua: false,
    }
}

pub(crate) fn write_through(sector: u64, sectors: u32) -> Ask {
    Ask {
        fua: true,
        ..write(sector, sectors)
    }
}

pub(crate) fn flush() -> Ask {
    Ask {
        op: DiskOp::Flush,
        sector: 0,
        sectors: 0,
        fua: false,
    }
}

/// A disk, its clock, and all that it has answered.
pub(crate) struct Host {
    pub(crate) model: DiskModel,
    pub(crate) now_ns: u64,
    /// The answers to requests.
    pub(crate) done: Vec<DiskDone>,
    /// What the disk did on its own account.
    pub(crate) own: Vec<DiskDone>,
    tags: u64,
}

impl Host {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let model = DiskModel::new(&parameters.text()).expect("the parameters are right");
        Self {
            model,
            now_ns: 0,
            done: Vec::new(),
            own: Vec::new(),
            tags: 0,
        }
    }

    /// Submits now; the tag counts from 0.
    pub(crate) fn submit(&mut self, ask: Ask) -> u64 {
        let tag = self.tags;
        self.tags += 1;
        let Ask {
            op,
            sector,
            sectors,
            fua,
        } = ask;
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

    /// Takes what is done by now, and tells how many requests that were.
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
                self.own.push(done);
            }
        }
        self.done.len() - before
    }

    /// Lets the disk work until `ns`.
    pub(crate) fn wait_until(&mut self, ns: u64) {
        while let Some(next_ns) = self.model.next_ns().filter(|&next_ns| next_ns <= ns) {
            self.now_ns = self.now_ns.max(next_ns);
            self.take();
        }
        self.now_ns = ns;
        self.take();
    }

    /// Lets the disk work until it has nothing more to do.
    pub(crate) fn wait_for_all(&mut self) {
        while let Some(next_ns) = self.model.next_ns() {
            self.now_ns = self.now_ns.max(next_ns);
            self.take();
        }
    }

    /// Lets the disk work until one more request at least is answered.
    pub(crate) fn wait_for_one(&mut self) {
        loop {
            let next_ns = self.model.next_ns().expect("requests are under way");
            self.now_ns = self.now_ns.max(next_ns);
            if self.take() > 0 {
                return;
            }
        }
    }

    /// One request alone: submitted now, and its answer.
    pub(crate) fn serve(&mut self, ask: Ask) -> DiskDone {
        let tag = self.submit(ask);
        loop {
            self.wait_for_one();
            if let Some(done) = self.done.iter().rev().find(|done| done.tag == Some(tag)) {
                return *done;
            }
        }
    }

    /// Keeps so many requests under way until all are answered; how long that took.
    pub(crate) fn keep_busy(&mut self, depth: usize, asks: impl IntoIterator<Item = Ask>) -> u64 {
        let begin_ns = self.now_ns;
        let before = self.done.len();
        let mut submitted = 0;
        for ask in asks {
            while submitted - (self.done.len() - before) >= depth {
                self.wait_for_one();
            }
            self.submit(ask);
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

/// Asserts that a figure is within a share of what it should be.
#[track_caller]
pub(crate) fn assert_near(what: &str, found: f64, expected: f64, share: f64) {
    let off = (found - expected).abs() / expected;
    assert!(
        off <= share,
        "{what}: {found} where {expected} is expected, {:.2} % off",
        off * 100.0
    );
}
