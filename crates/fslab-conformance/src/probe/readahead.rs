//! The kernel's readahead: a cold file is read block by block; after each read the newly resident
//! pages are counted.

use fslab_sys::os::FileExt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fslab_engine::{EngineKind, RunContext, evict};
use fslab_job::{Finished, RunError};
use fslab_model::{Bytes, FailureKind, ValueList, definitions};

use super::parameters::{PrefetchParameters, ReadOrder};
use super::recorder::{ProbeRecorder, must, synthetic_probe};
use super::waits;
use fslab_stats::CounterRandom;

/// Polls of a count that keeps changing, before it is taken as it is.
const POLLS_MAX: u32 = 500;
/// Reads of a cached block, to measure its time.
const REREADS: usize = 15;
/// Random stream of the order.
const STREAM: u64 = 5_000;

/// Reads the file and finds the windows.
pub(crate) fn prefetch(
    parameters: &PrefetchParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    let bytes = parameters.file_size.bytes();
    if context.engine == EngineKind::Null {
        return Ok(synthetic_probe(parameters.blocks(), bytes));
    }
    let mut recorder = ProbeRecorder::new(context);
    let path = prepare(&mut recorder, parameters)?;
    let root = context.outer_path(&context.root);
    if let Ok(kib) = context.outside(|| fslab_sys::read_ahead_kib(&root)) {
        recorder.figure(&definitions::READAHEAD_LIMIT, (kib * 1024) as f64);
    } else {
        recorder.note("the kernel reports no readahead limit here");
    }
    let order = order(parameters, context.seed);
    let file = must("open", &path, File::open(&path))?;
    let reader = FileReader {
        path: &path,
        file: &file,
        block_bytes: parameters.block.0,
        wait: Duration::from_millis(parameters.wait_ms),
    };
    let seen = match reader.by_residency(&mut recorder, &order)? {
        Some(seen) => seen,
        None => reader.by_time(&mut recorder, &order, parameters.order)?,
    };
    report(&mut recorder, seen, parameters.block);
    Ok(recorder.finish())
}

/// Creates the file if missing, and evicts it from the page cache.
fn prepare(
    recorder: &mut ProbeRecorder<'_>,
    parameters: &PrefetchParameters,
) -> Result<PathBuf, RunError> {
    let bytes = parameters.file_size.bytes();
    let path = recorder.context().root.join(&parameters.file);
    let is_there = std::fs::metadata(&path).is_ok_and(|it| it.len() == bytes);
    if !is_there {
        recorder.write_file(&parameters.file, bytes)?;
        recorder.note("this phase created the file: its inode and block map were cached");
    }
    let file = must("open", &path, File::open(&path))?;
    // A file without resident pages is not evicted, since eviction reads its block map.
    let resident = fslab_sys::resident_pages(&file);
    drop(file);
    if resident.is_ok_and(|pages| pages == 0) {
        return Ok(path);
    }
    match evict(&[&path]) {
        // Without eviction the file is read as it is; the times show what was cached.
        Err(error) if error.kind() == FailureKind::Unsupported => {}
        evicted => evicted?,
    }
    Ok(path)
}

fn order(parameters: &PrefetchParameters, seed: u64) -> Vec<u64> {
    let mut order: Vec<u64> = (0..parameters.blocks()).collect();
    if parameters.order == ReadOrder::Random {
        CounterRandom::counter(seed, STREAM).shuffle(&mut order);
    }
    order
}

/// Results of a pass.
struct Observed {
    /// Block read, and number of blocks that became resident.
    windows: Vec<(u64, f64)>,
    /// Block read, and device reads that it caused; empty without counters.
    requests: Vec<(u64, u64)>,
    /// Device reads of the first block.
    first_requests: Option<u64>,
}

/// One pass over a file.
struct FileReader<'a> {
    path: &'a Path,
    file: &'a File,
    block_bytes: u64,
    wait: Duration,
}

impl FileReader<'_> {
    /// Counts resident pages after each read. `None` if the count is not usable: pages are resident
    /// before they are read, or not afterwards.
    fn by_residency(
        &self,
        recorder: &mut ProbeRecorder<'_>,
        order: &[u64],
    ) -> Result<Option<Observed>, RunError> {
        let page_bytes = fslab_sys::page_bytes() as f64;
        let mut seen = Observed::new();
        let Ok(mut before) = fslab_sys::resident_pages(self.file) else {
            recorder.note("mincore(2) is not available here");
            return Ok(None);
        };
        if before > 0 {
            let pages = format!("mincore(2) says that {before} pages of a cold file are resident");
            recorder.note(pages);
            return Ok(None);
        }
        for block in order {
            let counters = recorder.counters();
            self.read(recorder, *block)?;
            let after = self.stable_page_count(recorder)?;
            if after == 0 {
                recorder.note("mincore(2) says that a block that was just read is not resident");
                self.evict_file(recorder)?;
                return Ok(None);
            }
            if after < before {
                recorder.note(
                    "pages of the file were evicted meanwhile: some blocks may be counted twice",
                );
            }
            if after > before {
                let pages = (after - before) as f64;
                let blocks = pages * page_bytes / self.block_bytes as f64;
                seen.windows.push((*block, blocks));
            }
            before = after;
            let passed = counters
                .zip(recorder.counters())
                .and_then(|(before, after)| after.reads.checked_sub(before.reads));
            seen.add_requests(*block, passed);
        }
        Ok(Some(seen))
    }

    /// The count of resident pages once it is stable and the device is idle: readahead is
    /// asynchronous.
    fn stable_page_count(&self, recorder: &ProbeRecorder<'_>) -> Result<u64, RunError> {
        let count = || fslab_sys::resident_pages(self.file);
        let mut pages = must("count resident pages of", self.path, count())?;
        for _ in 0..POLLS_MAX {
            recorder.check_stop()?;
            std::thread::sleep(self.wait);
            let now = must("count resident pages of", self.path, count())?;
            if now == pages && !recorder.is_device_busy() {
                break;
            }
            pages = now;
        }
        Ok(pages)
    }

    /// Finds windows by the duration of each read.
    fn by_time(
        &self,
        recorder: &mut ProbeRecorder<'_>,
        order: &[u64],
        reads: ReadOrder,
    ) -> Result<Observed, RunError> {
        recorder.note(
            "windows are the distances between reads that waited for the device, by duration",
        );
        let mut seen = Observed::new();
        let mut times_ns = Vec::with_capacity(order.len());
        for block in order {
            let before = recorder.counters().filter(|_| times_ns.is_empty());
            times_ns.push(self.read(recorder, *block)?);
            let passed = before
                .zip(recorder.counters())
                .and_then(|(before, after)| after.reads.checked_sub(before.reads));
            seen.first_requests = seen.first_requests.or(passed);
        }
        let reread_ns = self.memory_read_ns(recorder, order)?;
        let windows = if fslab_sys::is_in_memory(self.path).unwrap_or(false) {
            Vec::new()
        } else {
            waits::windows(&waits::Times {
                reads_ns: &times_ns,
                reread_ns,
            })
        };
        if windows.is_empty() {
            recorder.note("no read waited for a device: the file is in memory despite eviction");
        }
        // In random order, reads in between are not served by the window.
        let serves = |blocks: u64| match reads {
            ReadOrder::Sequential => blocks as f64,
            ReadOrder::Random => 1.0,
        };
        let window = |(place, blocks): (usize, u64)| (order[place], serves(blocks));
        seen.windows = windows.into_iter().map(window).collect();
        Ok(seen)
    }

    /// Median duration of cached reads, in nanoseconds.
    fn memory_read_ns(
        &self,
        recorder: &mut ProbeRecorder<'_>,
        order: &[u64],
    ) -> Result<u64, RunError> {
        let last = order.last().copied().unwrap_or(0);
        let mut times_ns = Vec::new();
        for _ in 0..REREADS {
            times_ns.push(self.read(recorder, last)?);
        }
        times_ns.sort_unstable();
        Ok(times_ns[REREADS / 2])
    }

    /// Reads a block; returns the duration in nanoseconds.
    fn read(&self, recorder: &mut ProbeRecorder<'_>, block: u64) -> Result<u64, RunError> {
        let mut into = vec![0; usize::try_from(self.block_bytes).unwrap_or(usize::MAX)];
        let offset = block * self.block_bytes;
        let (_, passed_ns) = recorder.timed("read", self.path, || {
            self.file.read_exact_at(&mut into, offset)
        })?;
        recorder.add_bytes(self.block_bytes);
        Ok(passed_ns)
    }

    /// Evicts the file if that is supported.
    fn evict_file(&self, recorder: &ProbeRecorder<'_>) -> Result<(), RunError> {
        recorder.check_stop()?;
        match evict(&[self.path]) {
            Err(error) if error.kind() == FailureKind::Unsupported => Ok(()),
            evicted => Ok(evicted?),
        }
    }
}

impl Observed {
    fn new() -> Self {
        Self {
            windows: Vec::new(),
            requests: Vec::new(),
            first_requests: None,
        }
    }

    fn add_requests(&mut self, block: u64, requests: Option<u64>) {
        self.first_requests = self.first_requests.or(requests);
        self.requests
            .extend(requests.filter(|it| *it > 0).map(|it| (block, it)));
    }
}

fn report(recorder: &mut ProbeRecorder<'_>, seen: Observed, block: Bytes) {
    if let Some((_, first)) = seen.windows.first() {
        recorder.figure(&definitions::READAHEAD_FIRST, *first);
    }
    if let Some(largest) = seen
        .windows
        .iter()
        .map(|(_, blocks)| *blocks)
        .reduce(f64::max)
    {
        recorder.figure(&definitions::READAHEAD_LARGEST, largest);
    }
    if let Some(requests) = seen.first_requests {
        recorder.figure(&definitions::FIRST_READ_DEVICE_READS, requests as f64);
    }
    let x = format!("block read ({block})");
    let points = |(block, value): (u64, f64)| (block as f64, value);
    recorder.list(ValueList {
        name: "readahead-window".into(),
        x: x.clone(),
        y: format!("blocks that came in ({block})"),
        points: seen.windows.into_iter().map(points).collect(),
    });
    if !seen.requests.is_empty() {
        let counted = |(block, requests): (u64, u64)| (block as f64, requests as f64);
        recorder.list(ValueList {
            name: "device-reads".into(),
            x,
            y: "read requests at the device".into(),
            points: seen.requests.into_iter().map(counted).collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use fslab_job::Job;

    use super::*;

    fn parameters(order: ReadOrder) -> PrefetchParameters {
        let mut parameters = PrefetchParameters {
            order,
            wait_ms: 1,
            file_size: fslab_model::Size::Bytes(256 << 10),
            ..PrefetchParameters::default()
        };
        parameters.resolve(Bytes::mib(8)).expect("resolves");
        parameters
    }

    #[test]
    fn every_block_is_read_once_and_no_more_than_the_file_becomes_resident() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        for order in [ReadOrder::Sequential, ReadOrder::Random] {
            let finished = prefetch(&parameters(order), &context).expect("reads");
            let reads = finished.measured.latency("read").expect("reads").count();
            assert!(reads >= 64, "{reads}");
            let list = &finished.lists[0];
            assert_eq!(list.name, "readahead-window");
            let blocks: f64 = list.points.iter().map(|(_, blocks)| blocks).sum();
            let said = |word: &str| finished.notes.iter().any(|note| note.contains(word));
            // Another test may drop the machine's caches.
            assert!(blocks <= 64.0 || said("twice"), "{list:?}");
            assert!(blocks > 0.0 || said("no read waited"), "{list:?}");
        }
    }

    #[test]
    fn random_order_follows_from_the_seed_and_has_every_block() {
        let parameters = parameters(ReadOrder::Random);
        let mut first = order(&parameters, 1);
        assert_eq!(first, order(&parameters, 1));
        assert_ne!(first, order(&parameters, 2));
        first.sort_unstable();
        assert!(first.into_iter().eq(0..64));
    }
}
