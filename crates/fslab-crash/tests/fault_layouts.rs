//! The kinds of blocks, compared with what each file system's own tools say of an image that its
//! mkfs made. Where a tool is not installed, the test says so.

use std::fs::File;
use std::process::Command;

use fslab_crash::faults::{BlockKind, BlockMap, DiskImage};

/// The output of a program; `None`, with the reason printed, if it is not there.
fn output(program: &str, words: &[&str]) -> Option<String> {
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let ended = Command::new(program).args(words).env("PATH", path).output();
    let Ok(ended) = ended else {
        println!("skipped: {program} is not installed");
        return None;
    };
    let text = [ended.stdout, ended.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}

struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn new(mkfs: &str, words: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a directory");
        let made = Self { folder };
        let file = File::create(made.path()).expect("made");
        file.set_len(320 << 20).expect("sparse");
        let path = made.path();
        output(mkfs, &[words, &[&path]].concat())?;
        Some(made)
    }

    fn path(&self) -> String {
        let path = self.folder.path().join("image");
        path.to_str().expect("text").to_owned()
    }

    /// Kind and name of the unit at a byte, and where that begins.
    fn at(&self, fs: &str, offset: u64) -> (BlockKind, &'static str, u64) {
        let mut file = File::open(self.path()).expect("opened");
        let mut image = DiskImage::new(&mut file);
        let map = BlockMap::read(fs, &mut image).expect("a layout");
        let unit = map.unit_of(offset / 512, &mut image).expect("read");
        (unit.kind, unit.detail, unit.sector * 512)
    }
}

/// The first number after `before` in a text.
fn number_after(text: &str, before: &str) -> u64 {
    let (_, rest) = text.split_once(before).expect(before);
    let rest = rest.trim_start_matches([' ', '\t', '=', ':']);
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next();
    digits.and_then(|it| it.parse().ok()).expect(before)
}

#[test]
fn places_of_ext4_are_those_that_dumpe2fs_and_debugfs_print() {
    let words = ["-q", "-F", "-b", "1024"];
    let Some(made) = Made::new("mkfs.ext4", &words) else {
        return;
    };
    let path = made.path();
    let Some(groups) = output("dumpe2fs", &[&path]) else {
        return;
    };
    let (_, third) = groups.split_once("Group 3:").expect("four groups");
    for (text, kind) in [
        ("Backup superblock at", BlockKind::Superblock),
        ("Group descriptors at", BlockKind::Descriptor),
        ("Block bitmap at", BlockKind::Bitmap),
        ("Inode bitmap at", BlockKind::Bitmap),
        ("Inode table at", BlockKind::Inode),
    ] {
        let block = number_after(third, text);
        let found = made.at("ext4", block * 1024);
        assert_eq!((found.0, found.2), (kind, block * 1024), "{text}");
    }
    let Some(journal) = output("debugfs", &["-R", "stat <8>", &path]) else {
        return;
    };
    let (_, extents) = journal.split_once("EXTENTS:").expect("extents");
    let block = number_after(extents, "):");
    let found = made.at("ext4", block * 1024);
    assert_eq!(
        (found.0, found.1),
        (BlockKind::Journal, "journal superblock")
    );
    let root = output("debugfs", &["-R", "stat <2>", &path]).expect("debugfs");
    let (_, extents) = root.split_once("EXTENTS:").expect("extents");
    let block = number_after(extents, "):");
    assert_eq!(made.at("ext4", block * 1024).0, BlockKind::Directory);
    assert_eq!(made.at("ext4", 1024).1, "superblock");
}

#[test]
fn places_of_xfs_are_those_that_xfs_db_prints() {
    let Some(made) = Made::new("mkfs.xfs", &["-q", "-f"]) else {
        return;
    };
    let path = made.path();
    let ask = |words: &[&str]| {
        let commands = words.iter().flat_map(|it| ["-c", it]);
        let all: Vec<&str> = ["-r"].into_iter().chain(commands).chain([&*path]).collect();
        output("xfs_db", &all)
    };
    let Some(log) = ask(&["sb 0", "p logstart"]) else {
        return;
    };
    let log = number_after(&log, "logstart");
    let convert = format!("convert fsb {log} daddr");
    let sector = number_after(&ask(&[&convert]).expect("xfs_db"), "(");
    let found = made.at("xfs", sector * 512);
    assert_eq!((found.0, found.2), (BlockKind::Journal, sector * 512));
    for (command, kind, name) in [
        ("agf 1", BlockKind::Descriptor, "AGF"),
        ("agi 1", BlockKind::Descriptor, "AGI"),
        ("agfl 1", BlockKind::Descriptor, "AGFL"),
        ("sb 1", BlockKind::Superblock, "superblock copy"),
    ] {
        let text = ask(&[command, "daddr"]).expect("xfs_db");
        let sector = number_after(&text, "current daddr is");
        let found = made.at("xfs", sector * 512);
        assert_eq!(found, (kind, name, sector * 512), "{command}");
    }
    for (commands, kind) in [
        (["agf 0", "addr bnoroot"], BlockKind::Bitmap),
        (["agi 0", "addr root"], BlockKind::Bitmap),
        (["sb 0", "addr rootino"], BlockKind::Inode),
    ] {
        let text = ask(&[commands[0], commands[1], "daddr"]).expect("xfs_db");
        let sector = number_after(&text, "current daddr is");
        assert_eq!(made.at("xfs", sector * 512).0, kind, "{commands:?}");
    }
}

#[test]
fn trees_of_btrfs_are_where_its_tools_map_them() {
    let Some(made) = Made::new("mkfs.btrfs", &["-q"]) else {
        return;
    };
    let path = made.path();
    let Some(super_text) = output("btrfs", &["inspect-internal", "dump-super", &path]) else {
        return;
    };
    for (field, name) in [("\nroot\t", "root tree"), ("\nchunk_root\t", "chunk tree")] {
        let logical = number_after(&super_text, field).to_string();
        let Some(mapped) = output("btrfs-map-logical", &["-l", &logical, &path]) else {
            return;
        };
        for mirror in mapped.lines().filter(|line| line.contains("physical")) {
            let physical = number_after(mirror, "physical");
            let found = made.at("btrfs", physical);
            assert_eq!((found.1, found.2), (name, physical), "{mirror}");
        }
    }
    assert_eq!(made.at("btrfs", 64 << 20).1, "superblock copy");
}

#[test]
fn the_root_of_f2fs_is_where_dump_f2fs_prints_it() {
    let Some(made) = Made::new("mkfs.f2fs", &["-q", "-f"]) else {
        return;
    };
    let Some(root) = output("dump.f2fs", &["-i", "3", &made.path()]) else {
        return;
    };
    let (_, address) = root.split_once("i_addr[0x0]").expect("an address");
    let block = number_after(address, " : ");
    let found = made.at("f2fs", block * 4096);
    assert_eq!((found.0, found.2), (BlockKind::Directory, block * 4096));
    assert_eq!(made.at("f2fs", 4096).1, "superblock copy");
    assert_eq!(made.at("f2fs", 512 * 4096).1, "checkpoint");
}

#[test]
fn the_log_of_jfs_begins_where_its_superblock_says() {
    let Some(made) = Made::new("mkfs.jfs", &["-q"]) else {
        return;
    };
    let bytes = std::fs::read(made.path()).expect("read");
    // The superblock of the log is its second page: jfs_logmgr.h.
    let magic = 0x8765_4321_u32.to_le_bytes();
    let mut pages = bytes.chunks(4096).enumerate();
    let (page, _) = pages.find(|it| it.1.starts_with(&magic)).expect("a log");
    for offset in [page - 1, page] {
        assert_eq!(made.at("jfs", offset as u64 * 4096).0, BlockKind::Journal);
    }
    assert_eq!(
        made.at("jfs", page as u64 * 4096 - 8192).0,
        BlockKind::Other
    );
    assert_eq!(made.at("jfs", 11 * 4096).0, BlockKind::Inode);
    assert_eq!(made.at("jfs", 16 * 4096).0, BlockKind::Bitmap);
}
