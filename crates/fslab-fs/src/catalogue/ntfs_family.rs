//! Common parts of both drivers of NTFS: mkntfs, ntfsfix, the class, most limits.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{OptionRule, OptionValue, option};
use crate::{CheckCommand, CheckVerdict, MinimumSize, Mkfs, OutputStream, Tool, VersionSource};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-c", "--cluster-size"], OptionValue::Number),
    option(&["-C", "--enable-compression"], OptionValue::Nothing),
    option(&["-f", "--fast"], OptionValue::Nothing),
    option(&["-F", "--force"], OptionValue::Nothing),
    option(&["-H", "--heads"], OptionValue::Number),
    option(&["-I", "--no-indexing"], OptionValue::Nothing),
    option(&["-L", "--label"], OptionValue::Text),
    option(&["-p", "--partition-start"], OptionValue::Number),
    option(&["-q", "--quiet"], OptionValue::Nothing),
    option(&["-Q", "--quick"], OptionValue::Nothing),
    option(&["-s", "--sector-size"], OptionValue::Number),
    option(&["-S", "--sectors-per-track"], OptionValue::Number),
    option(&["-T", "--zero-time"], OptionValue::Nothing),
    option(&["-U", "--with-uuid"], OptionValue::Nothing),
    option(&["-v", "--verbose"], OptionValue::Nothing),
    option(&["--debug"], OptionValue::Nothing),
    option(&["-z", "--mft-zone-multiplier"], OptionValue::Number),
];

pub(super) const fn ntfs_3g(program: &'static str, stream: OutputStream) -> Tool {
    Tool {
        program,
        package: "ntfs-3g",
        version: VersionSource::Asked {
            argument: "--version",
            stream,
        },
    }
}

/// `-f` is the fast mode, `-F` accepts a file in place of a device.
pub(super) const MKFS: Mkfs = Mkfs {
    tool: ntfs_3g("mkntfs", OutputStream::Output),
    subcommand: &[],
    arguments: &["-f", "-F", "-q"],
    joined: &[],
    options: MKFS_OPTIONS,
    defaults: DefaultsHistory::NONE,
    features: None,
    formats_nothing: &[
        "-n",
        "--no-action",
        "-V",
        "--version",
        "-h",
        "--help",
        "-l",
        "--license",
    ],
};

pub(super) const READ_BY: Reservation = Reservation::stated(
    ReservationKind::Compatibility,
    "Windows reads and writes it; macOS only reads it; Android mounts it only where the maker of \
     the device added a driver.",
    "Microsoft, File System Functionality Comparison; Android Open Source Project, \
     platform/system/vold, PublicVolume.cpp; Seagate, File System Format Recommendations",
);

pub(super) const DEVIATIONS: &[&str] = &[
    "-f: only the metadata is written. By default mkntfs fills the entire device with zeros first, \
     which takes as long as the device is large and leaves the same file system.",
];

pub(super) const CHECK: CheckCommand = CheckCommand {
    tool: ntfs_3g("ntfsfix", OutputStream::Output),
    arguments: &["-n"],
    judge: judge_ntfsfix,
    blind_to: Some(
        "everything but the boot sectors, the first records of the MFT and their mirror: no \
         program for Linux checks the rest",
    ),
};

pub(super) const MINIMUM: MinimumSize = MinimumSize {
    size: Bytes(1_049_088),
    mkfs_version: "2022.10.3",
    below: "refuses",
};

/// 32-bit cluster numbers.
pub(super) const CLUSTERS: u64 = (1 << 32) - 1;

/// Of both drivers; permissions only with the kernel's.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    hard_links_max: 4000,
    extended_attributes: true,
    compression: true,
    crash_safety: CrashSafety::JournalUnused,
    // 255 units of UTF-16: up to 765 bytes of UTF-8.
    name_bytes_max: 255,
    file_bytes_max: Bytes(CLUSTERS << 12),
    // mkntfs takes clusters of up to 2 MiB.
    volume_bytes_max: Some(Bytes(CLUSTERS << 21)),
    ..Capabilities::POSIX
};

/// The statuses of ntfsfix are undocumented: 1 is damage, and also a device that cannot be opened.
fn judge_ntfsfix(exit_code: i32, output: &str) -> CheckVerdict {
    match exit_code {
        0 => CheckVerdict::Clean,
        1 if !output.contains("Error opening") => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_cannot_be_opened_is_not_damage() {
        let absent = "Error opening '/dev/x': No such file or directory\nVolume is corrupt.";
        assert_eq!(judge_ntfsfix(0, ""), CheckVerdict::Clean);
        assert_eq!(
            judge_ntfsfix(1, "NTFS signature is missing."),
            CheckVerdict::Errors
        );
        assert_eq!(judge_ntfsfix(1, absent), CheckVerdict::CouldNotRun);
    }
}
