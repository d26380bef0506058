//! States of a disk one after the other in one image: only what differs is written.

use std::collections::{BTreeMap, BTreeSet};

use crate::log::SECTOR_BYTES;
use crate::{BlockId, CrashState, DiskLog, RequestKind};

/// Consecutive sectors with their new bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectorRange {
    /// First sector.
    pub sector: u64,
    /// Their bytes.
    pub bytes: Vec<u8>,
}

/// The image of a disk that has shown states of a log. At first it is all zeros.
pub struct StateView<'a> {
    log: &'a DiskLog,
    /// Of each sector that the log writes, its versions in order, by request.
    versions: BTreeMap<u64, Vec<(usize, &'a [u8])>>,
    /// The discards, by request.
    discards: Vec<usize>,
    /// The state that the image shows; `None` if it is all zeros.
    shown: Option<CrashState>,
}

impl<'a> StateView<'a> {
    /// An image of zeros.
    #[must_use]
    pub fn new(log: &'a DiskLog) -> Self {
        let mut versions: BTreeMap<u64, Vec<(usize, &'a [u8])>> = BTreeMap::new();
        let mut discards = Vec::new();
        for (number, request) in log.requests.iter().enumerate() {
            let blocks: &[BlockId] = match &request.kind {
                RequestKind::Write(blocks) => blocks,
                RequestKind::Discard => {
                    discards.push(number);
                    continue;
                }
                RequestKind::Flush => continue,
            };
            let blocks = blocks.iter().filter_map(|it| log.contents.get(*it));
            let sectors = blocks.flat_map(|bytes| bytes.chunks(SECTOR_BYTES as usize));
            for (sector, bytes) in (request.sector..request.end()).zip(sectors) {
                versions.entry(sector).or_default().push((number, bytes));
            }
        }
        Self {
            log,
            versions,
            discards,
            shown: None,
        }
    }

    /// What must be written into the image so that it holds `state` and nothing else. `touched` are
    /// the ranges, as first sector and sector after the last, that others have written since the
    /// last call; those beyond the disk are left out.
    pub fn show(&mut self, state: &CrashState, touched: &[(u64, u64)]) -> Vec<SectorRange> {
        let mut changed: BTreeSet<u64> = BTreeSet::new();
        for (begin, end) in touched {
            changed.extend(*begin..(*end).min(self.log.head.sectors));
        }
        // Only requests that one of both states has, or has a part of, make a difference.
        let submitted = self.submitted(state);
        let before = self.shown.as_ref().map_or(0, |it| self.submitted(it));
        let between = submitted.min(before)..submitted.max(before);
        let losses = self.shown.iter().chain([state]).flat_map(|it| &it.lost);
        for number in between.chain(losses.map(|it| it.request)) {
            if let Some(request) = self.log.requests.get(number) {
                let sectors = self.versions.range(request.sector..request.end());
                changed.extend(sectors.map(|(sector, _)| *sector));
            }
        }
        let next = Shown {
            view: self,
            submitted,
            lost: state
                .lost
                .iter()
                .map(|it| (it.request, it.kept_sectors))
                .collect(),
        };
        let is_zeros = self.shown.is_none();
        let mut ranges: Vec<SectorRange> = Vec::new();
        for sector in changed {
            let bytes = next.bytes(sector);
            if is_zeros && bytes.is_none() {
                continue;
            }
            let bytes = bytes.unwrap_or(&[0; SECTOR_BYTES as usize]);
            match ranges.last_mut() {
                Some(last) if last.sector + last.bytes.len() as u64 / SECTOR_BYTES == sector => {
                    last.bytes.extend(bytes);
                }
                _ => ranges.push(SectorRange {
                    sector,
                    bytes: bytes.to_vec(),
                }),
            }
        }
        self.shown = Some(state.clone());
        ranges
    }

    fn submitted(&self, state: &CrashState) -> usize {
        let requests = &self.log.requests;
        requests.partition_point(|it| it.submit_ns <= state.at_ns)
    }
}

/// A state that is to be shown.
struct Shown<'a, 'b> {
    view: &'b StateView<'a>,
    submitted: usize,
    /// The sectors that were kept of each lost request.
    lost: BTreeMap<usize, u32>,
}

impl<'a> Shown<'a, '_> {
    /// The bytes of a sector; `None` for zeros.
    fn bytes(&self, sector: u64) -> Option<&'a [u8]> {
        let versions = self.view.versions.get(&sector)?;
        let mut versions = versions.iter().rev();
        let (number, bytes) = *versions.find(|(number, _)| self.keeps(*number, sector))?;
        let mut discards = self
            .view
            .discards
            .iter()
            .rev()
            .take_while(|it| **it > number);
        let is_gone = discards.any(|it| self.keeps(*it, sector));
        (!is_gone && bytes.iter().any(|byte| *byte != 0)).then_some(bytes)
    }

    /// True if the state keeps the part of a request that is about a sector.
    fn keeps(&self, number: usize, sector: u64) -> bool {
        let request = &self.view.log.requests[number];
        let kept = match self.lost.get(&number) {
            Some(kept) => (*kept).min(request.sectors),
            None => request.sectors,
        };
        let sectors = request.sector..request.sector + u64::from(kept);
        number < self.submitted && sectors.contains(&sector)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Contents, LogHead, LogRequest, Loss, Piece, pieces};

    const SECTORS: u64 = 24;

    fn log(requests: &[(u64, u32, Option<u8>)]) -> DiskLog {
        let mut contents = Contents::default();
        let request = |(number, (sector, sectors, byte)): (u64, &(u64, u32, Option<u8>))| {
            let kind = match byte {
                None => RequestKind::Discard,
                Some(byte) => {
                    let data = vec![*byte; *sectors as usize * 512];
                    let blocks = data.chunks(4096).map(|it| contents.add(it).expect("room"));
                    RequestKind::Write(blocks.collect())
                }
            };
            LogRequest {
                kind,
                sector: *sector,
                sectors: *sectors,
                submit_ns: number,
                done_ns: number,
                fua: false,
            }
        };
        let requests = (0..).zip(requests).map(request).collect();
        DiskLog {
            head: LogHead {
                subject: String::new(),
                lab: String::new(),
                disk: String::new(),
                sectors: SECTORS,
                volatile_cache: true,
                phases: Vec::new(),
                scripts: Vec::new(),
                databases: Vec::new(),
            },
            requests,
            contents,
        }
    }

    /// The disk as it is when each piece is written in order.
    fn disk(log: &DiskLog, state: &CrashState) -> Vec<u8> {
        let mut disk = vec![0; SECTORS as usize * 512];
        for piece in pieces(log, state) {
            match piece {
                Piece::Data { sector, bytes } => {
                    disk[sector as usize * 512..][..bytes.len()].copy_from_slice(bytes);
                }
                Piece::Zeros { sector, sectors } => {
                    disk[sector as usize * 512..][..sectors as usize * 512].fill(0);
                }
            }
        }
        disk
    }

    proptest! {
        /// No trace of a state, or of what a guest wrote, is in the next.
        #[test]
        fn an_image_holds_each_state_and_nothing_of_those_before(
            requests in proptest::collection::vec(
                (0_u64..12, 1_u32..13, proptest::option::of(0_u8..4)), 1..8),
            states in proptest::collection::vec(
                (0_u64..8, proptest::collection::btree_map(0_usize..8, 0_u32..13, 0..5),
                 proptest::collection::vec((0_u64..SECTORS, 1_u64..9), 0..4)), 1..6),
        ) {
            let log = log(&requests);
            let mut view = StateView::new(&log);
            let mut image = vec![0_u8; SECTORS as usize * 512];
            let mut touched = Vec::new();
            for (at_ns, lost, guest) in states {
                let lost = lost.into_iter().map(|(request, kept_sectors)| Loss {
                    request,
                    kept_sectors,
                });
                let state = CrashState { at_ns, lost: lost.collect() };
                for range in view.show(&state, &touched) {
                    image[range.sector as usize * 512..][..range.bytes.len()]
                        .copy_from_slice(&range.bytes);
                }
                prop_assert_eq!(&image, &disk(&log, &state));
                touched = guest.iter().map(|(begin, length)| (*begin, begin + length)).collect();
                for (begin, end) in &touched {
                    image[*begin as usize * 512..(*end).min(SECTORS) as usize * 512].fill(99);
                }
            }
        }
    }

    #[test]
    fn only_what_differs_is_written() {
        let log = log(&[(0, 4, Some(1)), (8, 1, Some(2))]);
        let mut view = StateView::new(&log);
        let state = |text: &str| text.parse::<CrashState>().expect("a state");
        let written = |ranges: Vec<SectorRange>| {
            let each = ranges.iter().map(|it| (it.sector, it.bytes.len() / 512));
            each.collect::<Vec<_>>()
        };
        assert_eq!(written(view.show(&state("1"), &[])), [(0, 4), (8, 1)]);
        // Of the request that one of both states has lost in part.
        assert_eq!(written(view.show(&state("1-0/3"), &[])), [(0, 4)]);
        assert_eq!(written(view.show(&state("1"), &[])), [(0, 4)]);
        assert_eq!(written(view.show(&state("1"), &[])), []);
        assert_eq!(written(view.show(&state("1"), &[(20, 1 << 60)])), [(20, 4)]);
    }
}
