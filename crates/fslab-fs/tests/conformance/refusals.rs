//! What every entry refuses: options that reach beyond the device, sizes, and subjects without a
//! driver.

use fslab_fs::{Driver, FileSystem, all, parse_subject};
use fslab_model::{Bytes, Subject};

use crate::entries::entry;

#[test]
fn arguments_that_reach_for_another_device_are_refused_by_every_entry() {
    for (name, words) in [
        ("ext4", "/dev/sda"),
        ("ext4", "-J device=LABEL=log"),
        ("ext4", "-t ext2"),
        // Attacks that a list of refused options did not stop: files read, written, created.
        ("ext4", "-z undo.e2undo"),
        ("ext4", "-zundo.e2undo"),
        ("ext2", "-d etc"),
        ("ext3", "-l badblocks"),
        ("ext4", "-M mnt"),
        ("ext4", "-E offset=4096"),
        ("ext4", "-E stride=8,android_sparse"),
        ("ext4", "-O journal_dev"),
        ("ext4", "-J size=4,device=sdb"),
        ("ext4", "-e panic"),
        ("ext4", "-S"),
        ("xfs", "-c options=file"),
        ("xfs", "-coptions=file"),
        ("xfs", "-p protofile"),
        ("xfs", "-d file=1,name=x,size=300m"),
        ("xfs", "-llogdev=sdb"),
        ("xfs", "-r rtdev=sdb"),
        ("xfs", "-r name=sdb"),
        ("xfs", "-q --unsupported"),
        ("btrfs", "-retc"),
        ("btrfs", "--root etc"),
        ("btrfs", "--subvol=etc"),
        ("btrfs", "-O list-all"),
        ("fat32", "-C"),
        ("fat32", "-m message"),
        ("fat16", "-l badblocks"),
        ("fat16", "--offset=8"),
        ("jfs", "-j sdb"),
        ("f2fs", "-Csdb -c sdb"),
        ("f2fs", "-S"),
        ("reiserfs-3.6", "-B badblocks"),
        ("reiserfs-3.6", "-j sdb"),
        ("reiserfs-3.6", "--badb=x"),
        ("nilfs2", "-P"),
        ("ntfs-3g", "-lc 4096"),
        ("udf", "--startblock=8"),
        ("zfs", "-o cachefile=etc"),
        ("zfs", "-o altroot=etc"),
        ("zfs", "-O mountpoint=legacy"),
        ("zfs", "-O sharenfs=on"),
        ("zfs", "-O compression=on,sharesmb=on"),
        ("hfs", "--size=1GiB"),
        ("hfs", "--force=x"),
        ("ext3", "-qn"),
        ("xfs", "-d name=sda"),
        ("xfs", "-l size=64m,logdev=sdb"),
        ("xfs", "-N"),
        ("btrfs", "-d single sdb"),
        ("btrfs", "-r etc"),
        ("btrfs", "--rootdir=etc"),
        ("fat16", "-F 32"),
        ("jfs", "-J journal_dev"),
        ("f2fs", "-c sdb"),
        ("reiserfs-3.6", "--journal-dev=sdb"),
        ("ntfs3", "--no-act"),
        ("udf", "--new-file"),
        ("zfs", "sdb"),
        ("zfs", "-m legacy"),
        ("hfs", "--list"),
        ("tmpfs", "-f"),
    ] {
        let error = parse_subject(&format!("{name}:mkfs={words}")).expect_err(words);
        assert!(error.message.contains(" option '"), "{error}");
    }
}

#[test]
fn mount_options_that_name_a_file_or_a_device_are_refused_by_every_entry() {
    for (name, options) in [
        ("ext4", "journal_path=log"),
        ("ext4", "journal_dev=0x801"),
        ("ext4", "errors=panic"),
        ("ext4", "context=system_u:object_r:tmp_t:s0"),
        ("ext4", "usrjquota=aquota.user"),
        ("xfs", "logdev=sdb"),
        ("xfs", "rtdev=sdb"),
        ("btrfs", "device=sdb"),
        ("btrfs", "fatal_errors=panic"),
        ("reiserfs-3.6", "jdev=sdb"),
        ("ntfs-3g", "usermapping=map"),
        ("ntfs-3g", "xattrmapping=map"),
        ("ntfs-3g", "fsname=x\\,suid"),
        ("nilfs2", "pp=-c"),
        ("tmpfs", "size=1000g"),
        ("tmpfs", "nr_blocks=1000000000"),
        ("zfs", "altroot=x"),
        ("zfs", "cachefile=x"),
        ("zfs", "failmode=panic"),
        ("f2fs", "compress_extension=a/b"),
    ] {
        let error = parse_subject(&format!("{name}:mount={options}")).expect_err(options);
        assert!(error.message.contains(" option '"), "{error}");
    }
}

/// Realistic values, of each form.
#[test]
fn options_without_harm_are_passed_on() {
    for (name, words) in [
        (
            "ext4",
            "-O ^has_journal,extent -J size=64 -E stride=8,stripe_width=16 -m 1 -T largefile",
        ),
        (
            "ext4",
            "-U 12345678-1234-1234-1234-123456789abc -L my-disk -i 16384 -I 256 -N 5000",
        ),
        (
            "xfs",
            "-m reflink=0,crc=1 -d agcount=4,su=64k,sw=2 -l size=64m,version=2 -i size=512",
        ),
        (
            "btrfs",
            "--nodesize 16k -O ^extref,no-holes --metadata=dup --checksum xxhash -L x",
        ),
        ("f2fs", "-O extra_attr,compression -o 5 -s 2 -l disk -t 0"),
        ("fat32", "-s 8 -n DISK -i 12ab34cd -S 512"),
        ("exfat", "-c 32K -L disk"),
        ("ntfs3", "-c 4096 --label disk --mft-zone-multiplier 2"),
        ("jfs", "-s 8 -L disk"),
        ("nilfs2", "-b 4096 -B 2048 -L disk"),
        ("reiserfs-3.6", "--hash tea -s 8193"),
        ("udf", "--blocksize=2048 --udfrev 2.01 --label disk"),
        (
            "zfs",
            "-o ashift=12 -O recordsize=128K -O compression=gzip-9",
        ),
        ("ufs2", "--block-size=8192 --label x"),
    ] {
        let accepted = parse_subject(&format!("{name}:mkfs={words}"));
        assert!(accepted.is_ok(), "{name} {words}: {accepted:?}");
    }
    for subject in [
        "ext4:data=journal,commit=30,barrier=0,errors=remount-ro,nodelalloc",
        "xfs:logbufs=8,logbsize=256k,allocsize=64k,inode64",
        "btrfs:compress=zstd:3,ssd,discard=async,space_cache=v2",
        "f2fs:mode=lfs,background_gc=on,compress_algorithm=lz4",
        "nilfs2:pp=3600,order=strict",
        "ntfs-3g:permissions,uid=1000,streams_interface=windows",
        "tmpfs:huge=always",
        "reiserfs-3.6:notail,user_xattr,data=ordered",
    ] {
        assert!(parse_subject(subject).is_ok(), "{subject}");
    }
}

#[test]
fn a_refused_option_is_named_with_the_reason() {
    let error = parse_subject("ext4:mkfs=-n").expect_err("a dry run");
    assert_eq!(
        error.to_string(),
        "cannot use the mkfs option '-n' with ext4: nothing would be formatted"
    );
    let error = parse_subject("ext4:mkfs=-z undo").expect_err("a file");
    assert_eq!(
        error.to_string(),
        "cannot use the mkfs option '-z' with ext4: it is not among the options that a subject \
         may pass to mkfs.ext4"
    );
    let hint = error.hint.expect("says what is allowed");
    assert!(
        hint.contains("-b NUMBER") && hint.contains("-J fast_commit_size"),
        "{hint}"
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
    assert_eq!(error.hint.as_deref(), Some("use --size 300MiB or more"));
    for entry in all() {
        entry
            .validate_size(entry.minimum.size)
            .expect("the minimum fits");
    }
}

#[test]
fn a_size_beyond_the_maximum_is_refused_with_the_maximum() {
    let error = entry("fat16")
        .validate_size(Bytes::gib(4))
        .expect_err("too large");
    assert!(error.message.contains(" is too large for "), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.ends_with("or less")));
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
