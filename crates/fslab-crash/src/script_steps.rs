//! Sequences of operations whose every sector says what wrote it.
//!
//! A sector of a file has the number of its script, of its file, the step that wrote it, its place
//! in the file, a pattern that follows from these, and four zeros. So what is found after a power
//! loss is distinguished: this version, an older one, zeros, another file's data, or garbage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use fslab_stats::Random;
use serde::{Deserialize, Serialize};

use super::contents::SECTOR_BYTES;

/// Most bytes that a step writes, and most of a file.
const BYTES_MAX: u64 = 16 << 20;
/// Most bytes of a name.
const NAME_MAX: usize = 200;
/// Most steps of a script.
pub(crate) const STEPS_MAX: usize = 4096;
/// The first bytes of a sector.
const MAGIC: [u8; 4] = *b"fslc";
/// Bytes of a sector before its pattern.
const HEAD: usize = 20;

/// A name below the directory of the script: components of letters, digits, `.`, `_` and `-`.
pub type StepName = String;

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ScriptStep {
    /// `create NAME`: makes an empty file that does not exist.
    Create(StepName),
    /// `write NAME OFFSET BYTES`: pwrite(2).
    Write(StepName, u64, u64),
    /// `write-sync NAME OFFSET BYTES`: pwrite(2) to a file that was opened with O_SYNC.
    WriteSync(StepName, u64, u64),
    /// `append NAME BYTES`: writes at the file's end.
    Append(StepName, u64),
    /// `truncate NAME BYTES`: ftruncate(2).
    Truncate(StepName, u64),
    /// `fsync NAME`, of a file or a directory.
    Fsync(StepName),
    /// `fdatasync NAME`.
    Fdatasync(StepName),
    /// `sync`: syncfs(2).
    Sync,
    /// `rename FROM TO`, of a file; what TO was is replaced.
    Rename(StepName, StepName),
    /// `link FROM TO`: a further name of a file.
    Link(StepName, StepName),
    /// `unlink NAME`.
    Unlink(StepName),
    /// `mkdir NAME`.
    Mkdir(StepName),
    /// `rmdir NAME`.
    Rmdir(StepName),
    /// `start`: what comes before is set-up, and power fails after it.
    Start,
}

/// A text that is no step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a step of a script: {problem}")]
pub struct ParseStepError {
    text: String,
    problem: &'static str,
}

const FORMS: &str = "create NAME, write NAME OFFSET BYTES, write-sync NAME OFFSET BYTES, \
                     append NAME BYTES, truncate NAME BYTES, fsync NAME, fdatasync NAME, sync, \
                     rename FROM TO, link FROM TO, unlink NAME, mkdir NAME, rmdir NAME, start";

impl FromStr for ScriptStep {
    type Err = ParseStepError;

    fn from_str(text: &str) -> Result<Self, ParseStepError> {
        let fault = |problem| ParseStepError {
            text: text.chars().take(80).collect(),
            problem,
        };
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let name = |word: &str| match is_name(word) {
            true => Ok(word.to_owned()),
            false => Err(fault(
                "a name consists of letters, digits, '.', '_', '-' and '/', and is below the root",
            )),
        };
        let number = |word: &str| {
            let found: Option<u64> = word.parse().ok().filter(|it| *it <= BYTES_MAX);
            let whole = found.filter(|it| it % SECTOR_BYTES == 0);
            whole.ok_or_else(|| fault("offsets and lengths must be multiples of 512, up to 16 MiB"))
        };
        let range = |offset: &str, bytes: &str| {
            let (offset, bytes) = (number(offset)?, number(bytes)?);
            match bytes > 0 && offset + bytes <= BYTES_MAX {
                true => Ok((offset, bytes)),
                false => Err(fault(
                    "a file has at most 16 MiB, and a write at least 512 bytes",
                )),
            }
        };
        Ok(match words[..] {
            ["create", file] => Self::Create(name(file)?),
            ["write", file, offset, bytes] => {
                let (offset, bytes) = range(offset, bytes)?;
                Self::Write(name(file)?, offset, bytes)
            }
            ["write-sync", file, offset, bytes] => {
                let (offset, bytes) = range(offset, bytes)?;
                Self::WriteSync(name(file)?, offset, bytes)
            }
            ["append", file, bytes] => Self::Append(name(file)?, range("0", bytes)?.1),
            ["truncate", file, bytes] => Self::Truncate(name(file)?, number(bytes)?),
            ["fsync", file] => Self::Fsync(name(file)?),
            ["fdatasync", file] => Self::Fdatasync(name(file)?),
            ["sync"] => Self::Sync,
            ["rename", from, to] => Self::Rename(name(from)?, name(to)?),
            ["link", from, to] => Self::Link(name(from)?, name(to)?),
            ["unlink", file] => Self::Unlink(name(file)?),
            ["mkdir", folder] => Self::Mkdir(name(folder)?),
            ["rmdir", folder] => Self::Rmdir(name(folder)?),
            ["start"] => Self::Start,
            _ => return Err(fault(FORMS)),
        })
    }
}

/// True for a name below the root, or `.`, the root.
fn is_name(word: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    let has_parts = word == "." || word.split('/').all(is_part);
    word.len() <= NAME_MAX && word.chars().all(is_allowed) && has_parts
}

impl TryFrom<String> for ScriptStep {
    type Error = ParseStepError;

    fn try_from(text: String) -> Result<Self, ParseStepError> {
        text.parse()
    }
}

impl From<ScriptStep> for String {
    fn from(step: ScriptStep) -> Self {
        step.to_string()
    }
}

impl Display for ScriptStep {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::Create(file) => write!(out, "create {file}"),
            Self::Write(file, offset, bytes) => write!(out, "write {file} {offset} {bytes}"),
            Self::WriteSync(file, offset, bytes) => {
                write!(out, "write-sync {file} {offset} {bytes}")
            }
            Self::Append(file, bytes) => write!(out, "append {file} {bytes}"),
            Self::Truncate(file, bytes) => write!(out, "truncate {file} {bytes}"),
            Self::Fsync(file) => write!(out, "fsync {file}"),
            Self::Fdatasync(file) => write!(out, "fdatasync {file}"),
            Self::Sync => write!(out, "sync"),
            Self::Rename(from, to) => write!(out, "rename {from} {to}"),
            Self::Link(from, to) => write!(out, "link {from} {to}"),
            Self::Unlink(file) => write!(out, "unlink {file}"),
            Self::Mkdir(folder) => write!(out, "mkdir {folder}"),
            Self::Rmdir(folder) => write!(out, "rmdir {folder}"),
            Self::Start => write!(out, "start"),
        }
    }
}

/// Who wrote a sector of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SectorOrigin {
    /// The script, see [`script_number`].
    pub script: u32,
    /// The file, by the step that created it.
    pub file: u16,
    /// The step that wrote it.
    pub step: u16,
    /// Its place in the file, in sectors.
    pub place: u32,
}

/// What a sector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SectorContent {
    /// What a step wrote.
    Written(SectorOrigin),
    Zeros,
    /// Anything else.
    Garbage,
}

/// The number of a script, of its directory and the seed of its trial: other scripts of a trial,
/// and of other trials, have others.
pub fn script_number(folder: &str, seed: u64) -> u32 {
    // FNV-1a.
    let bytes = folder.bytes().chain(seed.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32) as u32 ^ hash as u32
}

impl SectorOrigin {
    pub fn bytes(self) -> [u8; SECTOR_BYTES as usize] {
        let mut bytes = [0; SECTOR_BYTES as usize];
        bytes[..4].copy_from_slice(&MAGIC);
        let of = u32::from(self.file) << 16 | u32::from(self.step);
        for (at, number) in [(4, self.script), (8, of), (12, self.place)] {
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        let seed = u64::from(self.script) << 32 | u64::from(of);
        Random::new(seed, self.place.into()).fill(&mut bytes[HEAD..]);
        bytes
    }
}

impl SectorContent {
    /// What the bytes of a sector are; fewer bytes than a sector has are garbage.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.len() as u64 == SECTOR_BYTES && bytes.iter().all(|byte| *byte == 0) {
            return Self::Zeros;
        }
        let number = |at: usize| {
            let part = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(part))
        };
        let (Some(script), Some(of), Some(place)) = (number(4), number(8), number(12)) else {
            return Self::Garbage;
        };
        let origin = SectorOrigin {
            script,
            file: (of >> 16) as u16,
            step: of as u16,
            place,
        };
        match bytes == origin.bytes() {
            true => Self::Written(origin),
            false => Self::Garbage,
        }
    }
}

/// What a step does to the data of a file, all numbers in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataChange {
    /// The file, by the step that created it.
    pub file: u16,
    /// First sector that it writes; the new size of a truncation.
    pub first: u32,
    /// Sector after the last; `None` for a truncation.
    pub end: Option<u32>,
    /// Sectors of the file before it.
    pub size_before: u32,
}

/// What steps are about, as names stand when they are done in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptPlan {
    /// The file of each step.
    pub files: Vec<Option<u16>>,
    /// The change of data of each step.
    pub changes: Vec<Option<DataChange>>,
    /// Index of the first step after the set-up.
    pub start: usize,
}

/// Follows steps that are done in order.
#[expect(clippy::too_many_lines, reason = "one arm for each step")]
pub fn plan_of(steps: &[ScriptStep]) -> Result<ScriptPlan, String> {
    if steps.len() > STEPS_MAX {
        return Err(format!("a script has at most {STEPS_MAX} steps"));
    }
    let mut names = BTreeMap::<&str, u16>::new();
    let mut sizes = BTreeMap::<u16, u32>::new();
    let mut folders = BTreeSet::from(["."]);
    let mut plan = ScriptPlan::default();
    for (number, step) in (0_u16..).zip(steps) {
        let fault = |problem: &str| Err(format!("step {number} '{step}': {problem}"));
        let parent_is_there = |name: &str| folders.contains(parent(name));
        let known = |name: &str| names.get(name).copied();
        let exists = |name: &str| names.contains_key(name) || folders.contains(name);
        let new_names: &[&str] = match step {
            ScriptStep::Create(name) | ScriptStep::Mkdir(name) | ScriptStep::Link(_, name) => {
                &[name]
            }
            _ => &[],
        };
        if new_names.iter().any(|name| exists(name)) {
            return fault("the name already exists");
        }
        let placed = match step {
            ScriptStep::Rename(_, name) => Some(name),
            _ => None,
        };
        let mut placed = new_names.iter().copied().chain(placed.map(|it| &**it));
        if !placed.all(parent_is_there) {
            return fault("no earlier step creates its directory");
        }
        let file = match step {
            ScriptStep::Create(name) => {
                names.insert(name, number);
                sizes.insert(number, 0);
                Some(number)
            }
            ScriptStep::Mkdir(name) => {
                folders.insert(name);
                None
            }
            ScriptStep::Rmdir(name) => {
                let is_inside = |it: &&str| parent(it) == name.as_str();
                if names.keys().any(is_inside)
                    || folders.iter().any(|it| *it != "." && is_inside(it))
                {
                    return fault("the directory is not empty");
                }
                if name == "." || !folders.remove(&**name) {
                    return fault("there is no such directory");
                }
                None
            }
            ScriptStep::Sync => None,
            ScriptStep::Start if plan.start > 0 => return fault("it occurs twice"),
            ScriptStep::Start => {
                plan.start = usize::from(number) + 1;
                None
            }
            ScriptStep::Fsync(name) if folders.contains(&**name) => None,
            ScriptStep::Rename(from, to) | ScriptStep::Link(from, to)
                if folders.contains(&**to) || from == to =>
            {
                return fault(
                    "the new name must differ from the old one, and must not be a directory's",
                );
            }
            ScriptStep::Rename(from, to)
                if names.contains_key(&**from) && names.get(&**from) == names.get(&**to) =>
            {
                return fault("both are names of one file, and rename(2) does nothing");
            }
            ScriptStep::Write(name, ..)
            | ScriptStep::WriteSync(name, ..)
            | ScriptStep::Append(name, _)
            | ScriptStep::Truncate(name, _)
            | ScriptStep::Fsync(name)
            | ScriptStep::Fdatasync(name)
            | ScriptStep::Link(name, _)
            | ScriptStep::Rename(name, _)
            | ScriptStep::Unlink(name) => match known(name) {
                Some(file) => Some(file),
                None => return fault("there is no such file"),
            },
        };
        match step {
            ScriptStep::Rename(from, to) => {
                names.remove(&**from);
                names.extend(file.map(|file| (&**to, file)));
            }
            ScriptStep::Link(_, to) => names.extend(file.map(|file| (&**to, file))),
            ScriptStep::Unlink(name) => {
                names.remove(&**name);
            }
            _ => {}
        }
        let change = file.and_then(|file| change_of(step, file, &mut sizes));
        if change.is_some_and(|it| u64::from(it.end.unwrap_or(0)) * SECTOR_BYTES > BYTES_MAX) {
            return fault("a file has at most 16 MiB");
        }
        plan.changes.push(change);
        plan.files.push(file);
    }
    Ok(plan)
}

fn change_of(step: &ScriptStep, file: u16, sizes: &mut BTreeMap<u16, u32>) -> Option<DataChange> {
    let size = sizes.get_mut(&file)?;
    let size_before = *size;
    // At most 32,768.
    let sectors = |bytes: &u64| (bytes / SECTOR_BYTES) as u32;
    let (first, end) = match step {
        ScriptStep::Write(_, offset, bytes) | ScriptStep::WriteSync(_, offset, bytes) => {
            (sectors(offset), Some(sectors(offset) + sectors(bytes)))
        }
        ScriptStep::Append(_, bytes) => (size_before, Some(size_before + sectors(bytes))),
        ScriptStep::Truncate(_, bytes) => (sectors(bytes), None),
        _ => return None,
    };
    *size = end.map_or(first, |end| size_before.max(end));
    Some(DataChange {
        file,
        first,
        end,
        size_before,
    })
}

/// The directory of a name.
pub(crate) fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_they_are_written() {
        let texts = [
            "create a",
            "write a/b 512 4096",
            "write-sync a 0 512",
            "append a 1024",
            "truncate a 0",
            "fsync .",
            "fdatasync a",
            "sync",
            "rename a b",
            "link a b",
            "unlink d/e",
            "mkdir d",
            "rmdir d",
            "start",
        ];
        for text in texts {
            assert_eq!(
                text.parse::<ScriptStep>().expect("a step").to_string(),
                text
            );
        }
    }

    /// No step of an untrusted study leads out of the tree.
    #[test]
    fn names_outside_of_the_root_and_odd_lengths_are_refused() {
        for text in [
            "create /etc/x",
            "create ../x",
            "create a//b",
            "create a/../b",
            "create ''",
            "write a 1 512",
            "write a 0 0",
            "write a 0 99999999999999999999",
            "write a 16777216 512",
            "append a 0",
            "erase a",
            "",
        ] {
            assert!(text.parse::<ScriptStep>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_sector_is_recognised_and_one_wrong_bit_makes_it_garbage() {
        let origin = SectorOrigin {
            script: 0xdead_beef,
            file: 3,
            step: 7,
            place: 90,
        };
        let mut bytes = origin.bytes();
        assert_eq!(SectorContent::of(&bytes), SectorContent::Written(origin));
        for at in [0, 5, 17, 511] {
            bytes[at] ^= 1;
            assert_eq!(SectorContent::of(&bytes), SectorContent::Garbage, "{at}");
            bytes[at] ^= 1;
        }
        assert_eq!(SectorContent::of(&[0; 512]), SectorContent::Zeros);
        assert_eq!(SectorContent::of(&[0; 100]), SectorContent::Garbage);
    }

    #[test]
    fn scripts_have_numbers_of_their_own() {
        assert_ne!(script_number("a", 1), script_number("b", 1));
        assert_ne!(script_number("a", 1), script_number("a", 2));
    }

    fn steps(texts: &[&str]) -> Vec<ScriptStep> {
        texts.iter().map(|it| it.parse().expect("a step")).collect()
    }

    #[test]
    fn a_file_keeps_its_number_under_a_new_name() {
        let steps = steps(&["create a", "create b", "rename a b", "fsync b", "fsync ."]);
        let plan = plan_of(&steps).expect("can be done");
        assert_eq!(plan.files, [Some(0), Some(1), Some(0), Some(0), None]);
    }

    #[test]
    fn an_append_begins_at_the_end_and_a_truncation_moves_it() {
        let steps = steps(&[
            "create a",
            "append a 1024",
            "start",
            "append a 512",
            "truncate a 512",
            "append a 512",
        ]);
        let plan = plan_of(&steps).expect("can be done");
        let ranges = plan.changes.iter().flatten().map(|it| (it.first, it.end));
        let ranges: Vec<_> = ranges.collect();
        assert_eq!(
            ranges,
            [(0, Some(2)), (2, Some(3)), (1, None), (1, Some(2))]
        );
        assert_eq!(plan.start, 3);
    }

    #[test]
    fn steps_that_cannot_be_done_are_named() {
        for texts in [
            &["write a 0 512"][..],
            &["create a", "create a"],
            &["create d/a"],
            &["create a", "unlink a", "fsync a"],
            &["create a", "rename a a"],
            &["create a", "link a b", "rename a b"],
            &["mkdir d", "create d/a", "rmdir d"],
            &["rmdir ."],
            &["start", "start"],
            &["create a", "create b", "link a b"],
            &["create a", "write a 16776704 512", "append a 512"],
        ] {
            let found = plan_of(&steps(texts)).expect_err("must be refused");
            assert!(found.starts_with("step "), "{found}");
        }
    }
}
