//! How far the kernel reads ahead: a cold file is read block by block, and after each read it is
//! counted what else came in.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fslab_engine::{EngineKind, RunContext, evict};
use fslab_model::{Bytes, FailureKind, ValueList, definitions};

use super::bench::{Bench, must, synthetic_probe};
use super::parameters::{PrefetchParameters, ReadOrder};
use super::waits;
use crate::workload::{Finished, RunError};
use fslab_stats::CounterRandom;

/// Looks in a row at a count that keeps changing, until it is taken as it is.
const LOOKS_MAX: u32 = 500;
/// Reads of one block whose time is that of memory.
const READS_AGAIN: usize = 15;
/// The random numbers that order the reads.
const PURPOSE: u64 = 5_000;

/// Reads the file and finds the windows.
pub(crate) fn prefetch(
    parameters: &PrefetchParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    let bytes = parameters.file_size.bytes();
    if context.engine == EngineKind::Null {
        return Ok(synthetic_probe(parameters.blocks(), bytes));
    }
    let mut bench = Bench::new(context);
    let path = prepare(&mut bench, parameters)?;
    let root = context.outer_path(&context.root);
    if let Ok(kib) = context.outside(|| fslab_sys::read_ahead_kib(&root)) {
        bench.figure(&definitions::READAHEAD_LIMIT, (kib * 1024) as f64);
    } else {
        bench.note("the kernel does not tell how far it reads ahead here");
    }
    let order = order(parameters, context.seed);
    let file = must("open", &path, File::open(&path))?;
    let reading = Reading {
        path: &path,
        file: &file,
        block_bytes: parameters.block.0,
        wait: Duration::from_millis(parameters.wait_ms),
    };
    let seen = match reading.by_residency(&mut bench, &order)? {
        Some(seen) => seen,
        None => reading.by_time(&mut bench, &order, parameters.order)?,
    };
    report(&mut bench, seen, parameters.block);
    Ok(bench.finish())
}

/// Makes the file where it is not there, and has the page cache forget it.
fn prepare(bench: &mut Bench<'_>, parameters: &PrefetchParameters) -> Result<PathBuf, RunError> {
    let bytes = parameters.file_size.bytes();
    let path = bench.context().root.join(&parameters.file);
    let is_there = std::fs::metadata(&path).is_ok_and(|it| it.len() == bytes);
    if !is_there {
        bench.write_file(&parameters.file, bytes)?;
        bench.note("the file was made by this phase: its inode and its map were in memory");
    }
    let file = must("open", &path, File::open(&path))?;
    // Looking first: what is cold already, with its map, stays so.
    let resident = fslab_sys::resident_pages(&file);
    drop(file);
    if resident.is_ok_and(|pages| pages == 0) {
        return Ok(path);
    }
    match evict(&[&path]) {
        // What cannot be evicted is read as it is: the times tell.
        Err(error) if error.kind() == FailureKind::Unsupported => {}
        evicted => evicted?,
    }
    Ok(path)
}

fn order(parameters: &PrefetchParameters, seed: u64) -> Vec<u64> {
    let mut order: Vec<u64> = (0..parameters.blocks()).collect();
    if parameters.order == ReadOrder::Random {
        CounterRandom::counter(seed, PURPOSE).shuffle(&mut order);
    }
    order
}

/// What was seen.
struct Seen {
    /// The block read, and how many blocks came in.
    windows: Vec<(u64, f64)>,
    /// The block read, and the requests that the device completed for it; empty where nobody tells.
    requests: Vec<(u64, u64)>,
    /// The requests of the first read.
    first_requests: Option<u64>,
}

/// One pass over a file.
struct Reading<'a> {
    path: &'a Path,
    file: &'a File,
    block_bytes: u64,
    wait: Duration,
}

impl Reading<'_> {
    /// Counts resident pages around each read. `None` where the count tells nothing: pages are
    /// resident before they are read, or not after.
    fn by_residency(&self, bench: &mut Bench<'_>, order: &[u64]) -> Result<Option<Seen>, RunError> {
        let page_bytes = fslab_sys::page_bytes() as f64;
        let mut seen = Seen::new();
        let Ok(mut before) = fslab_sys::resident_pages(self.file) else {
            bench.note("mincore(2) does not answer here");
            return Ok(None);
        };
        if before > 0 {
            let pages = format!("mincore(2) says that {before} pages of a cold file are resident");
            bench.note(pages);
            return Ok(None);
        }
        for block in order {
            let counters = bench.counters();
            self.read(bench, *block)?;
            let after = self.settled_pages(bench)?;
            if after == 0 {
                bench.note("mincore(2) says that a block that was just read is not resident");
                self.forget(bench)?;
                return Ok(None);
            }
            if after < before {
                bench.note(
                    "pages of the file were evicted meanwhile: some blocks may have come in twice",
                );
            }
            if after > before {
                let pages = (after - before) as f64;
                let blocks = pages * page_bytes / self.block_bytes as f64;
                seen.windows.push((*block, blocks));
            }
            before = after;
            let passed = counters
                .zip(bench.counters())
                .and_then(|(before, after)| after.reads.checked_sub(before.reads));
            seen.took(*block, passed);
        }
        Ok(Some(seen))
    }

    /// The count of resident pages once nothing is under way any more: the kernel reads ahead
    /// without being waited for.
    fn settled_pages(&self, bench: &Bench<'_>) -> Result<u64, RunError> {
        let count = || fslab_sys::resident_pages(self.file);
        let mut pages = must("count resident pages of", self.path, count())?;
        for _ in 0..LOOKS_MAX {
            bench.go_on()?;
            std::thread::sleep(self.wait);
            let now = must("count resident pages of", self.path, count())?;
            if now == pages && !bench.is_device_busy() {
                break;
            }
            pages = now;
        }
        Ok(pages)
    }

    /// Takes the time of each read, one right after the other.
    fn by_time(
        &self,
        bench: &mut Bench<'_>,
        order: &[u64],
        reads: ReadOrder,
    ) -> Result<Seen, RunError> {
        bench.note(
            "the windows are those between reads that waited for the device, found by their times",
        );
        let mut seen = Seen::new();
        let mut times_ns = Vec::with_capacity(order.len());
        for block in order {
            let before = bench.counters().filter(|_| times_ns.is_empty());
            times_ns.push(self.read(bench, *block)?);
            let passed = before
                .zip(bench.counters())
                .and_then(|(before, after)| after.reads.checked_sub(before.reads));
            seen.first_requests = seen.first_requests.or(passed);
        }
        let again_ns = self.time_of_memory(bench, order)?;
        let windows = if fslab_sys::is_in_memory(self.path).unwrap_or(false) {
            Vec::new()
        } else {
            waits::windows(&waits::Times {
                reads_ns: &times_ns,
                again_ns,
            })
        };
        if windows.is_empty() {
            bench.note("no read waited for a device: the file is in memory, whatever was evicted");
        }
        // At random, what comes in between is not served by the window.
        let serves = |blocks: u64| match reads {
            ReadOrder::Sequential => blocks as f64,
            ReadOrder::Random => 1.0,
        };
        let window = |(place, blocks): (usize, u64)| (order[place], serves(blocks));
        seen.windows = windows.into_iter().map(window).collect();
        Ok(seen)
    }

    /// The time of a read that waits for nothing: the median of some of the block read last.
    fn time_of_memory(&self, bench: &mut Bench<'_>, order: &[u64]) -> Result<u64, RunError> {
        let last = order.last().copied().unwrap_or(0);
        let mut times_ns = Vec::new();
        for _ in 0..READS_AGAIN {
            times_ns.push(self.read(bench, last)?);
        }
        times_ns.sort_unstable();
        Ok(times_ns[READS_AGAIN / 2])
    }

    /// Reads a block; gives the time that it took.
    fn read(&self, bench: &mut Bench<'_>, block: u64) -> Result<u64, RunError> {
        let mut into = vec![0; usize::try_from(self.block_bytes).unwrap_or(usize::MAX)];
        let offset = block * self.block_bytes;
        let (_, passed_ns) = bench.timed("read", self.path, || {
            self.file.read_exact_at(&mut into, offset)
        })?;
        bench.moved(self.block_bytes);
        Ok(passed_ns)
    }

    /// Has the page cache forget what was read, as far as it does.
    fn forget(&self, bench: &Bench<'_>) -> Result<(), RunError> {
        bench.go_on()?;
        match evict(&[self.path]) {
            Err(error) if error.kind() == FailureKind::Unsupported => Ok(()),
            evicted => Ok(evicted?),
        }
    }
}

impl Seen {
    fn new() -> Self {
        Self {
            windows: Vec::new(),
            requests: Vec::new(),
            first_requests: None,
        }
    }

    fn took(&mut self, block: u64, requests: Option<u64>) {
        self.first_requests = self.first_requests.or(requests);
        self.requests
            .extend(requests.filter(|it| *it > 0).map(|it| (block, it)));
    }
}

fn report(bench: &mut Bench<'_>, seen: Seen, block: Bytes) {
    if let Some((_, first)) = seen.windows.first() {
        bench.figure(&definitions::READAHEAD_FIRST, *first);
    }
    if let Some(largest) = seen
        .windows
        .iter()
        .map(|(_, blocks)| *blocks)
        .reduce(f64::max)
    {
        bench.figure(&definitions::READAHEAD_LARGEST, largest);
    }
    if let Some(requests) = seen.first_requests {
        bench.figure(&definitions::FIRST_READ_DEVICE_READS, requests as f64);
    }
    let x = format!("block read ({block})");
    let points = |(block, value): (u64, f64)| (block as f64, value);
    bench.list(ValueList {
        name: "readahead-window".into(),
        x: x.clone(),
        y: format!("blocks that came in ({block})"),
        points: seen.windows.into_iter().map(points).collect(),
    });
    if !seen.requests.is_empty() {
        let counted = |(block, requests): (u64, u64)| (block as f64, requests as f64);
        bench.list(ValueList {
            name: "device-reads".into(),
            x,
            y: "read requests at the device".into(),
            points: seen.requests.into_iter().map(counted).collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

    fn parameters(order: ReadOrder) -> PrefetchParameters {
        let mut parameters = PrefetchParameters {
            order,
            wait_ms: 1,
            file_size: crate::parameters::Size::Bytes(256 << 10),
            ..PrefetchParameters::default()
        };
        parameters.settle(Bytes::mib(8)).expect("settles");
        parameters
    }

    #[test]
    fn every_block_is_read_once_and_what_came_in_is_no_more_than_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        for order in [ReadOrder::Sequential, ReadOrder::Random] {
            let finished = prefetch(&parameters(order), &context).expect("reads");
            let reads = finished.measured.latency("read").expect("reads").count();
            assert!(reads >= 64, "{reads}");
            let list = &finished.lists[0];
            assert_eq!(list.name, "readahead-window");
            let blocks: f64 = list.points.iter().map(|(_, blocks)| blocks).sum();
            let said = |word: &str| finished.notes.iter().any(|note| note.contains(word));
            // Another test may drop the caches of the whole machine.
            assert!(blocks <= 64.0 || said("twice"), "{list:?}");
            assert!(blocks > 0.0 || said("no read waited"), "{list:?}");
        }
    }

    #[test]
    fn random_order_is_decided_by_the_seed_and_has_every_block() {
        let parameters = parameters(ReadOrder::Random);
        let mut first = order(&parameters, 1);
        assert_eq!(first, order(&parameters, 1));
        assert_ne!(first, order(&parameters, 2));
        first.sort_unstable();
        assert!(first.into_iter().eq(0..64));
    }
}
