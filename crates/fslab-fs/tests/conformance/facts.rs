//! The measured facts and the entries say the same.

use std::collections::BTreeSet;
use std::fs;

use fslab_fs::{Driver, FactsTable, FileSystem, all};
use fslab_model::{CaseRule, FILE_SYSTEM_FACTS};

/// Without a device that is counted and damaged: in memory, and in a pool of a program.
const WITHOUT_DEVICE: [&str; 2] = ["tmpfs", "zfs"];

fn measured(entry: &FileSystem, name: &str) -> &'static str {
    let found = FactsTable::measured().get(entry.name, name);
    found.unwrap_or_else(|| panic!("{}: {name}", entry.name))
}

/// Those that the kernel of the default lab mounts.
fn mountable() -> impl Iterator<Item = &'static &'static FileSystem> {
    let text = include_str!("../../../../kernel/config");
    let set = text.lines().filter_map(|line| line.strip_suffix("=y"));
    let set: BTreeSet<String> = set.map(str::to_owned).collect();
    let is_mounted = move |entry: &&&FileSystem| {
        let config = entry.driver.config();
        entry.driver.is_mountable() && config.is_none_or(|config| config.is_met_by(&set))
    };
    all().iter().filter(is_mounted)
}

/// Linux 7.1 brought it.
#[test]
fn only_ntfs_is_not_mounted_by_the_default_lab() {
    let with_driver = all().iter().filter(|entry| entry.driver.is_mountable());
    let mounted: Vec<&str> = mountable().map(|entry| entry.name).collect();
    let others: Vec<&str> = with_driver
        .map(|entry| entry.name)
        .filter(|name| !mounted.contains(name))
        .collect();
    assert_eq!(others, ["ntfs"]);
}

#[test]
fn every_file_system_has_every_fact_but_those_that_it_cannot_have() {
    // Not kept over an unmount, or not asked for without a device.
    let of_device = ["sync.", "sync_option.", "write.", "data.damaged"];
    let of_remount = ["time.", "mode.", "node.", "data.appended"];
    for entry in mountable() {
        for fact in FILE_SYSTEM_FACTS {
            let has = FactsTable::measured().get(entry.name, fact.name).is_some();
            let is_of = |parts: &[&str]| parts.iter().any(|part| fact.name.starts_with(part));
            let may_lack = WITHOUT_DEVICE.contains(&entry.name) && is_of(&of_device)
                || entry.name == "tmpfs" && is_of(&of_remount) && fact.name != "time.created";
            // Programs that mount are in no file of the kernel.
            let is_in_kernel = matches!(entry.driver, Driver::Kernel(_)) && entry.name != "tmpfs";
            let may_lack = may_lack || fact.name == "driver.maintenance" && !is_in_kernel;
            assert!(has || may_lack, "{}: {}", entry.name, fact.name);
        }
    }
    let known: BTreeSet<&str> = FILE_SYSTEM_FACTS.iter().map(|it| it.name).collect();
    for (name, facts) in &FactsTable::measured().facts {
        for fact in facts.keys() {
            assert!(known.contains(fact.as_str()), "{name}: {fact}");
        }
    }
}

#[test]
fn data_checksums_are_promised_where_a_flipped_bit_is_found() {
    for entry in mountable().filter(|it| !WITHOUT_DEVICE.contains(&it.name)) {
        let is_found = measured(entry, "data.damaged") == "EIO";
        assert_eq!(
            entry.capabilities.data_checksums, is_found,
            "{}",
            entry.name
        );
    }
    let found: Vec<&str> = mountable()
        .filter(|it| !WITHOUT_DEVICE.contains(&it.name))
        .filter(|it| measured(it, "data.damaged") == "EIO")
        .map(|it| it.name)
        .collect();
    assert_eq!(found, ["bcachefs", "btrfs"]);
}

#[test]
fn names_are_as_long_and_as_distinct_as_the_entries_say() {
    for entry in mountable() {
        let longest = measured(entry, "name.longest");
        let number = longest.split(' ').next().expect("a word");
        let promised = entry.capabilities.name_bytes_max.to_string();
        assert_eq!(number, promised, "{}: {longest}", entry.name);
        let is_sensitive = measured(entry, "name.case") == "distinguished";
        let promised = entry.capabilities.case == CaseRule::Sensitive;
        assert_eq!(is_sensitive, promised, "{}", entry.name);
    }
}

#[test]
fn what_stops_first_is_said_of_each_file_system_that_it_concerns() {
    let texts = |name: &str| {
        let entry = fslab_fs::find(name).expect("an entry");
        let subject = fslab_model::Subject::plain(name);
        let reservations = entry.reservations_of(&subject).into_iter();
        let texts: Vec<String> = reservations.map(|it| it.text.into_owned()).collect();
        texts.join(" ")
    };
    for (name, sentence) in [
        ("nilfs2", "a damaged block is read as it is"),
        ("affs", "cut without an error"),
        ("affs", "can be lost at the next mount"),
        ("hfs", "fsync(2) sends no flush"),
        ("fat32", "sync(2) sends no flush"),
        ("ufs1", "It has no times after 2038-01-19."),
        (
            "ntfs3",
            "The format has a journal, but the driver does not write it",
        ),
        ("jfs", "odd fixes"),
    ] {
        assert!(texts(name).contains(sentence), "{name}: {}", texts(name));
    }
    for (name, sentence) in [
        ("nilfs2", "damage on the disk is found"),
        ("ntfs3", "It has no journal"),
        ("exfat", "sends no flush"),
        ("ext4", "flush"),
        ("jfs", "only fsync(2) is durable"),
    ] {
        assert!(!texts(name).contains(sentence), "{name}: {}", texts(name));
    }
}

#[test]
fn a_table_is_read_back_as_it_was_written() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../facts");
    let mut tables = 0;
    for entry in fs::read_dir(folder).expect("facts") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a table");
        let table = FactsTable::from_toml(&text).expect("facts");
        assert_eq!(table.to_toml(), text, "{}", path.display());
        let name = format!("{}.toml", table.kernel);
        assert_eq!(
            path.file_name().and_then(|it| it.to_str()),
            Some(name.as_str())
        );
        tables += 1;
    }
    assert!(tables > 0);
    let next = FactsTable::measured()
        .to_toml()
        .replace("format = 1", "format = 2");
    let error = FactsTable::from_toml(&next).expect_err("another format");
    assert!(error.to_string().contains("this fslab reads 1"), "{error}");
}

#[test]
fn tables_differ_in_the_facts_of_what_both_have() {
    let own = FactsTable::measured();
    assert_eq!(own.differences(own), []);
    let mut other = own.clone();
    other.size *= 2;
    let ext4 = other.facts.get_mut("ext4").expect("ext4");
    ext4.insert("name.colon".to_owned(), "refused (EINVAL)".to_owned());
    // Of another size nothing is said.
    ext4.insert("space.files".to_owned(), "1".to_owned());
    // Both are lower bounds, which depend on the machine.
    let before = ext4.insert(
        "directory.files".to_owned(),
        "9000 or more, slowly".to_owned(),
    );
    assert_eq!(before.as_deref(), Some("33000 or more"));
    other.facts.remove("xfs");
    let differences = own.differences(&other);
    let [found] = differences.as_slice() else {
        panic!("one: {differences:?}");
    };
    assert_eq!(
        (found.file_system.as_str(), found.fact.name),
        ("ext4", "name.colon")
    );
    assert_eq!(found.values[1].as_deref(), Some("refused (EINVAL)"));
}
