//! States of a disk one after the other in one image: only what differs is written.

use super::contents::SECTOR_BYTES;
use crate::image::{BLOCK_SECTORS, Covered};
use crate::states::Kept;
use crate::{CrashState, DiskLog, LogError, LogRequest, Piece, RequestKind};

/// Most writes and discards of the sectors that a log writes, each sector as often as it is: twice
/// the most data that is judged, and 128 MiB of memory.
const VERSIONS_MAX: u64 = 1 << 25;
/// Bytes that are written at once at most.
const RUN_BYTES_MAX: usize = 1 << 20;

/// The image of a disk that has shown states of a log. At first it is all zeros.
pub struct StateView<'a> {
    log: &'a DiskLog,
    written: Written,
    /// The versions of the written sectors, by request in order, one sector after the other.
    versions: Vec<u32>,
    /// Where those of each written sector begin, and at last their end.
    first: Vec<u32>,
    /// The state that the image shows; `None` if it is all zeros.
    shown: Option<CrashState>,
}

/// The sectors that a log writes, numbered in order.
struct Written {
    /// Ranges in order, with the number of the first sector of each.
    ranges: Vec<(u64, u64, usize)>,
    count: usize,
}

impl Written {
    fn of(requests: &[LogRequest]) -> Self {
        let mut covered = Covered::default();
        let writes = requests.iter().filter(|it| it.kind == RequestKind::Write);
        writes.for_each(|it| {
            covered.cover(it.sector, it.end());
        });
        let mut count = 0;
        let numbered = covered.into_ranges().map(|(begin, end)| {
            let first = count;
            count += (end - begin) as usize;
            (begin, end, first)
        });
        Self {
            ranges: numbered.collect(),
            count,
        }
    }

    /// The parts of a range of sectors that are written, each with the number of its first sector.
    fn within(&self, begin: u64, end: u64) -> impl Iterator<Item = (u64, u64, usize)> {
        let first = self.ranges.partition_point(|it| it.1 <= begin);
        let ranges = self.ranges[first..].iter();
        ranges
            .take_while(move |it| it.0 < end)
            .map(move |(from, to, number)| {
                let start = (*from).max(begin);
                (start, (*to).min(end), number + (start - from) as usize)
            })
    }
}

impl<'a> StateView<'a> {
    /// An image of zeros.
    ///
    /// # Errors
    /// `TooLarge` for a log that writes and discards its sectors too often.
    pub fn new(log: &'a DiskLog) -> Result<Self, LogError> {
        let written = Written::of(&log.requests);
        let mut first = vec![0_u32; written.count + 1];
        let mut total = 0;
        for request in log.requests.iter().filter(|it| it.changes()) {
            for (begin, end, number) in written.within(request.sector, request.end()) {
                total += end - begin;
                if total > VERSIONS_MAX {
                    return Err(LogError::TooLarge {
                        what: "more writes and discards of the sectors that it writes",
                        limit: VERSIONS_MAX,
                    });
                }
                let counts = first[number..][..(end - begin) as usize].iter_mut();
                counts.for_each(|count| *count += 1);
            }
        }
        // The counts become ends, and, as the versions are put in from the last on, begins.
        let mut sum = 0;
        for end in &mut first {
            sum += *end;
            *end = sum;
        }
        let mut versions = vec![0_u32; total as usize];
        for (number, request) in log.requests.iter().enumerate().rev() {
            if !request.changes() {
                continue;
            }
            for (begin, end, place) in written.within(request.sector, request.end()) {
                for free in &mut first[place..][..(end - begin) as usize] {
                    *free -= 1;
                    versions[*free as usize] = number as u32;
                }
            }
        }
        Ok(Self {
            log,
            written,
            versions,
            first,
            shown: None,
        })
    }

    /// What must be written into the image so that it holds `state` and nothing else, in the order
    /// of sectors, is handed to `put`. `touched` are the ranges, as first sector and sector after
    /// the last, that others have written since the last call; those beyond the disk are left out.
    ///
    /// # Errors
    /// Those of `put`, after which nothing is known of the image.
    pub fn show<E>(
        &mut self,
        state: &CrashState,
        touched: &[(u64, u64)],
        put: &mut dyn FnMut(Piece) -> Result<(), E>,
    ) -> Result<(), E> {
        // Only requests that one of both states has, or has a part of, make a difference.
        let submitted = state.submitted(&self.log.requests);
        let before = self.shown.as_ref();
        let before = before.map_or(0, |it| it.submitted(&self.log.requests));
        let between = submitted.min(before)..submitted.max(before);
        let losses = self.shown.iter().chain([state]).flat_map(|it| &it.lost);
        let mut requested = Covered::default();
        for number in between.chain(losses.map(|it| it.request)) {
            if let Some(request) = self.log.requests.get(number).filter(|it| it.changes()) {
                requested.cover(request.sector, request.end());
            }
        }
        let mut changed = Covered::default();
        for (begin, end) in requested.into_ranges() {
            for (begin, end, _) in self.written.within(begin, end) {
                changed.cover(begin, end);
            }
        }
        for (begin, end) in touched {
            changed.cover(*begin, (*end).min(self.log.head.sectors));
        }
        let next = Shown {
            view: self,
            submitted,
            kept: state.kept(),
        };
        let mut runs = Runs {
            put,
            sector: 0,
            bytes: Vec::new(),
            zeros: 0,
            // An image that is all zeros needs none.
            puts_zeros: self.shown.is_some(),
        };
        for (begin, end) in changed.into_ranges() {
            let mut from = begin;
            for (begin, end, place) in self.written.within(begin, end) {
                runs.add_zeros(from, begin)?;
                for (sector, place) in (begin..end).zip(place..) {
                    match next.bytes(sector, place) {
                        Some(bytes) => runs.add(sector, bytes)?,
                        None => runs.add_zeros(sector, sector + 1)?,
                    }
                }
                from = end;
            }
            runs.add_zeros(from, end)?;
        }
        runs.end()?;
        self.shown = Some(state.clone());
        Ok(())
    }
}

struct Shown<'a, 'b> {
    view: &'b StateView<'a>,
    submitted: usize,
    kept: Kept,
}

impl<'a> Shown<'a, '_> {
    /// The bytes of a written sector; `None` for zeros.
    fn bytes(&self, sector: u64, place: usize) -> Option<&'a [u8]> {
        let log = self.view.log;
        let own = self.view.first[place] as usize..self.view.first[place + 1] as usize;
        let versions = &self.view.versions[own];
        let submitted = versions.partition_point(|it| (*it as usize) < self.submitted);
        let mut versions = versions[..submitted].iter().rev().map(|it| {
            let number = *it as usize;
            (number, &log.requests[number])
        });
        let (_, request) = versions.find(|(number, request)| {
            sector - request.sector < u64::from(self.kept.sectors_of(*number, request))
        })?;
        let place = sector - request.sector;
        let list = log.contents.list(request.blocks);
        let block = log
            .contents
            .get(*list.get((place / BLOCK_SECTORS) as usize)?)?;
        let begin = (place % BLOCK_SECTORS * SECTOR_BYTES) as usize;
        let bytes = block.get(begin..begin + SECTOR_BYTES as usize)?;
        bytes.iter().any(|byte| *byte != 0).then_some(bytes)
    }
}

/// Joins sectors that follow each other.
struct Runs<'p, E> {
    put: &'p mut dyn FnMut(Piece) -> Result<(), E>,
    /// The first sector of the run, which has bytes or zeros.
    sector: u64,
    bytes: Vec<u8>,
    zeros: u64,
    puts_zeros: bool,
}

impl<E> Runs<'_, E> {
    fn add(&mut self, sector: u64, bytes: &[u8]) -> Result<(), E> {
        let end = self.sector + self.bytes.len() as u64 / SECTOR_BYTES;
        if self.zeros > 0 || end != sector || self.bytes.len() >= RUN_BYTES_MAX {
            self.end()?;
        }
        if self.bytes.is_empty() {
            self.sector = sector;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn add_zeros(&mut self, begin: u64, end: u64) -> Result<(), E> {
        if begin == end || !self.puts_zeros {
            return Ok(());
        }
        if self.zeros == 0 || self.sector + self.zeros != begin {
            self.end()?;
            self.sector = begin;
        }
        self.zeros += end - begin;
        Ok(())
    }

    /// Hands on what was joined.
    fn end(&mut self) -> Result<(), E> {
        let sector = self.sector;
        if self.zeros > 0 {
            let sectors = std::mem::take(&mut self.zeros);
            (self.put)(Piece::Zeros { sector, sectors })?;
        }
        if !self.bytes.is_empty() {
            let bytes = &self.bytes;
            (self.put)(Piece::Data { sector, bytes })?;
            self.bytes.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BlockId, BlockList, Contents, LogHead, LogRequest, Loss, pieces};

    const SECTORS: u64 = 24;

    fn log(requests: &[(u64, u32, Option<u8>)]) -> DiskLog {
        let mut contents = Contents::default();
        let request = |(number, (sector, sectors, byte)): (u64, &(u64, u32, Option<u8>))| {
            let (kind, blocks) = match byte {
                None => (RequestKind::Discard, BlockList::default()),
                Some(byte) => {
                    let data = vec![*byte; *sectors as usize * 512];
                    let blocks = data.chunks(4096).map(|it| contents.add(it).expect("room"));
                    let blocks: Vec<BlockId> = blocks.collect();
                    let list = contents.add_list(blocks).expect("room");
                    (RequestKind::Write, list)
                }
            };
            LogRequest {
                kind,
                blocks,
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

    /// What a state puts, by first sector.
    fn shown(
        view: &mut StateView,
        state: &CrashState,
        touched: &[(u64, u64)],
    ) -> Vec<(u64, Vec<u8>)> {
        let mut put = Vec::new();
        let taken: Result<(), std::convert::Infallible> = view.show(state, touched, &mut |piece| {
            put.push(match piece {
                Piece::Data { sector, bytes } => (sector, bytes.to_vec()),
                Piece::Zeros { sector, sectors } => (sector, vec![0; sectors as usize * 512]),
            });
            Ok(())
        });
        taken.expect("memory");
        put
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
            let mut view = StateView::new(&log).expect("small");
            let mut image = vec![0_u8; SECTORS as usize * 512];
            let mut touched = Vec::new();
            for (at_ns, lost, guest) in states {
                let lost = lost.into_iter().map(|(request, kept_sectors)| Loss {
                    request,
                    kept_sectors,
                });
                let state = CrashState { at_ns, lost: lost.collect() };
                for (sector, bytes) in shown(&mut view, &state, &touched) {
                    image[sector as usize * 512..][..bytes.len()].copy_from_slice(&bytes);
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
        let mut view = StateView::new(&log).expect("small");
        let mut written = |text: &str, touched: &[(u64, u64)]| {
            let state = text.parse::<CrashState>().expect("a state");
            let put = shown(&mut view, &state, touched);
            let each = put.iter().map(|it| (it.0, it.1.len() / 512));
            each.collect::<Vec<_>>()
        };
        assert_eq!(written("1", &[]), [(0, 4), (8, 1)]);
        // Of the request that one of both states has lost in part.
        assert_eq!(written("1-0/3", &[]), [(0, 3), (3, 1)]);
        assert_eq!(written("1", &[]), [(0, 4)]);
        assert_eq!(written("1", &[]), []);
        assert_eq!(written("1", &[(20, 1 << 60)]), [(20, 4)]);
    }
}
