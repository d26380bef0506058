//! Reads volumes back, and runs other programs on them.

use proptest::prelude::*;

use super::{HFS_PLUS, HFSX};
use crate::formatters::image::{Image, OtherPrograms, plain};
use crate::formatters::mac::{BLOCK_SIZES, CREATED_MAC_S, IDENTIFIER, MacImage};
use crate::{FormatOptions, Formatter};

/// A fork of the volume header: first block, blocks, bytes.
fn fork(image: &MacImage, at: u64) -> (u64, u64, u64) {
    let bytes = image.be(at, 8);
    let blocks = image.be(at + 12, 4);
    assert_eq!(image.be(at + 8, 4), bytes, "the clump");
    assert_eq!(image.be(at + 20, 4), blocks, "all in one extent");
    assert!(image.bytes(at + 24, 56).iter().all(|byte| *byte == 0));
    (image.be(at + 16, 4), blocks, bytes)
}

/// Checks every structure of the volume, and returns its name.
fn check(image: &MacImage, formatter: &dyn Formatter, size: u64) -> String {
    let extended = formatter.name() == "hfsx";
    let header = image.bytes(1024, 512);
    assert_eq!(image.bytes(size - 1024, 512), header, "the header's copy");
    assert!(
        image.bytes(0, 1024).iter().all(|byte| *byte == 0),
        "boot blocks"
    );
    assert!(
        image.bytes(size - 512, 512).iter().all(|byte| *byte == 0),
        "the reserved sector"
    );
    assert_eq!(
        image.be(1024, 4),
        if extended { 0x4858_0005 } else { 0x482b_0004 }
    );
    assert_eq!(image.be(1024 + 4, 4), 0x8000_0100);
    assert_eq!(
        image.be(1024 + 16, 8) & 0xffff_ffff,
        u64::from(CREATED_MAC_S)
    );
    assert_eq!(image.be(1024 + 32, 8), 0, "files and directories");
    assert_eq!(image.be(1024 + 64, 4), 16, "the next id");
    assert_eq!(image.be(1024 + 104, 8), IDENTIFIER);
    assert_eq!(&header[432..], [0; 80], "no startup file");

    let (block, total) = (image.be(1064, 4), image.be(1068, 4));
    assert_eq!(total, size / block);
    assert!(image.be(1076, 4) < total, "the next allocation");
    let (allocation, extents) = (fork(image, 1136), fork(image, 1216));
    let (catalog, attributes) = (fork(image, 1296), fork(image, 1376));
    assert!(allocation.2 * 8 >= total && allocation.2 * 8 < total + 8 * block);

    let mut used: Vec<u64> = (0..1536_u64.div_ceil(block)).collect();
    for (start, blocks, bytes) in [allocation, extents, catalog, attributes] {
        assert_eq!(blocks * block, bytes);
        used.extend(start..start + blocks);
    }
    used.extend(total - 1024_u64.div_ceil(block)..total);
    used.sort_unstable();
    let distinct = used.len();
    used.dedup();
    assert_eq!(used.len(), distinct, "nothing overlaps");
    let marked = image.bits(allocation.0 * block, allocation.2, total);
    assert_eq!(marked, used);
    assert_eq!(image.be(1072, 4), total - used.len() as u64, "free blocks");

    assert!(image.tree(extents.0 * block, extents.2, 4096).is_empty());
    assert_eq!(image.be(extents.0 * block + 34, 2), 10);
    assert!(
        image
            .tree(attributes.0 * block, attributes.2, 8192)
            .is_empty()
    );
    assert_eq!(image.be(attributes.0 * block + 34, 2), 266);
    let node = if block < 4096 || size < 1 << 30 {
        4096
    } else {
        8192
    };
    let at = catalog.0 * block;
    assert_eq!(image.be(at + 34, 2), 516);
    assert_eq!(image.be(at + 50, 2), if extended { 0xbc } else { 0xcf });
    root(&image.tree(at, catalog.2, node), extended)
}

/// Checks the root directory and its thread, and returns the name.
fn root(records: &[Vec<u8>], extended: bool) -> String {
    let [folder, thread] = records else {
        panic!("{} records in the catalog", records.len());
    };
    let length = usize::from(u16::from_be_bytes([folder[6], folder[7]]));
    let key = (6 + 2 * length) as u16;
    assert_eq!(folder[..2], key.to_be_bytes());
    assert_eq!(folder[2..6], [0, 0, 0, 1], "the directory's parent");
    let name = &folder[8..8 + 2 * length];
    let data = &folder[8 + 2 * length..];
    assert_eq!(data.len(), 88);
    let flags = if extended { 0x10 } else { 0 };
    assert_eq!(
        data[..12],
        [0, 1, 0, flags, 0, 0, 0, 0, 0, 0, 0, 2],
        "type, valence, id"
    );
    assert_eq!(data[12..16], CREATED_MAC_S.to_be_bytes());
    assert_eq!(data[42..44], 0o040_755_u16.to_be_bytes());
    assert_eq!(thread[..8], [0, 6, 0, 0, 0, 2, 0, 0], "the thread's key");
    assert_eq!(thread[8..16], [0, 3, 0, 0, 0, 0, 0, 1]);
    assert_eq!(thread[16..18], folder[6..8]);
    assert_eq!(&thread[18..], name);
    let units = name
        .chunks(2)
        .map(|unit| u16::from_be_bytes([unit[0], unit[1]]));
    String::from_utf16(&units.collect::<Vec<_>>()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_volume_reads_back(
        extended: bool,
        block in prop::option::of(prop::sample::select(&BLOCK_SIZES[..])),
        shift in 0_u32..16,
        fraction in 0_u64..1 << 10,
        label in "[a-z]{1,60}",
    ) {
        let formatter = if extended { &HFSX } else { &HFS_PLUS };
        let (minimum, maximum) = formatter.limits(block);
        let size = (minimum.0 << shift) + (minimum.0 << shift) / 1024 * fraction;
        // Bitmaps of more than 1 MiB take long to read.
        let most = u64::from(block.unwrap_or(4096)) << 23;
        let size = size.min(maximum.0).min(most) / 512 * 512;
        let image = MacImage::new(formatter, size, Some(&label), block);
        prop_assert_eq!(check(&image, formatter, size), label);
    }
}

#[test]
fn the_smallest_volume_of_each_block_size_is_valid_and_one_sector_less_is_refused() {
    for block in BLOCK_SIZES.map(Some).into_iter().chain([None]) {
        let (minimum, _) = HFS_PLUS.limits(block);
        let image = MacImage::new(&HFS_PLUS, minimum.0, None, block);
        assert_eq!(check(&image, &HFS_PLUS, minimum.0), "untitled");

        let options = FormatOptions {
            block_bytes: block,
            ..plain()
        };
        let refused = Image::new(&HFS_PLUS, minimum.0 - 512, &options).map(|_| ());
        assert!(
            refused
                .as_ref()
                .is_err_and(|it| it.message.contains(" is too small for ")),
            "{refused:?}"
        );
    }
}

#[test]
fn large_volumes_take_larger_blocks() {
    for (size, block) in [
        ((2_u64 << 40) - 512, 4096),
        (2 << 40, 8192),
        ((8 << 40) - 512, 8192),
    ] {
        let image = MacImage::new(&HFS_PLUS, size, None, None);
        assert_eq!(image.be(1064, 4), block, "{size}");
    }
    let image = MacImage::new(&HFSX, 2 << 40, None, None);
    assert_eq!(check(&image, &HFSX, 2 << 40), "untitled");
}

#[test]
fn the_longest_name_fits_and_is_decomposed() {
    let image = MacImage::new(&HFS_PLUS, 1 << 20, Some(&"\u{e9}".repeat(127)), Some(512));
    assert_eq!(check(&image, &HFS_PLUS, 1 << 20), "e\u{301}".repeat(127));
}

#[test]
fn what_was_on_the_volume_is_gone_from_every_structure() {
    let image = MacImage::over_ones(&HFSX, 8 << 20);
    assert_eq!(check(&image, &HFSX, 8 << 20), "untitled");
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let bytes = || MacImage::new(&HFSX, 8 << 20, Some("twin"), None).bytes(0, 8 << 20);
    assert_eq!(bytes(), bytes());
}

#[test]
fn other_programs_know_the_volume() {
    let mut programs = OtherPrograms::default();
    for formatter in [&HFS_PLUS, &HFSX] {
        let image = MacImage::new(formatter, (100 << 20) + 512, Some("My Volume"), None);
        let kind = formatter.title();
        let cases: [(&str, &str, &[&str], &str); 7] = [
            ("blkid", "util-linux", &["-p", "{}"], "LABEL=\"My Volume\""),
            ("blkid", "util-linux", &["-p", "{}"], "TYPE=\"hfsplus\""),
            (
                "file",
                "file",
                &["{}"],
                "block size: 4096, number of blocks: 25600",
            ),
            (
                "7z",
                "p7zip-full",
                &["l", "{}"],
                &format!("Method = {kind}"),
            ),
            (
                "fsstat",
                "sleuthkit",
                &["{}"],
                &format!("File System Version: {kind}"),
            ),
            (
                "grub-fstest",
                "grub-common",
                &["{}", "ls", "(loop0)"],
                "Label `My Volume'",
            ),
            (
                "fsck.hfsplus",
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
    }
    programs.finish();
}
