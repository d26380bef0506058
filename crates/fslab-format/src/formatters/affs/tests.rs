//! Reads volumes back, and runs other programs on them.

use std::collections::BTreeSet;

use fslab_model::Bytes;
use proptest::prelude::*;

use super::Affs;
use super::layout::{BLOCK_SIZES, Layout, default_block_bytes, limits};
use crate::formatters::image::{Image, OtherPrograms, plain};
use crate::{FormatOptions, Formatter, Volume, format};

/// 2023-11-14 22:13:20, the creation date of the tests' images.
const CREATED: [u64; 3] = [16_753, 1_333, 1_000];

/// Checks every structure of the volume, and returns its name.
fn check(image: &Image, size: u64, block: u64) -> Vec<u8> {
    let blocks = size / block;
    let word = |at: u64, index: u64| be(image, at * block + index * 4);
    let sum = |at: u64| (0..block / 4).fold(0, |sum, index| (sum + word(at, index)) % (1 << 32));

    // The boot area: the type, no checksum, the root's address and no code.
    let root = blocks.div_ceil(2);
    assert_eq!([word(0, 0), word(0, 1), word(0, 2)], [0x444f_5303, 0, root]);
    let rest = image.bytes(12, 2 * block as usize - 12);
    assert!(rest.iter().all(|byte| *byte == 0), "boot code");

    let hash = block / 4 - 56;
    assert_eq!(sum(root), 0);
    assert_eq!([word(root, 0), word(root, 3)], [2, hash]);
    let between = (1..6 + hash).filter(|index| ![3, 5].contains(index));
    assert!(between.into_iter().all(|index| word(root, index) == 0));
    let tail = 6 + hash;
    assert_eq!(word(root, tail), 0xffff_ffff, "the bitmap is valid");
    for date in [27, 40, 43] {
        let date = [0, 1, 2].map(|part| word(root, tail + date + part));
        assert_eq!(date, CREATED);
    }
    for unused in [38, 39, 46, 47, 48] {
        assert_eq!(word(root, tail + unused), 0);
    }
    assert_eq!(word(root, tail + 49), 1);
    assert_eq!(tail + 50, block / 4);

    let bits = 8 * block - 32;
    let wanted = (blocks - 2).div_ceil(bits);
    let mut used = BTreeSet::from([root]);
    let mut bitmaps: Vec<u64> = (1..=25).map(|index| word(root, tail + index)).collect();
    let mut next = word(root, tail + 26);
    while next != 0 {
        assert!(used.insert(next));
        bitmaps.extend((0..block / 4 - 1).map(|index| word(next, index)));
        next = word(next, block / 4 - 1);
    }
    assert!(bitmaps[wanted as usize..].iter().all(|bitmap| *bitmap == 0));
    bitmaps.truncate(wanted as usize);
    assert!(bitmaps.iter().all(|bitmap| used.insert(*bitmap)));
    assert!(used.iter().all(|used| (2..blocks).contains(used)));

    let mut taken = BTreeSet::new();
    for (index, bitmap) in bitmaps.into_iter().enumerate() {
        assert_eq!(sum(bitmap), 0);
        for bit in 0..bits {
            let stands_for = 2 + index as u64 * bits + bit;
            let free = word_of(image, bitmap * block, bit) >> (bit % 32) & 1 == 1;
            match stands_for < blocks {
                true if free => {}
                true => assert!(taken.insert(stands_for)),
                false => assert!(!free, "a bit behind the end is set"),
            }
        }
    }
    assert_eq!(taken, used);

    let name = image.bytes(root * block + (tail + 30) * 4, 32);
    let (length, name) = (usize::from(name[0]), &name[1..]);
    assert!(name[length..].iter().all(|byte| *byte == 0));
    name[..length].to_vec()
}

/// The offset of the word of the bitmap at this offset that has the bit.
fn word_of(image: &Image, offset: u64, bit: u64) -> u64 {
    be(image, offset + 4 + bit / 32 * 4)
}

fn options(label: Option<&str>, block_bytes: Option<u32>) -> FormatOptions {
    FormatOptions {
        label: label.map(str::to_owned),
        block_bytes,
        ..plain()
    }
}

fn formatted(size: u64, label: Option<&str>, block_bytes: Option<u32>) -> Image {
    Image::new(&Affs, size, &options(label, block_bytes)).unwrap()
}

fn be(image: &Image, offset: u64) -> u64 {
    let bytes = image.bytes(offset, 4);
    bytes
        .iter()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_volume_reads_back(
        block in prop::sample::select(&BLOCK_SIZES[..]),
        blocks in 256_u64..3000,
        rest in 0_u64..8,
        label in "[A-Za-z é0-9]{1,30}",
    ) {
        let size = blocks * u64::from(block) + rest * 512 % u64::from(block);
        let image = formatted(size, Some(&label), Some(block));
        let read = check(&image, size, block.into());
        prop_assert_eq!(read.into_iter().map(char::from).collect::<String>(), label);
    }

    #[test]
    fn structures_of_every_size_lie_inside_the_volume(
        block in prop::sample::select(&BLOCK_SIZES[..]),
        part in 0.0_f64..=1.0,
    ) {
        let (minimum, maximum) = limits(block);
        let span = (maximum.0 / minimum.0) as f64;
        let size = ((minimum.0 as f64 * span.powf(part)) as u64).clamp(minimum.0, maximum.0);
        for size in [minimum.0, size, maximum.0] {
            let layout = Layout::new(Bytes(size), block);
            let blocks = size / u64::from(block);
            prop_assert_eq!(u64::from(layout.root), blocks.div_ceil(2));
            prop_assert!(u64::from(layout.used().end) <= blocks);
            let in_extensions = layout.extensions * (block / 4 - 1);
            prop_assert!(25 + in_extensions >= layout.bitmaps);
            let described = u64::from(layout.bitmaps) * u64::from(block * 8 - 32);
            prop_assert!(described >= blocks - 2);
        }
    }
}

#[test]
fn bitmaps_that_are_just_full_and_one_block_more_read_back() {
    // The last bitmap of the root block, and the last of the first extension block.
    for bitmaps in [1_u64, 25, 25 + 127] {
        for more in [0, 1] {
            let size = (2 + bitmaps * 4064 + more) * 512;
            let image = formatted(size, None, None);
            assert_eq!(check(&image, size, 512), b"Empty");
        }
    }
}

#[test]
fn the_block_size_grows_with_the_volume() {
    for (size, block) in [(64 << 30, 512), ((64 << 30) + 512, 1024), (300 << 30, 4096)] {
        assert_eq!(default_block_bytes(Bytes(size)), block);
    }
}

#[test]
fn a_sector_beyond_the_limits_of_each_block_size_is_refused() {
    for block in BLOCK_SIZES.map(Some).into_iter().chain([None]) {
        let (minimum, maximum) = Affs.limits(block);
        let image = formatted(minimum.0, None, block);
        check(&image, minimum.0, block.unwrap_or(512).into());
        for size in [minimum.0 - 512, maximum.0 + 512] {
            let refused = Image::new(&Affs, size, &options(None, block)).err();
            let small = refused
                .as_ref()
                .is_some_and(|it| it.message.contains(" is too small for "));
            let large = refused
                .as_ref()
                .is_some_and(|it| it.message.contains(" is too large for "));
            assert_eq!((small, large), (size < minimum.0, size > maximum.0));
        }
    }
}

#[test]
fn the_root_of_another_block_size_is_not_found_after_a_new_format() {
    for sectors in [32_768_u64, 32_776, 32_783] {
        let size = sectors * 512;
        let image = formatted(size, None, Some(512));
        for block in BLOCK_SIZES.iter().chain(BLOCK_SIZES.iter().rev()) {
            let volume = Volume::open(image.path()).unwrap();
            format(&Affs, &volume, &options(None, Some(*block))).unwrap();
            // As the kernel searches: the middle and the block after it, the smallest size first.
            let found = BLOCK_SIZES.map(u64::from).into_iter().find(|tried| {
                let middle = (size / tried).div_ceil(2);
                [middle, middle + 1].into_iter().any(|at| {
                    let word = |index: u64| be(&image, at * tried + index * 4);
                    let sum = (0..tried / 4).fold(0, |sum, index| sum + word(index));
                    sum % (1 << 32) == 0 && word(0) == 2 && word(tried / 4 - 1) == 1
                })
            });
            assert_eq!(found, Some(u64::from(*block)), "{sectors} sectors");
        }
    }
}

#[test]
fn labels_that_the_amiga_cannot_keep_are_refused() {
    for label in ["Work", "Schöne Töne", "a", &"x".repeat(30)] {
        assert!(Affs.accepts_label(label), "{label}");
    }
    for label in ["", "a:b", "a/b", "tab\t", "Ω", &"x".repeat(31)] {
        assert!(!Affs.accepts_label(label), "{label}");
    }
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let bytes = || formatted(8 << 20, Some("twin"), None).bytes(0, 8 << 20);
    assert_eq!(bytes(), bytes());
}

#[test]
fn other_programs_know_the_volume() {
    let mut programs = OtherPrograms::default();
    // They distinguish hard disks and floppies by file name.
    let image = formatted(300 << 20, Some("My Volume"), None);
    let disk = image.path().with_extension("hdf");
    std::fs::hard_link(image.path(), &disk).unwrap();
    let disk = disk.to_str().unwrap();
    let cases: [(&str, &str, &[&str], &str); 6] = [
        ("file", "file", &["{}"], "Amiga Inter FFS disk"),
        ("parted", "parted", &["-s", "{}", "print"], "affs3"),
        (
            "grub-fstest",
            "grub-common",
            &["{}", "ls", "(loop0)"],
            "Filesystem type affs - Label `My Volume'",
        ),
        ("unadf", "unadf", &["-l", disk], "FFS INTL"),
        (
            "xdftool",
            "pipx; pipx install amitools",
            &[disk, "list"],
            "My Volume",
        ),
        ("xdfscan", "pipx; pipx install amitools", &[disk], "ok"),
    ];
    for (program, package, arguments, wanted) in cases {
        if let Some(text) = programs.ask(program, package, arguments, &image) {
            assert!(text.contains(wanted), "{program}: {text}");
        }
    }
    programs.finish();
}
