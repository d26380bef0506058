//! bonnie++; CSV output of format 1.98. One process does all of a row.

use std::path::PathBuf;

use super::contender::{Contender, Invocation, Rates, Task, ask_version};
use crate::error::BenchError;
use crate::work::{Figure, SEEK_RECORD_BYTES, STREAM_RECORD_BYTES, Work};

/// The contender `bonnie++`.
///
/// It reports no rate of what took less than half a second, so a fast file system gets more work.
pub(crate) struct Bonnie {
    pub(crate) program: PathBuf,
    /// Whether all happens in memory.
    pub(crate) in_memory: bool,
}

/// In memory, this many times the work of the others.
const NAMES_FACTOR: u64 = 6;
/// Its rewriting and seeking, which no other contender does, takes long.
const STREAM_DIVISOR: u64 = 2;
/// The size of a file that need not be larger than memory is stated with memory of half of it.
const MEMORY_DIVISOR: u64 = 2;
/// Files are counted in units of this.
const FILES_UNIT: u64 = 1024;
/// Columns of a line of CSV.
const COLUMNS: usize = 50;
const PUT_BLOCK: usize = 11;
const GET_BLOCK: usize = 17;
const SEEKS: usize = 19;
const SEQUENTIAL_CREATE: usize = 26;
const RANDOM_STAT: usize = 34;
const SEQUENTIAL_DELETE: usize = 30;

impl Bonnie {
    fn invocation(
        &self,
        task: &Task<'_>,
        options: Vec<String>,
        read: fn(&str) -> Result<Rates, BenchError>,
    ) -> Invocation {
        let mut arguments = vec![
            "-q".to_owned(),
            "-d".to_owned(),
            task.start().display().to_string(),
            "-m".to_owned(),
            "bench".to_owned(),
        ];
        // As root it requires an option that says so.
        if fslab_sys::is_superuser() {
            arguments.extend(["-u".to_owned(), "root".to_owned()]);
        }
        arguments.extend(options);
        Invocation {
            program: self.program.clone(),
            arguments,
            input: None,
            figure: None,
            read: Box::new(read),
        }
    }
}

impl Bonnie {
    /// Writes, rewrites, reads and seeks in a file of `bytes`, which is in the page cache.
    fn blocks(
        &self,
        task: &Task<'_>,
        bytes: u64,
        record_bytes: u64,
        read: fn(&str) -> Result<Rates, BenchError>,
    ) -> Invocation {
        let mib = bytes >> 20;
        let options = [
            "-f",
            "-n",
            "0",
            "-r",
            &(mib / MEMORY_DIVISOR).to_string(),
            "-s",
            &format!("{mib}:{}k", record_bytes >> 10),
        ];
        self.invocation(task, options.map(str::to_owned).into(), read)
    }
}

impl Contender for Bonnie {
    fn name(&self) -> &'static str {
        "bonnie++"
    }

    fn version(&self) -> Result<String, String> {
        ask_version(&self.program, &["-h"]).map(|_| "2.00".to_owned())
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        match task.work {
            Work::Names => {
                let factor = if self.in_memory { NAMES_FACTOR } else { 1 };
                let units = (task.amounts.names * factor).div_ceil(FILES_UNIT);
                let options = ["-s", "0", "-n", &format!("{units}:0:0:1")].map(str::to_owned);
                vec![self.invocation(task, options.into(), name_rates)]
            }
            // Elsewhere its rewriting and seeking takes longer than all other contenders together.
            Work::Stream if self.in_memory => {
                let bytes = task.amounts.stream_bytes / STREAM_DIVISOR;
                vec![self.blocks(task, bytes, STREAM_RECORD_BYTES, stream_rates)]
            }
            Work::Seeks => {
                let bytes = task.amounts.data_bytes;
                vec![self.blocks(task, bytes, SEEK_RECORD_BYTES, seek_rates)]
            }
            _ => Vec::new(),
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Names => Some(
                "bonnie++ reports no rate of what takes less than half a second, and so does six times \
                 as many files on tmpfs; its files are counted in units of 1024; stat in random order",
            ),
            Work::Stream => Some(
                "bonnie++ does half the bytes, on tmpfs only, with an fsync at the end of writing",
            ),
            Work::Seeks => Some(
                "bonnie++ makes 8192 seeks, and reports no rate of what takes less than half a second: \
                 hence the long records; the rate is the one it prints, without its waits of 3 s",
            ),
            Work::Pread | Work::Backward | Work::Mmap | Work::Ring | Work::RingDirect => {
                Some("bonnie++ seeks by several processes, and has neither mmap nor io_uring")
            }
            Work::Files => Some("bonnie++ does not verify"),
        }
    }

    fn setting(&self, work: Work) -> Option<&'static str> {
        matches!(work, Work::Stream | Work::Seeks).then_some("-f: no single characters")
    }

    fn is_one_process(&self) -> bool {
        true
    }
}

fn name_rates(text: &str) -> Result<Rates, BenchError> {
    let columns = columns(text)?;
    Ok(vec![
        (Figure::Create, rate(&columns, SEQUENTIAL_CREATE)?),
        (Figure::Stat, rate(&columns, RANDOM_STAT)?),
        (Figure::Unlink, rate(&columns, SEQUENTIAL_DELETE)?),
    ])
}

/// Rates of blocks are in KiB per second.
fn stream_rates(text: &str) -> Result<Rates, BenchError> {
    let columns = columns(text)?;
    let bytes = |kib: Option<f64>| kib.map(|kib| kib * 1024.0);
    Ok(vec![
        (Figure::StreamWrite, bytes(rate(&columns, PUT_BLOCK)?)),
        (Figure::StreamRead, bytes(rate(&columns, GET_BLOCK)?)),
    ])
}

fn seek_rates(text: &str) -> Result<Rates, BenchError> {
    Ok(vec![(Figure::Seek, rate(&columns(text)?, SEEKS)?)])
}

fn columns(text: &str) -> Result<Vec<&str>, BenchError> {
    let line = text.lines().rfind(|line| line.starts_with("1.98,"));
    let columns: Vec<_> = line.unwrap_or_default().split(',').collect();
    if columns.len() == COLUMNS {
        Ok(columns)
    } else {
        Err(BenchError::output("bonnie++", "no line of format 1.98"))
    }
}

/// A rate; `None` where it is `+++++`: the phase was too short.
fn rate(columns: &[&str], column: usize) -> Result<Option<f64>, BenchError> {
    let text = columns[column];
    if text.starts_with('+') {
        return Ok(None);
    }
    let rate = text.parse::<f64>();
    rate.map(Some)
        .map_err(|_| BenchError::output("bonnie++", format!("column {column} is '{text}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_names_are_read_and_what_was_too_short_is_not_a_rate() {
        let rates = name_rates(include_str!("../../fixtures/bonnie-names.csv")).expect("reads");
        let expected = [
            (Figure::Create, Some(144_486.0)),
            (Figure::Stat, Some(608_430.0)),
            (Figure::Unlink, Some(201_295.0)),
        ];
        assert_eq!(rates, expected);
        let short = name_rates(include_str!("../../fixtures/bonnie-short.csv")).expect("reads");
        assert!(short.iter().all(|(_, rate)| rate.is_none()));
    }

    #[test]
    fn rates_of_blocks_are_bytes_per_second() {
        let rates = stream_rates(include_str!("../../fixtures/bonnie-blocks.csv")).expect("reads");
        let expected = [
            (Figure::StreamWrite, Some(394_833.0 * 1024.0)),
            (Figure::StreamRead, None),
        ];
        assert_eq!(rates, expected);
        let seeks = seek_rates(include_str!("../../fixtures/bonnie-blocks.csv")).expect("reads");
        assert_eq!(seeks, [(Figure::Seek, Some(5359.0))]);
    }

    #[test]
    fn a_line_of_another_format_is_an_error() {
        assert!(name_rates("1.03,a,b").is_err());
        assert!(name_rates("").is_err());
    }
}
