//! Ageing and filling: creates and deletes files by a profile until the file system is as full and
//! as fragmented as the stage asks.
//!
//! ```text
//!     grow    create, append, and sometimes delete, until the used capacity is as requested
//!     churn   delete until the next file fits, write it; until the layout score is as low as
//!             requested, or the turnover is reached
//! ```
//!
//! Everything follows from the seed and the results of the file system, so that a trial in virtual
//! time gives the same layout twice.

use std::path::PathBuf;
use std::time::Duration;

use fslab_engine::StopFlag;
use fslab_model::{AGED_DIRECTORY, AgeProfile, Ageing, Bytes, Facts, Failure, FailureKind};
use fslab_stats::Random;
use fslab_sys::FileSystemRoom;

use crate::aging_fileset::{AgingFileset, Place, Stopped};
use crate::layout::Layout;

/// While growing, one write in this many is followed by a deletion.
const DELETE_EVERY: u64 = 4;
/// Dirty data is written back after this fraction of the capacity: blocks allocated at one time are
/// mostly contiguous, so allocation must not be delayed to one moment.
const SYNC_PART: u64 = 64;
/// Minimum of bytes between two syncs, which take their time on a real disk.
const SYNC_BYTES_MIN: u64 = 4 << 20;
/// The layout is examined after this fraction of the capacity was written.
const LOOK_PART: u64 = 8;
/// Largest file, as a fraction of the capacity.
const LARGEST_PART: u64 = 16;
/// Largest append, as a fraction of the longest file.
const APPENDED_PART: u64 = 16;
/// Tolerance of the used space below its target, as a fraction of the capacity.
const SHORT_PART: u64 = 200;
/// Corrections of the amount of data by the space that it takes.
const ROUNDS: u32 = 16;
/// Attempts to write without space.
const ATTEMPTS: u32 = 200;
/// Attempts without a pause.
const IMMEDIATE_ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(50);

/// Where and how a stage works.
pub(crate) struct Site<'a> {
    pub(crate) root: PathBuf,
    /// The stage's name, also of its directory.
    pub(crate) stage: &'static str,
    pub(crate) seed: u64,
    pub(crate) stop: &'a StopFlag,
    /// The longest file that the file system supports.
    pub(crate) file_bytes_max: u64,
}

/// Result of a stage.
pub(crate) struct Done {
    pub(crate) facts: Facts,
    /// The facts in one line.
    pub(crate) summary: String,
}

/// Ages the file system of `site`.
pub(crate) fn age(site: &Site<'_>, ageing: &Ageing) -> Result<Done, Failure> {
    let mut work = Work::begin(site, *ageing.profile)?;
    work.grow(ageing.full_percent)?;
    let full = work.layout()?;
    let target = ageing.score_hundredths.map(|it| f64::from(it) / 100.0);
    let limit = work.share(u64::from(ageing.turnover_hundredths));
    let aged = work.churn(limit, target, full.clone())?;
    Ok(work.result(&full, Some(&aged), target))
}

/// Fills the file system of `site` without deletions.
pub(crate) fn fill(site: &Site<'_>, full_percent: u8) -> Result<Done, Failure> {
    let profile = AgeProfile {
        directories: 20,
        append_percent: 0,
        ..fslab_model::AGE_PROFILES[0]
    };
    let mut work = Work::begin(site, profile)?;
    work.deletes = false;
    work.grow(full_percent)?;
    let full = work.layout()?;
    Ok(work.result(&full, None, None))
}

/// A layout, or why it is unknown.
type Known = Result<Layout, String>;

/// One write.
#[derive(Clone, Copy)]
struct Writing {
    /// True to extend an existing file, false to create one.
    extends: bool,
    bytes: u64,
}

impl Writing {
    fn of_at_most(self, bytes: u64) -> Self {
        Self {
            bytes: self.bytes.min(bytes).max(1),
            ..self
        }
    }
}

/// What to do without space. Some file systems free space only some time after a deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhenFull {
    Wait,
    /// Delete files.
    Delete,
}

/// Result of a write.
enum Outcome {
    Written,
    NoRoom,
}

struct Work<'a> {
    site: &'a Site<'a>,
    profile: AgeProfile,
    fileset: AgingFileset,
    random: Random,
    capacity: u64,
    /// True if files are deleted while growing.
    deletes: bool,
    synced_at: u64,
    /// Writes that failed at first for lack of space.
    refused: u64,
    churned: u64,
}

impl<'a> Work<'a> {
    fn begin(site: &'a Site<'a>, mut profile: AgeProfile) -> Result<Self, Failure> {
        let room = room(site)?;
        let largest = (room.total_bytes / LARGEST_PART).min(site.file_bytes_max);
        profile.file_bytes_max = profile.file_bytes_max.min(largest);
        profile.file_bytes_min = profile.file_bytes_min.min(profile.file_bytes_max).max(1);
        let place = Place {
            base: site.root.join(AGED_DIRECTORY).join(site.stage),
            directories: profile.directories,
            block_bytes: room.block_bytes,
        };
        let fileset = AgingFileset::new(place, site.seed, site.stop);
        let fileset = fileset.map_err(|stopped| match stopped {
            Stopped::Failed(failure) => failure,
            Stopped::Full => no_room(site, "there is no room for its directories"),
        })?;
        Ok(Self {
            site,
            profile,
            fileset,
            random: Random::from_seed(site.seed),
            capacity: room.total_bytes,
            deletes: true,
            synced_at: 0,
            refused: 0,
            churned: 0,
        })
    }

    /// This many hundredths of the capacity.
    fn share(&self, hundredths: u64) -> u64 {
        let share = u128::from(self.capacity) * u128::from(hundredths) / 100;
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// Creates files until the used capacity is as requested.
    fn grow(&mut self, full_percent: u8) -> Result<(), Failure> {
        let target = self.share(full_percent.into());
        let mut goal = target.saturating_sub(self.used()?);
        for _ in 0..ROUNDS {
            while self.fileset.held_bytes < goal {
                let left = goal - self.fileset.held_bytes;
                let writing = self.draw().of_at_most(left);
                match self.write_with_retries(writing, WhenFull::Wait)? {
                    Outcome::Written => {}
                    Outcome::NoRoom => return Err(self.full_too_soon(full_percent)),
                }
                if self.deletes && self.random.below(DELETE_EVERY) == 0 && left > goal / 50 {
                    self.delete()?;
                }
                self.sync_if_due()?;
            }
            self.sync()?;
            let short = target.saturating_sub(self.used()?);
            if short <= self.capacity / SHORT_PART {
                break;
            }
            goal += short;
        }
        Ok(())
    }

    /// Deletes and writes until `limit` bytes were written or the score is at most `target`.
    fn churn(
        &mut self,
        limit: u64,
        target: Option<f64>,
        mut known: Known,
    ) -> Result<Known, Failure> {
        let (begin, held_max) = (self.fileset.written_bytes, self.fileset.held_bytes);
        let look_every = (self.capacity / LOOK_PART).max(1);
        let mut look_at = look_every;
        while self.churned < limit && !is_reached(&known, target) {
            let writing = self.draw().of_at_most(limit - self.churned);
            let room = self.fileset.room(writing.bytes);
            while self.fileset.held_bytes + room > held_max && self.delete()? {}
            match self.write_with_retries(writing, WhenFull::Delete)? {
                Outcome::Written => {}
                Outcome::NoRoom => return Err(self.no_room_again(writing.bytes)),
            }
            self.churned = self.fileset.written_bytes - begin;
            self.sync_if_due()?;
            if target.is_some() && self.churned >= look_at {
                look_at = self.churned + look_every;
                self.sync()?;
                known = self.layout()?;
            }
        }
        self.sync()?;
        self.layout()
    }

    /// Draws the next write.
    fn draw(&mut self) -> Writing {
        let (min, max) = (self.profile.file_bytes_min, self.profile.file_bytes_max);
        let extends = self.random.below(100) < u64::from(self.profile.append_percent);
        let max = if extends { max / APPENDED_PART } else { max };
        Writing {
            extends,
            bytes: self.random.length(min, max.max(min)),
        }
    }

    fn write(&mut self, writing: Writing) -> Result<(), Stopped> {
        let (fileset, random) = (&mut self.fileset, &mut self.random);
        if writing.extends {
            fileset.append(random, writing.bytes, self.site.file_bytes_max)
        } else {
            fileset.create(random, writing.bytes)
        }
    }

    /// As `write`, with retries while there is no space.
    fn write_with_retries(
        &mut self,
        writing: Writing,
        when_full: WhenFull,
    ) -> Result<Outcome, Failure> {
        for attempt in 0..ATTEMPTS {
            match self.write(writing) {
                Ok(()) => return Ok(Outcome::Written),
                Err(Stopped::Failed(failure)) => return Err(failure),
                Err(Stopped::Full) => {}
            }
            self.refused += 1;
            if when_full == WhenFull::Delete {
                self.delete()?;
            }
            self.sync()?;
            if attempt >= IMMEDIATE_ATTEMPTS {
                std::thread::sleep(PAUSE);
            }
        }
        Ok(Outcome::NoRoom)
    }

    /// Deletes a file, if there is one. Some full file systems lack the space to delete, and get it
    /// by a sync.
    fn delete(&mut self) -> Result<bool, Failure> {
        for _ in 0..IMMEDIATE_ATTEMPTS {
            match self.fileset.delete(&mut self.random) {
                Ok(deleted) => return Ok(deleted),
                Err(Stopped::Failed(failure)) => return Err(failure),
                Err(Stopped::Full) => self.sync()?,
            }
        }
        Err(no_room(self.site, "not even a file can be deleted"))
    }

    fn sync_if_due(&mut self) -> Result<(), Failure> {
        let passed = self.fileset.written_bytes - self.synced_at;
        if passed < (self.capacity / SYNC_PART).max(SYNC_BYTES_MIN) {
            return Ok(());
        }
        self.sync()
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.fileset.go_on()?;
        self.synced_at = self.fileset.written_bytes;
        fslab_sys::sync_file_system(&self.site.root).map_err(|error| {
            let text = format!("cannot sync {}", self.site.root.display());
            let kind = match error.kind() {
                std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
                _ => FailureKind::Io,
            };
            Failure::new(kind, text).because(&error)
        })
    }

    fn used(&self) -> Result<u64, Failure> {
        let room = room(self.site)?;
        Ok(room.total_bytes.saturating_sub(room.free_bytes))
    }

    fn layout(&self) -> Result<Known, Failure> {
        Layout::of(&self.fileset.file_refs(), self.site.stop)
    }

    fn no_room_again(&self, bytes: u64) -> Failure {
        let free = room(self.site).map_or(0, |room| room.free_bytes);
        let text = format!(
            "{} cannot be written, although {} are reported as free",
            Bytes(bytes),
            Bytes(free)
        );
        no_room(self.site, &text)
    }

    fn full_too_soon(&self, full_percent: u8) -> Failure {
        let used = self.used().unwrap_or(0) as f64 * 100.0 / self.capacity.max(1) as f64;
        let text = format!("it ran full at {used:.0} % of its capacity, not at {full_percent} %");
        no_room(self.site, &text)
    }

    /// The result as facts and as a line.
    fn result(&self, full: &Known, aged: Option<&Known>, target: Option<f64>) -> Done {
        let mut facts = Facts::new();
        let mut fact = |name: &str, value: String| {
            facts.insert(format!("{}.{name}", self.site.stage), value);
        };
        let (files, written) = (self.fileset.files(), self.fileset.written_bytes);
        fact("files", files.to_string());
        fact("written_bytes", written.to_string());
        let mut summary = format!("{files} files, {} written", Bytes(written));
        match full {
            Ok(layout) => fact("layout_by", layout.by.clone()),
            Err(reason) => fact("layout_by", format!("nothing ({reason})")),
        }
        for (when, known) in [("full", Some(full)), ("aged", aged)] {
            let Some(Ok(layout)) = known else { continue };
            if let Some(score) = layout.score() {
                fact(&format!("layout_score.{when}"), format!("{score:.4}"));
                summary.push_str(&format!(", layout score {score:.3} when {when}"));
            }
            if let Some(fragments) = layout.fragments_per_file() {
                let name = format!("fragments_per_file.{when}");
                fact(&name, format!("{fragments:.3}"));
            }
        }
        if let Some(aged) = aged {
            let turnover = self.churned as f64 / self.capacity.max(1) as f64;
            fact("profile", self.profile.name.to_owned());
            fact("turnover", format!("{turnover:.2}"));
            fact("writings_without_room", self.refused.to_string());
            let ended_by = match target {
                Some(_) if is_reached(aged, target) => "layout score",
                Some(_) if aged.is_err() => "turnover, as the layout score is not known",
                _ => "turnover",
            };
            fact("ended_by", ended_by.to_owned());
        }
        Done { facts, summary }
    }
}

fn is_reached(known: &Known, target: Option<f64>) -> bool {
    let score = known.as_ref().ok().and_then(Layout::score);
    score
        .zip(target)
        .is_some_and(|(score, target)| score <= target)
}

fn room(site: &Site<'_>) -> Result<FileSystemRoom, Failure> {
    FileSystemRoom::of(&site.root).map_err(|error| {
        Failure::at(
            FailureKind::Io,
            "determine the free space of",
            &site.root,
            &error,
        )
    })
}

fn no_room(site: &Site<'_>, text: &str) -> Failure {
    let text = format!("cannot {} the file system: {text}", site.stage);
    Failure::new(FailureKind::NoSpace, text).hint("use a stage that fills less, or a larger --size")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_is_not_known_is_never_reached() {
        assert!(!is_reached(&Err("no".into()), Some(0.9)));
        assert!(!is_reached(&Ok(Layout::default()), Some(0.9)));
        assert!(!is_reached(&Ok(Layout::default()), None));
    }
}
