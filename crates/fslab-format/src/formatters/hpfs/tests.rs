//! Reads volumes back, and runs other programs on them.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::Bytes;
use proptest::prelude::*;

use super::Hpfs;
use super::layout::{BAND_SECTORS, Layout, limits};
use crate::formatters::image::{CREATED_UNIX_S, IDENTITY, Image, OtherPrograms, plain};
use crate::{FormatOptions, Formatter};

fn formatted(size: u64, label: Option<&str>) -> Image {
    let options = FormatOptions {
        label: label.map(str::to_owned),
        ..plain()
    };
    Image::new(&Hpfs, size, &options).unwrap()
}

fn sum(bytes: &[u8]) -> u64 {
    let mut sum = 0_u64;
    for byte in bytes {
        let added = (sum + u64::from(*byte)) & 0xffff_ffff;
        sum = (added << 7 | added >> 25) & 0xffff_ffff;
    }
    sum
}

/// The sectors in use, by structure.
#[derive(Default)]
struct Taken(BTreeMap<u64, &'static str>);

impl Taken {
    fn take(&mut self, what: &'static str, start: u64, length: u64) {
        for sector in start..start + length {
            let before = self.0.insert(sector, what);
            assert_eq!(before, None, "{what} takes sector {sector}");
        }
    }
}

/// Checks every structure of the volume, and returns its name.
fn check(image: &Image, size: u64) -> String {
    let sectors = size / 512;
    let mut taken = Taken::default();
    taken.take("the fixed sectors", 0, 20);
    let label = check_boot(image, sectors);
    let [root, dnode] = check_super(image, sectors, &mut taken);
    check_spare(image, &mut taken);
    check_root(image, root, dnode, &mut taken);

    let bands = sectors.div_ceil(0x4000);
    let list = image.le(16 * 512 + 24, 4);
    let length = bands.div_ceil(512) * 4;
    taken.take("bitmap list", list, length);
    let bitmaps: Vec<u64> = (0..length * 128)
        .map(|band| image.le(list * 512 + band * 4, 4))
        .collect();
    let (bitmaps, rest) = bitmaps.split_at(bands as usize);
    assert!(rest.iter().all(|bitmap| *bitmap == 0));
    for bitmap in bitmaps {
        assert_eq!(bitmap % 4, 0);
        taken.take("bitmap", *bitmap, 4);
    }
    let last = taken.0.last_key_value().unwrap();
    assert!(*last.0 < sectors, "{} is outside", last.1);

    // On a large volume, only the bands with structures, and the last one.
    let last = Some(bands - 1).into_iter();
    let looked_at: BTreeSet<u64> = taken
        .0
        .keys()
        .map(|sector| sector / 0x4000)
        .chain(last)
        .collect();
    for band in looked_at.into_iter() {
        let bitmap = bitmaps[band as usize];
        let bits = image.bytes(bitmap * 512, 2048);
        for bit in 0..0x4000 {
            let sector = band * 0x4000 + bit;
            let free = bits[bit as usize / 8] >> (bit % 8) & 1 == 1;
            let wanted = sector < sectors && !taken.0.contains_key(&sector);
            assert_eq!(free, wanted, "sector {sector}: {:?}", taken.0.get(&sector));
        }
    }
    label
}

fn check_boot(image: &Image, sectors: u64) -> String {
    assert_eq!(image.bytes(510, 2), [0x55, 0xaa]);
    assert_eq!(image.bytes(54, 8), b"HPFS    ");
    assert_eq!(image.bytes(38, 1), [0x28]);
    assert_eq!(image.bytes(39, 4), IDENTITY[..4]);
    assert_eq!(image.le(11, 2), 512);
    assert_eq!(image.le(16, 3), 0, "no FAT and no FAT root directory");
    assert_eq!(image.le(28, 4), 0, "no hidden sectors");
    assert_eq!((image.le(19, 2), image.le(32, 4)), (0, sectors));
    let rest = image.bytes(512, 15 * 512);
    assert!(rest.iter().all(|byte| *byte == 0), "a loader");
    String::from_utf8(image.bytes(43, 11))
        .unwrap()
        .trim_end()
        .to_owned()
}

/// Returns the places of the root directory's fnode and directory block.
fn check_super(image: &Image, sectors: u64, taken: &mut Taken) -> [u64; 2] {
    let word = |offset: u64| image.le(16 * 512 + offset, 4);
    assert_eq!([word(0), word(4)], [0xf995_e849, 0xfa53_e9c5]);
    let functional = if sectors * 512 > 4 << 30 { 3 } else { 2 };
    assert_eq!(word(8), 2 | functional << 8);
    assert_eq!([word(16), word(20)], [sectors, 0]);
    taken.take("bad list", word(32), 4);
    assert!(
        image
            .bytes(word(32) * 512, 2048)
            .iter()
            .all(|byte| *byte == 0)
    );
    assert_eq!([word(40), word(44)], [0, 0], "never checked");

    let (band, length) = (word(52), word(48));
    assert_eq!(word(56), band + length - 1);
    assert!(length.is_multiple_of(4) && band.is_multiple_of(4) && length <= 0x4000);
    taken.take("directory band", band, length);
    taken.take("directory bitmap", word(60), 4);
    assert_eq!(word(60) % 4, 0);
    let bits = image.bytes(word(60) * 512, 2048);
    for bit in 0..0x4000_usize {
        let free = bits[bit / 8] >> (bit % 8) & 1 == 1;
        assert_eq!(free, (bit as u64) < length / 4, "directory block {bit}");
    }
    taken.take("user ids", word(96), 8);
    assert!(
        image
            .bytes(word(96) * 512, 4096)
            .iter()
            .all(|byte| *byte == 0)
    );
    assert!(
        image
            .bytes(16 * 512 + 100, 412)
            .iter()
            .all(|byte| *byte == 0)
    );
    [word(12), image.le(word(12) * 512 + 72, 4)]
}

fn check_spare(image: &Image, taken: &mut Taken) {
    let word = |offset: u64| image.le(17 * 512 + offset, 4);
    assert_eq!([word(0), word(4)], [0xf991_1849, 0xfa52_29c5]);
    assert_eq!(word(8), 0x20, "clean, and formatted without a scan");
    let (hotfixes, dnodes) = (word(20), word(28));
    assert_eq!(
        [word(16), word(24)],
        [0, dnodes],
        "no hot fix, no spare in use"
    );
    taken.take("hot fix list", word(12), 4);
    for index in 0..hotfixes {
        let entry = |part: u64| image.le(word(12) * 512 + (part * hotfixes + index) * 4, 4);
        assert_eq!([entry(0), entry(2)], [0, 0]);
        taken.take("hot fix spare", entry(1), 1);
    }
    assert!(dnodes <= 100);
    for index in 0..dnodes {
        let dnode = word(108 + index * 4);
        assert_eq!(dnode % 4, 0);
        taken.take("spare directory block", dnode, 4);
    }
    assert_eq!(word(40), sum(&image.bytes(16 * 512, 512)));
    let mut spare = image.bytes(17 * 512, 512);
    spare[44..48].fill(0);
    assert_eq!(word(44), sum(&spare));

    let directory = word(32) * 512;
    assert_eq!(word(36), 1, "code pages");
    taken.take("code page directory", word(32), 1);
    assert_eq!(
        [image.le(directory, 4), image.le(directory + 4, 4)],
        [0x4945_21f7, 1]
    );
    assert_eq!(image.le(directory + 16, 4), 1 | 850 << 16);
    let data = image.le(directory + 24, 4);
    taken.take("code page", data, 1);
    let data = data * 512;
    assert_eq!([image.le(data, 4), image.le(data + 4, 4)], [0x8945_21f7, 1]);
    let table = data + image.le(data + 20, 2);
    assert_eq!(image.le(table, 4), 1 | 850 << 16);
    let checksum = sum(&image.bytes(table, 136));
    assert_eq!(image.le(directory + 20, 4), checksum);
    assert_eq!(image.le(data + 8, 4), checksum);
    // Upper-case letters map to themselves, so that folding twice changes nothing.
    let upper = image.bytes(table + 6, 128);
    for byte in upper.iter().filter(|byte| **byte >= 0x80) {
        assert_eq!(upper[usize::from(*byte - 0x80)], *byte);
    }
    assert_eq!((upper[0x04], upper[0x01], upper[0x7f]), (0x8e, 0x9a, 0xff));
}

fn check_root(image: &Image, root: u64, dnode: u64, taken: &mut Taken) {
    taken.take("root fnode", root, 1);
    let fnode = |offset: u64, length: usize| image.le(root * 512 + offset, length);
    assert_eq!(fnode(0, 4), 0xf7e4_0aae);
    assert_eq!(
        [fnode(28, 4), fnode(55, 1), fnode(60, 2)],
        [root, 1, 0x0107]
    );
    assert_eq!([fnode(62, 2), fnode(184, 2)], [20, 0xc4]);

    taken.take("root directory block", dnode, 4);
    let field = |offset: u64, length: usize| image.le(dnode * 512 + offset, length);
    assert_eq!(dnode % 4, 0);
    assert_eq!([field(0, 4), field(8, 4)], [0x77e4_0aae, 1]);
    assert_eq!([field(12, 4), field(16, 4)], [root, dnode]);
    let first = 20;
    let last = first + field(first, 2);
    assert_eq!(field(4, 4), last + field(last, 2));
    assert_eq!([field(first + 2, 2), field(first + 4, 4)], [0x1001, root]);
    for date in [8, 16, 20] {
        assert_eq!(field(first + date, 4), CREATED_UNIX_S);
    }
    assert_eq!(field(first + 30, 3), 0x01_01_02);
    assert_eq!([field(last + 2, 2), field(last + 30, 2)], [8, 0xff01]);
    // The length of the fields and the name, rounded up to a multiple of four.
    assert_eq!([field(first, 2), field(last, 2)], [36, 32]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_volume_reads_back(sectors in 2048_u64..140_000, label in "[A-Z][A-Z0-9]{0,10}") {
        let image = formatted(sectors * 512, Some(&label));
        prop_assert_eq!(check(&image, sectors * 512), label);
    }

    #[test]
    fn structures_of_every_size_lie_inside_the_volume(
        shift in 11_u32..31,
        fraction in 0_u64..1 << 20,
    ) {
        let sectors = (1_u64 << shift) + ((fraction << shift) >> 20);
        let layout = Layout::new(Bytes(sectors * 512));
        let centre = layout.centre();
        prop_assert!(u64::from(centre.end) <= sectors);
        prop_assert!(layout.code_page_data() < centre.start);
        for band in 0..layout.bands() {
            let bitmap = layout.bitmap(band);
            prop_assert!(u64::from(bitmap) + 4 <= sectors && bitmap.is_multiple_of(4));
            prop_assert!(bitmap + 4 <= centre.start || centre.end <= bitmap, "band {}", band);
        }
    }
}

#[test]
fn volumes_that_end_next_to_a_band_read_back() {
    for bands in 1..6_u64 {
        for sectors in (0..=8).map(|more| bands * 0x4000 + more - 4) {
            let image = formatted(sectors * 512, None);
            assert_eq!(check(&image, sectors * 512), "HPFS");
        }
    }
}

/// Linux looks up the sector after a file in the bitmap of a missing band, and makes the volume
/// read-only (6.12, `hpfs_map_bitmap called with bad parameter`).
#[test]
fn no_file_can_end_with_the_last_sector_of_a_volume_of_complete_bands() {
    for bands in 1..12 {
        let layout = Layout::new(Bytes(bands * u64::from(BAND_SECTORS) * 512));
        let last = layout.bitmap(layout.bands() - 1);
        assert_eq!(last + 4, layout.sectors);
    }
}

#[test]
fn bitmaps_lie_where_os2_puts_them() {
    let layout = Layout::new(Bytes(64 << 20));
    let bitmaps: Vec<_> = (0..5).map(|band| layout.bitmap(band)).collect();
    assert_eq!(bitmaps, [0x18, 0x7ffc, 0x8000, 0xfffc, 0x10000]);
}

#[test]
fn a_sector_beyond_the_limits_is_refused() {
    let (minimum, maximum) = limits();
    let image = formatted(minimum.0, None);
    assert_eq!(check(&image, minimum.0), "HPFS");
    for size in [minimum.0 - 512, maximum.0 + 512] {
        let refused = Image::new(&Hpfs, size, &plain()).err();
        let small = refused
            .as_ref()
            .is_some_and(|it| it.message.contains(" is too small for "));
        let large = refused
            .as_ref()
            .is_some_and(|it| it.message.contains(" is too large for "));
        assert_eq!((small, large), (size < minimum.0, size > maximum.0));
    }
}

#[test]
fn a_volume_above_4_gib_asks_for_a_newer_driver() {
    for (size, functional) in [(4 << 30, 2), ((4 << 30) + 512, 3)] {
        let image = formatted(size, None);
        assert_eq!(image.bytes(16 * 512 + 8, 2), [2, functional]);
    }
}

#[test]
fn the_bitmaps_of_a_volume_too_large_for_os2_lie_together() {
    for size in [(64 << 30) + 512, 65 << 30] {
        let image = formatted(size, None);
        assert_eq!(check(&image, size), "HPFS");
        let layout = Layout::new(Bytes(size));
        assert_eq!(layout.bitmap(8190), layout.bitmap(0) + 4 * 8190);
    }
    let layout = Layout::new(Bytes(64 << 30));
    assert_eq!(
        [layout.bitmap(8190), layout.bitmap(8191)],
        [8190 << 14, (8192 << 14) - 4]
    );
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    for label in ["OS2", "MY VOLUME", "ELEVEN_CHAR"] {
        assert!(Hpfs.accepts_label(label), "{label}");
    }
    for label in ["", "TWELVE_CHARS", "A:B", "É", " BLANK", "TAB\t"] {
        assert!(!Hpfs.accepts_label(label), "{label}");
    }
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let bytes = || formatted(20 << 20, Some("TWIN")).bytes(0, 20 << 20);
    assert_eq!(bytes(), bytes());
}

#[test]
fn other_programs_know_the_volume() {
    let mut programs = OtherPrograms::default();
    let image = formatted(300 << 20, Some("MY VOLUME"));
    let cases: [(&str, &str, &[&str], &str); 3] = [
        (
            "blkid",
            "util-linux",
            &["-p", "{}"],
            "LABEL=\"MY VOLUME\" UUID=\"3332-3130\"",
        ),
        ("blkid", "util-linux", &["-p", "{}"], "TYPE=\"hpfs\""),
        ("file", "file", &["{}"], "OEM-ID \"OS2 20.0\""),
    ];
    for (program, package, arguments, wanted) in cases {
        if let Some(text) = programs.ask(program, package, arguments, &image) {
            assert!(text.contains(wanted), "{program}: {text}");
            assert!(!text.contains("PTTYPE"), "{program}: {text}");
        }
    }
    programs.finish();
}
