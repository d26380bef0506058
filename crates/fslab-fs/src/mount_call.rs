//! Mount options for mount(2): generic ones as flags, the others as data.

use fslab_model::{did_you_mean, nearest_name};
use fslab_sys::MountFlags;

use crate::mkfs::RefusedWord;
use crate::mount_words;
use crate::option_rule::{KeyRule, is_word, key_names, key_refusal};

/// The arguments of mount(2) that depend on the subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountCall {
    /// The driver's name.
    pub fs_type: &'static str,
    /// Options that the kernel itself interprets.
    pub flags: MountFlags,
    /// Options that the driver interprets, separated by commas.
    pub data: String,
}

/// The effect of an option on the flags.
enum FlagChange {
    Set(MountFlags),
    Clear(MountFlags),
}

/// `MS_NOSYMFOLLOW`, which rustix lacks.
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

impl MountCall {
    /// Separates `options` into flags and data; a later option overrides an earlier one.
    pub(crate) fn new<'a>(
        fs_type: &'static str,
        options: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut flags = MountFlags::empty();
        let mut data: Vec<&str> = Vec::new();
        for option in options {
            match flag_change(option) {
                Some(FlagChange::Set(flag)) => flags.insert(flag),
                Some(FlagChange::Clear(flag)) => flags.remove(flag),
                None => data.push(option),
            }
        }
        Self {
            fs_type,
            flags,
            data: data.join(","),
        }
    }
}

/// Refuses what a subject may not pass to the driver that knows `keys`.
///
/// An option without a value is passed on even if the driver does not know it: it cannot refer to
/// anything else. A value can name a file or a device, even as a number, so only listed keys may
/// have one.
pub(crate) fn check_option(keys: &[KeyRule], option: &str) -> Result<(), RefusedWord> {
    let refusal = refusal(option).or_else(|| match option.contains('=') {
        true => key_refusal(keys, option),
        false => None,
    });
    match refusal {
        None => Ok(()),
        Some(reason) => Err(RefusedWord {
            word: option.to_owned(),
            reason,
            allowed: Some(match keys {
                [] => "allowed are options without a value".to_owned(),
                _ => format!(
                    "allowed are {}, and options without a value",
                    key_names(keys).join(", ")
                ),
            }),
        }),
    }
}

/// Refuses an option without a value that neither the kernel nor any driver knows.
pub(crate) fn check_word(keys: &[KeyRule], option: &str) -> Result<(), RefusedWord> {
    let is_key = key_names(keys).contains(&option);
    if option.contains('=')
        || is_key
        || mount_words::is_known(option)
        || flag_change(option).is_some()
    {
        return Ok(());
    }
    let known = mount_words::all().chain(GENERIC);
    Err(RefusedWord {
        word: option.to_owned(),
        reason: "no driver knows it".to_owned(),
        allowed: why_unknown(option).or_else(|| nearest_name(option, known).map(did_you_mean)),
    })
}

/// What is meant by a word that is no option of any driver.
fn why_unknown(option: &str) -> Option<String> {
    const LAYERS: [&str; 7] = ["luks", "lvm", "md", "raid0", "raid1", "raid5", "dm-crypt"];
    if LAYERS.contains(&option) {
        return Some(format!(
            "{option} is a layer below the file system: make it yourself, and measure its device \
             with --destroy DEVICE, or what is mounted with --dir DIRECTORY"
        ));
    }
    // `ext4@debian:6.1`, in which the colon begins the options.
    option.starts_with(|c: char| c.is_ascii_digit()).then(|| {
        format!(
            "the name of a lab has no colon: ext4@debian-{option}, after fslab lab build --kernel \
             debian:{option}"
        )
    })
}

/// Those of the kernel that are often typed.
const GENERIC: [&str; 8] = [
    "noatime",
    "nodiratime",
    "relatime",
    "strictatime",
    "sync",
    "dirsync",
    "nodev",
    "noexec",
];

fn refusal(option: &str) -> Option<String> {
    let name = option.split('=').next().unwrap_or(option);
    let reason =
        if name.starts_with("x-") || name.starts_with("X-") || NOT_FOR_A_TRIAL.contains(&name) {
            "it is an option of mount(8) or fstab(5), not of a file system"
        } else if !is_word(name) {
            "it is not one option"
        } else {
            return None;
        };
    Some(reason.to_owned())
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
    use crate::option_rule::{OptionValue, key};

    const KEYS: &[KeyRule] = &[key("commit", OptionValue::Number)];

    fn call(options: &str) -> MountCall {
        MountCall::new(
            "ext4",
            options.split(',').filter(|option| !option.is_empty()),
        )
    }

    #[test]
    fn generic_options_are_flags_and_the_rest_is_data() {
        let call = call("noatime,data=journal,nodev,barrier=0");
        assert_eq!(call.fs_type, "ext4");
        assert_eq!(call.flags, MountFlags::NOATIME | MountFlags::NODEV);
        assert_eq!(call.flags.bits(), 0x404);
        assert_eq!(call.data, "data=journal,barrier=0");
    }

    #[test]
    fn a_later_option_overrides_an_earlier_one() {
        assert_eq!(call("ro,rw").flags, MountFlags::empty());
        assert_eq!(call("rw,ro").flags, MountFlags::RDONLY);
        assert_eq!(call("defaults").data, "");
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
            "=x",
            " loop",
            "a b",
            "noatime\0",
            "noatime,loop",
        ] {
            assert!(check_option(KEYS, option).is_err(), "{option}");
        }
    }

    /// A list of refused options lacked files: `usermapping=`, `context=`, `cachefile=`.
    #[test]
    fn a_value_is_passed_only_for_a_listed_key_and_in_its_shape() {
        for option in ["commit=5", "noatime", "no_such_option", "commit"] {
            assert_eq!(check_option(KEYS, option), Ok(()), "{option}");
        }
        for option in [
            "logdev=/dev/sdb",
            "device=sdb",
            "journal_dev=0x801",
            "journal_path=log",
            "usermapping=map",
            "context=system_u:object_r:tmp_t:s0",
            "commit=/etc",
            "commit=5\\,loop",
            "commit=",
        ] {
            assert!(check_option(KEYS, option).is_err(), "{option}");
        }
    }

    proptest! {
        #[test]
        fn every_accepted_option_is_a_flag_or_stands_in_the_data_in_its_order(
            options in prop::collection::vec("(ro|rw|noatime|sync|[b-d]{1,3}(=[0-9]{1,2})?)", 0..8)
        ) {
            let call = MountCall::new("xfs", options.iter().map(String::as_str));
            let rest: Vec<&str> = options
                .iter()
                .map(String::as_str)
                .filter(|option| flag_change(option).is_none())
                .collect();
            prop_assert_eq!(call.data, rest.join(","));
        }
    }
}
