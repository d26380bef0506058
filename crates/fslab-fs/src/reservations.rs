//! What speaks for or against a file system beside its speed: what its entry states, and what
//! follows from its capabilities and bugs.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind, Subject};

use crate::facts::MAINTENANCE_FACT;
use crate::{FactsTable, FileSystem};

/// Larger files are no reservation.
const LARGE_FILE: Bytes = Bytes::gib(1024);

/// The comparison of the file systems that Windows has.
pub(crate) const MICROSOFT: &str = "Microsoft, File System Functionality Comparison, \
    learn.microsoft.com/windows/win32/fileio/filesystem-functionality-comparison";

/// Of file systems that only Linux and its relatives have.
pub(crate) const LINUX_ONLY: Reservation = Reservation::stated(
    ReservationKind::Compatibility,
    "Windows and macOS do not read it without additional software, nor does Android on a card or \
     stick.",
    "Microsoft, File System Functionality Comparison; Apple, Disk Utility User Guide, File system \
     formats available in Disk Utility on Mac; Android Open Source Project, platform/system/vold, \
     PublicVolume.cpp",
);

impl FileSystem {
    /// The reservations of `subject`, which is one of this entry, by kind.
    pub fn reservations_of(&self, subject: &Subject) -> Vec<Reservation> {
        let mut reservations = self.reservations.to_vec();
        let capabilities = self.capabilities_of(subject);
        reservations.extend(limits(&capabilities));
        reservations.extend(self.durability(&capabilities));
        reservations.extend(by_facts(self.name));
        let lasting = self.bugs.iter().filter(|bug| bug.avoided_by.is_none());
        reservations.extend(lasting.map(|bug| {
            let text = format!("A known bug of {}: {}", bug.kernel, bug.effect);
            Reservation::measured(ReservationKind::Maturity, text)
        }));
        reservations.sort_by_key(|it| it.kind);
        reservations
    }
}

fn limits(capabilities: &Capabilities) -> Vec<Reservation> {
    let limit = |text: String| Reservation::measured(ReservationKind::Limit, text);
    let mut limits = Vec::new();
    let largest = capabilities.file_bytes_max;
    if largest < LARGE_FILE {
        // A limit one byte below a power of two is known by that power.
        let rounded = Bytes(largest.0.next_multiple_of(1 << 20));
        let word = if rounded == largest {
            "at most"
        } else {
            "less than"
        };
        limits.push(limit(format!("A file has {word} {rounded}.")));
    }
    if !capabilities.permissions {
        limits.push(limit(
            "It keeps no owner and no permissions of a file.".into(),
        ));
    }
    limits
}

impl FileSystem {
    fn durability(&self, capabilities: &Capabilities) -> Option<Reservation> {
        let checker = self.check.as_ref();
        let text = match capabilities.crash_safety {
            _ if !capabilities.persistent => "Its files do not survive an unmount.".to_owned(),
            safety @ (CrashSafety::None | CrashSafety::JournalUnused) => {
                let journal = match safety {
                    CrashSafety::None => "It has no journal",
                    _ => "The format has a journal, but the driver does not write it",
                };
                let repair = match checker.map(|it| it.blind_to) {
                    Some(None) => {
                        "after a crash, or after unplugging it while it is written to, its checker \
                         has to repair it"
                    }
                    Some(Some(_)) => {
                        "a crash, or unplugging it while it is written to, may damage it, and no \
                         program for Linux checks and repairs all of it"
                    }
                    None => {
                        "a crash, or unplugging it while it is written to, may damage it, and \
                         fslab knows no checker for it"
                    }
                };
                format!("{journal}: {repair}.")
            }
            CrashSafety::Journal | CrashSafety::CopyOnWrite if capabilities.data_checksums => {
                "Data carries checksums: damage on the disk is found when it is read.".to_owned()
            }
            CrashSafety::Journal | CrashSafety::CopyOnWrite => return None,
        };
        Some(Reservation::measured(ReservationKind::Durability, text))
    }
}

/// A fact with the values of which a sentence follows.
struct Consequence {
    fact: &'static str,
    kind: ReservationKind,
    /// The sentence for a value; `None` if there is nothing to say.
    text: fn(&str) -> Option<String>,
}

/// The sentence on who maintains a driver, by the kernel's file MAINTAINERS.
fn maintenance(status: &str) -> Option<String> {
    let kernel = &FactsTable::measured().kernel;
    let kernel = kernel.split('-').next().unwrap_or(kernel);
    match status {
        "Orphan" => Some(format!("Linux {kernel} lists its driver as an orphan.")),
        "Odd Fixes" => Some(format!(
            "Linux {kernel} lists its driver as maintained with odd fixes only."
        )),
        "Obsolete" => Some(format!("Linux {kernel} lists its driver as obsolete.")),
        "no entry" => Some(format!("Linux {kernel} names no maintainer of its driver.")),
        _ => None,
    }
}

const CONSEQUENCES: &[Consequence] = &[
    Consequence {
        fact: MAINTENANCE_FACT,
        kind: ReservationKind::Maturity,
        text: maintenance,
    },
    Consequence {
        fact: "name.beyond",
        kind: ReservationKind::Limit,
        text: |value| {
            let text = "A name that is too long is cut without an error, so two long names can \
                        be one file.";
            (value == "cut without an error").then(|| text.to_owned())
        },
    },
    Consequence {
        fact: "name.decomposed",
        kind: ReservationKind::Limit,
        text: |value| {
            let text = "A name with a combining accent is stored as another one.";
            (value == "changed").then(|| text.to_owned())
        },
    },
    Consequence {
        fact: "time.last",
        kind: ReservationKind::Limit,
        text: |value| {
            let year: u32 = value.split('-').next()?.parse().ok()?;
            (year < NEAR_YEAR).then(|| format!("It has no times after {value}."))
        },
    },
    Consequence {
        fact: "sync.fsync",
        kind: ReservationKind::Durability,
        text: |value| {
            let text = "fsync(2) sends no flush: what it reports as durable may be lost with the \
                        power on a disk with a volatile cache.";
            (value == WITHOUT_FLUSH).then(|| text.to_owned())
        },
    },
    Consequence {
        fact: "sync.fsync_directory",
        kind: ReservationKind::Durability,
        text: |value| {
            let text = "fsync(2) of a directory writes nothing: names that were created before it \
                        may be lost with the power.";
            (value == "nothing").then(|| text.to_owned())
        },
    },
    Consequence {
        fact: "sync.sync",
        kind: ReservationKind::Durability,
        text: |value| {
            let text = "sync(2) sends no flush; only fsync(2) is durable on a disk with a \
                        volatile cache.";
            (value == WITHOUT_FLUSH).then(|| text.to_owned())
        },
    },
];

/// Times that end before this year end within the life of a disk.
const NEAR_YEAR: u32 = 2050;
const WITHOUT_FLUSH: &str = "writes without a flush";

/// What follows from the facts that were measured of a file system.
fn by_facts(name: &str) -> Vec<Reservation> {
    let table = FactsTable::measured();
    let has_no_flush = table.get(name, "sync.fsync") == Some(WITHOUT_FLUSH);
    let found = CONSEQUENCES.iter().filter_map(|it| {
        // Where fsync(2) sends no flush, sync(2) need not be named.
        if it.fact == "sync.sync" && has_no_flush {
            return None;
        }
        let text = (it.text)(table.get(name, it.fact)?)?;
        Some(Reservation::measured(it.kind, text))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str) -> Vec<String> {
        let entry = crate::find(name).expect(name);
        let reservations = entry.reservations_of(&Subject::plain(name));
        assert!(reservations.is_sorted_by_key(|it| it.kind), "{name}");
        reservations.into_iter().map(|it| it.text.into()).collect()
    }

    #[test]
    fn fat32_is_read_everywhere_ends_at_4_gib_and_has_no_journal() {
        let texts = texts("fat32");
        assert!(texts[0].contains("Windows, macOS"), "{texts:?}");
        for part in ["less than 4 GiB", "no permissions", "no journal"] {
            let mentions = texts.iter().filter(|text| text.contains(part));
            assert_eq!(mentions.count(), 1, "{part}: {texts:?}");
        }
    }

    #[test]
    fn a_journal_and_large_files_are_no_reservations_and_a_lasting_bug_is_one() {
        assert_eq!(texts("ext4").len(), 1, "{:?}", texts("ext4"));
        assert!(
            texts("exfat")
                .iter()
                .any(|text| text.starts_with("A known bug of Linux"))
        );
        assert!(texts("btrfs").iter().any(|text| text.contains("checksums")));
        assert_eq!(texts("tmpfs"), ["Its files do not survive an unmount."]);
    }

    #[test]
    fn every_statement_is_a_sentence_with_its_source_and_every_file_system_has_one() {
        for entry in crate::all() {
            let subject = Subject::plain(entry.name);
            let reservations = entry.reservations_of(&subject);
            let is_tested_alone = entry.name == "fake";
            assert!(
                is_tested_alone || !reservations.is_empty(),
                "{}",
                entry.name
            );
            for reservation in &reservations {
                let text = &reservation.text;
                assert!(text.ends_with('.') && !text.contains("  "), "{text}");
            }
            for stated in entry.reservations {
                assert!(stated.source.is_some(), "{}: {}", entry.name, stated.text);
            }
        }
    }
}
