//! Checks images with the kernel and erofs-utils. Each test prints the steps that this machine does
//! not support.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_lab::{FileSource, Image, Node, Tree};

fn file(content: impl Into<Vec<u8>>) -> Node {
    Node::File {
        source: FileSource::Bytes(content.into()),
        mode: 0o644,
    }
}

fn link(target: &str) -> Node {
    Node::Link {
        target: target.into(),
    }
}

fn tree(nodes: impl IntoIterator<Item = (String, Node)>) -> Tree {
    let mut tree = Tree::new();
    for (path, node) in nodes {
        tree.add(Path::new(&path), node).expect("added");
    }
    tree
}

fn write(tree: &Tree, path: &Path) -> Image {
    let image = tree
        .write(&mut File::create(path).expect("made"), path)
        .expect("written");
    assert_eq!(fs::metadata(path).expect("there").len(), image.bytes);
    image
}

fn succeeds(program: &str, arguments: &[&Path]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&said).into_owned())
}

/// Runs fsck.erofs if it is installed.
fn check(path: &Path) {
    if Command::new("fsck.erofs").arg("-V").output().is_err() {
        eprintln!("not checked: fsck.erofs of erofs-utils is missing");
        return;
    }
    if let Err(said) = succeeds("fsck.erofs", &[path]) {
        panic!("fsck.erofs: {said}");
    }
}

/// A mounted image.
struct Mounted(PathBuf);

impl Mounted {
    /// `None` if this machine cannot mount it.
    fn at(image: &Path, place: PathBuf) -> Option<Self> {
        fs::create_dir(&place).expect("made");
        let options = ["-t", "erofs", "-o", "loop,ro"].map(Path::new);
        match succeeds("mount", &[&options[..], &[image, &place]].concat()) {
            Ok(()) => Some(Self(place)),
            Err(said) if fslab_sys::is_superuser() && knows_erofs() && has_loop() => {
                panic!("mount: {said}")
            }
            Err(said) => {
                eprintln!("not mounted, which takes root, EROFS and loop devices: {said}");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = succeeds("umount", &[&self.0]);
    }
}

fn knows_erofs() -> bool {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    known.lines().any(|line| line.ends_with("\terofs"))
}

fn has_loop() -> bool {
    Path::new("/dev/loop-control").exists()
}

/// The contents of a directory of this machine, in the form of a tree.
fn seen(top: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("listed") {
            let path = entry.expect("an entry").path();
            let about = path.symlink_metadata().expect("its facts");
            assert_eq!((about.uid(), about.gid()), (0, 0));
            assert_eq!(about.mtime(), 1_735_689_600);
            let content = if about.is_symlink() {
                fs::read_link(&path)
                    .expect("read")
                    .as_os_str()
                    .as_bytes()
                    .to_vec()
            } else if about.is_file() {
                fs::read(&path).expect("read")
            } else {
                Vec::new()
            };
            let below = Path::new("/").join(path.strip_prefix(top).expect("below"));
            found.insert(below, (about.mode(), content));
            if about.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

fn meant(tree: &Tree) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let entries = tree.entries().into_iter().map(|(path, node)| {
        let (mode, content) = match node {
            Node::Folder { mode, .. } => (0o040_000 | mode, Vec::new()),
            Node::File { source, mode } => match source {
                FileSource::Bytes(bytes) => (0o100_000 | mode, bytes.clone()),
                FileSource::Host(host) => (0o100_000 | mode, fs::read(host).expect("read")),
                FileSource::Appended(bytes) => (0o100_000 | mode, vec![0; *bytes as usize]),
            },
            Node::Link { target } => (0o120_777, target.as_os_str().as_bytes().to_vec()),
            Node::Device { mode, .. } => (0o020_000 | mode, Vec::new()),
        };
        (path, (u32::from(mode), content))
    });
    entries.collect()
}

/// Directories of lengths around a block, names that sort around a dot, links, and files around a
/// block.
fn odd_cases() -> Tree {
    let mut nodes = vec![
        ("/empty".to_owned(), file("")),
        ("/none".to_owned(), Node::folder(0o700)),
        (
            "/dev/null".to_owned(),
            Node::Device {
                mode: 0o666,
                major: 1,
                minor: 3,
            },
        ),
        ("/names/!".to_owned(), file("before the dots")),
        ("/names/-x".to_owned(), file("before the dots")),
        ("/names/...".to_owned(), file("behind the dots")),
        ("/names/\u{e4}\u{1f9ea}".to_owned(), file("not ASCII")),
        (format!("/names/{}", "n".repeat(255)), file("the longest")),
    ];
    for bytes in [1, 31, 2047, 2048, 2049, 4063, 4064, 4065, 4095] {
        nodes.push((format!("/links/{bytes}"), link(&"t".repeat(bytes))));
    }
    for bytes in [1, 4095, 4096, 4097, 8192, 1_000_000] {
        let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        nodes.push((format!("/files/{bytes}"), file(content)));
    }
    for names in [
        1, 50, 90, 91, 92, 140, 141, 142, 143, 144, 145, 180, 181, 182, 183, 700,
    ] {
        nodes.extend((0..names).map(|at| (format!("/folders/{names}/name-of-{at:07}"), file(""))));
    }
    tree(nodes)
}

#[test]
fn the_kernel_reads_what_was_written() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("odd.img");
    let tree = odd_cases();
    let image = write(&tree, &path);
    assert_eq!(image.bytes % 4096, 0);
    check(&path);
    let Some(mounted) = Mounted::at(&path, place.path().join("mounted")) else {
        return;
    };
    assert_eq!(seen(&mounted.0), meant(&tree));
    // The kernel does a binary search: every name is found, and no other.
    for (path, _) in tree.entries() {
        let found = mounted.0.join(path.strip_prefix("/").expect("absolute"));
        assert!(found.symlink_metadata().is_ok(), "{}", found.display());
        assert!(!found.with_extension("zz").exists());
    }
    let null = mounted.0.join("dev/null").metadata().expect("there");
    assert_eq!(null.rdev(), 0x103);
    let names = |path: &str| mounted.0.join(path).metadata().expect("there").nlink();
    assert_eq!((names("none"), names("folders")), (2, 18));
}

#[test]
fn more_files_than_16_bits_count_are_found() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("many.img");
    let files = (0..70_000).map(|at| (format!("/{}/{at}", at % 3), file(at.to_string())));
    let tree = tree(files.chain((0..66_000).map(|at| (format!("/f/{at}"), Node::folder(0o755)))));
    write(&tree, &path);
    check(&path);
    let Some(mounted) = Mounted::at(&path, place.path().join("mounted")) else {
        return;
    };
    for at in (0..70_000).step_by(97) {
        let found = mounted.0.join(format!("{}/{at}", at % 3));
        assert_eq!(fs::read_to_string(found).expect("read"), at.to_string());
    }
    let listed = |path: &str| fs::read_dir(mounted.0.join(path)).expect("listed").count();
    assert_eq!(listed("0") + listed("1") + listed("2"), 70_000);
    assert_eq!(listed("f"), 66_000);
}

#[test]
fn a_tree_gives_the_same_bytes_for_any_order_and_file_times() {
    let place = tempfile::tempdir().expect("a directory");
    let host = |name: &str| {
        let path = place.path().join(name);
        fs::write(&path, "content").expect("written");
        Node::File {
            source: FileSource::Host(path),
            mode: 0o755,
        }
    };
    let (first, second) = (place.path().join("1.img"), place.path().join("2.img"));
    let paths = ["/b/2", "/a", "/b/1", "/c"].map(str::to_owned);
    let forward = tree(paths.clone().map(|path| (path, host("one"))));
    let mut reversed = paths;
    reversed.reverse();
    let backward = tree(reversed.map(|path| (path, host("other"))));
    let image = write(&forward, &first);
    assert_eq!(image, write(&backward, &second));
    assert_eq!(
        fs::read(&first).expect("read"),
        fs::read(&second).expect("read")
    );
    let paths: Vec<_> = image.files.iter().map(|file| file.path.clone()).collect();
    assert_eq!(paths, ["/a", "/b/1", "/b/2", "/c"].map(PathBuf::from));
    // sha256sum of the seven letters.
    let sha256 = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    assert!(
        image
            .files
            .iter()
            .all(|file| file.sha256 == sha256 && file.bytes == 7)
    );
}

#[test]
fn an_appended_file_is_read_from_behind_the_image() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("root.img");
    let mut nodes = vec![("/z".to_owned(), file("the last"))];
    let appended = |bytes| Node::File {
        source: FileSource::Appended(bytes),
        mode: 0o755,
    };
    nodes.push(("/fslab/fslab".to_owned(), appended(8192)));
    let mut tree = tree(nodes);
    let image = write(&tree, &path);
    assert!(
        image
            .files
            .iter()
            .all(|file| file.path != Path::new("/fslab/fslab"))
    );
    let mut whole = fs::read(&path).expect("read");
    assert_eq!(whole.len() as u64, image.bytes);
    whole.extend([b'p'; 8192]);
    fs::write(&path, whole).expect("written");
    check(&path);
    if let Some(mounted) = Mounted::at(&path, place.path().join("mounted")) {
        let program = fs::read(mounted.0.join("fslab/fslab")).expect("read");
        assert_eq!(program, [b'p'; 8192]);
        assert_eq!(fs::read(mounted.0.join("z")).expect("read"), b"the last");
    }
    tree.add(Path::new("/second"), appended(1)).expect("added");
    let refused = tree.write(&mut File::create(&path).expect("made"), &path);
    let refused = refused.expect_err("refused").to_string();
    assert!(refused.contains("into an image: "), "{refused}");
}

#[test]
fn what_is_no_regular_file_or_is_missing_is_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("root.img");
    for host in [place.path().to_owned(), place.path().join("missing")] {
        let source = FileSource::Host(host);
        let mut tree = Tree::new();
        let node = Node::File {
            source,
            mode: 0o644,
        };
        tree.add(Path::new("/a"), node).expect("added");
        assert!(
            tree.write(&mut File::create(&path).expect("made"), &path)
                .is_err()
        );
    }
}
