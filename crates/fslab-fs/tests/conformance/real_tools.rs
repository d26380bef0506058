//! Every entry against its own tools, on sparse images: no privileges and no mount are needed.
//!
//! A file system whose programs are not installed is skipped with a line that names the program.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fslab_fs::{
    CheckVerdict, CommandLine, FileSystem, SearchPath, all, find, parse_subject, signature,
};
use fslab_model::{Bytes, Subject};
use tempfile::TempDir;

/// Below a minimum, the next size that could be a device's.
const SECTOR_BYTES: u64 = 512;

struct Image {
    path: PathBuf,
    _folder: TempDir,
}

impl Image {
    fn of(size: Bytes) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
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

    fn format(&self, entry: &FileSystem, subject: &Subject) -> Output {
        let command = entry.mkfs_command(self.device(), subject);
        run(&command.expect("accepted").expect("is formatted"))
    }

    fn check(&self, entry: &FileSystem) -> CheckVerdict {
        let output = run(&entry.check_command(self.device()).expect("a checker"));
        entry.judge_check(output.status.code().expect("exits by itself"))
    }

    fn signature(&self) -> Option<&'static str> {
        let found = signature(&self.path).expect("the image is readable");
        found.map(|found| found.name)
    }
}

fn run(command: &CommandLine) -> Output {
    let search = SearchPath::from_environment();
    let program = command.tool.locate(&search).expect("installed");
    Command::new(program)
        .args(&command.arguments)
        .current_dir("/")
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .expect("runs")
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

/// Every entry that is formatted and whose tools are here.
fn entries() -> impl Iterator<Item = &'static FileSystem> {
    all()
        .iter()
        .copied()
        .filter(|entry| entry.mkfs.is_some() && has_tools(entry))
}

fn text(output: &Output) -> String {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[test]
fn a_fresh_file_system_is_signed_with_its_name_and_clean() {
    for entry in entries() {
        let image = Image::of(Bytes::gib(1));
        assert_eq!(image.signature(), None, "{}", entry.name);
        let output = image.format(entry, &Subject::plain(entry.name));
        assert!(output.status.success(), "{}: {}", entry.name, text(&output));
        assert_eq!(image.signature(), Some(entry.name));
        assert_eq!(image.check(entry), CheckVerdict::Clean, "{}", entry.name);
    }
}

#[test]
fn an_old_file_system_of_any_kind_is_formatted_over() {
    let image = Image::of(Bytes::gib(1));
    let present: Vec<_> = entries().collect();
    for entry in present.iter().chain(present.iter().rev()) {
        let output = image.format(entry, &Subject::plain(entry.name));
        assert!(output.status.success(), "{}: {}", entry.name, text(&output));
        assert_eq!(image.signature(), Some(entry.name));
    }
}

#[test]
fn the_minimum_is_accepted_and_whole_and_a_sector_less_is_not() {
    for entry in entries() {
        let subject = Subject::plain(entry.name);
        let image = Image::of(entry.minimum.size);
        let output = image.format(entry, &subject);
        assert!(output.status.success(), "{}: {}", entry.name, text(&output));
        assert_eq!(image.signature(), Some(entry.name));
        assert_eq!(image.check(entry), CheckVerdict::Clean, "{}", entry.name);
        if !is_measured_version(entry) {
            continue;
        }
        let image = Image::of(Bytes(entry.minimum.size.0 - SECTOR_BYTES));
        let output = image.format(entry, &subject);
        // Of ext3 and ext4, mke2fs leaves out the journal and is content.
        let is_whole = output.status.success() && !text(&output).contains("too small");
        assert!(!is_whole, "{}: {}", entry.name, text(&output));
    }
}

/// The minimum is a fact about one version of mkfs: others may take less.
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
        assert_ne!(verdict, CheckVerdict::Clean, "{}", entry.name);
    }
}

#[test]
fn damage_to_ext_metadata_is_found() {
    let entry = find("ext4").expect("an entry");
    if !has_tools(entry) {
        return;
    }
    let image = Image::of(Bytes::mib(64));
    assert!(
        image
            .format(entry, &Subject::plain("ext4"))
            .status
            .success()
    );
    let file = File::options()
        .write(true)
        .open(&image.path)
        .expect("opens");
    // Group descriptors, bitmaps and inodes of the first block group, but not the superblock.
    std::os::unix::fs::FileExt::write_all_at(&file, &[0xa5; 300 << 10], 10 << 10).expect("writes");
    assert_eq!(image.check(entry), CheckVerdict::Errors);
}

#[test]
fn the_users_mkfs_arguments_have_the_last_word() {
    let ext4 = find("ext4").expect("an entry");
    if has_tools(ext4) {
        let image = Image::of(Bytes::mib(64));
        let subject = parse_subject("ext4:mkfs=-E stride=8 -O ^has_journal -L mine");
        let output = image.format(ext4, &subject.expect("accepted"));
        assert!(output.status.success(), "{}", text(&output));
        let bytes = superblock(&image.path);
        assert_eq!(bytes[92] & 4, 0, "no journal");
        assert_eq!(bytes[120..124], *b"mine");
        assert_eq!(bytes[356..358], [8, 0], "the stride of the joined -E");
    }
    let xfs = find("xfs").expect("an entry");
    if has_tools(xfs) {
        let image = Image::of(xfs.minimum.size);
        let subject = parse_subject("xfs:mkfs=-m reflink=0 -L mine").expect("accepted");
        let output = image.format(xfs, &subject);
        assert!(text(&output).contains("reflink=0"), "{}", text(&output));
    }
}

fn superblock(image: &Path) -> [u8; 1024] {
    let mut bytes = [0; 1024];
    let file = File::open(image).expect("opens");
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, 1024).expect("reads");
    bytes
}

#[test]
fn every_tool_tells_its_version() {
    for entry in entries() {
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
