//! Reads superblocks back with separate arithmetic, and runs other programs on them.

use proptest::prelude::*;

use super::Bcachefs;
use crate::formatters::image::{Image, OtherPrograms, little, plain};
use crate::{FormatOptions, Formatter};

const MIB: u64 = 1 << 20;
const MAGIC: u128 = 0xeff7_3d80_cf60_6ad9_a990_ce66_f673_85c6;

/// CRC-32C by division, without a table or shift register.
fn crc32c(bytes: &[u8]) -> u32 {
    let polynomial = 0x1_1edc_6f41_u64;
    let bits = bytes
        .iter()
        .flat_map(|byte| (0..8).map(move |bit| u64::from(byte >> bit & 1)));
    let padded = bits.chain(std::iter::repeat_n(0, 32));
    let rest = padded.enumerate().fold(0u64, |rest, (index, bit)| {
        let bit = if index < 32 { bit ^ 1 } else { bit };
        let rest = rest << 1 | bit;
        if rest >> 32 == 1 {
            rest ^ polynomial
        } else {
            rest
        }
    });
    !(rest as u32).reverse_bits()
}

fn bits(image: &Image, word: u64, from: u32, to: u32) -> u64 {
    image.le(4096 + 144 + 8 * word, 8) >> from & ((1 << (to - from)) - 1)
}

/// Checks every superblock, and returns their sectors.
fn check(image: &Image, size: u64, options: &FormatOptions) -> Vec<u64> {
    let layout = image.bytes(7 * 512, 512);
    assert_eq!(layout[..16], MAGIC.to_le_bytes());
    assert_eq!(layout[16..24], [0, 11, 3, 0, 0, 0, 0, 0]);
    let sectors: Vec<u64> = layout[24..48].chunks(8).map(little).collect();
    assert!(layout[48..].iter().all(|byte| *byte == 0));
    let bucket = image.le(4096 + 752 + 16 + 26, 2);
    let buckets = image.le(4096 + 752 + 16 + 16, 8);
    assert_eq!(buckets, size / 512 / bucket);
    assert!(buckets >= 64);
    assert_eq!(sectors[..2], [8, 2056]);
    assert_eq!(sectors[2] % bucket, 0);
    assert!(sectors[2] + 2048 <= size / 512 && sectors[2] >= sectors[1] + 2048);
    let mut first = Vec::new();
    for &sector in &sectors {
        let words = image.le(sector * 512 + 124, 4) as usize;
        let mut bytes = image.bytes(sector * 512, 752 + words * 8);
        assert_eq!(
            little(&bytes[..8]),
            u64::from(crc32c(&bytes[16..])),
            "checksum at {sector}"
        );
        assert_eq!(little(&bytes[104..112]), sector);
        assert_eq!(bytes[240..752], layout);
        bytes[..16].fill(0);
        bytes[104..112].fill(0);
        if first.is_empty() {
            first = bytes;
        } else {
            assert!(bytes == first, "superblock at {sector}");
        }
    }
    check_options(image, bucket, options);
    sectors
}

fn check_options(image: &Image, bucket: u64, options: &FormatOptions) {
    let block = u64::from(options.block_bytes.unwrap_or(4096));
    assert_eq!(image.le(4096 + 120, 2) * 512, block);
    assert_eq!(bits(image, 0, 0, 2), 0, "neither initialised nor clean");
    assert_eq!(bits(image, 0, 2, 8), 1, "the superblock's sum is crc32c");
    let node = bits(image, 0, 12, 28);
    assert!(node <= bucket && node.is_power_of_two() && node * 512 >= block);
    assert_eq!(bits(image, 0, 28, 33), 8, "copying reserve");
    assert_eq!(
        [bits(image, 0, 40, 44), bits(image, 0, 44, 48)],
        [1, 1],
        "crc32c"
    );
    assert_eq!(
        [bits(image, 0, 48, 52), bits(image, 0, 52, 56)],
        [1, 1],
        "replicas"
    );
    assert_eq!(
        [bits(image, 1, 20, 24), bits(image, 1, 24, 28)],
        [1, 1],
        "replicas required"
    );
    assert_eq!(512 << bits(image, 1, 14, 20), 64 << 10, "encoded extents");
    assert_eq!(
        [bits(image, 3, 30, 62), bits(image, 4, 0, 32)],
        [1000, 100],
        "delays"
    );
    assert_eq!(bits(image, 5, 16, 32), 30, "stuck allocator");
}

/// Kind and contents of the superblock's fields.
fn fields(image: &Image) -> Vec<(u64, Vec<u8>)> {
    let mut rest = image.bytes(4096 + 752, image.le(4096 + 124, 4) as usize * 8);
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let tail = rest.split_off(little(&rest[..4]) as usize * 8);
        fields.push((little(&rest[4..8]), rest.split_off(8)));
        rest = tail;
    }
    fields
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_written_reads_back_and_adds_up(
        sectors in 0..1u64 << 28,
        shift in 0..28u32,
        block in prop::sample::select(vec![None, Some(512), Some(1024), Some(2048), Some(4096)]),
    ) {
        let size = 32 * MIB + (sectors >> shift) * 512;
        let options = FormatOptions { block_bytes: block, ..plain() };
        check(&Image::new(&Bcachefs, size, &options).unwrap(), size, &options);
    }
}

#[test]
fn a_checksum_is_the_known_one() {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
}

#[test]
fn the_device_is_described_in_both_forms_alike() {
    let fields = fields(&Image::new(&Bcachefs, 64 * MIB, &plain()).unwrap());
    let kinds: Vec<_> = fields
        .iter()
        .map(|(kind, body)| (*kind, body.len()))
        .collect();
    assert_eq!(kinds, [(11, 8 + 144), (1, 56)]);
    let new = &fields[0].1;
    assert_eq!(little(&new[..8]), 144);
    assert_eq!(new[8..8 + 56], fields[1].1);
    assert_eq!(little(&new[8 + 40..8 + 48]), 0b11100 << 15 | 2 << 28);
}

#[test]
fn buckets_and_nodes_grow_with_the_device() {
    let of = |size| {
        let image = Image::new(&Bcachefs, size, &plain()).unwrap();
        let bucket = image.le(4096 + 752 + 16 + 26, 2) / 2;
        [bucket, bits(&image, 0, 12, 28) / 2]
    };
    assert_eq!(of(64 * MIB), [128, 128]);
    assert_eq!(of(1024 * MIB), [128, 128]);
    assert_eq!(of(2048 * MIB), [256, 256]);
    assert_eq!(of(2 << 40), [512, 256]);
}

#[test]
fn volume_internal_and_device_uuid_are_three_of_version_4() {
    let options = FormatOptions {
        identity: [0; 16],
        ..plain()
    };
    let image = Image::new(&Bcachefs, 64 * MIB, &options).unwrap();
    let uuids = [40, 56, 752 + 16].map(|at| image.bytes(4096 + at, 16));
    assert!(uuids[0] != uuids[1] && uuids[1] != uuids[2] && uuids[0] != uuids[2]);
    for uuid in uuids {
        assert_eq!([uuid[6] >> 4, uuid[8] >> 6], [4, 2]);
    }
}

#[test]
fn a_label_of_32_bytes_fills_its_field() {
    let label = "é23456789012345678901234567890x".to_owned();
    assert_eq!(label.len(), 32);
    assert!(Bcachefs.accepts_label(&label));
    assert!(!Bcachefs.accepts_label(&format!("{label}y")));
    assert!(!Bcachefs.accepts_label(""));
    let options = FormatOptions {
        label: Some(label.clone()),
        ..plain()
    };
    let image = Image::new(&Bcachefs, 64 * MIB, &options).unwrap();
    assert_eq!(image.bytes(4096 + 72, 32), label.as_bytes());
}

#[test]
fn one_sector_below_the_minimum_is_refused() {
    let refused = Image::new(&Bcachefs, 32 * MIB - 512, &plain());
    assert!(refused.is_err_and(|it| it.message.contains(" is too small for ")));
}

#[test]
fn the_same_options_give_the_same_bytes_over_whatever_was_there() {
    let clean = Image::new(&Bcachefs, 64 * MIB, &plain()).unwrap();
    let old: Vec<_> = (0..64).map(|k| (k * MIB, vec![0xa5; 1 << 20])).collect();
    let over = Image::over(&Bcachefs, 64 * MIB, &plain(), &old).unwrap();
    for sector in check(&over, 64 * MIB, &plain()) {
        let room = [&clean, &over].map(|image| image.bytes(sector * 512, 1 << 20));
        assert!(room[0] == room[1], "superblock at {sector}");
    }
}

#[test]
fn other_programs_read_it() {
    let mut programs = OtherPrograms::default();
    let image = Image::new(&Bcachefs, 64 * MIB, &plain()).unwrap();
    if let Some(text) = programs.ask("bcachefs", "bcachefs-tools", &["show-super", "{}"], &image) {
        assert!(text.contains("1.13"), "{text}");
    }
    programs.finish();
}
