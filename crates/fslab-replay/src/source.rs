//! Loads a trace: the study's file, or the built-in sample.

use std::borrow::Cow;
use std::path::Path;

use fslab_job::input_or;
use fslab_model::{Bytes, sha256};
use fslab_trace::{TRACE_BYTES_MAX, Trace};

/// Name of the built-in trace.
const SAMPLE: &str = "sample";
/// A shell script that unpacks a small tree, edits it, and puts it under version control.
static SAMPLE_TRACE: &[u8] = include_bytes!("sample.trace");

/// A trace and its digest.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) trace: Trace,
    pub(super) sha256: String,
}

impl Source {
    /// The absolute path of the trace `name`; the sample stays `sample`.
    pub(super) fn absolute(name: &str) -> Result<String, String> {
        if name == SAMPLE {
            return Ok(name.to_owned());
        }
        let path = std::fs::canonicalize(name)
            .map_err(|error| format!("trace = '{name}', which cannot be read: {error}"))?;
        let path = path.to_str().map(str::to_owned);
        path.ok_or_else(|| format!("trace = '{name}', whose path is not UTF-8"))
    }

    /// True in a guest that has the file of this digest.
    pub(super) fn is_brought(sha256: &str) -> bool {
        fslab_model::input_path(sha256).is_some_and(|input| input.is_file())
    }

    /// True for the name of the sample.
    pub(super) fn is_sample(name: &str) -> bool {
        name == SAMPLE
    }

    /// The trace of a plan; in a guest it is found by its digest.
    pub(super) fn planned(name: &str, sha256: &str) -> Result<Self, String> {
        let path = input_or(Path::new(name), sha256);
        let source = match name {
            SAMPLE => Self::load(name),
            _ => path.to_str().map_or_else(|| Self::load(name), Self::load),
        };
        source?.demand(sha256)
    }

    pub(super) fn load(name: &str) -> Result<Self, String> {
        let wrong = |error: &dyn std::error::Error| {
            let cause = error.source().map(|cause| format!(": {cause}"));
            format!("trace = '{name}': {error}{}", cause.unwrap_or_default())
        };
        let bytes: Cow<'_, [u8]> = if name == SAMPLE {
            SAMPLE_TRACE.into()
        } else {
            fslab_sys::read_regular_file(Path::new(name), TRACE_BYTES_MAX)
                .map_err(|error| wrong(&error))?
                .into()
        };
        let trace = Trace::parse(&bytes, Path::new(name)).map_err(|error| wrong(&error))?;
        if !trace
            .events
            .iter()
            .any(|event| event.operation.is_file_operation())
        {
            return Err(format!(
                "trace = '{name}', which has no operation on a file"
            ));
        }
        let sha256 = sha256(&bytes);
        Ok(Self { trace, sha256 })
    }

    /// Checks the digest; an empty `expected` allows any.
    pub(super) fn demand(self, expected: &str) -> Result<Self, String> {
        if expected.is_empty() || expected == self.sha256 {
            return Ok(self);
        }
        Err(format!(
            "a trace of SHA-256 {} where the plan has {expected}: it has changed since",
            self.sha256
        ))
    }

    /// Notes on the recording.
    pub(super) fn notes(&self) -> Vec<String> {
        let header = &self.trace.header;
        let program = header.command.first().map_or("?", String::as_str);
        let mut notes = vec![format!(
            "recorded of {program} on {}, where it took {:.3} s under strace",
            header.file_system,
            header.took_ns as f64 / 1e9
        )];
        if !header.unseen.is_empty() {
            let calls: Vec<_> = header
                .unseen
                .iter()
                .map(|(call, count)| format!("{call} ({count})"))
                .collect();
            notes.push(format!("not in the trace: {}", calls.join(", ")));
        }
        let lengths = self.trace.files.iter().map(|file| file.bytes);
        let before = lengths.fold(0, u64::saturating_add);
        if before > 0 {
            notes.push(format!(
                "created before timing: {} names with {}",
                self.trace.files.len(),
                Bytes(before)
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace of `/dev/zero` would take all memory.
    #[test]
    fn a_trace_must_be_a_regular_file() {
        for endless in ["/dev/zero", "/tmp"] {
            assert!(Source::load(endless).is_err(), "{endless}");
        }
    }
}
