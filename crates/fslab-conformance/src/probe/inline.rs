//! The inline threshold: the largest file without a data block, found with files of rising size.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, RunError};
use fslab_model::{ValueList, definitions};

use super::evidence::{Evidence, Observation};
use super::inline_gain::GainTrees;
use super::parameters::InlineParameters;
use super::recorder::{ProbeRecorder, must, synthetic_probe};

/// Size of the reference file: no file system stores that much inline.
const REFERENCE_BYTES: u64 = 256 << 10;

/// Finds the threshold, and creates the files that show its gain.
pub(crate) fn inline_probe(
    parameters: &InlineParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        let sizes = parameters.largest.0 / parameters.step.0;
        return Ok(synthetic_probe(sizes, sizes * parameters.largest.0 / 2));
    }
    let mut recorder = ProbeRecorder::new(context);
    let folder = context.root.join(&parameters.directory);
    if let Err(error) = fs::remove_dir_all(&folder)
        && error.kind() != io::ErrorKind::NotFound
    {
        // An earlier inline-probe may have kept files.
        must("remove", &folder, Err(error))?;
    }
    must("create", &folder, fs::create_dir(&folder))?;
    let mut search = Search {
        recorder: &mut recorder,
        parameters,
        seen: BTreeMap::new(),
        requests: BTreeMap::new(),
        made: BTreeSet::new(),
    };
    let threshold = search.run()?;
    for size in search.made {
        let path = file_path(&folder, size);
        must("remove", &path, fs::remove_file(&path))?;
    }
    if let Some(threshold) = threshold {
        recorder.figure(&definitions::INLINE_THRESHOLD, threshold as f64);
        create_gain_trees(&mut recorder, parameters, threshold)?;
    }
    Ok(recorder.finish())
}

struct Search<'a, 'b> {
    recorder: &'a mut ProbeRecorder<'b>,
    parameters: &'a InlineParameters,
    seen: BTreeMap<u64, Observation>,
    /// Device reads of the file's content with the inode cached, by size.
    requests: BTreeMap<u64, u64>,
    /// Sizes of the files that exist.
    made: BTreeSet<u64>,
}

impl Search<'_, '_> {
    /// The largest inline size; `None` if it cannot be determined.
    fn run(&mut self) -> Result<Option<u64>, RunError> {
        let reference = self.observe(REFERENCE_BYTES)?;
        let (step, largest) = (self.parameters.step.0, self.parameters.largest.0);
        for size in (1..=largest / step).map(|turn| turn * step) {
            let seen = self.observe(size)?;
            self.seen.insert(size, seen);
        }
        let all: Vec<Observation> = self.seen.values().copied().collect();
        let reliable = Evidence::ALL.map(|it| it.is_reliable(&reference, &all).then_some(it));
        let chosen = reliable.into_iter().flatten().next();
        let threshold = match chosen {
            Some(evidence) => Some(self.refine(evidence)?),
            None => None,
        };
        let by_device = self.search_by_device_reads(threshold)?;
        self.conclude(chosen, threshold, by_device);
        Ok(threshold.or(by_device))
    }

    /// Bisects to the byte between the largest inline size and the next step.
    fn refine(&mut self, evidence: Evidence) -> Result<u64, RunError> {
        let is_inline = |seen: &Observation| evidence.is_inline(seen) == Some(true);
        let largest = self.seen.values().rfind(|seen| is_inline(seen));
        let (mut inline, step) = (largest.map_or(0, |seen| seen.size), self.parameters.step.0);
        let below = self.seen.range(..inline);
        if let Some((size, _)) = below.into_iter().find(|(_, seen)| !is_inline(seen)) {
            let text = format!("a file of {size} B has a data block, and a larger one has none");
            self.recorder.note(text);
        }
        let mut beyond = inline + step;
        if beyond > self.parameters.largest.0 {
            let text = "even the largest size tried has no data block: the threshold may be larger";
            if inline > 0 {
                self.recorder.note(text);
                return Ok(inline);
            }
        }
        while beyond - inline > 1 {
            let middle = inline + (beyond - inline) / 2;
            let seen = self.observe(middle)?;
            self.seen.insert(middle, seen);
            if is_inline(&seen) {
                inline = middle;
            } else {
                beyond = middle;
            }
        }
        Ok(inline)
    }

    fn observe(&mut self, size: u64) -> Result<Observation, RunError> {
        let path = self.make(size)?;
        let file = must("open", &path, File::open(&path))?;
        must("look at the blocks of", &path, Observation::of(&file))
    }

    /// The file of that size; created if missing.
    fn make(&mut self, size: u64) -> Result<PathBuf, RunError> {
        let name = file_path(&self.parameters.directory, size);
        if self.made.insert(size) {
            self.recorder.write_file(&name, size)?;
        }
        Ok(self.recorder.context().root.join(&name))
    }

    /// Finds the threshold by device reads: a file whose content needs none is inline. With a known
    /// `threshold` only the sizes around it are checked, else it is bisected.
    fn search_by_device_reads(&mut self, threshold: Option<u64>) -> Result<Option<u64>, RunError> {
        if !self.recorder.has_device() {
            self.recorder
                .note("device reads are not known: the directory is not on a device");
            return Ok(None);
        }
        match self.content_reads(REFERENCE_BYTES)? {
            None => return Ok(None),
            Some(0) => {
                self.recorder.note(
                    "device reads do not show it: even a large file that was dropped from the \
                    cache needed none",
                );
                return Ok(None);
            }
            Some(_) => {}
        }
        let mut inline = 0;
        if let Some(threshold) = threshold {
            for size in [threshold, threshold + 1] {
                if size > 0 && self.content_reads(size)? == Some(0) {
                    inline = size;
                }
            }
            return Ok(Some(inline));
        }
        let mut beyond = self.parameters.largest.0 + 1;
        while beyond - inline > 1 {
            let middle = inline + (beyond - inline) / 2;
            match self.content_reads(middle)? {
                Some(0) => inline = middle,
                _ => beyond = middle,
            }
        }
        Ok(Some(inline))
    }

    /// Device reads for the content of a file of that size, with its inode cached; `None` if caches
    /// cannot be dropped.
    fn content_reads(&mut self, size: u64) -> Result<Option<u64>, RunError> {
        let path = self.make(size)?;
        if !drop_caches(self.recorder)? {
            return Ok(None);
        }
        must("look at", &path, fs::metadata(&path))?;
        let mut file = must("open", &path, File::open(&path))?;
        let before = self.recorder.counters();
        let mut content = Vec::new();
        self.recorder
            .timed("read", &path, || file.read_to_end(&mut content))?;
        self.recorder.add_bytes(content.len() as u64);
        let requests = before
            .zip(self.recorder.counters())
            .and_then(|(before, after)| after.reads.checked_sub(before.reads));
        if let Some(requests) = requests {
            self.requests.insert(size, requests);
        }
        Ok(requests)
    }

    /// Notes which evidence decided, and contradictions; adds the value lists.
    fn conclude(
        &mut self,
        chosen: Option<Evidence>,
        threshold: Option<u64>,
        by_device: Option<u64>,
    ) {
        let decided = match (chosen, by_device) {
            (Some(evidence), _) => format!("the threshold was decided by {}", evidence.name()),
            (None, Some(_)) => "the threshold was decided by device reads".to_owned(),
            (None, None) => "no evidence shows here whether files have data blocks".to_owned(),
        };
        self.recorder.note(decided);
        if let (Some(threshold), Some(by_device)) = (threshold, by_device)
            && threshold != by_device
        {
            let (size, with) = if by_device > threshold {
                (by_device, "without")
            } else {
                (threshold, "with")
            };
            self.recorder.note(format!(
                "device reads disagree: a cold file of {size} B was read {with} one for its content"
            ));
        }
        let point = |(x, y): (u64, u64)| (x as f64, y as f64);
        let list = |name: &str, y: &str, points: Vec<(f64, f64)>| ValueList {
            name: name.into(),
            x: "size (B)".into(),
            y: y.into(),
            points,
        };
        if let Some(evidence) = chosen {
            let judged = |seen: &Observation| u64::from(evidence.is_inline(seen) == Some(true));
            let points = self
                .seen
                .values()
                .map(|seen| point((seen.size, judged(seen))));
            let points = points.collect();
            self.recorder
                .list(list("inline-evidence", "1: without a data block", points));
        }
        let blocks = self.seen.values();
        let blocks = blocks.map(|seen| point((seen.size, seen.blocks * 512)));
        let blocks = blocks.collect();
        self.recorder
            .list(list("inline-blocks", "room taken, st_blocks (B)", blocks));
        if !self.requests.is_empty() {
            let requests = self.requests.iter().map(|(size, it)| point((*size, *it)));
            let requests = requests.collect();
            let y = "read requests beyond the inode";
            self.recorder.list(list("inline-device-reads", y, requests));
        }
    }
}

fn file_path(directory: &Path, size: u64) -> PathBuf {
    directory.join(format!("s{size:06}"))
}

/// Syncs and drops the kernel's caches; false if that is not permitted.
fn drop_caches(recorder: &mut ProbeRecorder<'_>) -> Result<bool, RunError> {
    let root = recorder.context().root.clone();
    must("sync", &root, fslab_sys::sync_file_system(&root))?;
    if let Err(error) = recorder.context().outside(fslab_sys::drop_caches) {
        recorder.note(format!(
            "names and inodes stayed cached: caches cannot be dropped: {error}"
        ));
        return Ok(false);
    }
    Ok(true)
}

/// Creates files at the threshold and one byte above it, and keeps them for `inline-read`.
fn create_gain_trees(
    recorder: &mut ProbeRecorder<'_>,
    parameters: &InlineParameters,
    threshold: u64,
) -> Result<(), RunError> {
    if parameters.files == 0 {
        return Ok(());
    }
    if threshold == 0 {
        recorder.note("no file is stored without a data block: there is no gain to measure");
        return Ok(());
    }
    GainTrees::new(parameters, threshold).make(recorder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_job::Job;
    use fslab_model::Bytes;

    #[test]
    fn the_machines_file_system_has_a_threshold_or_a_note_says_that_there_is_no_evidence() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let mut parameters = InlineParameters {
            largest: Bytes(4_096),
            step: Bytes(512),
            files: 0,
            ..InlineParameters::default()
        };
        parameters.resolve(Bytes::mib(8)).expect("resolves");
        let finished = inline_probe(&parameters, &context).expect("looks");
        let threshold = finished.figures.get("inline_threshold_bytes");
        let is_noted = finished.notes.iter().any(|it| it.contains("no evidence"));
        assert_eq!(threshold.is_none(), is_noted, "{:?}", finished.notes);
        assert!(threshold.is_none_or(|bytes| *bytes <= 4_096.0));
        let kept = fs::read_dir(folder.path().join("inline")).expect("lists");
        assert_eq!(kept.count(), 0, "the files that were tried are gone");
    }
}
