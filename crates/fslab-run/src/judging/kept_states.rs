//! The states of a log that were judged before, in a file next to it.
//!
//! ```text
//!     a line of JSON: what the states depend on        digest of the log, lab, dropped flushes
//!     a line of JSON for each state, when it is judged
//! ```
//! A line that a kill has cut is judged again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fslab_crash::{FlushDrop, JudgedState};
use fslab_model::{Failure, FailureKind};
use fslab_sys::OutputFolder;
use serde::{Deserialize, Serialize};

/// The end of the file's name.
const ENDING: &str = "judged";
/// Most bytes of the file that are read.
const BYTES_MAX: u64 = 1 << 30;

/// What the states depend on.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    fslab: String,
    log: String,
    lab: String,
    dropped: String,
}

impl Head {
    /// What differs from `other`.
    fn difference(&self, other: &Self) -> &'static str {
        let parts = [
            (self.log == other.log, "log"),
            (self.lab == other.lab, "lab"),
            (self.dropped == other.dropped, "planted fault"),
        ];
        let differs = parts.iter().find(|(is_same, _)| !is_same);
        differs.map_or("version of fslab", |(_, part)| part)
    }
}

/// The file, to which states are added.
pub struct KeptStates {
    path: PathBuf,
    file: File,
    known: BTreeMap<String, JudgedState>,
}

impl KeptStates {
    /// Opens the file of `log`, or makes it.
    ///
    /// # Errors
    /// Those of the files; a file of another log, lab, planted fault or version of fslab.
    pub fn open(log: &Path, lab: &str, dropped: Option<FlushDrop>) -> Result<Self, Failure> {
        let mut path = log.as_os_str().to_owned();
        path.push(".");
        path.push(ENDING);
        let path = PathBuf::from(path);
        let failed = |doing: &str, error: &io::Error| {
            Failure::of_users_file(format!("cannot {doing} {}", path.display()), error)
        };
        let head = Head {
            fslab: env!("CARGO_PKG_VERSION").to_owned(),
            log: digest_of(log).map_err(|error| failed("read the log of", &error))?,
            lab: lab.to_owned(),
            dropped: format!("{dropped:?}"),
        };
        let name = path.file_name().unwrap_or_default();
        let open = OutputFolder::of(&path).and_then(|folder| folder.open_kept(name));
        let mut file = open.map_err(|error| Failure::of_chosen_name("open", &path, &error))?;
        let (known, end) = match read(&mut file).map_err(|error| failed("read", &error))? {
            Some(found) if found.head == head => (found.known, found.end),
            Some(found) => {
                let text = format!(
                    "{} has states of a different {}",
                    path.display(),
                    found.head.difference(&head)
                );
                return Err(Failure::new(FailureKind::BadInput, text)
                    .hint("remove it, or leave out --resume"));
            }
            None => (BTreeMap::new(), 0),
        };
        let begin = |file: &mut File| {
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
            match end {
                0 => append(file, &head),
                _ => Ok(()),
            }
        };
        begin(&mut file).map_err(|error| failed("write to", &error))?;
        Ok(Self { path, file, known })
    }

    /// The states that were judged before, by name.
    pub(super) fn take_known(&mut self) -> BTreeMap<String, JudgedState> {
        std::mem::take(&mut self.known)
    }

    /// Adds a state.
    pub(super) fn add(&mut self, judged: &JudgedState) -> Result<(), Failure> {
        append(&mut self.file, judged).map_err(|error| {
            let text = format!("cannot write to {}", self.path.display());
            Failure::of_users_file(text, &error)
        })
    }
}

fn digest_of(log: &Path) -> io::Result<String> {
    fslab_model::sha256_of(fslab_sys::open_named(log)?)
}

fn append(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// What a file has.
struct Found {
    head: Head,
    known: BTreeMap<String, JudgedState>,
    /// The end of the last complete line.
    end: u64,
}

/// What the file has; `None` without a head.
fn read(file: &mut File) -> io::Result<Option<Found>> {
    let mut reader = BufReader::new(file.take(BYTES_MAX));
    let mut line = String::new();
    let mut next = |line: &mut String| -> io::Result<u64> {
        line.clear();
        let bytes = reader.read_line(line)? as u64;
        Ok(if line.ends_with('\n') { bytes } else { 0 })
    };
    let mut end = next(&mut line)?;
    if end == 0 {
        return Ok(None);
    }
    // A file of something else is refused, as that of another log.
    let head = serde_json::from_str(&line).map_err(io::Error::from)?;
    let mut known = BTreeMap::new();
    loop {
        let bytes = next(&mut line)?;
        let state = serde_json::from_str::<JudgedState>(&line);
        let Some(state) = state.ok().filter(|_| bytes > 0) else {
            return Ok(Some(Found { head, known, end }));
        };
        end += bytes;
        known.insert(state.state.clone(), state);
    }
}
