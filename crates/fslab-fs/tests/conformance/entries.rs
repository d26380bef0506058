//! Every entry of the catalogue keeps what an entry promises, on paper: texts, names, commands.

use std::collections::BTreeSet;

use fslab_fs::{
    CatalogueError, CheckVerdict, Driver, FileSystem, MountPlace, all, find, parse_subject,
};
use fslab_model::{Bytes, Subject};

fn entry(name: &str) -> &'static FileSystem {
    find(name).expect("an entry")
}

fn mkfs_of(subject: &str) -> String {
    let subject = parse_subject(subject).expect(subject);
    let command = entry(subject.fs()).mkfs_command("/dev/loop7", &subject);
    let command = command.expect("accepted").expect("is formatted");
    command.words().join(" ")
}

fn mount_of(subject: &str) -> String {
    let subject = parse_subject(subject).expect(subject);
    let place = MountPlace {
        device: "/dev/loop7",
        mount_point: "/mnt",
    };
    let words = entry(subject.fs()).mount_command(&place, &subject);
    words.expect("accepted").expect("is mounted").join(" ")
}

#[test]
fn names_are_sorted_unique_and_lower_case() {
    let names: Vec<&str> = all().iter().map(|entry| entry.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for name in names {
        assert_eq!(name, name.to_lowercase());
        assert!(!name.is_empty() && !name.contains([':', '=', ',', ' ', '/']));
        assert_eq!(entry(name).name, name);
    }
}

#[test]
fn titles_are_unique_and_every_entry_has_its_texts() {
    let titles: BTreeSet<&str> = all().iter().map(|entry| entry.title).collect();
    assert_eq!(titles.len(), all().len());
    for entry in all() {
        let sentences = entry.history.split_inclusive(". ").count();
        assert_eq!(sentences, 2, "{}: {}", entry.name, entry.history);
        for text in [entry.history, entry.minimum.below] {
            assert!(!text.contains("  ") && !text.contains('\n'), "{text}");
        }
        assert!(entry.history.ends_with('.') && !entry.minimum.below.is_empty());
        for deviation in entry.deviations {
            assert!(deviation.starts_with('-') && deviation.ends_with('.'));
        }
    }
}

#[test]
fn a_mounted_entry_is_formatted_and_names_its_driver_and_kernel_option() {
    for entry in all() {
        let Driver::Kernel(driver) = entry.driver else {
            assert!(entry.mkfs.is_none() && entry.check.is_none());
            continue;
        };
        assert!(driver.served_by.iter().all(|name| !name.is_empty()));
        assert!(driver.config.starts_with("CONFIG_"), "{}", driver.config);
        assert!(entry.mkfs.is_some() && entry.minimum.size > Bytes(0));
        assert!(!entry.minimum.mkfs_version.is_empty());
        assert!(entry.capabilities.name_bytes_max > 0);
        assert!(entry.capabilities.hard_links_max >= 1);
        assert!(Some(entry.capabilities.file_bytes_max) <= entry.capabilities.volume_bytes_max);
    }
}

#[test]
fn every_program_has_a_package_and_every_plain_subject_a_plan() {
    for entry in all() {
        for tool in entry.tools() {
            assert!(!tool.package.is_empty() && tool.version_argument.starts_with('-'));
        }
        let subject = Subject::plain(entry.name);
        let plan = entry.plan(&subject).expect("a plan");
        assert_eq!(plan.subject, subject);
        for command in [&plan.mkfs, &plan.check].into_iter().flatten() {
            assert_eq!(command.last().map(String::as_str), Some("DEVICE"));
        }
        if let Some(mount) = plan.mount {
            assert!(mount.ends_with(&["DEVICE".into(), "MOUNTPOINT".into()]));
        }
    }
}

#[test]
fn the_details_of_every_entry_serialise_with_its_commands() {
    for entry in all() {
        let json = serde_json::to_value(entry.details()).expect("serialises");
        assert_eq!(json["name"], entry.name);
        assert_eq!(json["mkfs"].is_array(), entry.mkfs.is_some());
        assert_eq!(json["unavailable"], serde_json::Value::Null);
    }
    let xfs = entry("xfs").details();
    assert_eq!(xfs.fs_type, Some("xfs"));
    assert_eq!(xfs.tools[0].package, "xfsprogs");
}

#[test]
fn mkfs_commands_are_what_a_person_would_type() {
    for (subject, command) in [
        ("ext2", "mkfs.ext2 -q -F /dev/loop7"),
        ("ext3", "mkfs.ext3 -q -F /dev/loop7"),
        (
            "ext4",
            "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/loop7",
        ),
        ("xfs", "mkfs.xfs -f /dev/loop7"),
        ("btrfs", "mkfs.btrfs -f /dev/loop7"),
        (
            "xfs:mkfs=-m reflink=0",
            "mkfs.xfs -f -m reflink=0 /dev/loop7",
        ),
        (
            "ext4:mkfs=-b 1024 -E stride=8,lazy_itable_init=1 -O ^metadata_csum",
            "mkfs.ext4 -q -F -E \
             lazy_itable_init=0,lazy_journal_init=0,stride=8,lazy_itable_init=1 \
             -b 1024 -O ^metadata_csum /dev/loop7",
        ),
        (
            "btrfs:mkfs=--csum=xxhash -d single",
            "mkfs.btrfs -f --csum=xxhash -d single /dev/loop7",
        ),
    ] {
        assert_eq!(mkfs_of(subject), command);
    }
}

#[test]
fn mount_commands_are_what_a_person_would_type() {
    for (subject, command) in [
        ("ext2", "mount -t ext2 /dev/loop7 /mnt"),
        (
            "ext4:noatime,data=journal",
            "mount -t ext4 -o noatime,data=journal /dev/loop7 /mnt",
        ),
        (
            "btrfs:compress=zstd:3",
            "mount -t btrfs -o compress=zstd:3 /dev/loop7 /mnt",
        ),
    ] {
        assert_eq!(mount_of(subject), command);
    }
}

#[test]
fn check_commands_change_nothing() {
    let check = |name| {
        let command = entry(name).check_command("/dev/loop7").expect("a checker");
        command.words().join(" ")
    };
    for name in ["ext2", "ext3", "ext4"] {
        assert_eq!(check(name), "e2fsck -f -n /dev/loop7");
    }
    assert_eq!(check("xfs"), "xfs_repair -n /dev/loop7");
    assert_eq!(check("btrfs"), "btrfs check --readonly /dev/loop7");
    assert!(entry("fake").check_command("/dev/loop7").is_none());
    assert_eq!(entry("fake").judge_check(0), CheckVerdict::CouldNotRun);
}

#[test]
fn arguments_that_reach_for_another_device_are_refused_by_every_entry() {
    for (name, words) in [
        ("ext4", "/dev/sda"),
        ("ext4", "-J device=LABEL=log"),
        ("ext4", "-t ext2"),
        ("ext3", "-qn"),
        ("xfs", "-d name=sda"),
        ("xfs", "-l size=64m,logdev=sdb"),
        ("xfs", "-N"),
        ("btrfs", "-d single sdb"),
        ("btrfs", "-r etc"),
        ("btrfs", "--rootdir=etc"),
    ] {
        let error = parse_subject(&format!("{name}:mkfs={words}")).expect_err(words);
        assert!(matches!(error, CatalogueError::BadOption { .. }), "{error}");
    }
}

#[test]
fn a_refused_option_is_named_with_the_reason() {
    let error = parse_subject("ext4:mkfs=-n").expect_err("a dry run");
    assert_eq!(
        error.to_string(),
        "cannot use the mkfs option '-n' with ext4: nothing would be formatted"
    );
}

#[test]
fn a_size_below_the_minimum_is_refused_with_the_minimum() {
    let error = entry("xfs")
        .validate_size(Bytes::mib(299))
        .expect_err("too small");
    assert_eq!(
        error.to_string(),
        "299 MiB is too small for xfs, which needs 300 MiB"
    );
    assert_eq!(error.hint().as_deref(), Some("use --size 300 MiB or more"));
    for entry in all() {
        entry
            .validate_size(entry.minimum.size)
            .expect("the minimum fits");
    }
}

#[test]
fn an_entry_without_a_driver_anywhere_is_named_and_refused_with_the_reason() {
    let named = FileSystem {
        driver: Driver::Nowhere("no kernel release has a driver for it"),
        ..*entry("xfs")
    };
    let error = named
        .validate(&Subject::plain("xfs"))
        .expect_err("nothing mounts it");
    assert_eq!(
        error.to_string(),
        "xfs cannot be mounted anywhere: no kernel release has a driver for it"
    );
    let details = named.details();
    assert_eq!(details.mkfs, None);
    assert!(details.unavailable.is_some());
}

#[test]
fn options_that_a_driver_needs_on_every_mount_stand_before_the_users() {
    let Driver::Kernel(driver) = entry("xfs").driver else {
        panic!("XFS has a kernel driver");
    };
    let needy = FileSystem {
        driver: Driver::Kernel(fslab_fs::KernelDriver {
            options: &["noatime", "logbufs=8"],
            ..driver
        }),
        ..*entry("xfs")
    };
    let subject: Subject = "xfs:logbufs=4".parse().expect("a subject");
    let call = needy.mount_call(&subject).expect("accepted");
    let call = call.expect("is mounted");
    assert_eq!(
        (call.flags.bits(), call.data.as_str()),
        (0x400, "logbufs=8,logbufs=4")
    );
}
