//! Reads volumes back, and runs other programs on them.

use std::io::ErrorKind;
use std::process::Command;

use proptest::prelude::*;

use super::Hfs;
use crate::formatters::image::{Image, OtherPrograms, plain};
use crate::formatters::mac::{BLOCK_SIZES, CREATED_MAC_S, IDENTIFIER, MacImage};
use crate::{FormatOptions, Formatter};

/// Checks every structure of the volume, and returns its name.
fn check(image: &MacImage, size: u64) -> Vec<u8> {
    let mdb = image.bytes(1024, 512);
    assert_eq!(image.bytes(size - 1024, 512), mdb, "the copy");
    assert!(
        image.bytes(0, 1024).iter().all(|byte| *byte == 0),
        "boot blocks"
    );
    assert!(
        image.bytes(size - 512, 512).iter().all(|byte| *byte == 0),
        "the reserved sector"
    );
    assert_eq!(image.be(1024, 2), 0x4244);
    assert_eq!(image.be(1026, 4), u64::from(CREATED_MAC_S));
    assert_eq!(image.be(1030, 4), u64::from(CREATED_MAC_S));
    assert_eq!(
        image.be(1034, 4),
        0x0100_0000,
        "attributes, files in the root"
    );
    assert_eq!(image.be(1054, 4), 16, "the next id");
    assert_eq!(image.be(1140, 8), IDENTIFIER);
    assert_eq!(image.be(1148, 6), 0, "nothing is embedded");
    assert!(mdb[162..].iter().all(|byte| *byte == 0));

    let (total, block) = (image.be(1042, 2), image.be(1044, 4));
    let (bitmap, first) = (image.be(1038, 2), image.be(1052, 2));
    assert_eq!(bitmap, 3);
    assert_eq!(
        first % 2,
        1,
        "Linux would take blocks of more than a sector"
    );
    assert!(first * 512 >= bitmap * 512 + total.div_ceil(8));
    let end = first * 512 + total * block;
    assert!(end <= size - 1024 && (end + block > size - 1024 || total == 65_535));
    // The check of Apple's checker.
    assert!(size / block <= 65_535 && block.is_multiple_of(512));

    let used = image.be(1024 + 136, 2) + image.be(1024 + 152, 2);
    let bits = image.bits(1536, (first - 3) * 512, total);
    assert_eq!(bits, (0..used).collect::<Vec<_>>());
    assert_eq!(image.be(1058, 2), total - used, "free blocks");

    let extents = (image.be(1024 + 134, 2), image.be(1024 + 136, 2));
    let catalog = (image.be(1024 + 150, 2), image.be(1024 + 152, 2));
    assert_eq!((extents.0, catalog.0), (0, extents.1), "nothing overlaps");
    for ((_, blocks), clump, length) in [(extents, 1098, 1154), (catalog, 1102, 1170)] {
        assert_eq!(image.be(clump, 4), blocks * block);
        assert_eq!(image.be(length, 4), blocks * block);
        assert!(blocks * 4 <= total);
    }
    let place = |start: u64| first * 512 + start * block;
    assert!(image.tree(place(0), extents.1 * block, 512).is_empty());
    assert_eq!(image.be(place(0) + 34, 2), 7);
    assert_eq!(image.be(place(catalog.0) + 34, 2), 37);
    let name = root(&image.tree(place(catalog.0), catalog.1 * block, 512));
    assert_eq!(usize::from(mdb[36]), name.len());
    assert_eq!(mdb[37..37 + name.len()], name);
    assert!(mdb[37 + name.len()..64].iter().all(|byte| *byte == 0));
    name
}

/// Checks the root directory and its thread, and returns the name.
fn root(records: &[Vec<u8>]) -> Vec<u8> {
    let [folder, thread] = records else {
        panic!("{} records in the catalog", records.len());
    };
    let length = usize::from(folder[6]);
    assert_eq!(
        folder[..6],
        [6 + folder[6], 0, 0, 0, 0, 1],
        "the directory's key"
    );
    let name = &folder[7..7 + length];
    let data = &folder[(7 + length).next_multiple_of(2)..];
    assert_eq!(data.len(), 70);
    assert_eq!(
        data[..10],
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 2],
        "type, valence, id"
    );
    assert_eq!(data[10..14], CREATED_MAC_S.to_be_bytes());
    assert_eq!(thread[..8], [6, 0, 0, 0, 0, 2, 0, 0], "the thread's key");
    assert_eq!(thread.len(), 8 + 46);
    assert_eq!(thread[8..22], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(thread[22], folder[6]);
    assert_eq!(&thread[23..23 + length], name);
    name.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_volume_reads_back(
        block in prop::option::of(prop::sample::select(&BLOCK_SIZES[..])),
        shift in 0_u32..23,
        fraction in 0_u64..1 << 10,
        label in "[a-z]{1,27}",
    ) {
        let (minimum, maximum) = Hfs.limits(block);
        let size = (minimum.0 << shift) + (minimum.0 << shift) / 1024 * fraction;
        let size = size.min(maximum.0) / 512 * 512;
        let image = MacImage::new(&Hfs, size, Some(&label), block);
        prop_assert_eq!(check(&image, size), label.as_bytes());
    }
}

#[test]
fn volumes_where_the_block_grows_read_back() {
    for blocks in [65_535_u64, 65_536, 65_537, 131_071, 131_072, 614_400] {
        let image = MacImage::new(&Hfs, blocks * 512, None, None);
        assert_eq!(check(&image, blocks * 512), b"untitled");
    }
}

#[test]
fn the_limits_of_each_block_size_are_valid_and_a_sector_beyond_is_refused() {
    for block in BLOCK_SIZES.map(Some).into_iter().chain([None]) {
        let (minimum, maximum) = Hfs.limits(block);
        for size in [minimum.0, maximum.0] {
            let image = MacImage::new(&Hfs, size, None, block);
            assert_eq!(check(&image, size), b"untitled");
        }
        for size in [minimum.0 - 512, maximum.0 + 512] {
            let options = FormatOptions {
                block_bytes: block,
                ..plain()
            };
            let refused = Image::new(&Hfs, size, &options).map(|_| ());
            let small = refused
                .as_ref()
                .is_err_and(|it| it.message.contains(" is too small for "));
            let large = refused
                .as_ref()
                .is_err_and(|it| it.message.contains(" is too large for "));
            assert!(small || large, "{size}: {refused:?}");
        }
    }
}

#[test]
fn what_was_on_the_volume_is_gone_from_every_structure() {
    let image = MacImage::over_ones(&Hfs, 8 << 20);
    assert_eq!(check(&image, 8 << 20), b"untitled");
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let bytes = || MacImage::new(&Hfs, 8 << 20, Some("twin"), None).bytes(0, 8 << 20);
    assert_eq!(bytes(), bytes());
}

#[test]
fn other_programs_know_the_volume() {
    let mut programs = OtherPrograms::default();
    let image = MacImage::new(&Hfs, 300 << 20, Some("My Volume"), None);
    let cases: [(&str, &str, &[&str], &str); 6] = [
        ("blkid", "util-linux", &["-p", "{}"], "LABEL=\"My Volume\""),
        ("blkid", "util-linux", &["-p", "{}"], "TYPE=\"hfs\""),
        ("file", "file", &["{}"], "HFS data block size: 5120"),
        ("parted", "parted", &["-s", "{}", "print"], "hfs"),
        (
            "grub-fstest",
            "grub-common",
            &["{}", "ls", "(loop0)"],
            "Label `My Volume'",
        ),
        (
            "fsck.hfs",
            "hfsprogs",
            &["-n", "-f", "{}"],
            "appears to be OK",
        ),
    ];
    for (program, package, arguments, wanted) in cases {
        if let Some(text) = programs.ask(program, package, arguments, &image) {
            assert!(text.contains(wanted), "{program}: {text}");
        }
    }
    programs.finish();
}

/// hmount writes a file in the home directory, so it needs a separate one.
#[test]
fn hmount_knows_the_volume() {
    let image = MacImage::new(&Hfs, 300 << 20, Some("My Volume"), None);
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("hmount")
        .arg(image.path())
        .env("HOME", home.path())
        .output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("Volume name is \"My Volume\""), "{text}");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: hmount is not installed; apt-get install hfsutils");
        }
        Err(error) => panic!("cannot run hmount: {error}"),
    }
}
