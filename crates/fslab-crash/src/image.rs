//! What a disk holds in a state, as pieces of it.

use std::collections::BTreeMap;

use super::contents::SECTOR_BYTES;
use crate::{BLOCK_BYTES, CrashState, DiskLog, LogRequest, RequestKind};

pub(crate) const BLOCK_SECTORS: u64 = BLOCK_BYTES as u64 / SECTOR_BYTES;

/// Data at a place of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// These bytes from this sector on.
    Data {
        /// First sector.
        sector: u64,
        /// Its bytes, of full sectors.
        bytes: &'a [u8],
    },
    /// Zeros, by a discard.
    Zeros {
        /// First sector.
        sector: u64,
        /// Number of sectors.
        sectors: u64,
    },
}

/// The pieces that the disk holds, of which no two have a sector in common: what a later request
/// has replaced is in none. So an image takes what is in it, and not what was ever written.
pub fn pieces<'a>(log: &'a DiskLog, state: &CrashState) -> impl Iterator<Item = Piece<'a>> {
    let kept = state.kept();
    let submitted = &log.requests[..state.submitted(&log.requests)];
    let mut covered = Covered::default();
    let last_first = submitted.iter().enumerate().rev();
    last_first.flat_map(move |(number, request)| {
        let end = request.sector + u64::from(kept.sectors_of(number, request));
        let gaps = covered.cover(request.sector, end).into_iter();
        gaps.flat_map(move |gap| pieces_of(log, request, gap))
    })
}

/// The pieces of the sectors from one to another of a request.
fn pieces_of<'a>(
    log: &'a DiskLog,
    request: &'a LogRequest,
    (begin, end): (u64, u64),
) -> impl Iterator<Item = Piece<'a>> {
    let zeros = (request.kind == RequestKind::Discard).then_some(Piece::Zeros {
        sector: begin,
        sectors: end - begin,
    });
    let first = (begin - request.sector) / BLOCK_SECTORS;
    let blocks = log.contents.list(request.blocks).iter();
    let blocks = (first..).zip(blocks.skip(first as usize));
    let data = blocks.map_while(move |(number, block)| {
        let place = request.sector + number * BLOCK_SECTORS;
        let (from, to) = (place.max(begin), end.min(place + BLOCK_SECTORS));
        let part = (from - place) * SECTOR_BYTES..to.checked_sub(place)? * SECTOR_BYTES;
        let bytes = log.contents.get(*block)?;
        let bytes = bytes.get(part.start as usize..part.end as usize)?;
        (!bytes.is_empty()).then_some(Piece::Data {
            sector: from,
            bytes,
        })
    });
    data.chain(zeros)
}

/// Ranges of sectors that have no sector in common, and do not touch.
#[derive(Default)]
pub(crate) struct Covered {
    /// The sector after the last of each, by its first.
    ranges: BTreeMap<u64, u64>,
}

impl Covered {
    /// Adds a range; the parts of it that were in none before, in order.
    pub(crate) fn cover(&mut self, begin: u64, end: u64) -> Vec<(u64, u64)> {
        if begin >= end {
            return Vec::new();
        }
        let mut joined = (begin, end);
        let before = self.ranges.range(..=begin).next_back();
        if let Some((first, last)) = before.map(|it| (*it.0, *it.1))
            && last >= begin
        {
            joined.0 = first;
        }
        let (mut gaps, mut from) = (Vec::new(), begin);
        while let Some((first, last)) = self.ranges.range(joined.0..=end).next() {
            let (first, last) = (*first, *last);
            self.ranges.remove(&first);
            if from < first {
                gaps.push((from, first));
            }
            from = from.max(last);
            joined.1 = joined.1.max(last);
        }
        if from < end {
            gaps.push((from, end));
        }
        self.ranges.insert(joined.0, joined.1);
        gaps
    }

    /// The ranges in order.
    pub(crate) fn into_ranges(self) -> impl Iterator<Item = (u64, u64)> {
        self.ranges.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BlockId, BlockList, Contents, DiskCache, LogHead, LogRequest, Loss, Moments};

    /// Two writes of ten sectors to one place, a flush between them, and a discard of two sectors.
    fn log() -> DiskLog {
        let mut contents = Contents::default();
        let mut write = |byte: u8, submit_ns| {
            let blocks = [&[byte; 4096][..], &[byte; 1024]];
            let blocks = blocks.map(|block| contents.add(block).expect("room"));
            LogRequest {
                kind: RequestKind::Write,
                blocks: contents.add_list(blocks).expect("room"),
                sector: 4,
                sectors: 10,
                submit_ns,
                done_ns: submit_ns + 5,
                fua: false,
            }
        };
        let (first, second) = (write(1, 10), write(2, 40));
        let other = |kind, sector, sectors, submit_ns| LogRequest {
            kind,
            blocks: BlockList::default(),
            sector,
            sectors,
            submit_ns,
            done_ns: submit_ns + 5,
            fua: false,
        };
        DiskLog {
            head: LogHead {
                subject: String::new(),
                lab: String::new(),
                disk: String::new(),
                sectors: 20,
                volatile_cache: true,
                phases: Vec::new(),
                scripts: Vec::new(),
                databases: Vec::new(),
            },
            requests: vec![
                first,
                other(RequestKind::Flush, 0, 0, 20),
                second,
                other(RequestKind::Discard, 4, 2, 50),
            ],
            contents,
        }
    }

    /// The first byte of every sector.
    fn disk(log: &DiskLog, state: &str) -> Vec<u8> {
        disk_of(log, &state.parse().expect("a state"))
    }

    fn disk_of(log: &DiskLog, state: &CrashState) -> Vec<u8> {
        let mut disk = vec![0; log.head.sectors as usize];
        for piece in pieces(log, state) {
            match piece {
                Piece::Data { sector, bytes } => {
                    for (number, sector_bytes) in bytes.chunks(512).enumerate() {
                        disk[sector as usize + number] = sector_bytes[0];
                    }
                }
                Piece::Zeros { sector, sectors } => {
                    disk[sector as usize..(sector + sectors) as usize].fill(0);
                }
            }
        }
        disk
    }

    /// The ten sectors as they were cut by hand.
    fn expected(ten: [u8; 10]) -> Vec<u8> {
        let mut disk = vec![0; 20];
        disk[4..14].copy_from_slice(&ten);
        disk
    }

    proptest! {
        /// Against every request that is kept, written one after the other.
        #[test]
        fn pieces_are_what_is_left_of_the_requests_in_order(
            requests in proptest::collection::vec((0_u64..40, 1_u32..20, any::<bool>()), 0..12),
            lost in proptest::collection::btree_map(0_usize..12, 0_u32..20, 0..6),
            at_ns in 0_u64..13,
        ) {
            let mut contents = Contents::default();
            let mut expected = vec![0; 60];
            let mut log = log();
            log.head.sectors = 60;
            log.requests.clear();
            for (number, (sector, sectors, is_write)) in requests.into_iter().enumerate() {
                let byte = if is_write { number as u8 + 1 } else { 0 };
                let data = vec![byte; sectors as usize * 512];
                let blocks = data.chunks(4096).map(|it| contents.add(it).expect("room"));
                let blocks: Vec<BlockId> = blocks.collect();
                let (kind, blocks) = match is_write {
                    true => (RequestKind::Write, contents.add_list(blocks).expect("room")),
                    false => (RequestKind::Discard, BlockList::default()),
                };
                log.requests.push(LogRequest {
                    kind,
                    blocks,
                    sector,
                    sectors,
                    submit_ns: number as u64,
                    done_ns: number as u64,
                    fua: false,
                });
                let kept = lost.get(&number).copied().unwrap_or(sectors).min(sectors);
                if number as u64 <= at_ns {
                    expected[sector as usize..][..kept as usize].fill(byte);
                }
            }
            log.contents = contents;
            let losses = lost.into_iter().map(|(request, kept_sectors)| Loss {
                request,
                kept_sectors,
            });
            let state = CrashState { at_ns, lost: losses.collect() };
            let mut times = vec![0; 60];
            for piece in pieces(&log, &state) {
                let (sector, sectors) = match piece {
                    Piece::Data { sector, bytes } => (sector, bytes.len() / 512),
                    Piece::Zeros { sector, sectors } => (sector, sectors as usize),
                };
                times[sector as usize..][..sectors].iter_mut().for_each(|it| *it += 1);
            }
            prop_assert!(times.iter().all(|it| *it <= 1), "{:?}", times);
            prop_assert_eq!(disk_of(&log, &state), expected);
        }
    }

    #[test]
    fn a_disk_holds_what_a_hand_cut_log_says() {
        let log = log();
        let cases = [
            ("9", [0; 10]),
            ("10", [1; 10]),
            ("10-0/9", [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]),
            ("49", [2; 10]),
            ("49-2", [1; 10]),
            ("49-2/3", [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]),
            ("60", [0, 0, 2, 2, 2, 2, 2, 2, 2, 2]),
            ("60-2", [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
            ("60-3/1", [0, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
            ("60-2..3", [1; 10]),
        ];
        for (state, ten) in cases {
            assert_eq!(disk(&log, state), expected(ten), "{state}");
        }
    }

    /// The planted fault: a disk, or a file system, whose flushes are dropped.
    #[test]
    fn without_its_flushes_nothing_of_a_log_is_durable() {
        let mut log = log();
        let pending = |log: &DiskLog| Moments::at(&log.requests, 60, DiskCache::Volatile);
        assert_eq!(pending(&log), [2, 3]);
        log.requests
            .retain(|request| request.kind != RequestKind::Flush);
        assert_eq!(pending(&log), [0, 1, 2]);
    }
}
