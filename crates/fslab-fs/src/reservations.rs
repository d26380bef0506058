//! What speaks for or against a file system beside its speed: what its entry states, and what
//! follows from its capabilities and bugs.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind, Subject};

use crate::FileSystem;

/// Larger files are no reservation.
const LARGE_FILE: Bytes = Bytes::gib(1024);

/// The comparison of the file systems that Windows has.
pub(crate) const MICROSOFT: &str = "Microsoft, File System Functionality Comparison, \
    learn.microsoft.com/windows/win32/fileio/filesystem-functionality-comparison";

/// Of file systems that only Linux and its relatives have.
pub(crate) const LINUX_ONLY: Reservation = Reservation::stated(
    ReservationKind::Compatibility,
    "Windows does not read it without additional software.",
    MICROSOFT,
);

impl FileSystem {
    /// The reservations of `subject`, which is one of this entry, by kind.
    pub fn reservations_of(&self, subject: &Subject) -> Vec<Reservation> {
        let mut reservations = self.reservations.to_vec();
        let capabilities = self.capabilities_of(subject);
        reservations.extend(limits(&capabilities));
        reservations.extend(durability(&capabilities, self.check.is_some()));
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

fn durability(capabilities: &Capabilities, has_checker: bool) -> Option<Reservation> {
    let text = match capabilities.crash_safety {
        _ if !capabilities.persistent => "Its files do not survive an unmount.",
        CrashSafety::None if has_checker => {
            "It has no journal: after a crash, or after unplugging it while it is written to, its \
             checker has to repair it."
        }
        CrashSafety::None => {
            "It has no journal, and fslab knows no checker for it: a crash, or unplugging it while \
             it is written to, may damage it."
        }
        CrashSafety::Journal | CrashSafety::CopyOnWrite if capabilities.data_checksums => {
            "Data carries checksums: damage on the disk is found when it is read."
        }
        CrashSafety::Journal | CrashSafety::CopyOnWrite => return None,
    };
    Some(Reservation::measured(ReservationKind::Durability, text))
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
