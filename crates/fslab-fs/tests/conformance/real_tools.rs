//! Every entry with its own tools, on sparse images, without privileges or mounts.
//!
//! A file system whose programs are not installed is skipped with a line that names the program.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fslab_format::{FormatOptions, Volume};
use fslab_fs::{
    CheckVerdict, CommandLine, Driver, FileSystem, MountPlace, SearchPath, Tool, all, find,
    parse_subject, signature,
};
use fslab_model::{Bytes, Subject};
use tempfile::TempDir;

/// The step from a minimum to the next smaller size.
const SECTOR_BYTES: u64 = 512;

struct Image {
    path: PathBuf,
    _folder: TempDir,
}

impl Image {
    fn of(size: Bytes) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("disk.img");
        let file = File::create(&path).expect("an image");
        file.set_len(size.0).expect("a sparse image");
        Self {
            path,
            _folder: folder,
        }
    }

    fn device(&self) -> &str {
        self.path.to_str().expect("temporary paths are UTF-8")
    }

    fn format(&self, entry: &FileSystem, subject: &Subject) -> Outcome {
        let place = MountPlace {
            device: self.device(),
            others: &[],
            mount_point: "/mnt",
            size: None,
        };
        let command = entry.mkfs_command(&place, subject);
        let command = command.expect("accepted").expect("is formatted");
        if command.tool == Tool::FSLAB {
            format_by_fslab(&command)
        } else {
            run(&command)
        }
    }

    /// Makes `entry` without options; must succeed.
    fn make(&self, entry: &FileSystem) {
        let outcome = self.format(entry, &Subject::plain(entry.name));
        assert!(outcome.succeeded, "{}: {}", entry.name, outcome.text);
    }

    /// `None` without a checker.
    fn check(&self, entry: &FileSystem) -> Option<CheckVerdict> {
        let outcome = run(&entry.check_command(self.device())?);
        let judge = |code| entry.judge_check(code, &outcome.text);
        // Some crash on damage.
        Some(outcome.exit_code.map_or(CheckVerdict::CouldNotRun, judge))
    }

    fn expect_clean(&self, entry: &FileSystem) {
        if let Some(verdict) = self.check(entry) {
            assert_eq!(verdict, CheckVerdict::Clean, "{}", entry.name);
        }
    }

    fn signature(&self) -> Option<&'static str> {
        let found = signature(&self.path).expect("the image is readable");
        found.map(|found| found.name)
    }

    /// Overwrites `length` bytes at `offset` with a pattern that no file system has.
    fn damage(&self, offset: u64, length: usize) {
        let file = File::options().write(true).open(&self.path);
        let noise: Vec<u8> = (0..length).map(|at| (at * 151 % 251) as u8 | 1).collect();
        file.and_then(|file| file.write_all_at(&noise, offset))
            .expect("writes");
    }
}

struct Outcome {
    succeeded: bool,
    exit_code: Option<i32>,
    text: String,
}

fn run(command: &CommandLine) -> Outcome {
    let search = SearchPath::from_environment();
    let program = command.tool.locate(&search).expect("installed");
    let output = Command::new(program)
        .args(&command.arguments)
        .current_dir("/")
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    Outcome {
        succeeded: output.status.success(),
        exit_code: output.status.code(),
        text: String::from_utf8_lossy(&both).into_owned(),
    }
}

/// As `fslab mkfs NAME --force DEVICE`, because the running program is this test, not fslab.
fn format_by_fslab(command: &CommandLine) -> Outcome {
    let words: Vec<&str> = command.arguments.iter().map(String::as_str).collect();
    let [_, name, "--force", device] = words.as_slice() else {
        panic!("no options are tried here: {:?}", command.arguments);
    };
    let options = FormatOptions {
        label: None,
        block_bytes: None,
        identity: *b"fslab's own test",
        created_unix_s: 1_700_000_000,
    };
    let formatter = fslab_format::find(name).expect("a formatter");
    let formatted = Volume::open(Path::new(device))
        .and_then(|volume| fslab_format::format(formatter, &volume, &options));
    Outcome {
        succeeded: formatted.is_ok(),
        exit_code: None,
        text: formatted.err().map_or(String::new(), |it| it.to_string()),
    }
}

fn has_tools(entry: &FileSystem) -> bool {
    let search = SearchPath::from_environment();
    let missing = entry
        .tools()
        .into_iter()
        .find(|tool| tool.locate(&search).is_err());
    if let Some(tool) = missing {
        println!(
            "skipped {}: {} is not installed; {}",
            entry.name,
            tool.program,
            tool.install_hint()
        );
    }
    missing.is_none()
}

/// Every entry with a mkfs whose tools are installed. Pools are left out: creating one mounts it,
/// and needs a daemon.
fn entries() -> impl Iterator<Item = &'static FileSystem> {
    all()
        .iter()
        .copied()
        .filter(|entry| !matches!(entry.driver, Driver::Pool(_)))
        .filter(|entry| entry.mkfs.is_some() && has_tools(entry))
}

#[test]
fn a_fresh_file_system_is_signed_with_its_name_and_clean() {
    for entry in entries() {
        let image = Image::of(Bytes::gib(1));
        assert_eq!(image.signature(), None, "{}", entry.name);
        image.make(entry);
        assert_eq!(image.signature(), entry.signature, "{}", entry.name);
        image.expect_clean(entry);
    }
}

#[test]
fn an_old_file_system_of_any_kind_is_formatted_over() {
    let image = Image::of(Bytes::gib(1));
    let present: Vec<_> = entries().collect();
    for entry in present.iter().chain(present.iter().rev()) {
        image.make(entry);
        // Not every mkfs erases signatures at lower offsets.
        assert!(image.signature().is_some(), "{}", entry.name);
        image.expect_clean(entry);
    }
}

#[test]
fn the_minimum_is_accepted_and_clean_and_a_sector_less_is_not() {
    for entry in entries() {
        let image = Image::of(entry.minimum.size);
        image.make(entry);
        assert_eq!(image.signature(), entry.signature, "{}", entry.name);
        image.expect_clean(entry);
        if !is_measured_version(entry) {
            continue;
        }
        let image = Image::of(Bytes(entry.minimum.size.0 - SECTOR_BYTES));
        let outcome = image.format(entry, &Subject::plain(entry.name));
        // Some succeed, and make less than requested, or damage.
        let is_less = ["too small", "WARNING"]
            .iter()
            .any(|&it| outcome.text.contains(it));
        let is_damaged = || {
            image
                .check(entry)
                .is_some_and(|it| it != CheckVerdict::Clean)
        };
        let is_whole = outcome.succeeded && !is_less && !is_damaged();
        assert!(!is_whole, "{}: {}", entry.name, outcome.text);
    }
}

/// The minimum applies to one version of mkfs: others may accept less.
fn is_measured_version(entry: &FileSystem) -> bool {
    let tool = entry.mkfs.expect("is formatted").tool;
    let program = tool.locate(&SearchPath::from_environment());
    let version = tool.ask_version(&program.expect("installed"));
    let version = version.expect("tells its version");
    let measured = entry.minimum.mkfs_version;
    let is_measured = version
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .any(|number| number == measured);
    if !is_measured {
        println!(
            "skipped {} below its minimum: measured with {measured}, and this is {version}",
            entry.name
        );
    }
    is_measured
}

#[test]
fn a_file_system_without_its_superblock_is_not_clean() {
    for entry in entries() {
        let image = Image::of(entry.minimum.size);
        let verdict = image.check(entry);
        assert_ne!(verdict, Some(CheckVerdict::Clean), "{}", entry.name);
    }
}

/// Where each checker must find damage: file system, offset and length in an image of 400 MiB.
const DAMAGE: [(&str, u64, usize); 10] = [
    // Group descriptors, bitmaps and inodes of the first group, but not the superblock.
    ("ext4", 10 << 10, 300 << 10),
    // The heads of the first allocation group, behind the superblock.
    ("xfs", 512, 3 << 9),
    // Both copies of the trees.
    ("btrfs", 1 << 20, 100 << 20),
    ("fat16", 8 << 10, 4096),
    ("fat32", 16 << 10, 4096),
    // The table of clusters, and the bitmap behind it.
    ("exfat", 1 << 20, 2 << 20),
    // The table of nodes.
    ("f2fs", 8 << 20, 6 << 20),
    // The tables of inodes.
    ("jfs", 64 << 10, 4096),
    ("ntfs3", 16 << 10, 4096),
    // The root of the tree.
    ("reiserfs-3.6", 8211 << 12, 4096),
];

#[test]
fn damage_to_metadata_is_found_by_every_checker() {
    for (name, offset, length) in DAMAGE {
        let entry = find(name).expect("an entry");
        if !has_tools(entry) {
            continue;
        }
        let image = Image::of(Bytes::mib(400));
        image.make(entry);
        image.damage(offset, length);
        assert_eq!(image.check(entry), Some(CheckVerdict::Errors), "{name}");
    }
}

#[test]
fn every_checker_has_a_row_of_damage() {
    let checker = |entry: &FileSystem| Some(entry.check?.tool.program);
    let damaged: Vec<_> = DAMAGE
        .iter()
        .filter_map(|(name, ..)| checker(find(name).expect("an entry")))
        .collect();
    let mut lacking: Vec<_> = all()
        .iter()
        .filter_map(|entry| checker(entry))
        .filter(|program| !damaged.contains(program))
        .collect();
    lacking.sort_unstable();
    lacking.dedup();
    // A scrub works on an imported pool, not on an image.
    assert_eq!(lacking, ["zpool"]);
}

#[test]
fn a_check_changes_nothing() {
    for entry in entries().filter(|entry| entry.check.is_some()) {
        let image = Image::of(entry.minimum.size);
        image.make(entry);
        let before = std::fs::read(&image.path).expect("readable");
        image.expect_clean(entry);
        let after = std::fs::read(&image.path).expect("readable");
        let changed = match before == after {
            true => 0,
            false => before.iter().zip(&after).filter(|(a, b)| a != b).count(),
        };
        // reiserfsck records the check in the superblock.
        let most = if entry.name.starts_with("reiserfs") {
            4
        } else {
            0
        };
        assert!(changed <= most, "{}: {changed} bytes", entry.name);
    }
}

#[test]
fn the_users_mkfs_arguments_have_the_last_word() {
    let ext4 = find("ext4").expect("an entry");
    if has_tools(ext4) {
        let image = Image::of(Bytes::mib(64));
        let subject = parse_subject("ext4:mkfs=-E stride=8 -O ^has_journal -L mine");
        let outcome = image.format(ext4, &subject.expect("accepted"));
        assert!(outcome.succeeded, "{}", outcome.text);
        let bytes = superblock(&image.path);
        assert_eq!(bytes[92] & 4, 0, "no journal");
        assert_eq!(bytes[120..124], *b"mine");
        assert_eq!(bytes[356..358], [8, 0], "the stride of the joined -E");
    }
    let xfs = find("xfs").expect("an entry");
    if has_tools(xfs) {
        let image = Image::of(xfs.minimum.size);
        let subject = parse_subject("xfs:mkfs=-m reflink=0 -L mine").expect("accepted");
        let outcome = image.format(xfs, &subject);
        assert!(outcome.text.contains("reflink=0"), "{}", outcome.text);
    }
}

/// The features of `entry` on the image.
fn features(entry: &FileSystem, image: &Image) -> Vec<String> {
    let table = entry.mkfs.and_then(|mkfs| mkfs.features).expect("a table");
    let mut device = File::open(&image.path).expect("opens");
    let features = table.read(&mut device).expect("reads");
    features.split(' ').map(str::to_owned).collect()
}

/// What a program of the file system's own package prints of an image.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let search = SearchPath::from_environment();
    let output = Command::new(search.find(program)?).args(arguments).output();
    let text = String::from_utf8_lossy(&output.expect("runs").stdout).into_owned();
    Some(text.to_lowercase())
}

#[test]
fn features_are_those_that_the_file_systems_tools_print() {
    for name in ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"] {
        let entry = find(name).expect("an entry");
        if !has_tools(entry) {
            continue;
        }
        let image = Image::of(Bytes::mib(512));
        image.make(entry);
        let device = image.device();
        let text = match name {
            "xfs" => printed("xfs_db", &["-r", "-c", "info", device]),
            "btrfs" => printed("btrfs", &["inspect-internal", "dump-super", device]),
            "f2fs" => printed("dump.f2fs", &["-d1", device]),
            _ => printed("dumpe2fs", &["-h", device]),
        };
        let text = text
            .expect("is in the package of its mkfs")
            .replace('_', "-");
        let found = features(entry, &image);
        assert!(found.len() > 1 || name == "f2fs", "{name}: {found:?}");
        for feature in &found {
            let feature = feature.replace('_', "-");
            let shown = match (name, feature.split_once('=')) {
                ("xfs", Some(("inode-size", value))) => format!("isize={value}"),
                ("xfs", _) => format!("{feature}=1"),
                ("btrfs", Some(("csum-type", "0"))) => "crc32c".to_owned(),
                ("btrfs", Some((_, value))) => value.to_owned(),
                ("btrfs", None) if feature == "extref" => "extended-iref".to_owned(),
                (_, Some((_, value))) => value.to_owned(),
                _ => feature,
            };
            assert!(text.contains(&shown), "{name}: {shown} is not in {text}");
        }
    }
}

#[test]
fn earlier_defaults_make_their_features_or_are_refused_by_name() {
    for name in ["ext4", "xfs", "btrfs"] {
        let entry = find(name).expect("an entry");
        let mkfs = entry.mkfs.expect("is formatted");
        if !has_tools(entry) {
            continue;
        }
        let program = mkfs.tool.locate(&SearchPath::from_environment());
        let version = mkfs.tool.ask_version(&program.expect("installed"));
        let version = version.expect("prints it");
        let mut made = 0;
        for set in mkfs.defaults.sets() {
            let image = Image::of(Bytes::mib(512));
            let subject = parse_subject(&format!("{name}:mkfs=@{}", set.since));
            let place = MountPlace {
                device: image.device(),
                others: &[],
                mount_point: "/mnt",
                size: None,
            };
            let subject = subject.expect("accepted");
            let command = entry.mkfs_command_for(&place, &subject, Some(&version));
            let outcome = run(&command.expect("accepted").expect("is formatted"));
            if !outcome.succeeded {
                // A newer set than this mkfs.
                let is_named = set.options.iter().any(|option| {
                    let word = option.value.trim_end_matches("=1");
                    outcome.text.contains(word)
                });
                assert!(is_named, "{name} {}: {}", set.since, outcome.text);
                continue;
            }
            made += 1;
            image.expect_clean(entry);
            let found = features(entry, &image);
            for option in set.options {
                let (word, is_on) = match option.value.strip_prefix('^') {
                    Some(word) => (word, false),
                    None => match option.value.rsplit_once('=') {
                        Some((word, value)) => (word, value == "1"),
                        None => (option.value, true),
                    },
                };
                let has = found.iter().any(|it| it == word);
                assert_eq!(has, is_on, "{name} {}: {word} in {found:?}", set.since);
            }
        }
        assert!(made > 1, "{name}: {made} sets");
    }
}

fn superblock(image: &Path) -> [u8; 1024] {
    let mut bytes = [0; 1024];
    let file = File::open(image).expect("opens");
    file.read_exact_at(&mut bytes, 1024).expect("reads");
    bytes
}

#[test]
fn every_tool_gives_its_version() {
    for entry in all().iter().filter(|entry| has_tools(entry)) {
        for tool in entry.tools() {
            let program = tool.locate(&SearchPath::from_environment());
            let version = tool.ask_version(&program.expect("installed"));
            let version = version.expect("tells its version");
            assert!(
                version.contains(|c: char| c.is_ascii_digit()),
                "{}: {version}",
                tool.program
            );
        }
    }
}
