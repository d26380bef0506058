//! What a file system shows after a power loss.

use std::collections::BTreeMap;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::contents::SECTOR_BYTES;
use crate::{SectorContent, SectorOrigin};

/// The tree of a file system, by names below the root.
pub type Observed = BTreeMap<String, ObservedEntry>;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedEntry {
    Directory,
    /// Neither a directory nor a file: a link or a device.
    Other,
    /// A file with its content.
    File(ObservedFile),
    /// It cannot be read, for this reason.
    Unreadable(String),
}

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedFile {
    /// Its size.
    pub bytes: u64,
    /// Its sectors from the first on; the last may be of fewer bytes, which is garbage.
    pub runs: Vec<SectorRun>,
}

/// Sectors that continue each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectorRun {
    /// Their number.
    pub sectors: u32,
    /// The first; of written ones each further sector has the next place.
    pub first: SectorContent,
}

impl ObservedFile {
    /// Reads a file to its end, but no more than `limit` bytes: a damaged file may be endless.
    pub fn read(from: impl Read, limit: u64) -> io::Result<Self> {
        let mut from = from.take(limit);
        let mut file = Self::default();
        let mut buffer = vec![0; 128 * SECTOR_BYTES as usize];
        loop {
            let mut filled = 0;
            while filled < buffer.len() {
                match from.read(&mut buffer[filled..]) {
                    Ok(0) => break,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            file.bytes += filled as u64;
            for sector in buffer[..filled].chunks(SECTOR_BYTES as usize) {
                file.push(SectorContent::of(sector));
            }
            if filled < buffer.len() {
                return Ok(file);
            }
        }
    }

    fn push(&mut self, content: SectorContent) {
        if let Some(run) = self.runs.last_mut()
            && run.at(run.sectors) == content
            && run.sectors < u32::MAX
        {
            run.sectors += 1;
            return;
        }
        self.runs.push(SectorRun {
            sectors: 1,
            first: content,
        });
    }

    /// Every sector that was read, in order.
    pub fn sectors(&self) -> impl Iterator<Item = SectorContent> + '_ {
        let of_run = |run: &SectorRun| {
            let run = *run;
            (0..run.sectors).map(move |number| run.at(number))
        };
        self.runs.iter().flat_map(of_run)
    }

    /// True if a sector of it is at its place of the file `file` of a script.
    pub fn holds(&self, script: u32, file: u16) -> bool {
        (0..).zip(self.sectors()).any(|(place, content)| {
            matches!(content, SectorContent::Written(it)
                if it.script == script && it.file == file && it.place == place)
        })
    }
}

impl SectorRun {
    fn at(self, number: u32) -> SectorContent {
        match self.first {
            SectorContent::Written(first) => SectorContent::Written(SectorOrigin {
                place: first.place.wrapping_add(number),
                ..first
            }),
            other => other,
        }
    }
}

/// Most sectors of all files of a report, and most names.
const SECTORS_MAX: u64 = 1 << 21;

const NAMES_MAX: usize = 1 << 20;

/// Checks that a tree is of a size that a guest may send.
pub(crate) fn ensure_sound_tree(tree: &Observed) -> Result<(), &'static str> {
    if tree.len() > NAMES_MAX {
        return Err("a state has too many names");
    }
    let files = tree.values().filter_map(|entry| match entry {
        ObservedEntry::File(file) => Some(file),
        _ => None,
    });
    let runs = files.flat_map(|file| &file.runs);
    let sectors = runs.map(|run| u64::from(run.sectors)).sum::<u64>();
    match sectors > SECTORS_MAX {
        true => Err("a state has too much data"),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_runs_of_sectors() {
        let origin = |place| SectorOrigin {
            script: 9,
            file: 1,
            step: 2,
            place,
        };
        let mut bytes = Vec::new();
        bytes.extend(origin(0).bytes());
        bytes.extend(origin(1).bytes());
        bytes.extend([0; 1024]);
        bytes.extend([7; 100]);
        let file = ObservedFile::read(&bytes[..], u64::MAX).expect("memory");
        let counts: Vec<u32> = file.runs.iter().map(|run| run.sectors).collect();
        assert_eq!((file.bytes, &counts[..]), (2148, &[2, 2, 1][..]));
        assert!(file.holds(9, 1) && !file.holds(9, 2) && !file.holds(8, 1));
        let sectors: Vec<SectorContent> = file.sectors().collect();
        assert_eq!(sectors[1], SectorContent::Written(origin(1)));
        assert_eq!(sectors[4], SectorContent::Garbage);
    }
}
