//! Planted faults: a log as it would be if flushes did nothing.

use crate::{CrashState, DiskLog, LogRequest, Loss, RequestKind};

/// Which flushes of a log do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedFlushes {
    /// All that were submitted at this time or later, and no write goes past the cache since
    /// then: as
    /// a disk, or a file system, that begins to drop them.
    Since(u64),
    /// The one with this number among the flushes, from 0.
    One(usize),
}

impl DroppedFlushes {
    /// For requests in order: whether each is left in the mutant.
    fn leaves(self) -> impl FnMut(&LogRequest) -> bool {
        let mut flushes = 0;
        move |request| {
            if request.kind != RequestKind::Flush {
                return true;
            }
            flushes += 1;
            match self {
                Self::Since(begin_ns) => request.submit_ns < begin_ns,
                Self::One(one) => one != flushes - 1,
            }
        }
    }
}

impl DiskLog {
    /// Drops flushes. Requests are renumbered, so that states of the log are not those of the
    /// mutant; [`original_state`] translates them.
    pub fn without_flushes(mut self, dropped: DroppedFlushes) -> Self {
        self.requests.retain(dropped.leaves());
        if let DroppedFlushes::Since(begin_ns) = dropped {
            let since = self
                .requests
                .iter_mut()
                .filter(|it| it.submit_ns >= begin_ns);
            since.for_each(|it| it.fua = false);
        }
        self
    }
}

/// The numbers that the requests of the mutant without the flushes `dropped` have in their log.
pub fn remaining_requests(requests: &[LogRequest], dropped: DroppedFlushes) -> Vec<u32> {
    let mut leaves = dropped.leaves();
    let left = (0_u32..).zip(requests).filter(|(_, it)| leaves(it));
    left.map(|(number, _)| number).collect()
}

/// The state of a log that has the losses of `state`, which is one of its mutant with the requests
/// `remaining`.
pub fn original_state(remaining: &[u32], state: &CrashState) -> CrashState {
    let losses = state.lost.iter().filter_map(|loss| {
        Some(Loss {
            request: *remaining.get(loss.request)? as usize,
            ..*loss
        })
    });
    CrashState {
        at_ns: state.at_ns,
        lost: losses.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockList, Contents, DiskCache, LogHead, Moments};

    /// Write, flush, write, flush.
    fn log() -> DiskLog {
        let mut contents = Contents::default();
        let block = contents.add(&[1; 512]).expect("room");
        let list = contents.add_list([block]).expect("room");
        let request = |kind, sectors, submit_ns| LogRequest {
            kind,
            blocks: if sectors > 0 {
                list
            } else {
                BlockList::default()
            },
            sector: 0,
            sectors,
            submit_ns,
            done_ns: submit_ns + 5,
            fua: submit_ns == 30,
        };
        DiskLog {
            head: LogHead {
                subject: "ext4".into(),
                lab: String::new(),
                disk: String::new(),
                sectors: 8,
                volatile_cache: true,
                phases: Vec::new(),
                scripts: Vec::new(),
                databases: Vec::new(),
            },
            requests: vec![
                request(RequestKind::Write, 1, 10),
                request(RequestKind::Flush, 0, 20),
                request(RequestKind::Write, 1, 30),
                request(RequestKind::Flush, 0, 40),
            ],
            contents,
        }
    }

    fn pending(log: &DiskLog) -> Vec<usize> {
        Moments::at(&log.requests, 100, DiskCache::Volatile)
    }

    #[test]
    fn what_a_dropped_flush_covered_stays_pending() {
        assert_eq!(pending(&log()), [0; 0]);
        let all = log().without_flushes(DroppedFlushes::Since(0));
        assert_eq!(pending(&all), [0, 1]);
        // The first flush was submitted before, and is a request still.
        let later = log().without_flushes(DroppedFlushes::Since(21));
        assert_eq!(pending(&later), [2]);
        // The flush after it covers the first write, too.
        let one = log().without_flushes(DroppedFlushes::One(0));
        assert_eq!(pending(&one), [0; 0]);
        assert_eq!(one.requests.len(), 3);
    }

    #[test]
    fn a_state_of_the_mutant_is_translated_to_the_log() {
        let state: CrashState = "100-0..1".parse().expect("a state");
        let remaining = remaining_requests(&log().requests, DroppedFlushes::Since(0));
        let found = original_state(&remaining, &state);
        assert_eq!(found.to_string(), "100-0,2");
        assert!(found.ensure_of(&log()).is_ok());
    }
}
