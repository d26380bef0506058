//! Recognises a format by what only it has, and reads it.
//!
//! The shape of a text, for example its number of fields, is no mark: any table has one.

use crate::error::Fault;
use crate::format::Format;
use crate::reading::Reading;
use crate::{nearest, read, unread};

impl Format {
    /// The format of `text`.
    pub(crate) fn of(text: &str) -> Result<Self, Fault> {
        // Of millions of short lines: no other format has only such.
        if read::fio_log::is_log(text) {
            return Ok(Self::Fio);
        }
        let mut found: Option<Self> = None;
        for line in text.lines().map(str::trim) {
            // Most lines of fio's JSON+; to look for marks in them would take longer than to read
            // them.
            if read::fio_latency::is_bin(line) {
                continue;
            }
            let Some(format) = Self::of_line(line) else {
                continue;
            };
            if let Some(other) = found.filter(|other| *other != format) {
                let other = format!("another part of it ({})", other.name());
                return Err(Fault::mixed(&other, format));
            }
            found = Some(format);
        }
        if let Some(format) = found {
            return Ok(format);
        }
        if read::run_json::is_mark(text) {
            return Ok(Self::Json);
        }
        if read::csv_rows::has_header(text) {
            return Ok(Self::Csv);
        }
        Err(unread::named(text).unwrap_or_else(|| nearest::unknown(text)))
    }

    /// The format to which such a line is unique.
    fn of_line(line: &str) -> Option<Self> {
        if read::fio::is_mark(line) {
            return Some(Self::Fio);
        }
        if read::ior::is_mark(line) {
            return Some(Self::Ior);
        }
        if read::mdtest::is_mark(line) {
            return Some(Self::Mdtest);
        }
        if read::io500::is_mark(line) {
            return Some(Self::Io500);
        }
        if read::iozone::is_mark(line) {
            return Some(Self::Iozone);
        }
        if read::dbench::is_mark(line) {
            return Some(Self::Dbench);
        }
        if read::pgbench::is_mark(line) {
            return Some(Self::Pgbench);
        }
        if read::sysbench::is_mark(line) {
            return Some(Self::Sysbench);
        }
        if read::fs_mark::is_mark(line) {
            return Some(Self::FsMark);
        }
        if read::elbencho::is_mark(line) {
            return Some(Self::Elbencho);
        }
        if read::diskspd::is_mark(line) {
            return Some(Self::Diskspd);
        }
        if read::smallfile::is_mark(line) {
            return Some(Self::Smallfile);
        }
        if read::filebench::is_mark(line) {
            return Some(Self::Filebench);
        }
        if read::phoronix::is_mark(line) {
            return Some(Self::Phoronix);
        }
        read::bonnie_format::is_mark(line).then_some(Self::Bonnie)
    }

    /// Reads a text of this format, of the file `file`, except runs of fslab, which need no
    /// assembly.
    pub(crate) fn read(self, file: &str, text: &str) -> Result<Reading, Fault> {
        match self {
            Self::Fio if read::fio_log::begins_as_log(text) => read::fio_log::read(file, text),
            Self::Bonnie => read::bonnie::read(text),
            Self::Iozone => read::iozone::read(text),
            Self::Fio => read::fio::read(text),
            Self::Ior => read::ior::read(text),
            Self::Mdtest => read::mdtest::read(text),
            Self::Io500 => read::io500::read(text),
            Self::Dbench => read::dbench::read(text),
            Self::Pgbench => read::pgbench::read(text),
            Self::Sysbench => read::sysbench::read(text),
            Self::FsMark => read::fs_mark::read(text),
            Self::Elbencho => read::elbencho::read(text),
            Self::Diskspd => read::diskspd::read(text),
            Self::Smallfile => read::smallfile::read(text),
            Self::Filebench => read::filebench::read(text),
            Self::Phoronix => read::phoronix::read(text),
            Self::Json | Self::Csv => read::csv_rows::read(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_no_tool_or_of_two_is_refused() {
        let shown = |text: &str| Format::of(text).expect_err(text).to_string();
        assert!(shown("hello\n").starts_with("it is not the output of a known tool: "));
        let both = "SUMMARY rate: (of 1 iterations)\n\"fio version\" : \"fio-3.33\"\n";
        assert!(
            shown(both).ends_with(Format::Fio.title()),
            "{}",
            shown(both)
        );
    }

    /// Anything between braces was read as a run of fslab.
    #[test]
    fn csv_and_json_are_recognised_by_their_names() {
        assert_eq!(
            Format::of("{\"run\": \"a\", \"trials\": []}"),
            Ok(Format::Json)
        );
        assert_eq!(Format::of("phase,metric,value\n"), Ok(Format::Csv));
        for text in ["{\n}", "[]", "[global]\n", "{\"a\": [1, 2]}"] {
            assert!(Format::of(text).is_err(), "{text}");
        }
    }
}
