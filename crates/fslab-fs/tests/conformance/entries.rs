//! Formal requirements of every entry: texts, names, commands.

use std::collections::BTreeSet;

use fslab_fs::{
    CheckVerdict, Driver, FileSystem, KernelDriver, MountPlace, MountSource, Mounting, Tool,
    VersionSource, all, find, parse_subject,
};
use fslab_model::{Bytes, Subject};

pub(crate) fn entry(name: &str) -> &'static FileSystem {
    find(name).expect("an entry")
}

const PLACE: MountPlace<'_> = MountPlace {
    device: "/dev/loop7",
    others: &[],
    mount_point: "/mnt",
    size: Some(Bytes::gib(1)),
};

fn mkfs_of(subject: &str) -> String {
    let subject = parse_subject(subject).expect(subject);
    let command = entry(subject.fs()).mkfs_command(&PLACE, &subject);
    let command = command.expect("accepted").expect("is formatted");
    command.words().join(" ")
}

fn mounting_of(subject: &str) -> Mounting {
    let subject = parse_subject(subject).expect(subject);
    let mounting = entry(subject.fs()).mounting(&PLACE, &subject);
    mounting.expect("accepted").expect("is mounted")
}

fn mount_of(subject: &str) -> String {
    mounting_of(subject).words().join(" ")
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
        let Some(config) = entry.driver.config() else {
            assert!(entry.mkfs.is_none() && entry.check.is_none());
            continue;
        };
        let types = entry.driver.mounted_types();
        assert!(!types.is_empty() && types.iter().all(|name| !name.is_empty()));
        assert!(!config.0.is_empty(), "{}", entry.name);
        let mut options = config.0.iter().copied().flatten();
        assert!(options.all(|option| option.starts_with("CONFIG_")));
        assert!(entry.minimum.size > Bytes(0), "{}", entry.name);
        let capabilities = entry.capabilities;
        let lives_on_a_device = capabilities.persistent;
        assert_eq!(entry.mkfs.is_some(), lives_on_a_device, "{}", entry.name);
        assert_eq!(
            entry.signature.is_some(),
            lives_on_a_device,
            "{}",
            entry.name
        );
        assert_ne!(entry.minimum.mkfs_version.is_empty(), lives_on_a_device);
        assert!(capabilities.name_bytes_max > 0 && capabilities.hard_links_max >= 1);
        // A sparse file may be larger than its volume.
        let (file, volume) = (capabilities.file_bytes_max, capabilities.volume_bytes_max);
        assert!(
            file > Bytes(0) && volume > Some(entry.minimum.size),
            "{}",
            entry.name
        );
    }
}

#[test]
fn every_program_has_a_package_and_every_mountable_subject_a_plan() {
    for entry in all() {
        for tool in entry.tools() {
            assert!(!tool.package.is_empty());
            if let VersionSource::Asked { argument, .. } = tool.version {
                assert!(argument.starts_with('-'), "{}", tool.program);
            }
        }
        let subject = Subject::plain(entry.name);
        if let Driver::Nowhere(_) = entry.driver {
            entry.plan(&subject).expect_err("nothing mounts it");
            continue;
        }
        let plan = entry.plan(&subject).expect("a plan");
        assert_eq!(plan.subject, subject);
        for command in [&plan.mkfs, &plan.check].into_iter().flatten() {
            let last = command.last().expect("a command has words");
            assert!(
                ["DEVICE", "fslab-DEVICE"].contains(&last.as_str()),
                "{command:?}"
            );
        }
        assert_eq!(plan.mount.is_some(), entry.driver.is_mountable());
    }
}

#[test]
fn an_entry_that_no_one_else_formats_is_formatted_by_fslab_under_its_own_name() {
    for entry in all() {
        let Some(mkfs) = entry.mkfs.filter(|mkfs| mkfs.tool == Tool::FSLAB) else {
            continue;
        };
        assert_eq!(mkfs.subcommand, ["mkfs", entry.name]);
        let formatter = fslab_format::find(entry.name).expect("a formatter of that name");
        let (minimum, maximum) = formatter.limits(None);
        assert_eq!(entry.minimum.size, minimum, "{}", entry.name);
        assert_eq!(
            entry.capabilities.volume_bytes_max,
            Some(maximum),
            "{}",
            entry.name
        );
        let word = format!("{}:mkfs=--label=x", entry.name);
        assert_eq!(
            mkfs_of(&word),
            format!("fslab mkfs {} --force --label=x /dev/loop7", entry.name)
        );
    }
    for formatter in fslab_format::all() {
        let mkfs = entry(formatter.name()).mkfs.expect("is formatted");
        assert_eq!(mkfs.tool, Tool::FSLAB, "{}", formatter.name());
    }
}

#[test]
fn the_details_of_every_entry_serialise_with_its_commands() {
    for entry in all() {
        let json = serde_json::to_value(entry.details()).expect("serialises");
        assert_eq!(json["name"], entry.name);
        assert_eq!(json["mkfs"].is_array(), entry.mkfs.is_some());
        assert_eq!(json["mount"].is_array(), entry.driver.is_mountable());
        let is_nowhere = matches!(entry.driver, Driver::Nowhere(_));
        assert_eq!(json["unavailable"].is_string(), is_nowhere);
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
        ("fat16", "mkfs.fat -I -F 16 /dev/loop7"),
        ("exfat:mkfs=-c 32K", "mkfs.exfat -c 32K /dev/loop7"),
        (
            "ntfs-3g:mkfs=-c 65536",
            "mkntfs -f -F -q -c 65536 /dev/loop7",
        ),
        (
            "reiserfs-3.6",
            "mkreiserfs -f -f -q --format=3.6 /dev/loop7",
        ),
        ("udf", "mkudffs --utf8 --media-type=hd /dev/loop7"),
        (
            "hfs+:mkfs=--block-size=8192",
            "fslab mkfs hfs+ --force --block-size=8192 /dev/loop7",
        ),
        (
            "zfs:mkfs=-O compression=on",
            "zpool create -f -o cachefile=none -O compression=on -m /mnt fslab-loop7 /dev/loop7",
        ),
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
        ("ext2", "mount -t ext4 -o nodelalloc /dev/loop7 /mnt"),
        ("ext2:driver=ext2", "mount -t ext2 /dev/loop7 /mnt"),
        (
            "ext2:noatime,driver=ext4",
            "mount -t ext4 -o nodelalloc,noatime /dev/loop7 /mnt",
        ),
        (
            "ext4:noatime,data=journal",
            "mount -t ext4 -o noatime,data=journal /dev/loop7 /mnt",
        ),
        (
            "btrfs:compress=zstd:3",
            "mount -t btrfs -o compress=zstd:3 /dev/loop7 /mnt",
        ),
        ("ufs2", "mount -t ufs -o ufstype=ufs2 /dev/loop7 /mnt"),
        (
            "tmpfs:noatime",
            "mount -t tmpfs -o size=1073741824,noatime tmpfs /mnt",
        ),
        (
            "ntfs-3g:permissions",
            "ntfs-3g /dev/loop7 /mnt -o no_detach,permissions",
        ),
        (
            "zfs:noatime",
            "zpool import -d /run/fslab-pools/loop7 -o cachefile=none -o noatime fslab-loop7",
        ),
    ] {
        assert_eq!(mount_of(subject), command);
    }
}

#[test]
fn a_plan_shows_words_for_what_only_a_trial_knows() {
    let plan = |name: &str| entry(name).plan(&Subject::plain(name)).expect("a plan");
    let words = |words: Option<Vec<String>>| words.expect("a command").join(" ");
    assert_eq!(
        words(plan("tmpfs").mount),
        "mount -t tmpfs -o size=SIZE tmpfs MOUNTPOINT"
    );
    assert_eq!(plan("tmpfs").mkfs, None);
    assert_eq!(
        words(plan("zfs").mkfs),
        "zpool create -f -o cachefile=none -m MOUNTPOINT fslab-DEVICE DEVICE"
    );
    assert_eq!(words(plan("zfs").check), "zpool status -v fslab-DEVICE");
}

#[test]
fn a_companion_gets_its_own_of_the_mount_options() {
    let companion = |subject| match mounting_of(subject) {
        Mounting::Call {
            companion, call, ..
        } => (companion.map(|it| it.line.words().join(" ")), call.data),
        other => panic!("NILFS2 is mounted by a call, not {other:?}"),
    };
    let plain = "nilfs_cleanerd -p 1 /dev/loop7 /mnt".to_owned();
    assert_eq!(companion("nilfs2"), (Some(plain), String::new()));
    let eager = "nilfs_cleanerd -p 1 -p 0 /dev/loop7 /mnt".to_owned();
    assert_eq!(
        companion("nilfs2:pp=0,order=strict"),
        (Some(eager), "order=strict".to_owned())
    );
    assert_eq!(companion("nilfs2:pp=0,nogc").0, None);
}

#[test]
fn an_option_gives_what_is_missing_without_it() {
    let with = |text: &str| {
        let subject = parse_subject(text).expect(text);
        entry(subject.fs()).capabilities_of(&subject)
    };
    assert!(!with("ntfs-3g").permissions && with("ntfs-3g:noatime,permissions").permissions);
    assert!(!with("ntfs3").sparse_files && with("ntfs3:sparse").sparse_files);
    assert!(with("reiserfs-3.6:user_xattr").extended_attributes);
    assert_eq!(with("xfs:noatime"), entry("xfs").capabilities);
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
    assert_eq!(entry("fake").judge_check(0, ""), CheckVerdict::CouldNotRun);
}

#[test]
fn options_that_a_driver_needs_on_every_mount_stand_before_the_users() {
    let Driver::Kernel(driver) = entry("xfs").driver else {
        panic!("XFS has a kernel driver");
    };
    let needy = FileSystem {
        driver: Driver::Kernel(KernelDriver {
            options: &["noatime", "logbufs=8"],
            source: MountSource::Device,
            ..driver
        }),
        ..*entry("xfs")
    };
    let subject: Subject = "xfs:logbufs=4".parse().expect("a subject");
    let mounting = needy.mounting(&PLACE, &subject).expect("accepted");
    let Some(Mounting::Call { call, .. }) = mounting else {
        panic!("XFS is mounted by a call");
    };
    assert_eq!(
        (call.flags.bits(), call.data.as_str()),
        (0x400, "logbufs=8,logbufs=4")
    );
}
