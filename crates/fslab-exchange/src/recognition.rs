//! Recognises a format by the text, and reads it.

use crate::error::Fault;
use crate::format::Format;
use crate::read;
use crate::reading::Reading;

impl Format {
    /// The format of `text`.
    pub(crate) fn of(text: &str) -> Result<Self, Fault> {
        let mut found: Option<Self> = None;
        for line in text.lines() {
            let Some(format) = Self::of_line(line.trim()) else {
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
        if text.trim_start().starts_with(['{', '[']) {
            return Ok(Self::Json);
        }
        if read::csv_rows::has_header(text) {
            return Ok(Self::Csv);
        }
        let fault = Fault::foreign("it is not the output of a known tool");
        Err(
            match text
                .lines()
                .find_map(|line| unsupported_form_hint(line.trim()))
            {
                Some(hint) => fault.hint(hint),
                None => fault,
            },
        )
    }

    /// The format to which such a line is unique.
    fn of_line(line: &str) -> Option<Self> {
        if line.starts_with("\"fio version\"") || line.starts_with("{\"fio version\"") {
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
        read::bonnie_format::is_mark(line).then_some(Self::Bonnie)
    }

    /// Reads a text of this format, except runs of fslab, which need no assembly.
    pub(crate) fn read(self, text: &str) -> Result<Reading, Fault> {
        match self {
            Self::Bonnie => read::bonnie::read(text),
            Self::Iozone => read::iozone::read(text),
            Self::Fio => read::fio::read(text),
            Self::Ior => read::ior::read(text),
            Self::Mdtest => read::mdtest::read(text),
            Self::Io500 => read::io500::read(text),
            Self::Json | Self::Csv => read::csv_rows::read(text),
        }
    }
}

/// The hint for a known tool's output in an unsupported form.
fn unsupported_form_hint(line: &str) -> Option<&'static str> {
    let terse = line.split_once(";fio-").map(|(version, _)| version);
    if terse.is_some_and(|version| matches!(version, "2" | "3" | "4" | "5")) {
        return Some(
            "this is fio's terse output (--minimal), which lacks what its JSON has: run fio with \
             --output-format=json+",
        );
    }
    if line.starts_with("fio-") || line.contains(": (groupid=") {
        return Some("this is fio's human-readable output: run fio with --output-format=json+");
    }
    if line.starts_with("access,bw(MiB/s),") {
        return Some(
            "this is the CSV of IOR, which lacks what was measured: run IOR with -O \
             summaryFormat=JSON, or with its default text output",
        );
    }
    let log: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_number = |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if (4..=6).contains(&log.len()) && log[..4].iter().all(is_number) {
        return Some(
            "this may be a log of fio (write_bw_log), which does not say what was measured: import \
             the JSON of the same execution (--output-format=json+)",
        );
    }
    line.starts_with(read::bonnie_format::CSV_190)
        .then_some(read::bonnie_format::HINT_190)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_no_tool_or_of_two_is_refused() {
        let shown = |text: &str| Format::of(text).expect_err(text).to_string();
        assert_eq!(shown("hello\n"), "it is not the output of a known tool");
        let both = "SUMMARY rate: (of 1 iterations)\n\"fio version\" : \"fio-3.33\"\n";
        assert!(
            shown(both).ends_with(Format::Fio.title()),
            "{}",
            shown(both)
        );
    }

    /// Forms of fio with figures that are not supported.
    #[test]
    fn what_fio_writes_otherwise_is_refused_by_what_to_do() {
        for text in [
            "fio: a warning\n3;fio-3.33;j;0;0;128;64000;\n",
            "5;fio-3.33;j;0;0\n",
            "fio-3.33\nStarting 1 process\n",
            "1, 6400, 0, 4096, 0\n2, 6400, 1, 4096, 0\n",
        ] {
            let hint = Format::of(text).expect_err(text).hint.expect(text);
            assert!(hint.contains("--output-format=json+"), "{hint}");
        }
    }

    #[test]
    fn csv_and_json_are_recognised_by_their_beginning() {
        assert_eq!(Format::of(" {\n}"), Ok(Format::Json));
        assert_eq!(Format::of("phase,metric,value\n"), Ok(Format::Csv));
    }
}
