//! Mount options as mount(2) wants them: what every file system knows as flags, the rest as data.

use fslab_sys::MountFlags;

use crate::mkfs::RefusedWord;

/// The arguments of mount(2) that a subject decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountCall {
    /// The driver's name.
    pub fs_type: &'static str,
    /// What the kernel itself heeds.
    pub flags: MountFlags,
    /// What the driver heeds, separated by commas.
    pub data: String,
}

/// What an option does to the flags.
enum FlagChange {
    Set(MountFlags),
    Clear(MountFlags),
}

/// `MS_NOSYMFOLLOW`, which rustix does not name.
const NOSYMFOLLOW: MountFlags = MountFlags::from_bits_retain(0x100);

/// Options for mount(8), for fstab(5), or for changing a mount that exists.
const NOT_FOR_A_TRIAL: [&str; 27] = [
    "auto",
    "noauto",
    "user",
    "nouser",
    "users",
    "group",
    "owner",
    "nofail",
    "_netdev",
    "loop",
    "offset",
    "sizelimit",
    "remount",
    "bind",
    "rbind",
    "move",
    "private",
    "rprivate",
    "shared",
    "rshared",
    "slave",
    "rslave",
    "unbindable",
    "runbindable",
    "comment",
    "uhelper",
    "helper",
];

/// Drivers' options that name a second device.
const SECOND_DEVICE: [&str; 5] = ["device", "logdev", "rtdev", "journal_dev", "journal_path"];

impl MountCall {
    /// Sorts `options` into flags and data; a later option overrides an earlier one.
    pub(crate) fn new<'a>(
        fs_type: &'static str,
        options: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, RefusedWord> {
        let mut flags = MountFlags::empty();
        let mut data: Vec<&str> = Vec::new();
        for option in options {
            check_option(option)?;
            match flag_change(option) {
                Some(FlagChange::Set(flag)) => flags.insert(flag),
                Some(FlagChange::Clear(flag)) => flags.remove(flag),
                None => data.push(option),
            }
        }
        Ok(Self {
            fs_type,
            flags,
            data: data.join(","),
        })
    }
}

/// Refuses what no trial may use, whatever mounts it.
pub(crate) fn check_option(option: &str) -> Result<(), RefusedWord> {
    match refusal(option) {
        None => Ok(()),
        Some(reason) => Err(RefusedWord {
            word: option.to_owned(),
            reason,
        }),
    }
}

fn refusal(option: &str) -> Option<&'static str> {
    let key = option.split('=').next().unwrap_or(option).trim();
    if key.is_empty() || option.contains([',', '\0']) {
        return Some("it is not one option");
    }
    if key.starts_with("x-") || key.starts_with("X-") || NOT_FOR_A_TRIAL.contains(&key) {
        return Some("it is one of mount(8) or fstab(5), not of a file system");
    }
    SECOND_DEVICE
        .contains(&key)
        .then_some("it names another device, and a trial has one")
}

fn flag_change(option: &str) -> Option<FlagChange> {
    use FlagChange::{Clear, Set};
    Some(match option {
        "defaults" => Set(MountFlags::empty()),
        "ro" => Set(MountFlags::RDONLY),
        "rw" => Clear(MountFlags::RDONLY),
        "nosuid" => Set(MountFlags::NOSUID),
        "suid" => Clear(MountFlags::NOSUID),
        "nodev" => Set(MountFlags::NODEV),
        "dev" => Clear(MountFlags::NODEV),
        "noexec" => Set(MountFlags::NOEXEC),
        "exec" => Clear(MountFlags::NOEXEC),
        "sync" => Set(MountFlags::SYNCHRONOUS),
        "async" => Clear(MountFlags::SYNCHRONOUS),
        "dirsync" => Set(MountFlags::DIRSYNC),
        "noatime" => Set(MountFlags::NOATIME),
        "atime" => Clear(MountFlags::NOATIME),
        "nodiratime" => Set(MountFlags::NODIRATIME),
        "diratime" => Clear(MountFlags::NODIRATIME),
        "relatime" => Set(MountFlags::RELATIME),
        "norelatime" => Clear(MountFlags::RELATIME),
        "strictatime" => Set(MountFlags::STRICTATIME),
        "nostrictatime" => Clear(MountFlags::STRICTATIME),
        "lazytime" => Set(MountFlags::LAZYTIME),
        "nolazytime" => Clear(MountFlags::LAZYTIME),
        "silent" => Set(MountFlags::SILENT),
        "loud" => Clear(MountFlags::SILENT),
        "nosymfollow" => Set(NOSYMFOLLOW),
        "symfollow" => Clear(NOSYMFOLLOW),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(options: &str) -> Result<MountCall, RefusedWord> {
        MountCall::new(
            "ext4",
            options.split(',').filter(|option| !option.is_empty()),
        )
    }

    #[test]
    fn generic_options_are_flags_and_the_rest_is_data() {
        let call = call("noatime,data=journal,nodev,barrier=0").expect("accepted");
        assert_eq!(call.fs_type, "ext4");
        assert_eq!(call.flags, MountFlags::NOATIME | MountFlags::NODEV);
        assert_eq!(call.flags.bits(), 0x404);
        assert_eq!(call.data, "data=journal,barrier=0");
    }

    #[test]
    fn a_later_option_overrides_an_earlier_one() {
        assert_eq!(call("ro,rw").expect("accepted").flags, MountFlags::empty());
        assert_eq!(call("rw,ro").expect("accepted").flags, MountFlags::RDONLY);
        assert_eq!(call("defaults").expect("accepted").data, "");
    }

    #[test]
    fn options_of_mount_8_and_of_fstab_are_refused() {
        for option in [
            "loop",
            "offset=512",
            "nofail",
            "x-systemd.automount",
            "remount",
            "=",
        ] {
            assert!(call(option).is_err(), "{option}");
        }
    }

    #[test]
    fn a_second_device_is_refused() {
        for option in ["logdev=/dev/sdb", "device=/dev/sdb", "journal_dev=0x801"] {
            assert!(call(option).is_err(), "{option}");
        }
    }

    proptest! {
        #[test]
        fn every_accepted_option_is_a_flag_or_stands_in_the_data_in_its_order(
            options in prop::collection::vec("(ro|rw|noatime|sync|[b-d]{1,3}(=[0-9]{1,2})?)", 0..8)
        ) {
            let call = MountCall::new("xfs", options.iter().map(String::as_str))
                .expect("none of these is refused");
            let rest: Vec<&str> = options
                .iter()
                .map(String::as_str)
                .filter(|option| flag_change(option).is_none())
                .collect();
            prop_assert_eq!(call.data, rest.join(","));
        }
    }
}
