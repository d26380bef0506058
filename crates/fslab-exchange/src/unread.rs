//! Files of known tools that hold no results, or that lack what was measured: refused by name, with
//! what to import instead.

use fslab_trace::ForeignTrace;

use crate::error::Fault;
use crate::read::bonnie_format::{CSV_190, HINT_190};

/// A file that is known and not read.
struct Unread {
    /// True if the file is of this kind.
    is: fn(&str) -> bool,
    /// What it is.
    name: &'static str,
    /// What to do instead.
    hint: &'static str,
}

/// The more certain ones first.
const UNREAD: [Unread; 10] = [
    Unread {
        is: |text| ForeignTrace::of(text) == Some(ForeignTrace::Iolog),
        name: "an iolog of fio (write_iolog), which lists operations and has no figure",
        hint: "import the JSON of the same execution (fio --output-format=json+); replay the \
               operations with `fslab trace replay FILE`",
    },
    Unread {
        is: is_job_file,
        name: "a job file of fio, not its output",
        hint: "run it and import its output: fio --output-format=json+ --output=OUT.json FILE",
    },
    Unread {
        is: |text| ForeignTrace::of(text) == Some(ForeignTrace::Strace),
        name: "an output of strace, which lists system calls",
        hint: "replay it with `fslab trace replay FILE`, or record the program with `fslab trace \
               record`",
    },
    Unread {
        is: |text| ForeignTrace::of(text) == Some(ForeignTrace::Blkparse),
        name: "a text of blkparse, which lists requests and has no figure",
        hint: "replay it with `fslab trace replay FILE`, or import what the program printed that \
               made the requests",
    },
    Unread {
        is: |text| any_line(text, is_terse),
        name: "the terse output of fio in a version other than 2 to 5",
        hint: "run fio with --output-format=json+, or with --terse-version=3",
    },
    Unread {
        is: |text| any_line(text, is_human),
        name: "the human-readable output of fio without the results of a job",
        hint: "import the complete output, or run fio with --output-format=json+",
    },
    Unread {
        is: |text| any_line(text, |line| line.starts_with("access,bw(MiB/s),")),
        name: "the CSV of IOR, which lacks what was measured",
        hint: "run IOR with -O summaryFormat=JSON, or with its default text output",
    },
    Unread {
        is: |text| any_line(text, |line| line.starts_with(CSV_190)),
        name: "the CSV of bonnie++ 1.90",
        hint: HINT_190,
    },
    Unread {
        is: |text| is_log(text, is_histogram),
        name: "a histogram log of fio (write_hist_log) with a number of bins that no version has",
        hint: "import the log as fio wrote it, or the JSON of the same execution (fio \
               --output-format=json+), which has the same histogram as a whole",
    },
    Unread {
        is: is_trace,
        name: "a trace of fslab, not the result of a measurement",
        hint: "show it with `fslab trace show`, and replay it with the study replay",
    },
];

/// The fault of a file that is known and not read.
pub(crate) fn named(text: &str) -> Option<Fault> {
    let found = UNREAD.iter().find(|unread| (unread.is)(text))?;
    Some(Fault::new("", format!("it is {}", found.name)).hint(found.hint))
}

/// The lines with content.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn any_line(text: &str, is: fn(&str) -> bool) -> bool {
    lines(text).any(is)
}

/// A section, and options that only fio has.
fn is_job_file(text: &str) -> bool {
    const OPTIONS: [&str; 8] = [
        "rw",
        "readwrite",
        "ioengine",
        "iodepth",
        "numjobs",
        "blocksize",
        "bs",
        "runtime",
    ];
    let is_comment = |line: &&str| line.starts_with([';', '#']);
    let mut lines = lines(text).filter(|line| !is_comment(line));
    let is_section = |line: &str| line.starts_with('[') && line.ends_with(']');
    lines.next().is_some_and(is_section)
        && lines.any(|line| {
            let option = line.split_once('=').map(|(option, _)| option.trim());
            option.is_some_and(|option| OPTIONS.contains(&option))
        })
}

/// `6;fio-3.33;...`.
fn is_terse(line: &str) -> bool {
    let version = line.split_once(";fio-").map(|(version, _)| version);
    version.is_some_and(|version| version.parse::<u32>().is_ok())
}

fn is_human(line: &str) -> bool {
    line.starts_with("fio-") || line.contains(": (groupid=")
}

/// True if every line is an entry of a log: integers of which the third is the direction.
fn is_log(text: &str, is_entry: fn(&[u64]) -> bool) -> bool {
    let entry = |line: &str| -> Option<Vec<u64>> {
        let fields = line.split(',').map(|field| field.trim().parse().ok());
        fields.collect()
    };
    lines(text).next().is_some()
        && lines(text).all(|line| entry(line).is_some_and(|fields| is_entry(&fields)))
}

/// Reading, writing and trimming, by number.
const DIRECTIONS: std::ops::RangeInclusive<u64> = 0..=2;

/// Time, direction, block size, and the count of each bin.
fn is_histogram(fields: &[u64]) -> bool {
    const BINS_MIN: usize = 16;
    fields.len() >= 3 + BINS_MIN && DIRECTIONS.contains(&fields[1]) && fields[2] >= 512
}

fn is_trace(text: &str) -> bool {
    text.starts_with("{\"fslab_trace\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_results_are_refused_by_their_names() {
        for (text, name, hint) in [
            ("fio version 3 iolog\n1 a add\n", "an iolog of fio", "json+"),
            ("; c\n[a]\nrw=read\n", "a job file of fio", "json+"),
            (
                "[pid 7] read(3, \"x\", 1) = -1 EIO\n",
                "an output of strace",
                "trace record",
            ),
            (
                "fio: a warning\n6;fio-3.33;j;0;0;128\n",
                "the terse output of fio",
                "json+",
            ),
            (
                "fio-3.33\nStarting 1 process\n",
                "the human-readable output",
                "json+",
            ),
            (
                "access,bw(MiB/s),IOPS\n",
                "the CSV of IOR",
                "summaryFormat=JSON",
            ),
            ("{\"fslab_trace\":1}\n", "a trace of fslab", "trace show"),
        ] {
            let fault = named(text).expect(text);
            assert!(fault.to_string().contains(name), "{fault}");
            let given = fault.hint.expect("a hint");
            assert!(given.contains(hint), "{given}");
        }
    }

    #[test]
    fn other_texts_of_such_shapes_are_not() {
        for text in [
            "1,2,3,4\n1,2,3,4\n",
            "[section]\nkey=value\n",
            "call me (please) = now\n",
            "0,13,26,39,52,65,78,91,7,20,33,46,59,72,85,1,14,27,40,53\n",
        ] {
            assert!(named(text).is_none(), "{text}");
        }
    }
}
