//! The formats that an unknown text is nearest to, and what it lacks of each.

use crate::Format;
use crate::error::Fault;

/// The shape of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Json,
    Xml,
    Table,
    Lines,
}

impl Shape {
    /// Lines that are looked at.
    const LINES: usize = 20;

    fn of(text: &str) -> Self {
        if text.trim_start().starts_with(['{', '[']) {
            return Self::Json;
        }
        if text.trim_start().starts_with('<') {
            return Self::Xml;
        }
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<&str> = lines.take(Self::LINES).collect();
        let is_row = |line: &&&str| line.contains([',', ';', '\t']);
        match lines.iter().filter(is_row).count() * 2 > lines.len() {
            true => Self::Table,
            false => Self::Lines,
        }
    }
}

/// How a format is told from others.
struct Marks {
    format: Format,
    shapes: &'static [Shape],
    /// Words that outputs of the tool mostly have.
    words: &'static [&'static str],
    /// What a text lacks that is not recognised.
    lacks: &'static str,
}

const MARKS: [Marks; 17] = [
    Marks {
        format: Format::Bonnie,
        shapes: &[Shape::Table],
        words: &["bonnie", "Concurrency", "%CP", "+++++"],
        lacks: "no line has its versions, or a machine with a size and its unit, or is the head of \
                its table",
    },
    Marks {
        format: Format::Csv,
        shapes: &[Shape::Table],
        words: &["subject", "phase", "metric", "value", "repeat"],
        lacks: "the first line does not name the columns phase, metric and value",
    },
    Marks {
        format: Format::Fio,
        shapes: &[Shape::Json],
        words: &["fio", "jobs", "jobname", "clat", "total_ios"],
        lacks: "it has no field \"fio version\", and no line begins with 'N;fio-' or has \
                '(groupid=N, jobs=N): err='",
    },
    Marks {
        format: Format::Json,
        shapes: &[Shape::Json],
        words: &["fslab", "subject", "phases", "run"],
        lacks: "it has no fields \"plan\" and \"trials\"",
    },
    Marks {
        format: Format::Ior,
        shapes: &[Shape::Lines, Shape::Json],
        words: &["IOR", "bw(MiB/s)", "xfersize", "aggregate filesize"],
        lacks: "no line is 'IOR-VERSION: MPI Coordinated Test of Parallel I/O', and no field is \
                \"bwMiB\"",
    },
    Marks {
        format: Format::Mdtest,
        shapes: &[Shape::Lines],
        words: &["mdtest", "File creation", "Tree creation", "ops/sec"],
        lacks: "no line is 'mdtest-VERSION was launched' or 'SUMMARY'",
    },
    Marks {
        format: Format::Io500,
        shapes: &[Shape::Lines],
        words: &[
            "IO500",
            "io500",
            "ior-easy",
            "ior_easy",
            "mdtest-hard",
            "RESULT",
        ],
        lacks: "no line has '[RESULT]' and a time, and no section is a phase of IO500",
    },
    Marks {
        format: Format::Iozone,
        shapes: &[Shape::Lines],
        words: &["iozone", "Iozone", "reclen", "kB/sec"],
        lacks: "no line is Iozone's banner, or the head of its table or of a report",
    },
    Marks {
        format: Format::Dbench,
        shapes: &[Shape::Lines],
        words: &["dbench", "NTCreateX", "AvgLat", "MaxLat"],
        lacks: "no line is 'dbench version VERSION' or 'Throughput N MB/sec ... procs'",
    },
    Marks {
        format: Format::Pgbench,
        shapes: &[Shape::Lines],
        words: &["pgbench", "tps", "scaling factor", "query mode"],
        lacks: "no line is 'pgbench (VERSION)' or 'number of transactions actually processed: N'",
    },
    Marks {
        format: Format::Sysbench,
        shapes: &[Shape::Lines],
        words: &["sysbench", "fsyncs/s", "written, MiB/s", "percentile:"],
        lacks: "no line is 'sysbench VERSION (using ...)'",
    },
    Marks {
        format: Format::FsMark,
        shapes: &[Shape::Lines],
        words: &["fs_mark", "FSUse%", "App Overhead", "Files/sec"],
        lacks: "no line is 'Version VERSION, N thread(s) starting at ...' or the head of its table",
    },
    Marks {
        format: Format::Elbencho,
        shapes: &[Shape::Lines, Shape::Table, Shape::Json],
        words: &["elbencho", "FIRST DONE", "[first]", "last_done"],
        lacks: "no line is the head of its table or of its CSV, and no field is \"phase_type\"",
    },
    Marks {
        format: Format::Diskspd,
        shapes: &[Shape::Xml],
        words: &["DiskSpd", "diskspd", "TimeSpan", "TestTimeSeconds"],
        lacks: "no element is <TestTimeSeconds>",
    },
    Marks {
        format: Format::Smallfile,
        shapes: &[Shape::Json],
        words: &["smallfile", "smf", "files_per_thread", "pctFilesDone"],
        lacks: "it has no field \"filesPerSec\"",
    },
    Marks {
        format: Format::Filebench,
        shapes: &[Shape::Lines],
        words: &["filebench", "Filebench", "flowop", "ms/op"],
        lacks: "no line is 'SECONDS: IO Summary: ...' or 'Filebench Version VERSION'",
    },
    Marks {
        format: Format::Phoronix,
        shapes: &[Shape::Xml],
        words: &["PhoronixTestSuite", "Phoronix", "Proportion", "Scale"],
        lacks: "no element is <PhoronixTestSuite>",
    },
];

/// The fault of a text of no known format, with the two nearest ones.
pub(crate) fn unknown(text: &str) -> Fault {
    let shape = Shape::of(text);
    let score = |marks: &&Marks| {
        let found = marks.words.iter().filter(|word| text.contains(**word));
        let is_shape = marks.shapes.contains(&shape);
        std::cmp::Reverse(found.count() + 2 * usize::from(is_shape))
    };
    let mut nearest: Vec<&Marks> = MARKS.iter().collect();
    nearest.sort_by_key(score);
    let because = |marks: &&Marks| format!("not {}, because {}", marks.format.title(), marks.lacks);
    let both: Vec<String> = nearest.iter().take(2).map(because).collect();
    Fault::foreign(format!(
        "it is not the output of a known tool: {}",
        both.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_marks() {
        for format in Format::ALL {
            assert!(MARKS.iter().any(|marks| marks.format == *format));
        }
    }

    #[test]
    fn the_two_nearest_are_of_the_shape_of_the_text_or_have_its_words() {
        for (text, first, second) in [
            ("1,2,3\n4,5,6\n", Format::Bonnie, Format::Csv),
            ("subject,metric\na,b\n", Format::Csv, Format::Bonnie),
            ("{\"a\": 1}\n", Format::Fio, Format::Json),
            ("the log of mdtest\n", Format::Mdtest, Format::Ior),
            ("RESULT of io500\nior-easy\n", Format::Io500, Format::Ior),
        ] {
            let shown = unknown(text).to_string();
            let expected = format!("known tool: not {}, because ", first.title());
            assert!(shown.contains(&expected), "{text}: {shown}");
            let expected = format!("; not {}, because ", second.title());
            assert!(shown.contains(&expected), "{text}: {shown}");
        }
    }
}
