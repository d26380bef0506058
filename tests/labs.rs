//! Labs as a user handles them: built, listed, sent to another machine and taken from there. No
//! guest is booted here, and no kernel compiled.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::Desk;

/// The default lab of the user who runs the tests, in a file.
fn exported(test: &str) -> Option<(Desk, PathBuf)> {
    let desk = Desk::new().with_lab(test)?;
    let file = desk.path("lab.tar");
    let ended = desk.run(&["lab", "export", "lab.tar"]);
    ended.expect_code(0);
    assert!(ended.out.contains("lab.tar"), "{}", ended.out);
    Some((desk, file))
}

fn status(desk: &Desk) -> Value {
    let ended = desk.run(&["lab", "status", "--json"]);
    ended.expect_code(0);
    serde_json::from_str(&ended.out).expect("JSON")
}

#[test]
fn a_lab_that_was_sent_is_the_same_lab_elsewhere() {
    let Some((desk, file)) = exported("labs, sent") else {
        return;
    };
    let elsewhere = Desk::new();
    fs::copy(&file, elsewhere.path("lab.tar")).expect("copied");
    let ended = elsewhere.run(&["lab", "import", "lab.tar", "--name", "theirs"]);
    ended.expect_code(0);
    assert!(
        ended.err.contains("a lab contains programs"),
        "{}",
        ended.err
    );
    let (ours, theirs) = (&status(&desk)["labs"][0], &status(&elsewhere)["labs"][0]);
    assert_eq!(theirs["name"], "theirs");
    for part in ["digest", "root", "stale"] {
        assert_eq!(ours[part], theirs[part], "{part}");
    }
    assert_eq!(ours["kernel"]["key"], theirs["kernel"]["key"]);
    let digest = ours["digest"].as_str().expect("a digest");
    let ended = elsewhere.run(&["lab", "export", "again.tar", "--name", digest]);
    ended.expect_code(0);
    let again = fs::read(elsewhere.path("again.tar")).expect("read");
    assert!(again == fs::read(&file).expect("read"), "the same bytes");
}

#[test]
fn a_lab_that_was_tampered_with_is_refused_and_leaves_nothing() {
    let Some((_desk, file)) = exported("labs, tampered with") else {
        return;
    };
    let elsewhere = Desk::new();
    let mut bytes = fs::read(&file).expect("read");
    // Within the root image, which is the last file.
    let at = bytes.len() - 100_000;
    bytes[at] ^= 1;
    fs::write(elsewhere.path("lab.tar"), &bytes).expect("written");
    let ended = elsewhere.run(&["lab", "import", "lab.tar"]);
    ended.expect_code(2);
    ended.expect_error("do not match the lab's digest", "lab export");
    let mut file = fs::File::create(elsewhere.path("lab.tar")).expect("made");
    file.write_all(&bytes[..bytes.len() / 2]).expect("written");
    let ended = elsewhere.run(&["lab", "import", "lab.tar"]);
    ended.expect_code(2);
    ended.expect_error("cut off", "lab export");
    assert_eq!(status(&elsewhere)["labs"].as_array().map(Vec::len), Some(0));
    let roots = fs::read_dir(elsewhere.path("home/.cache/fslab/roots")).expect("listed");
    assert_eq!(roots.count(), 0);
}

/// A flipped bit of the kernel or the root image gave other figures, or was a failure of the
/// subject.
#[test]
fn a_lab_that_is_damaged_in_the_cache_is_not_used() {
    let Some(desk) = Desk::new().with_lab("a damaged lab") else {
        return;
    };
    let words = [
        "compare",
        "ext4",
        "--venue",
        "sim",
        "--study",
        "./small.toml",
    ];
    let words = [&words[..], &["--repeats", "1", "--images", "images"]].concat();
    let cache = desk.path("home/.cache/fslab");
    let parts = [("labs", "linux"), ("roots", "root.img")];
    for (folder, name) in parts {
        let file = find_file(&cache.join(folder), name);
        let sound = fs::read(&file).expect("read");
        let mut damaged = sound.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        fs::write(&file, &damaged).expect("damaged");
        let ended = desk.run(&words);
        ended.expect_code(4);
        ended.expect_error("do not match its digest", "lab build");
        desk.run(&["lab", "check"]).expect_code(4);
        desk.expect_nothing_left();
        fs::write(&file, &sound).expect("mended");
        desk.run(&["lab", "check"]).expect_code(0);
    }
    assert!(
        desk.run(&["list", "--json"]).out.contains("[]"),
        "nothing was stored"
    );
}

/// The file `name` below `folder`.
fn find_file(folder: &Path, name: &str) -> PathBuf {
    let entries = fs::read_dir(folder).expect("listed");
    let mut paths = entries.map(|it| it.expect("an entry").path());
    let found = paths.find_map(|path| match path.is_dir() {
        true => Some(find_file(&path, name)).filter(|it| it.exists()),
        false => path.ends_with(name).then_some(path),
    });
    found.unwrap_or_else(|| folder.join("missing"))
}

/// A file system of the catalogue whose tools a root image lacked could never run in a guest.
#[test]
fn the_list_of_the_root_image_has_every_program_of_the_catalogue() {
    let listed: BTreeSet<_> = fslab_lab::listed_programs().collect();
    for file_system in fslab_fs::all() {
        for tool in file_system.tools() {
            let is_listed = listed.contains(&(tool.program, tool.package));
            let name = (file_system.name, tool.program, tool.package);
            assert!(tool == fslab_fs::Tool::FSLAB || is_listed, "{name:?}");
        }
    }
    assert!(
        listed
            .iter()
            .all(|(name, _)| !Path::new(name).is_absolute())
    );
}
