//! Cold phases on a medium that is memory: they are skipped, or the report says that they are not
//! cold.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Desk, can_mount, is_root, skip};

/// A directory on tmpfs that is removed at the end.
struct InMemory(PathBuf);

impl InMemory {
    fn new(test: &str) -> Option<Self> {
        let shared = Path::new("/dev/shm");
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        if !mounts.lines().any(|line| line.contains(" /dev/shm tmpfs ")) {
            skip(test, "/dev/shm is no tmpfs");
            return None;
        }
        let path = shared.join(format!("fslab-memory-{}-{test}", std::process::id()));
        fs::create_dir(&path).expect("made");
        Some(Self(path))
    }

    fn text(&self) -> &str {
        self.0.to_str().expect("text")
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Phase `name` of the first trial.
fn phase<'a>(run: &'a Value, name: &str) -> &'a Value {
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    let found = phases.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no phase {name}"))
}

/// As root, "read, cold: 3.43 GB/s": dropping caches leaves the files of tmpfs where they are.
#[test]
fn in_a_directory_on_tmpfs_no_phase_is_cold_for_root_either() {
    let Some(memory) = InMemory::new("directory") else {
        return;
    };
    if !is_root() {
        skip("cold phases on tmpfs", "only root drops caches");
        return;
    }
    let desk = Desk::new();
    let words = [
        "compare",
        "--dir",
        memory.text(),
        "--study",
        "./small.toml",
        "--repeats",
        "1",
    ];
    let ended = desk.run(&words);
    ended.expect_code(0);
    let run = desk.last_run();
    for name in ["read", "random-read", "strided-read", "list"] {
        let phase = phase(&run, name);
        assert_eq!(phase["outcome"], "skipped", "{phase}");
        assert!(phase.to_string().contains("in memory"), "{phase}");
    }
    assert_eq!(phase(&run, "reread")["outcome"], "done");
    assert_eq!(
        run["trials"][0]["facts"]["medium.memory"],
        "tmpfs at /dev/shm"
    );
    assert!(!ended.out.contains("are not cold"), "{}", ended.out);
}

fn expect_label(desk: &Desk, memory: &InMemory, venue: &str) {
    let words = [
        "compare",
        "ext4",
        "--venue",
        venue,
        "--study",
        "./small.toml",
        "--repeats",
        "1",
    ];
    let ended = desk.run(&[&words[..], &["--images", memory.text()]].concat());
    ended.expect_code(0);
    let run = desk.last_run();
    let read = phase(&run, "read");
    assert_eq!(read["outcome"], "done", "{read}");
    assert!(read["notes"].to_string().contains("not cold"), "{read}");
    let said = "The medium is memory, not a disk: tmpfs at /dev/shm.";
    assert!(ended.out.contains(said), "{venue}: {}", ended.out);
    assert!(!phase(&run, "reread").to_string().contains("not cold"));
}

/// An image on tmpfs was read "cold" at the speed of memory, and nothing said so.
#[test]
fn images_in_memory_are_named_in_loop_and_guest_and_count_for_nothing_in_virtual_time() {
    let Some(memory) = InMemory::new("images") else {
        return;
    };
    if let Some(_turn) = can_mount("an image in memory", &["mkfs.ext4"]) {
        expect_label(&Desk::new(), &memory, "loop");
    }
    if let Some(desk) = Desk::new().with_lab("an image in memory") {
        expect_label(&desk, &memory, "guest");
        let words = [
            "compare",
            "ext4",
            "--venue",
            "sim",
            "--study",
            "./small.toml",
            "--repeats",
            "1",
        ];
        let ended = desk.run(&[&words[..], &["--images", memory.text()]].concat());
        ended.expect_code(0);
        assert!(!ended.out.contains("The medium is memory"), "{}", ended.out);
        let facts = &desk.last_run()["trials"][0]["facts"];
        assert!(facts.get("medium.memory").is_none(), "{facts}");
    }
    // On the disk of the desk nothing is said.
    if let Some(_turn) = can_mount("an image on a disk", &["mkfs.ext4"]) {
        let desk = Desk::new();
        let words = [
            "compare",
            "ext4",
            "--venue",
            "loop",
            "--study",
            "./small.toml",
            "--repeats",
            "1",
        ];
        desk.run(&[&words[..], &["--images", "images"]].concat())
            .expect_code(0);
        let run = desk.last_run();
        let on_disk = run["trials"][0]["facts"].get("medium.memory").is_none();
        assert_eq!(
            on_disk,
            !is_in_memory("/var/tmp"),
            "{}",
            run["trials"][0]["facts"]
        );
    }
}

/// True if the mount of `path` is tmpfs.
fn is_in_memory(path: &str) -> bool {
    let found = std::process::Command::new("stat")
        .args(["-f", "-c", "%T", path])
        .output();
    String::from_utf8_lossy(&found.expect("stat starts").stdout).trim() == "tmpfs"
}
