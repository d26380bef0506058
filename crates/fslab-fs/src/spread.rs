//! How a file system is made on several disks, and mounted from them.

use fslab_model::{DiskSpread, Failure, Subject};

/// How a file system spreads over disks.
#[derive(Clone, Copy, Debug)]
pub struct SpreadRule {
    /// What a subject may ask for.
    pub profiles: &'static [SpreadProfile],
    /// How mkfs gets the devices.
    pub(crate) mkfs: MkfsDevices,
    /// How mount gets them.
    pub(crate) mount: MountDevices,
}

/// A way to spread data and metadata.
#[derive(Clone, Copy, Debug)]
pub struct SpreadProfile {
    /// Its name in subjects; empty for the default.
    pub name: &'static str,
    /// The fewest devices.
    pub devices_min: u32,
    /// mkfs's options with their values, unless the user gives them; or words before the devices.
    pub(crate) words: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MkfsDevices {
    /// All of them, at the end.
    Listed,
    /// The first one at the end, each other one after this option.
    After(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MountDevices {
    /// The first one; the file system knows the others.
    First,
    /// The others by this option.
    Option(&'static str),
}

pub(crate) const fn profile(
    name: &'static str,
    devices_min: u32,
    words: &'static [&'static str],
) -> SpreadProfile {
    SpreadProfile {
        name,
        devices_min,
        words,
    }
}

impl SpreadRule {
    /// The profile of `spread`; the error is the reason, a fragment, with what is possible.
    fn profile_of(&self, spread: &DiskSpread) -> Result<&'static SpreadProfile, (String, String)> {
        let names = || {
            let names = self.profiles.iter();
            let names = names.map(|it| format!("{}x{}", it.name, it.devices_min));
            let names: Vec<String> = names.collect();
            format!("possible are {}, and more disks", names.join(", "))
        };
        let found = self.profiles.iter().find(|it| it.name == spread.profile);
        let found = found.ok_or_else(|| (format!("it has no '{}'", spread.profile), names()))?;
        if spread.devices < found.devices_min {
            let needed = found.devices_min;
            return Err((format!("that needs at least {needed} disks"), names()));
        }
        Ok(found)
    }

    /// The last words of mkfs, which knows `given` already: those of the profile, and `devices`.
    pub(crate) fn mkfs_words(
        &self,
        spread: &DiskSpread,
        given: &[String],
        devices: &[&str],
    ) -> Vec<String> {
        let profile = self.profile_of(spread).ok();
        let words = profile.map_or(&[][..], |profile| profile.words);
        let is_given =
            |option: &str| option.starts_with('-') && given.iter().any(|it| it == option);
        let mut all: Vec<&str> = Vec::new();
        for pair in words.chunks(2).filter(|pair| !is_given(pair[0])) {
            all.extend(pair);
        }
        let (first, others) = devices.split_at(devices.len().min(1));
        match self.mkfs {
            MkfsDevices::Listed => all.extend(devices),
            MkfsDevices::After(option) => {
                all.extend(others.iter().flat_map(|device| [option, device]));
                all.extend(first);
            }
        }
        all.into_iter().map(str::to_owned).collect()
    }

    /// The mount options that name the devices `others` than the first.
    pub(crate) fn mount_options(&self, others: &[String]) -> Vec<String> {
        match self.mount {
            MountDevices::First => Vec::new(),
            MountDevices::Option(option) => {
                let options = others.iter().map(|device| format!("{option}={device}"));
                options.collect()
            }
        }
    }
}

/// Checks the disks over which `subject` spreads by itself, with the rule of its file system.
pub(crate) fn validate_spread(subject: &Subject, rule: Option<&SpreadRule>) -> Result<(), Failure> {
    let Some(spread) = subject.spread() else {
        return Ok(());
    };
    let (fs, devices) = (subject.fs(), spread.devices);
    let Some(rule) = rule else {
        let text = format!("{fs} is on one device: it does not spread over disks by itself");
        let level = match spread.profile.as_str() {
            "raid0" | "raid5" | "raid6" | "raid10" => spread.profile.as_str(),
            _ => "raid1",
        };
        let hint = format!("to put it on an array: {fs}/{level}x{devices}");
        return Err(Failure::bad_input(text).hint(hint));
    };
    let checked = rule.profile_of(spread).map(drop);
    checked.map_err(|(reason, possible)| {
        Failure::bad_input(format!("cannot spread {fs} as {spread}: {reason}")).hint(possible)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validated(text: &str) -> Result<(), Failure> {
        let subject: Subject = text.parse().expect(text);
        crate::find(subject.fs()).expect(text).validate(&subject)
    }

    #[test]
    fn a_profile_is_one_that_the_file_system_has_on_enough_disks() {
        for text in [
            "btrfs:raid1x2",
            "btrfs:raid5x4",
            "zfs:raidz1x3",
            "zfs:mirrorx2",
            "f2fs:x2",
        ] {
            assert_eq!(validated(text), Ok(()), "{text}");
        }
        for (text, named) in [
            ("btrfs:raid9x2", "possible are"),
            ("btrfs:raid6x2", "raid6x3"),
            ("ext4:raid5x4", "ext4/raid5x4"),
            ("xfs:mirrorx2", "xfs/raid1x2"),
        ] {
            let failure = validated(text).expect_err(text);
            assert!(failure.hint.expect("a hint").contains(named), "{text}");
        }
    }

    #[test]
    fn what_the_user_gives_mkfs_takes_the_place_of_the_profile() {
        let subject: Subject = "btrfs:raid1x2".parse().expect("a subject");
        let btrfs = crate::find("btrfs").expect("an entry");
        let rule = btrfs.spread.expect("a rule");
        let spread = subject.spread().expect("a spread");
        let words = rule.mkfs_words(spread, &[], &["a", "b"]);
        assert_eq!(words, ["-d", "raid1", "-m", "raid1", "a", "b"]);
        let given = ["-m".to_owned(), "dup".to_owned()];
        let words = rule.mkfs_words(spread, &given, &["a", "b"]);
        assert_eq!(words, ["-d", "raid1", "a", "b"]);
        assert_eq!(rule.mount_options(&["b".to_owned()]), ["device=b"]);
        let f2fs = crate::find("f2fs")
            .expect("an entry")
            .spread
            .expect("a rule");
        let subject: Subject = "f2fs:x3".parse().expect("a subject");
        let words = f2fs.mkfs_words(subject.spread().expect("a spread"), &[], &["a", "b", "c"]);
        assert_eq!(words, ["-c", "b", "-c", "c", "a"]);
    }
}
