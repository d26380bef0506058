//! The inline threshold: files of rising size are made until one has a data block of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fslab_engine::{EngineKind, RunContext};
use fslab_model::{ValueList, definitions};

use super::bench::{Bench, must, synthetic_probe};
use super::evidence::{Evidence, Seen};
use super::inline_gain::GainTrees;
use super::parameters::InlineParameters;
use crate::workload::{Finished, RunError};

/// No file system stores so much without a block.
const REFERENCE_BYTES: u64 = 256 << 10;

/// Finds the threshold, and what it gains.
pub(crate) fn inline_probe(
    parameters: &InlineParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        let sizes = parameters.largest.0 / parameters.step.0;
        return Ok(synthetic_probe(sizes, sizes * parameters.largest.0 / 2));
    }
    let mut bench = Bench::new(context);
    let folder = context.root.join(&parameters.directory);
    if let Err(error) = fs::remove_dir_all(&folder)
        && error.kind() != io::ErrorKind::NotFound
    {
        // What an earlier phase of this kind kept.
        must("remove", &folder, Err(error))?;
    }
    must("create", &folder, fs::create_dir(&folder))?;
    let mut search = Search {
        bench: &mut bench,
        parameters,
        seen: BTreeMap::new(),
        requests: BTreeMap::new(),
        made: BTreeSet::new(),
    };
    let threshold = search.run()?;
    for size in search.made {
        let path = file_of(&folder, size);
        must("remove", &path, fs::remove_file(&path))?;
    }
    if let Some(threshold) = threshold {
        bench.figure(&definitions::INLINE_THRESHOLD, threshold as f64);
        gain(&mut bench, parameters, threshold)?;
    }
    Ok(bench.finish())
}

struct Search<'a, 'b> {
    bench: &'a mut Bench<'b>,
    parameters: &'a InlineParameters,
    seen: BTreeMap<u64, Seen>,
    /// Read requests that a cold read needed beyond the file's inode, by size.
    requests: BTreeMap<u64, u64>,
    /// The files that are there, by size.
    made: BTreeSet<u64>,
}

impl Search<'_, '_> {
    /// The largest size without a block; `None` where nothing tells.
    fn run(&mut self) -> Result<Option<u64>, RunError> {
        let reference = self.look_at(REFERENCE_BYTES)?;
        let (step, largest) = (self.parameters.step.0, self.parameters.largest.0);
        for size in (1..=largest / step).map(|turn| turn * step) {
            let seen = self.look_at(size)?;
            self.seen.insert(size, seen);
        }
        let all: Vec<Seen> = self.seen.values().copied().collect();
        let believed = Evidence::ALL.map(|it| it.is_believed(&reference, &all).then_some(it));
        let chosen = believed.into_iter().flatten().next();
        let threshold = match chosen {
            Some(evidence) => Some(self.refine(evidence)?),
            None => None,
        };
        let by_device = self.ask_device(threshold)?;
        self.conclude(chosen, threshold, by_device);
        Ok(threshold.or(by_device))
    }

    /// Between the largest size that is inline and the next step, to the byte.
    fn refine(&mut self, evidence: Evidence) -> Result<u64, RunError> {
        let is_inline = |seen: &Seen| evidence.judge(seen) == Some(true);
        let largest = self.seen.values().rfind(|seen| is_inline(seen));
        let (mut inline, step) = (largest.map_or(0, |seen| seen.size), self.parameters.step.0);
        let below = self.seen.range(..inline);
        if let Some((size, _)) = below.into_iter().find(|(_, seen)| !is_inline(seen)) {
            let text = format!("a file of {size} B has a data block, and a larger one has none");
            self.bench.note(text);
        }
        let mut beyond = inline + step;
        if beyond > self.parameters.largest.0 {
            let text = "even the largest size that was tried has no data block: the threshold may \
                        be larger";
            if inline > 0 {
                self.bench.note(text);
                return Ok(inline);
            }
        }
        while beyond - inline > 1 {
            let middle = inline + (beyond - inline) / 2;
            let seen = self.look_at(middle)?;
            self.seen.insert(middle, seen);
            if is_inline(&seen) {
                inline = middle;
            } else {
                beyond = middle;
            }
        }
        Ok(inline)
    }

    fn look_at(&mut self, size: u64) -> Result<Seen, RunError> {
        let path = self.make(size)?;
        let file = must("open", &path, File::open(&path))?;
        must("look at the blocks of", &path, Seen::of(&file))
    }

    /// The file of that size, made where it is not there.
    fn make(&mut self, size: u64) -> Result<PathBuf, RunError> {
        let name = file_of(&self.parameters.directory, size);
        if self.made.insert(size) {
            self.bench.write_file(&name, size)?;
        }
        Ok(self.bench.context().root.join(&name))
    }

    /// Where the device has to be read besides the inode, there is a data block. With a threshold
    /// only its two sides are looked at, else it is searched for.
    fn ask_device(&mut self, threshold: Option<u64>) -> Result<Option<u64>, RunError> {
        if !self.bench.has_device() {
            self.bench
                .note("what the device read is not known: no device stands below the directory");
            return Ok(None);
        }
        match self.requests_of(REFERENCE_BYTES)? {
            None => return Ok(None),
            Some(0) => {
                self.bench.note(
                    "what the device reads tells nothing: even a large file that the kernel had \
                     forgotten needed no request",
                );
                return Ok(None);
            }
            Some(_) => {}
        }
        let mut inline = 0;
        if let Some(threshold) = threshold {
            for size in [threshold, threshold + 1] {
                if size > 0 && self.requests_of(size)? == Some(0) {
                    inline = size;
                }
            }
            return Ok(Some(inline));
        }
        let mut beyond = self.parameters.largest.0 + 1;
        while beyond - inline > 1 {
            let middle = inline + (beyond - inline) / 2;
            match self.requests_of(middle)? {
                Some(0) => inline = middle,
                _ => beyond = middle,
            }
        }
        Ok(Some(inline))
    }

    /// Read requests for the content of a file of that size whose inode is in memory; `None` where
    /// the kernel cannot be made to forget it.
    fn requests_of(&mut self, size: u64) -> Result<Option<u64>, RunError> {
        let path = self.make(size)?;
        if !forget(self.bench)? {
            return Ok(None);
        }
        must("look at", &path, fs::metadata(&path))?;
        let mut file = must("open", &path, File::open(&path))?;
        let before = self.bench.counters();
        let mut content = Vec::new();
        self.bench
            .timed("read", &path, || file.read_to_end(&mut content))?;
        self.bench.moved(content.len() as u64);
        let requests = before
            .zip(self.bench.counters())
            .and_then(|(before, after)| after.reads.checked_sub(before.reads));
        if let Some(requests) = requests {
            self.requests.insert(size, requests);
        }
        Ok(requests)
    }

    /// Says what decided, and what contradicts it.
    fn conclude(
        &mut self,
        chosen: Option<Evidence>,
        threshold: Option<u64>,
        by_device: Option<u64>,
    ) {
        let decided = match (chosen, by_device) {
            (Some(evidence), _) => format!("the threshold was decided by {}", evidence.name()),
            (None, Some(_)) => "the threshold was decided by what the device read".to_owned(),
            (None, None) => "nothing tells whether files have data blocks here".to_owned(),
        };
        self.bench.note(decided);
        if let (Some(threshold), Some(by_device)) = (threshold, by_device)
            && threshold != by_device
        {
            let says = if by_device > threshold {
                format!("a cold file of {by_device} B was read without a request of its own")
            } else {
                format!("a cold file of {threshold} B was read with a request of its own")
            };
            self.bench
                .note(format!("the device says otherwise: {says}"));
        }
        let point = |(x, y): (u64, u64)| (x as f64, y as f64);
        let list = |name: &str, y: &str, points: Vec<(f64, f64)>| ValueList {
            name: name.into(),
            x: "size (B)".into(),
            y: y.into(),
            points,
        };
        if let Some(evidence) = chosen {
            let judged = |seen: &Seen| u64::from(evidence.judge(seen) == Some(true));
            let points = self
                .seen
                .values()
                .map(|seen| point((seen.size, judged(seen))));
            let points = points.collect();
            self.bench
                .list(list("inline-evidence", "1: without a data block", points));
        }
        let blocks = self.seen.values();
        let blocks = blocks.map(|seen| point((seen.size, seen.blocks * 512)));
        let blocks = blocks.collect();
        self.bench
            .list(list("inline-blocks", "room taken, st_blocks (B)", blocks));
        if !self.requests.is_empty() {
            let requests = self.requests.iter().map(|(size, it)| point((*size, *it)));
            let requests = requests.collect();
            let y = "read requests beyond the inode";
            self.bench.list(list("inline-device-reads", y, requests));
        }
    }
}

fn file_of(directory: &Path, size: u64) -> PathBuf {
    directory.join(format!("s{size:06}"))
}

/// Has the kernel forget everything that it can; gives whether it may be told to.
fn forget(bench: &mut Bench<'_>) -> Result<bool, RunError> {
    let root = bench.context().root.clone();
    must("sync", &root, fslab_sys::sync_file_system(&root))?;
    if let Err(error) = bench.context().outside(fslab_sys::drop_caches) {
        bench.note(format!(
            "names and inodes stayed in memory: caches cannot be dropped: {error}"
        ));
        return Ok(false);
    }
    Ok(true)
}

/// Makes files of the threshold and files of a byte more, and keeps them for `inline-read`.
fn gain(
    bench: &mut Bench<'_>,
    parameters: &InlineParameters,
    threshold: u64,
) -> Result<(), RunError> {
    if parameters.files == 0 {
        return Ok(());
    }
    if threshold == 0 {
        bench.note("no file is stored without a data block: there is no gain to measure");
        return Ok(());
    }
    GainTrees::new(parameters, threshold).make(bench)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;
    use fslab_model::Bytes;

    #[test]
    fn the_machines_own_file_system_has_a_threshold_or_it_is_said_that_nothing_tells() {
        let folder = tempfile::tempdir().expect("a folder");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let mut parameters = InlineParameters {
            largest: Bytes(4_096),
            step: Bytes(512),
            files: 0,
            ..InlineParameters::default()
        };
        parameters.settle(Bytes::mib(8)).expect("settles");
        let finished = inline_probe(&parameters, &context).expect("looks");
        let threshold = finished.figures.get("inline_threshold_bytes");
        let told = finished.notes.iter().any(|it| it.contains("nothing tells"));
        assert_eq!(threshold.is_none(), told, "{:?}", finished.notes);
        assert!(threshold.is_none_or(|bytes| *bytes <= 4_096.0));
        let kept = fs::read_dir(folder.path().join("inline")).expect("lists");
        assert_eq!(kept.count(), 0, "the files that were tried are gone");
    }
}
