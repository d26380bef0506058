//! Reads volumes back with separate arithmetic, and runs other programs on them.

use proptest::prelude::*;

use super::Reiserfs35;
use crate::formatters::image::{CREATED_UNIX_S, Image, OtherPrograms, little, plain};
use crate::{FormatOptions, Formatter};

const BLOCK: u64 = 4096;
const MIB: u64 = 1 << 20;
const LEAF: u64 = 8211;

/// The used blocks in the bitmaps, and the number of bits set after the end.
fn used(image: &Image, blocks: u64) -> (Vec<u64>, u64) {
    let (mut used, mut behind) = (Vec::new(), 0);
    for index in 0..blocks.div_ceil(32768) {
        let place = if index == 0 { 17 } else { index * 32768 };
        let bitmap = image.bytes(place * BLOCK, BLOCK as usize);
        let set = |bit: &u64| bitmap[(bit / 8) as usize] >> (bit % 8) & 1 == 1;
        for bit in (0..32768).filter(set) {
            match index * 32768 + bit {
                block if block < blocks => used.push(block),
                _ => behind += 1,
            }
        }
    }
    (used, behind)
}

fn check(image: &Image, size: u64) {
    let field = |offset| image.le(16 * BLOCK + offset, 4);
    let blocks = size / BLOCK;
    let (used, behind) = used(image, blocks);
    let mut expected: Vec<u64> = (0..=LEAF).collect();
    expected.extend((1..blocks.div_ceil(32768)).map(|index| index * 32768));
    assert_eq!(used, expected);
    assert_eq!(behind, blocks.next_multiple_of(32768) - blocks);
    assert_eq!(
        [field(0), field(4), field(8)],
        [blocks, blocks - used.len() as u64, LEAF]
    );
    assert_eq!(image.le(16 * BLOCK + 70, 2), blocks.div_ceil(32768));
    assert_eq!(&image.bytes(16 * BLOCK + 52, 10), b"ReIsErFs\0\0");
    for at in [16 * BLOCK, 8210 * BLOCK] {
        let journal = [12, 16, 20, 24, 32, 36].map(|offset| image.le(at + offset, 4));
        assert_eq!(journal, [18, 0, 8192, 1024, 900, 30], "journal at {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_was_written_reads_back_and_adds_up(sectors in 0..4_000_000u64) {
        let size = 33 * MIB + sectors * 512;
        check(&Image::new(&Reiserfs35, size, &plain()).unwrap(), size);
    }
}

#[test]
fn sizes_around_the_border_of_a_bitmap_read_back() {
    for blocks in [32767, 32768, 32769, 65535, 65536, 65537] {
        let image = Image::new(&Reiserfs35, blocks * BLOCK, &plain()).unwrap();
        check(&image, blocks * BLOCK);
    }
}

#[test]
fn one_sector_below_the_minimum_is_refused() {
    let refused = Image::new(&Reiserfs35, 33 * MIB - 512, &plain());
    assert!(refused.is_err_and(|it| it.message.contains(" is too small for ")));
}

#[test]
fn a_label_is_refused_because_there_is_no_place_for_one() {
    let options = FormatOptions {
        label: Some("name".to_owned()),
        ..plain()
    };
    let refused = Image::new(&Reiserfs35, 64 * MIB, &options).err().unwrap();
    assert!(refused.to_string().contains("no place"), "{refused}");
}

/// The items of the leaf: key, entries, version and body.
fn items(image: &Image) -> Vec<([u64; 4], u64, u64, Vec<u8>)> {
    let leaf = image.bytes(LEAF * BLOCK, BLOCK as usize);
    let word = |at: usize, length: usize| little(&leaf[at..at + length]);
    let count = word(2, 2) as usize;
    let mut end = BLOCK;
    let items = (0..count).map(|index| {
        let at = 24 + 24 * index;
        let key = [0, 4, 8, 12].map(|offset| word(at + offset, 4));
        let (length, place) = (word(at + 18, 2), word(at + 20, 2));
        end -= length;
        assert_eq!(place, end, "items fill the leaf from its end");
        let body = leaf[place as usize..(place + length) as usize].to_vec();
        (key, word(at + 16, 2), word(at + 22, 2), body)
    });
    let items = items.collect();
    assert_eq!([word(0, 2), word(4, 2)], [1, end - 24 - 24 * count as u64]);
    items
}

#[test]
fn the_root_directory_is_the_only_object_and_has_keys_of_format_3_5() {
    let image = Image::new(&Reiserfs35, 64 * MIB, &plain()).unwrap();
    let items = items(&image);
    let keys: Vec<_> = items
        .iter()
        .map(|(key, _, version, _)| (*key, *version))
        .collect();
    assert_eq!(keys, [([1, 2, 0, 0], 0), ([1, 2, 1, 500], 0)]);
    let stat = &items[0].3;
    assert_eq!(stat.len(), 32);
    assert_eq!(little(&stat[0..2]), 0o040_755);
    assert_eq!(little(&stat[8..12]), items[1].3.len() as u64);
    assert_eq!(little(&stat[20..24]), CREATED_UNIX_S);
    let directory = &items[1].3;
    let mut end = directory.len();
    let names: Vec<_> = directory[..32]
        .chunks(16)
        .map(|head| {
            let place = little(&head[12..14]) as usize;
            let name = directory[place..end].to_vec();
            end = place;
            (
                little(&head[..4]),
                little(&head[4..8]),
                little(&head[8..12]),
                name,
            )
        })
        .collect();
    assert_eq!(names[0], (1, 1, 2, b".\0\0\0\0\0\0\0".to_vec()));
    assert_eq!(names[1], (2, 0, 1, b"..\0\0\0\0\0\0".to_vec()));
}

/// mkfs.reiserfs 3.6.27 packs `.` and `..` into 35 bytes; Linux from 5.14 on requires 24 per entry
/// and refused such a leaf with vs-5150, so the volume did not mount.
#[test]
fn the_root_directory_is_long_enough_for_a_kernel_that_counts_item_heads() {
    let image = Image::new(&Reiserfs35, 64 * MIB, &plain()).unwrap();
    let (_, entries, _, body) = items(&image).remove(1);
    assert!(body.len() as u64 >= entries * 24);
}

#[test]
fn an_old_journal_is_cleared() {
    let old = [(18 * BLOCK, vec![0xa5; 8193 * BLOCK as usize])];
    let image = Image::over(&Reiserfs35, 64 * MIB, &plain(), &old).unwrap();
    let journal = image.bytes(18 * BLOCK, 8192 * BLOCK as usize);
    assert!(journal.iter().all(|byte| *byte == 0));
    check(&image, 64 * MIB);
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let images = [0, 1].map(|_| Image::new(&Reiserfs35, 40 * MIB, &plain()).unwrap());
    let bytes = images.map(|image| image.bytes(0, 40 << 20));
    assert!(bytes[0] == bytes[1]);
    assert_eq!(Reiserfs35.limits(None).0.0, 33 * MIB);
}

#[test]
fn other_programs_read_it() {
    let mut programs = OtherPrograms::default();
    for size in [33 * MIB, 300 * MIB] {
        let image = Image::new(&Reiserfs35, size, &plain()).unwrap();
        if let Some(text) = programs.ask(
            "reiserfsck",
            "reiserfsprogs",
            &["-q", "-y", "--check", "{}"],
            &image,
        ) {
            assert!(text.contains("No corruptions found"), "{text}");
        }
        if let Some(text) = programs.ask("debugreiserfs", "reiserfsprogs", &["{}"], &image) {
            assert!(
                text.contains("of format 3.5 with standard journal"),
                "{text}"
            );
        }
        if let Some(text) = programs.ask("blkid", "util-linux", &["-p", "{}"], &image) {
            assert!(text.contains("VERSION=\"3.5\""), "{text}");
            assert!(text.contains("TYPE=\"reiserfs\""), "{text}");
        }
    }
    programs.finish();
}
