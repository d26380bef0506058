//! Kernel messages and error counters of the trial's device. They reveal errors that were never
//! returned to a program: a failed write-back, a read that succeeded after a retry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind, KernelMessage};
use fslab_sys::{KernelLine, KernelLog};

/// Messages kept of a step or phase, and those that explain a failure.
const KEPT_MAX: usize = 12;
const EXPLAINING_MAX: usize = 3;
/// Bytes kept of a message.
const MESSAGE_BYTES_MAX: usize = 300;

/// Levels of syslog(2).
const LEVEL_CRITICAL: u32 = 2;
const LEVEL_ERROR: u32 = 3;
const LEVEL_WARNING: u32 = 4;

/// Texts, in lower case, that mark an error at any level.
const ALWAYS_ERRORS: [&str; 4] = [
    "i/o error",
    "error, dev ",
    "forced readonly",
    "remounting filesystem read-only",
];
/// Texts that make a warning an error: data was not read or written.
const ERRORS_AS_WARNINGS: [&str; 12] = [
    "io error",
    "io failure",
    "lost async page write",
    "lost sync page write",
    "writeback error",
    "write error",
    "read error",
    "error -5",
    "data loss",
    "shutdown",
    "corrupt",
    "csum failed",
];
/// Texts that mark an error at level error.
const ERRORS_AS_ERRORS: [&str; 6] = [
    "error",
    "fail",
    "abort",
    "inconsisten",
    "timed out",
    "timeout",
];
/// A command that the device does not support: mkfs tries it, then writes zeroes itself.
const NO_SUCH_COMMAND: &str = "operation not supported error";
/// What bcachefs says when its discards meet an unmount: they are done at the next mount.
const GOING_READ_ONLY: &str = "error erofs_trans_commit";
/// Marks of a full file system, which is no error of the device.
const FULL: [&str; 4] = ["no space", "enospc", "error -28", "errno=-28"];

/// Watches the devices of a trial.
#[derive(Debug)]
pub(crate) struct KernelWatch {
    /// Kernel names of the device and of those below it.
    names: BTreeSet<String>,
    log: KernelLog,
    counts: BTreeMap<PathBuf, u64>,
}

impl KernelWatch {
    /// Watches the devices of these kernel names, by `log` and the counters from now on.
    pub(crate) fn over(devices: &[String], log: KernelLog) -> Self {
        let names = devices.iter().flat_map(|device| with_those_below(device));
        let names = names.collect();
        let mut watch = Self {
            names,
            log,
            counts: BTreeMap::new(),
        };
        watch.counts = watch.read_counts();
        watch
    }

    /// Why the log is unreadable or incomplete; `None` if all of it was read.
    pub(crate) fn lack(&self) -> Option<String> {
        match self.log.refusal() {
            Some(error) => Some(format!("not readable: {error}")),
            None if self.log.has_gaps() => {
                Some("incomplete: messages were overwritten before they were read".to_owned())
            }
            None => None,
        }
    }

    /// The messages about the devices since the last call, shortened.
    pub(crate) fn look(&mut self, during: &str) -> Vec<KernelMessage> {
        let lines = self.log.since();
        let concerning = lines.iter().filter(|line| self.concerns(line));
        let texts = concerning.map(|line| (line.text.clone(), is_error(line)));
        let mut found: Vec<(String, bool)> = texts.collect();
        found.extend(self.counted());
        shortened(during, found)
    }

    fn concerns(&self, line: &KernelLine) -> bool {
        let is_weighty = line.level <= LEVEL_WARNING || is_error(line);
        let harmless = [NO_SUCH_COMMAND, GOING_READ_ONLY];
        let is_harmless = harmless.iter().any(|it| line.text.contains(it));
        is_weighty && !is_harmless && self.names.iter().any(|name| has_word(&line.text, name))
    }

    /// Error counters that have increased.
    fn counted(&mut self) -> Vec<(String, bool)> {
        let counts = self.read_counts();
        let mut grown = Vec::new();
        for (file, count) in &counts {
            let before = self.counts.get(file).copied().unwrap_or(0);
            if *count > before {
                // A disk counts successful retries, too; their data is correct.
                let is_error = !file.ends_with(DISK_ERRORS);
                let text = format!("{}: {before} before, {count} now", file.display());
                grown.push((text, is_error));
            }
        }
        self.counts = counts;
        grown
    }

    fn read_counts(&self) -> BTreeMap<PathBuf, u64> {
        let mut counts = BTreeMap::new();
        for name in &self.names {
            for file in [
                Path::new("/sys/fs/ext4").join(name).join("errors_count"),
                Path::new("/sys/block").join(name).join(DISK_ERRORS),
            ] {
                if let Some(count) = fs::read_to_string(&file)
                    .ok()
                    .and_then(|text| number(&text))
                {
                    counts.insert(file, count);
                }
            }
        }
        for (file, text) in btrfs_counts(&self.names) {
            let values = text.lines().filter_map(|line| line.split_once(' '));
            for (what, count) in values.filter_map(|(what, value)| Some((what, number(value)?))) {
                counts.insert(file.join(what), count);
            }
        }
        counts
    }
}

/// Error count of a SCSI disk, below its directory; hexadecimal.
const DISK_ERRORS: &str = "device/ioerr_cnt";

/// `errors_count` is decimal; a disk's count has the prefix 0x.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The files with Btrfs's error counts of its devices, and their contents.
fn btrfs_counts(names: &BTreeSet<String>) -> Vec<(PathBuf, String)> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let volumes = entries("/sys/fs/btrfs".into()).map(|entry| entry.path());
    let ours = volumes.filter(|volume| {
        let mut devices = entries(volume.join("devices"));
        devices.any(|device| {
            device
                .file_name()
                .to_str()
                .is_some_and(|it| names.contains(it))
        })
    });
    let files = ours.flat_map(|volume| entries(volume.join("devinfo")));
    let files = files.map(|device| device.path().join("error_stats"));
    files
        .filter_map(|file| Some((file.clone(), fs::read_to_string(&file).ok()?)))
        .collect()
}

/// The device, the disk that it is a partition of, and all devices below.
fn with_those_below(device: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut waiting = vec![device.to_owned()];
    while let Some(name) = waiting.pop() {
        let folder = Path::new("/sys/class/block").join(&name);
        if !names.insert(name) {
            continue;
        }
        if folder.join("partition").exists() {
            let disk = fs::canonicalize(&folder).ok();
            let disk = disk
                .as_deref()
                .and_then(Path::parent)
                .and_then(Path::file_name);
            waiting.extend(disk.map(|name| name.to_string_lossy().into_owned()));
        }
        let below = fs::read_dir(folder.join("slaves"))
            .into_iter()
            .flatten()
            .flatten();
        waiting.extend(below.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        if let Ok(file) = fs::read_to_string(folder.join("loop/backing_file")) {
            let holding = fslab_sys::device_below(Path::new(file.trim()));
            waiting.extend(holding.and_then(fslab_sys::DeviceNumber::kernel_name));
        }
    }
    names
}

/// True if `text` contains `name` as a separate word: `loop1` is not in `loop10`.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

fn is_error(line: &KernelLine) -> bool {
    let text = line.text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if text.contains(NO_SUCH_COMMAND) {
        return false;
    }
    if has(&ALWAYS_ERRORS) || line.level <= LEVEL_CRITICAL {
        return true;
    }
    let as_warning = line.level <= LEVEL_WARNING && has(&ERRORS_AS_WARNINGS);
    let as_error = line.level <= LEVEL_ERROR && has(&ERRORS_AS_ERRORS);
    (as_warning || as_error) && !has(&FULL)
}

/// Sorts errors first, merges successive equal messages, and cuts the list.
fn shortened(during: &str, found: Vec<(String, bool)>) -> Vec<KernelMessage> {
    let mut messages: Vec<KernelMessage> = Vec::new();
    for (text, is_error) in found {
        let text = cut(&text);
        match messages.last_mut() {
            Some(last) if last.text == text => last.times += 1,
            _ => messages.push(KernelMessage {
                during: during.to_owned(),
                text,
                times: 1,
                is_error,
            }),
        }
    }
    messages.sort_by_key(|message| !message.is_error);
    let left_out: u64 = messages.iter().skip(KEPT_MAX).map(|it| it.times).sum();
    messages.truncate(KEPT_MAX);
    if left_out > 0 {
        messages.push(KernelMessage {
            during: during.to_owned(),
            text: format!("{left_out} more messages of this device are left out"),
            times: 1,
            is_error: false,
        });
    }
    messages
}

fn cut(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut text: String = text.chars().map(plain).collect();
    let mut end = MESSAGE_BYTES_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// The failure for the errors among `messages`; `None` if there are none.
pub(crate) fn failure_of(messages: &[KernelMessage]) -> Option<Failure> {
    let errors: Vec<&KernelMessage> = messages.iter().filter(|it| it.is_error).collect();
    let first = errors.first()?;
    let text = format!(
        "the kernel reports errors of the device during '{}'",
        first.during
    );
    let mut failure = Failure::new(FailureKind::Io, text);
    let explaining = errors.iter().take(EXPLAINING_MAX);
    failure.causes = explaining.map(|it| it.text.clone()).collect();
    Some(failure.hint(
        "the device below the file system failed, or is full; figures of a device with errors do \
         not describe the file system",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(level: u32, text: &str) -> KernelLine {
        KernelLine {
            level,
            text: text.to_owned(),
        }
    }

    /// Each was logged by Linux 6.18 on a loop device whose backing file could not grow, or is in
    /// the driver's source.
    #[test]
    fn messages_of_lost_data_are_errors() {
        for (level, text) in [
            (
                3,
                "Buffer I/O error on dev loop0, logical block 77, lost async page write",
            ),
            (
                3,
                "critical space allocation error, dev loop0, sector 457728 op 0x1:(WRITE) flags 0x0",
            ),
            (
                4,
                "EXT4-fs warning (device loop0): ext4_end_bio:368: I/O error 3 writing to inode 12",
            ),
            (
                2,
                "EXT4-fs (loop0): failed to convert unwritten extents -- potential data loss!",
            ),
            (3, "Aborting journal on device loop0-8."),
            (
                2,
                "EXT4-fs error (device loop0): ext4_put_super:1306: Couldn't clean up the journal",
            ),
            (
                3,
                "BTRFS error (device loop0 state A): Transaction aborted (error -5)",
            ),
            (6, "BTRFS info (device loop0 state EA): forced readonly"),
            (
                1,
                "XFS (loop0): metadata I/O error in \"xfs_buf_ioend\" at daddr 0x2 len 1 error 5",
            ),
            (
                1,
                "XFS (loop0): Log I/O Error (0x2) detected at xlog_ioend_work. Shutting down.",
            ),
            (
                4,
                "loop0: writeback error on inode 131, offset 0, sector 128",
            ),
            (3, "FAT-fs (loop0): FAT read failed (blocknr 32)"),
            (3, "ERROR: (device loop0): diWrite: ixpxd invalid"),
            (3, "NILFS (loop0): I/O error writing log (start-blocknr=2)"),
            (
                3,
                "I/O error, dev sda, sector 12 op 0x0:(READ) flags 0x80700 phys_seg 1",
            ),
        ] {
            assert!(is_error(&line(level, text)), "{text}");
        }
    }

    #[test]
    fn messages_of_every_mount_are_none() {
        for (level, text) in [
            (
                6,
                "EXT4-fs (loop0): mounted filesystem 9 r/w with ordered data mode. Quota mode: none.",
            ),
            (
                6,
                "BTRFS info (device loop0): using crc32c (crc32c-lib) checksum algorithm",
            ),
            (
                4,
                "XFS (loop0): Deprecated V4 format (crc=0) will not be supported after September",
            ),
            (
                4,
                "FAT-fs (loop0): Volume was not properly unmounted. Please run fsck.",
            ),
            // On every mkfs.ext4 on a loop device over tmpfs, with Linux 6.18.
            (
                3,
                "operation not supported error, dev loop0, sector 688 op 0x9:(WRITE_ZEROES) flags",
            ),
            (6, "loop0: detected capacity change from 0 to 1228800"),
            (
                4,
                "EXT4-fs warning (device loop0): ext4_dx_add_entry: Directory index full",
            ),
            (3, "NILFS (loop0): error -28 truncating bmap (no space)"),
        ] {
            assert!(!is_error(&line(level, text)), "{text}");
        }
    }

    #[test]
    fn a_device_is_matched_by_its_complete_name() {
        assert!(has_word("EXT4-fs (loop1): x", "loop1"));
        assert!(has_word("Aborting journal on device loop1-8.", "loop1"));
        assert!(!has_word("I/O error, dev loop10, sector 3", "loop1"));
        assert!(!has_word("I/O error, dev sda1, sector 3", "sda"));
        assert!(!has_word("my_loop1", "loop1"));
    }

    #[test]
    fn messages_are_limited_and_sorted_errors_first_without_control_characters() {
        let mut found = vec![
            ("a \u{1b}[2J".to_owned(), false),
            ("b".to_owned(), true),
            ("b".to_owned(), true),
        ];
        found.extend((0..40).map(|n| (format!("c{n}"), true)));
        let messages = shortened("write", found);
        assert_eq!(messages.len(), KEPT_MAX + 1);
        assert_eq!((messages[0].text.as_str(), messages[0].times), ("b", 2));
        let left_out = &messages[KEPT_MAX].text;
        assert!(left_out.starts_with("30 more"), "{left_out}");
        assert_eq!(cut("a \u{1b}[2J"), "a  [2J");
        let failure = failure_of(&messages).expect("errors");
        assert_eq!(failure.causes, ["b", "c0", "c1"]);
        assert_eq!(
            failure_of(&shortened("write", vec![("a".into(), false)])),
            None
        );
    }
}
