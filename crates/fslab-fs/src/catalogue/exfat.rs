//! exFAT: FAT without its limits, for flash cards.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::{
    CheckCommand, CheckVerdict, Class, Driver, FileSystem, KernelBug, KernelConfig, KernelDriver,
    MinimumSize, Mkfs, OutputStream, Tool, VersionSource,
};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-b", "--boundary-align"], OptionValue::Number),
    option(&["-c", "--cluster-size"], OptionValue::Number),
    option(&["-L", "--volume-label"], OptionValue::Text),
    option(&["--pack-bitmap"], OptionValue::Nothing),
    option(&["-f", "--full-format"], OptionValue::Nothing),
    option(&["-v", "--verbose"], OptionValue::Nothing),
];

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("fmask", OptionValue::Number),
    key("dmask", OptionValue::Number),
    key("allow_utime", OptionValue::Number),
    key("time_offset", OptionValue::Number),
    key("iocharset", OptionValue::Word),
    key("errors", OptionValue::OneOf(&["continue", "remount-ro"])),
];

/// Clusters are numbered with 32 bits and have at most 32 MiB.
const VOLUME: Bytes = Bytes(1 << 57);

const fn exfatprogs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "exfatprogs",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Output,
        },
    }
}

pub(crate) static EXFAT: FileSystem = FileSystem {
    name: "exfat",
    title: "exFAT",
    history: "Microsoft brought it out with Windows CE 6.0 in 2006, for flash cards and files \
              too large for FAT32, and cards beyond 32 GB are sold with it. It published the \
              specification in August 2019, and Linux has Samsung's driver since 5.7 of 2020.",
    class: Class::ForeignUnsupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "exfat",
        served_by: &["exfat"],
        config: KernelConfig(&[&["CONFIG_EXFAT_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: exfatprogs("mkfs.exfat"),
        subcommand: &[],
        arguments: &[],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["-V", "--version", "-h", "--help"],
    }),
    check: Some(CheckCommand {
        tool: exfatprogs("fsck.exfat"),
        arguments: &["-n"],
        judge: judge_fsck_exfat,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes(2_113_536),
        mkfs_version: "1.2.0",
        below: "exits with 0 and leaves what fsck.exfat finds damaged",
    },
    capabilities: Capabilities {
        file_bytes_max: VOLUME,
        volume_bytes_max: Some(VOLUME),
        ..Capabilities::NONE
    },
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "Windows, macOS, Linux and Android read and write it, and cards beyond 32 GB are sold \
             with it, so that recent cameras read it.",
        "Microsoft, File System Functionality Comparison; Android Open Source Project, \
             platform/system/vold, PublicVolume.cpp; SD Association, SDXC capacity standard",
    )],
    signature: Some("exfat"),
    bugs: &[
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "A file that ftruncate has lengthened and that is then appended to with \
                 O_APPEND shows what the disk held there before, in place of zeros.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 7.2.13",
            effect: "sync(2) and syncfs(2) no longer send a flush: what they wrote may still be \
                     in the disk's cache. fsync(2) of a file sends one.",
            message: "",
            avoided_by: None,
        },
    ],
    deviations: &[],
};

/// The statuses of fsck.exfat are undocumented; damaged images gave those of fsck(8). Its last line
/// says that the file system is clean even if it found damage.
fn judge_fsck_exfat(exit_code: i32, _output: &str) -> CheckVerdict {
    match exit_code {
        0 => CheckVerdict::Clean,
        1 | 4 => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_clean_says_nothing() {
        let judge = |code| judge_fsck_exfat(code, "disk.img: clean. directories 0, files 0");
        assert_eq!(judge(0), CheckVerdict::Clean);
        assert_eq!(judge(4), CheckVerdict::Errors);
        assert_eq!(judge(8), CheckVerdict::CouldNotRun);
    }
}
