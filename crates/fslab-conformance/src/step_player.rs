//! Does single steps of a script.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fslab_crash::{DataChange, ScriptStep, SectorOrigin};
use fslab_sys::{DataFile, DataFileOptions, OpenedSync, sync_file_system};

const SECTOR_BYTES: usize = 512;

/// Does the steps of a script in its directory.
pub struct StepPlayer {
    base: PathBuf,
    number: u32,
}

impl StepPlayer {
    /// Of the script with this number, in the directory `base`.
    pub fn new(base: PathBuf, number: u32) -> Self {
        Self { base, number }
    }

    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// The data that a step writes; it is made before the step begins.
    pub fn data_of(&self, change: Option<DataChange>, step: usize) -> Vec<u8> {
        let Some(DataChange {
            file,
            first,
            end: Some(end),
            ..
        }) = change
        else {
            return Vec::new();
        };
        let sectors = (first..end).map(|place| SectorOrigin {
            script: self.number,
            file,
            // A plan has at most 4096 steps.
            step: step as u16,
            place,
        });
        sectors.flat_map(SectorOrigin::bytes).collect()
    }

    /// Does a step.
    pub fn take(
        &self,
        step: &ScriptStep,
        change: Option<DataChange>,
        data: &[u8],
    ) -> io::Result<()> {
        let first = change.map_or(0, |it| u64::from(it.first) * SECTOR_BYTES as u64);
        match step {
            ScriptStep::Create(name) => File::create_new(self.at(name)).map(drop),
            ScriptStep::Write(name, ..) | ScriptStep::Append(name, _) => {
                write(&self.at(name), OpenedSync::None, first, data)
            }
            ScriptStep::WriteSync(name, ..) => write(&self.at(name), OpenedSync::Full, first, data),
            ScriptStep::Truncate(name, bytes) => {
                let file = File::options().write(true).open(self.at(name))?;
                file.set_len(*bytes)
            }
            ScriptStep::Fsync(name) => File::open(self.at(name))?.sync_all(),
            ScriptStep::Fdatasync(name) => File::open(self.at(name))?.sync_data(),
            ScriptStep::Sync | ScriptStep::Start => sync_file_system(&self.base),
            ScriptStep::Rename(from, to) => fs::rename(self.at(from), self.at(to)),
            ScriptStep::Link(from, to) => fs::hard_link(self.at(from), self.at(to)),
            ScriptStep::Unlink(name) => fs::remove_file(self.at(name)),
            ScriptStep::Mkdir(name) => fs::create_dir(self.at(name)),
            ScriptStep::Rmdir(name) => fs::remove_dir(self.at(name)),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        match name {
            "." => self.base.clone(),
            name => self.base.join(name),
        }
    }
}

fn write(path: &Path, sync: OpenedSync, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
    let options = DataFileOptions {
        write: true,
        sync,
        ..DataFileOptions::default()
    };
    let file = DataFile::open(path, options)?;
    while !data.is_empty() {
        let done = file.write_at(data, offset)?;
        if done == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        offset += done as u64;
        data = &data[done..];
    }
    Ok(())
}
