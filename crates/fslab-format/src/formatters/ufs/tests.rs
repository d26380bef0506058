//! Reads volumes back with separate arithmetic, and runs other programs on them.

use proptest::prelude::*;

use super::layout::{Layout, Version};
use super::{UFS1, UFS2};
use crate::formatters::image::{CREATED_UNIX_S, Image, OtherPrograms, little, plain};
use crate::{FormatOptions, Formatter};

const BLOCKS: [u32; 4] = [4096, 8192, 16384, 32768];
const MIB: u64 = 1 << 20;

fn formatter(version: Version) -> &'static dyn Formatter {
    match version {
        Version::Ufs1 => &UFS1,
        Version::Ufs2 => &UFS2,
    }
}

fn versions() -> impl Strategy<Value = Version> {
    prop_oneof![Just(Version::Ufs1), Just(Version::Ufs2)]
}

fn with_block(block: u32) -> FormatOptions {
    FormatOptions {
        block_bytes: Some(block),
        ..plain()
    }
}

/// The superblock, and values computed from it alone.
struct Reader<'i> {
    image: &'i Image,
    at: u64,
    new: bool,
    fragment: u64,
    frags: u64,
    groups: u64,
    per_group: u64,
    inodes: u64,
    /// Superblock copy, header, inodes and data, in fragments from a group's start.
    places: [u64; 4],
    summary: (u64, u64),
}

impl<'i> Reader<'i> {
    fn new(image: &'i Image) -> Self {
        let magics = [(65536, 0x1954_0119), (8192, 0x0001_1954)];
        let found = magics
            .iter()
            .find(|(at, magic)| image.le(at + 1372, 4) == *magic);
        let at = found.expect("a superblock").0;
        let field = |offset| image.le(at + offset, 4);
        Self {
            image,
            at,
            new: at == 65536,
            fragment: field(52),
            frags: image.le(at + 1080, 8),
            groups: field(44),
            per_group: field(188),
            inodes: field(184),
            places: [8, 12, 16, 20].map(field),
            summary: (image.le(at + 1096, 8), field(156)),
        }
    }

    fn field(&self, offset: u64) -> u64 {
        self.image.le(self.at + offset, 4)
    }

    /// For every fragment of the volume, whether it is in use.
    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.frags as usize];
        let mut take = |from: u64, length: u64, what: &str| {
            for frag in from..from + length {
                assert!(!used[frag as usize], "{what} at {frag} overlaps");
                used[frag as usize] = true;
            }
        };
        take(0, self.places[0], "boot area");
        for group in 0..self.groups {
            let start = group * self.per_group;
            take(
                start + self.places[0],
                self.places[3] - self.places[0],
                "header",
            );
        }
        take(self.summary.0, self.summary.1 / self.fragment, "summary");
        take(self.root().0, 1, "root");
        used
    }

    /// The root directory's fragment and its bytes.
    fn root(&self) -> (u64, Vec<u8>) {
        let size = if self.new { 256 } else { 128 };
        let inode = self
            .image
            .bytes(self.places[2] * self.fragment + 2 * size, size as usize);
        assert_eq!(little(&inode[0..2]), 0o040_755);
        assert_eq!(little(&inode[2..4]), 2);
        let (length, sectors, first) = match self.new {
            true => (&inode[16..24], &inode[24..32], &inode[112..120]),
            false => (&inode[8..16], &inode[104..108], &inode[40..44]),
        };
        assert_eq!(little(sectors) * 512, self.fragment);
        let first = little(first);
        (
            first,
            self.image
                .bytes(first * self.fragment, little(length) as usize),
        )
    }

    fn check(&self) {
        let header = self.places[3] - self.places[0];
        let lead = self.places[0] + self.summary.1 / self.fragment;
        assert_eq!(
            self.image.le(self.at + 1088, 8),
            self.frags - lead - self.groups * header
        );
        assert_eq!(
            self.summary.1,
            (self.groups * 16).div_ceil(self.fragment) * self.fragment
        );
        assert!(self.frags <= self.groups * self.per_group);
        assert!(self.frags > (self.groups - 1) * self.per_group);
        assert_eq!(self.inodes % self.field(120), 0);
        assert_eq!(
            self.places[3] - self.places[2],
            self.inodes * 8 / self.field(120)
        );
        let used = self.used();
        let mut total = [0; 4];
        for group in 0..self.groups {
            let counts = self.check_group(group, &used);
            let summary = self.summary.0 * self.fragment + 16 * group;
            let stored: [u64; 4] =
                std::array::from_fn(|k| self.image.le(summary + 4 * k as u64, 4));
            assert_eq!(stored, counts, "summary of group {group}");
            for (sum, count) in total.iter_mut().zip(counts) {
                *sum += count;
            }
            self.check_copy(group);
        }
        let stored: [u64; 4] =
            std::array::from_fn(|k| self.image.le(self.at + 1008 + 8 * k as u64, 8));
        assert_eq!(stored, total);
        let old: [u64; 4] = std::array::from_fn(|k| self.field(192 + 4 * k as u64));
        assert_eq!(old, if self.new { [0; 4] } else { total });
    }

    fn check_copy(&self, group: u64) {
        let place = (group * self.per_group + self.places[0]) * self.fragment;
        let (mut copy, first) = (
            self.image.bytes(place, 1376),
            self.image.bytes(self.at, 1376),
        );
        assert_eq!(little(&copy[992..1000]), place);
        copy[992..1000].copy_from_slice(&first[992..1000]);
        assert!(copy == first, "copy {group}");
    }

    /// Directories, free blocks, free inodes, free fragments.
    fn check_group(&self, group: u64, used: &[bool]) -> [u64; 4] {
        let start = group * self.per_group;
        let maps = self.field(160) as usize;
        let cg = self
            .image
            .bytes((start + self.places[1]) * self.fragment, maps);
        let field = |offset: usize| little(&cg[offset..offset + 4]);
        let length = self.per_group.min(self.frags - start);
        assert_eq!(
            [field(4), field(12), field(20)],
            [0x0009_0255, group, length]
        );
        let [inode_map, free_map, end, sums, clusters] = [92, 96, 100, 104, 108].map(field);
        assert!(end <= self.field(160));
        assert_eq!(
            clusters / self.fragment,
            (end - 1) / self.fragment,
            "Linux's fault"
        );
        let bit = |map: u64, index: u64| cg[(map + index / 8) as usize] >> (index % 8) & 1 == 1;
        let (mut blocks, mut frags, mut runs, mut cluster) = (0, 0, [0; 8], 0);
        let mut cluster_runs = [0; 17];
        for block in 0..self.per_group / 8 {
            let free = |frag: &u64| *frag < length && !used[(start + frag) as usize];
            let mask: Vec<bool> = (block * 8..block * 8 + 8).map(|frag| free(&frag)).collect();
            for (index, free) in mask.iter().enumerate() {
                assert_eq!(
                    bit(free_map, block * 8 + index as u64),
                    *free,
                    "{group}: {block}"
                );
            }
            let whole = mask.iter().all(|free| *free);
            assert_eq!(bit(clusters, block), whole);
            if whole {
                (blocks, cluster) = (blocks + 1, cluster + 1);
                continue;
            }
            for run in mask.split(|free| !free).filter(|run| !run.is_empty()) {
                frags += run.len() as u64;
                runs[run.len()] += 1;
            }
            cluster_runs[std::mem::take(&mut cluster).min(16)] += 1;
        }
        cluster_runs[cluster.min(16)] += 1;
        for (run, count) in runs.iter().enumerate() {
            assert_eq!(field(52 + 4 * run), *count);
        }
        for (run, count) in cluster_runs.iter().enumerate().skip(1) {
            assert_eq!(
                field(sums as usize + 4 * run),
                *count,
                "{group}: clusters of {run}"
            );
        }
        let taken = (0..self.inodes)
            .filter(|inode| bit(inode_map, *inode))
            .count() as u64;
        assert_eq!(taken, if group == 0 { 3 } else { 0 });
        let counts = [u64::from(group == 0), blocks, self.inodes - taken, frags];
        assert_eq!([24, 28, 32, 36].map(field), counts, "group {group}");
        if !self.new {
            assert_eq!(
                [field(168), little(&cg[172..174])],
                [blocks; 2],
                "cylinder's totals"
            );
        }
        counts
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_written_reads_back_and_adds_up(
        version in versions(),
        block in prop::sample::select(&BLOCKS[..]),
        part in 0.0..1.0f64,
    ) {
        let minimum = Layout::bytes_min(version, block);
        let sectors = (part.powi(3) * f64::from(block) * 128.0) as u64;
        let image = Image::new(formatter(version), minimum + sectors * 512, &with_block(block));
        Reader::new(&image.unwrap()).check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_size_has_a_layout_within_the_volume(
        version in versions(),
        block in prop::sample::select(&BLOCKS[..]),
        log in 0.0..1.0f64,
    ) {
        let (least, most) = (Layout::bytes_min(version, block), Layout::bytes_max(version, block));
        let factor = (most as f64 / least as f64).powf(log);
        let size = ((least as f64 * factor) as u64).clamp(least, most);
        let layout = Layout::new(version, block, size).unwrap();
        let lost = size - layout.frags * u64::from(layout.fragment);
        prop_assert!(lost <= u64::from(layout.frags_per_group) * u64::from(layout.fragment));
        prop_assert!(layout.maps_bytes() <= block);
        prop_assert!(layout.cluster_map().1 <= layout.maps_bytes());
        prop_assert!(version == Version::Ufs2 || layout.inodes_per_group <= 0x7fff);
        prop_assert!(layout.frags_of(layout.groups - 1) >= layout.data_at);
        prop_assert!(layout.root_frag() < layout.frags_of(0));
        prop_assert!(u64::from(layout.groups) * u64::from(layout.inodes_per_group) < 1 << 32);
    }
}

#[test]
fn every_size_in_sectors_around_the_first_group_borders_reads_back() {
    for version in [Version::Ufs1, Version::Ufs2] {
        let minimum = Layout::bytes_min(version, 4096);
        for sectors in (0..2000).step_by(37) {
            let size = minimum + sectors * 512;
            let image = Image::new(formatter(version), size, &with_block(4096)).unwrap();
            Reader::new(&image).check();
        }
    }
}

#[test]
fn one_sector_below_the_minimum_is_refused() {
    for version in [Version::Ufs1, Version::Ufs2] {
        for block in BLOCKS {
            let minimum = Layout::bytes_min(version, block);
            let refused = Image::new(formatter(version), minimum - 512, &with_block(block));
            assert!(refused.is_err_and(|it| it.message.contains(" is too small for ")));
            let image = Image::new(formatter(version), minimum, &with_block(block)).unwrap();
            Reader::new(&image).check();
        }
    }
}

#[test]
fn the_same_options_give_the_same_bytes_over_whatever_was_there() {
    let options = plain();
    let old: Vec<_> = (1..8).map(|k| (k * MIB * 2, vec![0xa5; 1 << 20])).collect();
    for version in [Version::Ufs1, Version::Ufs2] {
        let clean = Image::new(formatter(version), 16 * MIB, &options).unwrap();
        let over = Image::over(formatter(version), 16 * MIB, &options, &old).unwrap();
        let reader = Reader::new(&over);
        reader.check();
        for group in 0..reader.groups {
            let at = (group * reader.per_group + reader.places[0]) * reader.fragment;
            // UFS2's later inodes are initialised by the driver.
            let inodes = if reader.new {
                16
            } else {
                reader.places[3] - reader.places[2]
            };
            let length = (reader.places[2] - reader.places[0] + inodes) * reader.fragment;
            let headers = [&clean, &over].map(|image| image.bytes(at, length as usize));
            assert!(headers[0] == headers[1], "group {group}");
        }
    }
}

#[test]
fn the_root_directory_has_itself_as_parent() {
    for version in [Version::Ufs1, Version::Ufs2] {
        let image = Image::new(formatter(version), 16 * MIB, &plain()).unwrap();
        let (_, entries) = Reader::new(&image).root();
        assert_eq!(entries.len(), 512);
        assert_eq!(&entries[..12], b"\x02\0\0\0\x0c\0\x04\x01.\0\0\0");
        assert_eq!(&entries[12..24], b"\x02\0\0\0\xf4\x01\x04\x02..\0\0");
        assert!(entries[24..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn label_date_and_recovery_record_are_where_freebsd_looks_for_them() {
    let options = FormatOptions {
        label: Some("my_volume-1".to_owned()),
        ..plain()
    };
    let image = Image::new(&UFS2, 64 * MIB, &options).unwrap();
    let reader = Reader::new(&image);
    assert_eq!(&image.bytes(65536 + 680, 12), b"my_volume-1\0");
    assert_eq!(image.le(65536 + 1072, 8), CREATED_UNIX_S);
    assert_eq!(image.le(65536 - 20, 4), 0x1954_0119);
    assert_eq!(image.le(65536 - 12, 4), reader.places[0]);
    assert_eq!(image.le(65536 - 8, 4), reader.per_group);
    assert_eq!(image.le(65536 - 4, 4), reader.groups);
}

#[test]
fn labels_are_what_newfs_takes() {
    for label in [
        "a",
        "under_score",
        "da-sh",
        "x23456789012345678901234567890y",
    ] {
        assert!(UFS2.accepts_label(label), "{label}");
    }
    for label in [
        "",
        "with space",
        "slash/",
        "é",
        "x234567890123456789012345678901y",
    ] {
        assert!(!UFS2.accepts_label(label), "{label}");
    }
}

#[test]
fn a_volume_of_two_tebibytes_has_groups_as_large_as_their_maps_allow() {
    let layout = Layout::new(Version::Ufs2, 32768, 2 << 40).unwrap();
    assert!(layout.maps_bytes() > 32000, "{}", layout.maps_bytes());
    let layout = Layout::new(Version::Ufs1, 32768, 2 << 40).unwrap();
    assert!(
        layout.inodes_per_group > 32000,
        "{}",
        layout.inodes_per_group
    );
}

#[test]
fn other_programs_read_it() {
    let mut programs = OtherPrograms::default();
    let options = FormatOptions {
        label: Some("labelled".to_owned()),
        ..plain()
    };
    for (version, name) in [(Version::Ufs1, "1"), (Version::Ufs2, "2")] {
        let image = Image::new(formatter(version), 100 * MIB, &options).unwrap();
        if let Some(text) = programs.ask("blkid", "util-linux", &["-p", "{}"], &image) {
            assert!(text.contains("TYPE=\"ufs\""), "{text}");
            assert!(text.contains(&format!("VERSION=\"{name}\"")), "{text}");
        }
        if let Some(text) = programs.ask("fsstat", "sleuthkit", &["{}"], &image) {
            assert!(
                text.contains(&format!("File System Type: UFS {name}")),
                "{text}"
            );
            let blocks = image.le(Reader::new(&image).at + 1016, 8);
            assert!(
                text.contains(&format!("Num of Avail Full Blocks: {blocks}\n")),
                "{text}"
            );
        }
        if let Some(text) = programs.ask("fls", "sleuthkit", &["-a", "{}"], &image) {
            assert!(text.contains("d/d 2:\t.."), "{text}");
        }
        let arguments = ["{}", "ls", "--", "-l", "(loop0)"];
        if let Some(text) = programs.ask("grub-fstest", "grub-common", &arguments, &image) {
            assert!(
                text.contains(&format!("Filesystem type ufs{name}")),
                "{text}"
            );
        }
    }
    programs.finish();
}
