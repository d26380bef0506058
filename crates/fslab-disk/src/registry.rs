//! The registry of disk profiles: built-in ones and the user's files.

use std::path::Path;

use fslab_model::Failure;

use crate::definitions::{Definitions, built_in, is_path};
use crate::profile::{Profile, split_draw};

/// Hard disks, then flash, each by age.
static PROFILES: Definitions<Profile> = Definitions {
    what: "disk profile",
    list: "fslab disk list",
    built_in: built_in!["disks":
        "hdd-7200-ata100-2002",
        "hdd-7200-sata-2010",
        "hdd-7200-bonnie-2010",
        "sas-15k-raid10-2012",
        "hdd-5400-sata-2015",
        "hdd-7200-sata-20tb",
        "usb-flash-16g-2015",
        "sdcard-2020",
        "ssd-sata-2022",
        "ssd-nvme-2024",
        "ram-2024",
    ],
    // Built-in ones have about 3 KiB.
    bytes_max: 256 << 10,
    parse: Profile::from_toml,
};

/// The names of all built-in profiles.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROFILES.names()
}

/// All built-in profiles.
pub fn all() -> Vec<Profile> {
    PROFILES.all()
}

/// The profile of that name, or of that file if the text has a `/` or ends in `.toml`. A name never
/// refers to a file, so that a file of that name in the working directory changes nothing.
/// `NAME+draw3` is the third disk within the uncertainty of that profile.
///
/// # Errors
/// No such profile, or an unreadable or invalid file.
pub fn find(name_or_path: &str) -> Result<Profile, Failure> {
    match split_draw(name_or_path) {
        Some((base, number)) => PROFILES.find(base)?.drawn(number),
        None => PROFILES.find(name_or_path),
    }
}

/// The file that [`find`] would read for that text; `None` for the name of a built-in profile.
pub fn file_of(name_or_path: &str) -> Option<&Path> {
    let base = split_draw(name_or_path).map_or(name_or_path, |(base, _)| base);
    is_path(base).then(|| Path::new(base))
}

/// The profile of a file.
///
/// # Errors
/// An unreadable or invalid file.
pub fn read(path: &Path) -> Result<Profile, Failure> {
    PROFILES.read(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::bench;
    use crate::definitions::tests::{files_of, sorted};
    use crate::profile::Medium;

    #[test]
    fn every_built_in_profile_has_the_name_of_its_file_and_reads_back_from_what_it_writes() {
        for (name, text) in PROFILES.built_in {
            let profile = Profile::from_toml(text).expect(name);
            assert_eq!(profile.name, *name);
            let written = Profile::from_toml(&profile.to_toml()).expect(name);
            assert_eq!(written, profile);
            let json = serde_json::to_string(&profile).expect(name);
            assert_eq!(serde_json::from_str::<Profile>(&json).expect(name), profile);
        }
    }

    #[test]
    fn the_table_lists_all_files_of_disks() {
        assert_eq!(files_of("disks"), sorted(names()));
    }

    #[test]
    fn every_built_in_profile_is_a_disk_of_its_size_and_depth() {
        for profile in all() {
            let model = profile.model().expect(&profile.name);
            let sectors = profile.capacity().0 / 512;
            assert_eq!(model.capacity_sectors(), sectors, "{}", profile.name);
            let members = profile.array.as_ref().map_or(1, |array| array.members);
            let depth = members * profile.device.queue_depth;
            assert_eq!(model.queue_depth(), depth, "{}", profile.name);
        }
    }

    #[test]
    fn the_model_reaches_the_data_sheet_of_every_built_in_profile() {
        for profile in all() {
            let figures = bench::data_sheet(&profile).expect(&profile.name);
            assert!(!figures.is_empty());
            for figure in figures {
                let tolerance = match figure.name {
                    "random_read_ns" => 0.03,
                    "sequential_read_bytes_per_s" => 0.02,
                    _ => 0.05,
                };
                assert!(
                    figure.difference.abs() <= tolerance,
                    "{}: {figure:?}",
                    profile.name
                );
            }
        }
    }

    #[test]
    fn the_closed_form_of_the_access_time_agrees_with_the_model() {
        for profile in all().iter().map(Profile::member) {
            let Medium::HardDisk(_) = profile.medium else {
                continue;
            };
            let figures = bench::data_sheet(&profile).expect(&profile.name);
            let model = figures
                .iter()
                .find(|figure| figure.name == "random_read_ns");
            let Some(bench::SheetFigure {
                model: crate::profile::DerivedValue::Time(ns),
                ..
            }) = model
            else {
                panic!("a hard disk has a mean access: {}", profile.name)
            };
            let closed = profile.mean_access().0 as f64;
            assert!(
                (ns / closed - 1.0).abs() < 0.03,
                "{}: {ns} {closed}",
                profile.name
            );
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_as_a_hint() {
        let error = find("hdd-7200-ata10-2002").expect_err("no such name");
        assert_eq!(
            error.to_string(),
            "there is no disk profile 'hdd-7200-ata10-2002'"
        );
        assert_eq!(
            error.hint.as_deref(),
            Some("did you mean 'hdd-7200-ata100-2002'?")
        );
        let hint = find("floppy").expect_err("no such name").hint;
        assert!(hint.is_some_and(|hint| hint.contains("fslab disk list")));
    }

    #[test]
    fn a_draw_of_a_file_names_that_file_and_a_name_none() {
        let file = Some(Path::new("mine.toml"));
        assert_eq!(file_of("mine.toml"), file);
        assert_eq!(file_of("mine.toml+draw3"), file);
        assert_eq!(file_of("./mine+draw3"), Some(Path::new("./mine")));
        for name in ["ram-2024", "ram-2024+draw3", "mine.toml+draw"] {
            assert_eq!(file_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_users_file_is_read_and_named_in_its_errors() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("mine.toml");
        let text = PROFILES.built_in[0]
            .1
            .replace("hdd-7200-ata100-2002", "mine");
        fs::write(&path, &text).expect("written");
        let path = path.to_str().expect("a plain path");
        let mine = find(path).expect("a profile");
        assert_eq!(mine.name, "mine");
        let original = find(PROFILES.built_in[0].0).expect("built in");
        assert_eq!(mine.digest(), original.digest(), "a name is no parameter");

        fs::write(path, text.replace("rpm = 7200", "rmp = 7200")).expect("written");
        let error = find(path).expect_err("refused");
        assert!(error.to_string().contains("mine.toml"), "{error}");
        let missing = find("./none.toml").expect_err("refused");
        assert!(missing.to_string().contains("./none.toml"), "{missing}");
    }
}
