//! fio's normal output, the one for people, of version 3: each execution as a document of its JSON.
//!
//! It has four options of a job, in a line before the version, and rounded figures; the number of
//! operations and the time are exact. Bytes are the operations times the record, if that agrees
//! with the rounded size. Blocks of one process are snapshots of it (`--status-interval`), of which
//! the last counts.

use serde_json::{Map, Value, json};

use super::fio_text_units::{bytes, latencies, percentiles, unit_ns};
use super::json_documents::Document;
use crate::error::Fault;

/// The directions in the order of the numbers of operations.
const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
const ALL: &str = "mixed";
const HINT: &str = "import the complete output, or run fio with --output-format=json+";
/// The option that says which others are known.
pub(crate) const KNOWN_OPTIONS: &str = "known_options";

/// True for the first line of a job's results.
pub(super) fn is_mark(line: &str) -> bool {
    line.contains(": (groupid=") && line.contains(", jobs=") && line.contains("): err=")
}

/// Every execution with results.
pub(super) fn documents(text: &str) -> Result<Vec<Document>, Fault> {
    let mut executions: Vec<Execution> = vec![Execution::default()];
    let mut heads: Vec<Head> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if is_mark(line) {
            let block = Block::of(number, line)?;
            let execution = executions.last_mut().expect("one was opened");
            execution.heads.append(&mut heads);
            let blocks = &mut execution.blocks;
            blocks.retain(|known| known.process != block.process);
            blocks.push(block);
        } else if let Some(head) = Head::of(number, line) {
            heads.push(head);
        } else if is_version(line) {
            let heads = std::mem::take(&mut heads);
            executions.push(Execution {
                line: number,
                version: line,
                heads,
                ..Execution::default()
            });
        } else if line.starts_with("Run status group ") {
            let execution = executions.last_mut().expect("one was opened");
            execution.has_end = true;
        } else if let Some(block) = executions.last_mut().and_then(|it| it.blocks.last_mut()) {
            block.line(number, line)?;
        }
    }
    let done = executions.iter().filter(|it| !it.blocks.is_empty());
    done.map(Execution::document).collect()
}

/// `fio-3.33`, alone in its line.
fn is_version(line: &str) -> bool {
    let version = line.strip_prefix("fio-").unwrap_or_default();
    version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains([' ', ';', ','])
}

#[derive(Default)]
struct Execution<'t> {
    line: usize,
    version: &'t str,
    heads: Vec<Head<'t>>,
    blocks: Vec<Block<'t>>,
    /// True if the groups follow the jobs: without them further processes may be cut off.
    has_end: bool,
}

impl Execution<'_> {
    fn document(&self) -> Result<Document, Fault> {
        if !self.version.is_empty() && !self.version.starts_with("fio-3.") {
            let wanted = "version 3, the only one of which this output is read";
            return Err(
                Fault::value(format!("line {}", self.line), self.version, wanted)
                    .hint("run fio with --output-format=json"),
            );
        }
        if !self.has_end {
            let missing = "there is no line 'Run status group N' behind the jobs";
            return Err(Fault::truncated("", missing).hint(HINT));
        }
        for (at, head) in self.heads.iter().enumerate() {
            let is_same = |other: &Head| (other.name, other.group) == (head.name, head.group);
            if self.heads[..at].iter().any(is_same) {
                let wanted = "a name of one job: its options are not in this output";
                return Err(
                    Fault::value(format!("line {}", head.line), head.name, wanted)
                        .hint("run fio with --output-format=json+"),
                );
            }
        }
        let mut jobs: Vec<Value> = Vec::new();
        for block in &self.blocks {
            let is_of = |head: &&Head| (head.name, head.group) == (block.name, block.group);
            // A group that is reported as one has the number of its first job.
            jobs.push(block.job(self.heads.iter().find(is_of))?);
        }
        Ok(Document {
            line: self.blocks.first().map_or(self.line, |block| block.line),
            value: json!({ "fio version": self.version, "jobs": jobs }),
        })
    }
}

/// `w: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) ..., ioengine=psync, iodepth=1`.
struct Head<'t> {
    line: usize,
    name: &'t str,
    group: u64,
    rest: &'t str,
}

impl<'t> Head<'t> {
    fn of(line: usize, text: &'t str) -> Option<Self> {
        let (name, rest) = text.split_once(": (g=")?;
        let (group, rest) = rest.split_once("): ")?;
        let group = group.parse().ok()?;
        rest.starts_with("rw=").then_some(Self {
            line,
            name,
            group,
            rest,
        })
    }

    fn options(&self) -> Map<String, Value> {
        let mut options = Map::new();
        for part in self.rest.split(", ") {
            if let Some((name, value)) = part.split_once('=')
                && ["rw", "ioengine", "iodepth"].contains(&name)
            {
                options.insert(name.to_owned(), value.into());
            }
        }
        let sizes = [self.block("(R) "), self.block("(W) ")];
        if let [Some(read), Some(write)] = sizes {
            let both = match read == write {
                true => read.to_string(),
                false => format!("{read},{write}"),
            };
            options.insert("bs".to_owned(), both.into());
        }
        options.insert(KNOWN_OPTIONS.to_owned(), "rw, bs, ioengine, iodepth".into());
        options
    }

    /// The size of the records of a direction, if they have one.
    fn block(&self, begin: &str) -> Option<u64> {
        let after = &self.rest[self.rest.find(begin)? + begin.len()..];
        let (min, max) = after.split([',', ' ']).next()?.split_once('-')?;
        (min == max).then(|| bytes(min)).flatten()
    }

    fn block_of(&self, direction: &str) -> Option<u64> {
        match direction {
            "read" => self.block("(R) "),
            "write" => self.block("(W) "),
            _ => None,
        }
    }
}

/// The results of one process, or of a group that is reported as one.
struct Block<'t> {
    line: usize,
    name: &'t str,
    group: u64,
    /// Its first line to the number of the process: equal in snapshots.
    process: &'t str,
    jobs: u64,
    error: u64,
    /// Directions, each with its figures; latencies of fsync(2) belong to none.
    sides: Vec<(&'t str, Map<String, Value>)>,
    is_in_side: bool,
    /// The span whose percentiles follow, with nanoseconds per unit.
    percentiles: Option<(&'static str, f64)>,
    processor: Map<String, Value>,
    operations: Option<Vec<u64>>,
}

impl<'t> Block<'t> {
    fn of(line: usize, text: &'t str) -> Result<Self, Fault> {
        let wrong = || {
            let wanted = "'NAME: (groupid=N, jobs=N): err= N: pid=N'";
            Fault::value(format!("line {line}"), text, wanted).hint(HINT)
        };
        let (name, rest) = text.split_once(": (groupid=").ok_or_else(wrong)?;
        if name.starts_with('<') {
            let fault = Fault::new(format!("line {line}"), "it is of a client (fio --client)");
            return Err(fault.hint("run fio with --output-format=json+"));
        }
        let (group, rest) = rest.split_once(", jobs=").ok_or_else(wrong)?;
        let (jobs, rest) = rest.split_once("): err=").ok_or_else(wrong)?;
        let rest = rest.trim_start();
        let end = rest.find([':', ' ']).ok_or_else(wrong)?;
        let count = |text: &str| text.parse::<u32>().map(u64::from).map_err(|_| wrong());
        let pid = text.rfind(" pid=").ok_or_else(wrong)?;
        let stop = text[pid..].find(": ").map_or(text.len(), |at| pid + at);
        Ok(Self {
            line,
            name,
            group: count(group)?,
            process: &text[..stop],
            jobs: count(jobs)?,
            error: count(&rest[..end])?,
            sides: Vec::new(),
            is_in_side: false,
            percentiles: None,
            processor: Map::new(),
            operations: None,
        })
    }

    fn line(&mut self, at: usize, line: &'t str) -> Result<(), Fault> {
        let wrong = |wanted: &str| Fault::value(format!("line {at}"), line, wanted).hint(HINT);
        if let Some((direction, rest)) = line.split_once(": IOPS=") {
            let side = side(rest).ok_or_else(|| wrong("'IOPS=N, BW=N (N)(BYTES/Nmsec)'"))?;
            let known = DIRECTIONS.into_iter().chain([ALL]);
            if !known.into_iter().any(|known| known == direction) {
                return Err(wrong("a direction: read, write, trim or mixed"));
            }
            self.sides.push((direction, side));
            (self.is_in_side, self.percentiles) = (true, None);
        } else if line.starts_with("fsync/fdatasync") {
            self.is_in_side = false;
        } else if let Some(rest) = line.strip_prefix("issued rwts: total=") {
            let list = rest.split(' ').next().unwrap_or_default().split(',');
            let counts: Result<Vec<u64>, _> =
                list.map(|it| it.parse::<u32>().map(u64::from)).collect();
            self.operations = Some(counts.map_err(|_| wrong("numbers of operations"))?);
            self.is_in_side = false;
        } else if let Some(rest) = line.strip_prefix("cpu ") {
            self.processor(rest);
        } else if self.is_in_side {
            self.latency(line)
                .ok_or_else(|| wrong("latencies of fio"))?;
        }
        Ok(())
    }

    fn processor(&mut self, rest: &str) {
        let rest = rest.trim_start_matches([' ', ':']);
        for part in rest.split(", ") {
            let share = part
                .split_once('=')
                .map(|(name, share)| (name, share.trim_end_matches('%')));
            let share =
                share.and_then(|(name, share)| Some((name, crate::reading::number(share)?)));
            match share {
                Some(("usr", share)) => self.processor.insert("usr_cpu".to_owned(), share.into()),
                Some(("sys", share)) => self.processor.insert("sys_cpu".to_owned(), share.into()),
                _ => None,
            };
        }
    }

    /// Takes a line of latencies of the last direction; `None` if it is damaged.
    fn latency(&mut self, line: &str) -> Option<()> {
        let (_, side) = self.sides.last_mut()?;
        if let Some((head, _)) = line.split_once("percentiles (") {
            let span = match head.trim() {
                "clat" => Some("clat_ns"),
                "lat" => Some("lat_ns"),
                _ => None,
            };
            self.percentiles = span.zip(unit_ns(line));
            return Some(());
        }
        if line.starts_with('|') {
            if let Some((span, unit)) = self.percentiles {
                let span = side.entry(span).or_insert_with(|| json!({}));
                let known = span.as_object_mut()?.entry("percentile");
                known
                    .or_insert_with(|| json!({}))
                    .as_object_mut()?
                    .extend(percentiles(line, unit)?);
            }
            return Some(());
        }
        if let Some((head, rest)) = line.split_once("): min=") {
            let span = match head.split(' ').next()? {
                "clat" => "clat_ns",
                "lat" => "lat_ns",
                _ => return Some(()),
            };
            side.insert(span.to_owned(), latencies(rest, unit_ns(line)?)?.into());
        }
        Some(())
    }

    /// The fields of a job in JSON.
    fn job(&self, head: Option<&Head>) -> Result<Value, Fault> {
        let operations = self.operations.as_deref().ok_or_else(|| {
            let missing = "there is no line 'issued rwts: total=...'";
            Fault::truncated(format!("job at line {}", self.line), missing).hint(HINT)
        })?;
        let mut job = self.processor.clone();
        job.insert("jobname".to_owned(), self.name.into());
        job.insert("groupid".to_owned(), self.group.into());
        job.insert("error".to_owned(), self.error.into());
        if let Some(head) = head {
            let mut options = head.options();
            if self.jobs > 1 {
                options.insert("numjobs".to_owned(), self.jobs.to_string().into());
            }
            job.insert("job options".to_owned(), options.into());
        }
        for (direction, side) in &self.sides {
            let at = DIRECTIONS.iter().position(|known| known == direction);
            let count: Option<u64> = match at {
                Some(at) => operations.get(at).copied(),
                None => Some(operations.iter().take(DIRECTIONS.len()).sum()),
            };
            let mut side = side.clone();
            let printed = side.get("io_bytes").and_then(Value::as_u64);
            if let Some(count) = count {
                side.insert("total_ios".to_owned(), count.into());
            }
            let record = head.and_then(|head| head.block_of(direction));
            let computed = count
                .zip(record)
                .and_then(|(count, record)| count.checked_mul(record));
            if let Some((printed, computed)) = printed.zip(computed)
                && printed.abs_diff(computed) <= printed / ROUNDING
            {
                side.insert("io_bytes".to_owned(), computed.into());
            }
            job.insert((*direction).to_owned(), side.into());
        }
        Ok(job.into())
    }
}

/// A size has three digits at least: `10.0MiB` is rounded by up to 1/200 of it.
const ROUNDING: u64 = 190;

/// `7529, BW=471MiB/s (493MB/s)(8192KiB/17msec); 0 zone resets`: bytes and time.
fn side(rest: &str) -> Option<Map<String, Value>> {
    let (_, last) = rest.rsplit_once('(')?;
    let (moved, _) = last.split_once(')')?;
    let (size, time) = moved.split_once('/')?;
    let size = bytes(size)?;
    let time: u32 = time.strip_suffix("msec")?.parse().ok()?;
    let mut side = Map::new();
    side.insert("io_bytes".to_owned(), size.into());
    // In JSON that has it, the bytes are no KiB.
    side.insert("io_kbytes".to_owned(), (size >> 10).into());
    side.insert("runtime".to_owned(), time.into());
    Some(side)
}
