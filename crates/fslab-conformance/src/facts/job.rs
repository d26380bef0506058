//! The job `facts`: its parts, and the limits of directories.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::{Bytes, Facts};
use fslab_sys::FileSystemRoom;

use super::parameters::{FactsParameters, FactsPart};
use super::sheet::{Sheet, word};
use super::{calls, names, space, syncs, times};
use crate::failure::ConformanceFailure;
use crate::suite::{synthetic, timed};

/// Of the files that the probe writes, with a cluster each of up to 64 KiB.
const FOOTPRINT: Bytes = Bytes::mib(16);

/// Time after which no further entries are made in a directory.
const ENTRIES_TIME: Duration = Duration::from_secs(8);

/// The number with zeros behind its first digit.
fn leading_digit(number: u32) -> u32 {
    let unit = 10_u32.pow(number.checked_ilog10().unwrap_or(0));
    number / unit * unit
}

impl Job for FactsParameters {
    const NAME: &'static str = "facts";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)
    }

    fn footprint(&self) -> Bytes {
        Bytes(FOOTPRINT.0 + 2 * 4096 * u64::from(self.entries))
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        if context.engine == EngineKind::Null {
            return Ok(synthetic(context.seed, 100, FOOTPRINT.0));
        }
        let mut facts = Facts::new();
        let finished = timed(context, |checker| {
            let mut sheet = Sheet::new(context, checker, &self.directory);
            match self.part {
                FactsPart::Probe => self.probe(&mut sheet),
                FactsPart::Recall => recall(&mut sheet),
            }?;
            facts = sheet.facts;
            Ok(())
        })?;
        Ok(Finished { facts, ..finished })
    }
}

impl FactsParameters {
    fn probe(&self, sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
        let empty = FileSystemRoom::of(&sheet.context().root).ok();
        let base = sheet.base.clone();
        sheet.checker.must("create", &base, fs::create_dir(&base))?;
        space::probe(sheet, empty)?;
        names::probe(sheet)?;
        times::probe(sheet)?;
        calls::probe(sheet)?;
        syncs::probe(sheet)?;
        self.entries(sheet)
    }

    /// States how many files and directories one directory takes, up to those asked for.
    fn entries(&self, sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
        if self.entries == 0 {
            return Ok(());
        }
        let make_file = |path: &Path| File::create_new(path).map(drop);
        let make_directory = |path: &Path| fs::create_dir(path);
        for (fact, folder, make) in [
            (
                "directory.files",
                "files",
                &make_file as &dyn Fn(&Path) -> std::io::Result<()>,
            ),
            ("directory.directories", "directories", &make_directory),
        ] {
            // Outside of the tree that must be removed: HFS+ does not list all of so many entries.
            let folder = sheet.base.with_extension(folder);
            let made = fs::create_dir(&folder);
            sheet.checker.must("create", &folder, made)?;
            let mut words = format!("{} or more", self.entries);
            let began = Instant::now();
            for number in 0..self.entries {
                sheet.checker.check()?;
                if began.elapsed() > ENTRIES_TIME {
                    words = format!("{} or more, slowly", leading_digit(number));
                    break;
                }
                if let Err(error) = make(&folder.join(format!("entry-{number:07}"))) {
                    words = format!("{number}, then {}", word(&error));
                    break;
                }
            }
            sheet.state(fact, words);
            if let Err(error) = fs::remove_dir_all(&folder) {
                let text = format!("{} cannot be removed: {}", folder.display(), word(&error));
                sheet.checker.note(text);
            }
        }
        Ok(())
    }
}

fn recall(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    // First: it counts what reading writes, and reads files that nothing else has read.
    syncs::recall(sheet)?;
    times::recall(sheet)?;
    space::recall(sheet)?;
    let base = sheet.base.clone();
    sheet
        .checker
        .must("remove", &base, fs::remove_dir_all(&base))
}

#[cfg(test)]
mod tests {
    use fslab_model::FILE_SYSTEM_FACT;

    use super::*;

    #[test]
    fn the_facts_of_the_machines_file_system_are_found_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 3);
        let mut parameters = FactsParameters {
            entries: 50,
            ..FactsParameters::default()
        };
        let mut facts = parameters.run(&context).expect("probes").facts;
        parameters.part = FactsPart::Recall;
        facts.extend(parameters.run(&context).expect("recalls").facts);
        let of = |name: &str| facts.get(&format!("{FILE_SYSTEM_FACT}{name}"));
        let is = |name: &str, value: &str| {
            assert_eq!(of(name).map(String::as_str), Some(value), "{name}");
        };
        is("directory.files", "50 or more");
        is("directory.directories", "50 or more");
        is("data.appended", "kept");
        is("name.case", "distinguished");
        is("name.longest", "255 bytes");
        is("call.fsync_directory", "yes");
        // The device of this machine is not damaged.
        assert_eq!(of("data.damaged"), None);
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
    }

    #[test]
    fn a_number_that_time_cut_off_has_one_digit() {
        assert_eq!([0, 9, 10, 5_714].map(leading_digit), [0, 9, 10, 5_000]);
    }
}
