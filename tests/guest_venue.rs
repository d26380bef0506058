//! The venue guest: trials in a guest kernel, by a user without privileges.
//!
//! Where no guest kernel is built, these tests say that they did not run, and fail where they must.

use std::io::Seek;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::harness::{Desk, SMALL_STUDY, can_mount};

const GUEST: [&str; 8] = [
    "--venue",
    "guest",
    "--images",
    "images",
    "--out",
    "out",
    "--repeats",
    "1",
];

/// `fslab compare SUBJECTS ... --venue guest`, and what the run left.
fn compare(desk: &Desk, words: &[&str]) -> (Option<i32>, serde_json::Value) {
    let ended = desk.run(&[&["compare"], words, &GUEST].concat());
    assert!(ended.code != Some(2), "{}", ended.err);
    desk.expect_nothing_left();
    (ended.code, desk.last_run())
}

fn failure(run: &serde_json::Value, trial: usize) -> String {
    run["trials"][trial]["failure"].to_string()
}

#[test]
fn a_user_without_privileges_compares_in_a_guest_what_this_kernel_may_not_even_have() {
    let Some(desk) = Desk::new().with_lab("guest, unprivileged") else {
        return;
    };
    let desk = desk.unprivileged();
    let (code, run) = compare(&desk, &["ext4", "jfs", "--study", SMALL_STUDY]);
    assert_eq!(code, Some(0), "{run}");
    let trials = run["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 2);
    for trial in trials {
        assert_eq!(trial["facts"]["device"], "ubda");
        let phases = trial["phases"].as_array().expect("phases");
        assert!(
            phases.iter().all(|phase| phase["outcome"] == "done"),
            "{trial}"
        );
        let write = &phases[0];
        assert!(write["device"]["write_bytes"].as_u64() > Some(0), "{write}");
        // What a guest keeps of the kernel's messages: none of them is a complaint.
        let console = trial["console"].as_str().expect("text");
        assert!(!console.contains("Call Trace"), "{console}");
    }
}

/// A cold read that is served by the host's page cache would be as fast as memory, and would be
/// reported as a figure of the disk.
#[test]
fn a_cold_phase_reads_what_the_host_has_forgotten() {
    let Some(desk) = Desk::new().with_lab("guest, cold") else {
        return;
    };
    let (code, run) = compare(&desk, &["ext2", "--study", SMALL_STUDY]);
    assert_eq!(code, Some(0), "{run}");
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    let cold: Vec<_> = phases
        .iter()
        .filter(|phase| phase["cache"] == "cold")
        .collect();
    assert!(!cold.is_empty());
    for phase in cold {
        assert!(phase["device"]["read_bytes"].as_u64() > Some(0), "{phase}");
    }
}

#[test]
fn a_guest_that_runs_out_of_memory_is_a_failed_trial_in_the_kernels_words_and_the_next_runs() {
    let Some(desk) = Desk::new().with_lab("guest, memory") else {
        return;
    };
    // tmpfs takes more than the guest has.
    let study = desk.path("fill.toml");
    let text = r#"
format = 1
name = "fill"
title = "More than there is"
size = "512MiB"
repeats = 1
trial_limit_s = 100
[[phase]]
name = "write"
workload = "write"
file_size = "400MiB"
"#;
    std::fs::write(&study, text).expect("a study");
    let study = study.to_str().expect("text");
    let words = [
        "tmpfs", "ext2", "--study", study, "--memory", "192MiB", "--seed", "3",
    ];
    let (code, run) = compare(&desk, &words);
    assert_eq!(code, Some(3), "{run}");
    for trial in 0..2 {
        match run["trials"][trial]["subject"].as_str() {
            Some("tmpfs") => {
                let said = failure(&run, trial);
                assert!(said.contains("the kernel says: Out of memory"), "{said}");
            }
            _ => assert_eq!(run["trials"][trial]["outcome"], "done", "{run}"),
        }
    }
}

#[test]
fn a_guest_over_its_limit_is_ended_and_said_to_be() {
    let Some(desk) = Desk::new().with_lab("guest, limit") else {
        return;
    };
    let began = Instant::now();
    let (code, run) = compare(&desk, &["ext4", "--trial-limit", "1", "--size", "4GiB"]);
    assert_eq!(code, Some(3));
    assert!(
        failure(&run, 0).contains("exceeded its limit of 1 s"),
        "{run}"
    );
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_conductor_that_is_killed_takes_its_guest_with_it_and_the_next_run_removes_the_disk() {
    let Some(desk) = Desk::new().with_lab("guest, killed") else {
        return;
    };
    let words = [&["compare", "ext4", "--size", "4GiB"][..], &GUEST].concat();
    let mut run = desk.start(&words);
    let images = desk.path("images");
    let has_guest = || {
        let folders = std::fs::read_dir(&images).expect("images").flatten();
        folders
            .into_iter()
            .any(|folder| folder.path().join("uml/guest/pid").exists())
    };
    let began = Instant::now();
    while !has_guest() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "no guest came up"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!processes_in(&images).is_empty());
    run.kill().expect("killed");
    run.wait().expect("reaped");
    desk.run(&["clean"]).expect_code(0);
    desk.expect_nothing_left();
    assert_eq!(processes_in(&images), Vec::<PathBuf>::new());
}

/// A guest waits for a helper that is gone for ever, and so did the run, until the limit.
#[test]
fn a_guest_whose_helper_is_killed_is_given_up_long_before_its_limit() {
    let Some(desk) = Desk::new().with_lab("guest, helper") else {
        return;
    };
    let study = "format = 1\nname = 'long'\ntitle = 'l'\nsize = '256MiB'\nrepeats = 1\n\
                 trial_limit_s = 300\n[[phase]]\nname = 'forever'\nworkload = 'io'\n\
                 file_size = '1MiB'\namount = { time-ns = 250_000_000_000 }\n";
    std::fs::write(desk.path("long.toml"), study).expect("a study");
    let words = [&["compare", "ext4", "--study", "./long.toml"][..], &GUEST].concat();
    let run = desk.start(&words);
    let images = desk.path("images");
    let began = Instant::now();
    // Once the trial writes events, the guest is up with its helpers.
    let guest: i32 = loop {
        let folders = std::fs::read_dir(&images).expect("images").flatten();
        let pid = folders.into_iter().find_map(|folder| {
            let events = std::fs::read_to_string(folder.path().join("share/events")).ok()?;
            let is_up = events.contains("forever");
            let pid = std::fs::read_to_string(folder.path().join("uml/guest/pid")).ok()?;
            is_up.then(|| pid.trim().parse().ok()).flatten()
        });
        if let Some(pid) = pid {
            break pid;
        }
        assert!(
            began.elapsed() < Duration::from_secs(100),
            "no guest came up"
        );
        std::thread::sleep(Duration::from_millis(20));
    };
    let parent = |pid: i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()
    };
    let numbers = std::fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mut helpers: Vec<i32> = numbers.filter(|pid| parent(*pid) == Some(guest)).collect();
    helpers.sort_unstable();
    let first = helpers
        .first()
        .and_then(|pid| rustix::process::Pid::from_raw(*pid));
    let first = first.expect("a guest has helpers");
    rustix::process::kill_process(first, rustix::process::Signal::KILL).expect("it is there");
    let killed = Instant::now();
    let ended = run.wait_with_output().expect("it ends");
    assert!(killed.elapsed() < Duration::from_secs(60));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("guest kernel"), "{said}");
    // Another program did it: no result of the subject.
    assert_eq!(desk.last_run()["trials"].as_array().map(Vec::len), Some(0));
    desk.expect_nothing_left();
}

/// A tmpfs for the images, which is unmounted at the end.
pub(crate) struct ImagesInMemory(pub(crate) PathBuf);

impl ImagesInMemory {
    pub(crate) fn mount(folder: PathBuf, room: &str) -> Self {
        std::fs::create_dir_all(&folder).expect("a directory");
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={room}"), "tmpfs"]);
        assert!(mount.arg(&folder).status().expect("starts").success());
        Self(folder)
    }

    /// Writes a file until there is no room.
    pub(crate) fn fill(&self) {
        /// Left for what the guest takes meanwhile: 128 MiB.
        const ROOM_BLOCKS: u64 = 32 << 10;
        let mut file = std::fs::File::create(self.0.join("fill")).expect("a file");
        // Nearly all that is free, at once: writing it may take longer than the guest waits.
        let free = rustix::fs::statvfs(&self.0).expect("the file system");
        let bytes = free.f_bavail.saturating_sub(ROOM_BLOCKS) * free.f_frsize;
        let flags = rustix::fs::FallocateFlags::empty();
        rustix::fs::fallocate(&file, flags, 0, bytes).expect("is allocated");
        file.seek(std::io::SeekFrom::End(0)).expect("its end");
        let error = std::io::copy(&mut std::io::repeat(1), &mut file).expect_err("is full");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }
}

impl Drop for ImagesInMemory {
    fn drop(&mut self) {
        let mut unmount = std::process::Command::new("umount");
        let _ = unmount.arg("--lazy").arg(&self.0).status();
    }
}

/// A full disk of the host had been stored as a failure of the file system.
#[test]
fn a_trial_that_the_host_ends_is_not_stored_and_is_resumed() {
    let Some(desk) = Desk::new().with_lab("guest, full host") else {
        return;
    };
    let Some(_turn) = can_mount("guest, full host", &[]) else {
        return;
    };
    let images = ImagesInMemory::mount(desk.path("images"), "2g");
    let study = "format = 1\nname = 'full'\ntitle = 'f'\nsize = '256MiB'\nrepeats = 1\n\
                 trial_limit_s = 300\n[[phase]]\nname = 'wait'\nworkload = 'io'\n\
                 file_size = '1MiB'\namount = { time-ns = 8_000_000_000 }\n\
                 [[phase]]\nname = 'write'\nworkload = 'write'\nrecord = '1MiB'\n";
    std::fs::write(desk.path("full.toml"), study).expect("a study");
    let words = [&["compare", "ext4", "--study", "./full.toml"][..], &GUEST].concat();
    let run = desk.start(&words);
    let began = Instant::now();
    let is_up = || {
        let folders = std::fs::read_dir(&images.0).expect("images").flatten();
        let events = folders.map(|folder| folder.path().join("share/events"));
        let mut events = events.filter_map(|events| std::fs::read_to_string(events).ok());
        events.any(|events| events.contains("\"wait\""))
    };
    while !is_up() {
        assert!(began.elapsed() < Duration::from_secs(100), "no guest");
        std::thread::sleep(Duration::from_millis(20));
    }
    images.fill();
    let ended = run.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    let full = format!("the disk of {} is full", images.0.display());
    assert!(said.contains(&full) && said.contains("--images"), "{said}");
    assert!(said.contains("ended with 1 trial missing"), "{said}");
    assert_eq!(desk.last_run()["trials"].as_array().map(Vec::len), Some(0));
    std::fs::remove_file(images.0.join("fill")).expect("ours");
    let again = desk.run(&[&words[..], &["--resume"]].concat());
    again.expect_code(0);
    assert_eq!(desk.last_run()["trials"].as_array().map(Vec::len), Some(1));
    drop(images);
    desk.expect_nothing_left();
}

/// Where living processes are, of those that are below `folder`: a guest is where its disk is.
fn processes_in(folder: &Path) -> Vec<PathBuf> {
    let numbers = std::fs::read_dir("/proc").expect("/proc").flatten();
    let places = numbers.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(folder)).collect()
}

/// What a kernel says of damage and of bugs in itself. Some drivers greet at each mount, or mention
/// the year 2038; that is no complaint.
const COMPLAINTS: [&str; 7] = [
    "BUG:",
    "WARNING:",
    "Call Trace",
    "corrupt",
    "I/O error",
    "inconsisten",
    "remounting filesystem read-only",
];

/// The conformance suite over every second file system, as two tests that run side by side.
fn conforms(first: usize, test: &str, seed: &str) {
    let Some(desk) = Desk::new().with_lab(test) else {
        return;
    };
    let desk = desk.unprivileged();
    let listed = desk.run(&["fs", "list", "--probe", "--json"]);
    listed.expect_code(0);
    let entries: serde_json::Value = serde_json::from_str(&listed.out).expect("JSON");
    let works = |entry: &&serde_json::Value| {
        let venues = entry["venues"].as_array().expect("venues");
        let guest = venues.iter().find(|venue| venue["venue"] == "guest");
        guest.is_some_and(|guest| guest["works"] == true)
    };
    let entries = entries.as_array().expect("entries");
    let names = entries.iter().filter(works).skip(first).step_by(2);
    let names: Vec<_> = names.filter_map(|entry| entry["name"].as_str()).collect();
    assert!(names.len() >= 12, "{names:?}");
    // XFS is made on no less than 300 MiB.
    let (large, small): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| *name == "xfs");
    for (names, size) in [(small, "192MiB"), (large, "320MiB")] {
        if !names.is_empty() {
            conform(&desk, &names, &["--size", size, "--seed", seed]);
        }
    }
}

/// All of `names` come to the end of the suite, no kernel complains, and the facts are those of
/// fslab's table, if that is of the same kernel.
fn conform(desk: &Desk, names: &[&str], options: &[&str]) {
    let suite = ["--study", "conformance"];
    let (_, run) = compare(desk, &[names, &suite, options].concat());
    let trials = run["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), names.len());
    for trial in trials {
        let subject = &trial["subject"];
        assert_eq!(trial["outcome"], "done", "{subject}: {}", trial["failure"]);
        let console = trial["console"].as_str().expect("text");
        // The suite flips a bit of a block on purpose.
        let is_provoked = trial["facts"]["fs.data.damaged"] == "EIO";
        let of_damage = |line: &&str| {
            [
                "csum",
                "checksum",
                "errs: wr 0, rd 0, flush 0",
                "read error",
            ]
            .iter()
            .any(|it| line.contains(it))
        };
        let lines: Vec<&str> = console
            .lines()
            .filter(|line| !(is_provoked && of_damage(line)))
            .collect();
        let complaint = COMPLAINTS
            .iter()
            .find(|sign| lines.iter().any(|line| line.contains(**sign)));
        assert_eq!(complaint, None, "{subject}: {console}");
    }
    let differing = desk.run(&["fs", "facts", "--run", "last", "--json"]);
    differing.expect_code(0);
    let kernel = trials[0]["facts"]["kernel"].as_str().expect("a release");
    let table = desk.run(&["fs", "facts", "--json"]);
    let table: serde_json::Value = serde_json::from_str(&table.out).expect("JSON");
    if table["kernel"] == kernel {
        assert_eq!(differing.out.trim(), "[]", "{names:?}");
    } else {
        println!(
            "not checked: the facts are of Linux {}, not of {kernel}",
            table["kernel"]
        );
    }
}

#[test]
fn every_file_system_conforms_in_a_guest_one_half() {
    conforms(0, "guest, conformance, one half", "11");
}

#[test]
fn every_file_system_conforms_in_a_guest_other_half() {
    conforms(1, "guest, conformance, other half", "12");
}

#[test]
fn a_guest_without_a_kernel_or_with_too_little_memory_is_refused_with_a_hint() {
    let desk = Desk::new();
    let words = |more: &[&'static str]| [&["compare", "ext4"], &GUEST[..], more].concat();
    let ended = desk.run(&words(&[]));
    ended.expect_code(4);
    ended.expect_error("no lab", "fslab lab build");
    let Some(desk) = Desk::new().with_lab("guest, refused") else {
        return;
    };
    let ended = desk.run(&words(&["--memory", "16MiB"]));
    ended.expect_code(2);
    ended.expect_error("16 MiB", "--memory");
    let ended = desk.run(&words(&["--lab", "defualt"]));
    ended.expect_code(4);
    ended.expect_error("defualt", "default");
}

/// A study of one command, which runs in the guest as root.
fn command_study(desk: &Desk, script: &str) -> String {
    let study = desk.path("attack.toml");
    let text = format!(
        "format = 1\nname = \"attack\"\ntitle = \"What root in a guest tries\"\nsize = \"64MiB\"\n\
         repeats = 1\ntrial_limit_s = 100\n[[phase]]\nname = \"attack\"\nworkload = \"command\"\n\
         keep_output = true\nargv = '''\n{script}\n'''\n"
    );
    std::fs::write(&study, text).expect("a study");
    study.to_str().expect("text").to_owned()
}

/// Runs `script` as root in a guest; what it printed.
fn attack(desk: &Desk, script: &str) -> serde_json::Value {
    let study = command_study(desk, script);
    let words = ["tmpfs", "--study", &study, "--allow-commands"];
    compare(desk, &words).1
}

// Root in a guest mounted the host's root by hostfs a second time, without `ro`, and wrote whatever
// the user may write. Now its kernel has no hostfs, and no file of the host has a name in it.
#[test]
fn root_in_a_guest_neither_reads_nor_writes_a_file_of_the_host() {
    let Some(desk) = Desk::new().with_lab("guest, hostfs") else {
        return;
    };
    let kept = desk.path("kept");
    std::fs::write(&kept, "a secret").expect("written");
    let folder = kept.parent().expect("a directory").display();
    let script = format!(
        "mkdir -p /run/a /run/b /run/c
mount -t hostfs -o {folder} none /run/a && echo mount-worked || echo mount-refused
mount -t hostfs none /run/a && echo whole-worked || echo whole-refused
cat {folder}/kept && echo read-worked || echo read-refused
echo spoilt > {folder}/kept && echo write-worked || echo write-refused
mount -o remount,rw / && touch /spoilt && echo remount-worked || echo remount-refused
mount --bind / /run/b; mount -o remount,rw,bind /run/b
echo spoilt > /run/b/var/spoilt-by-a-guest && echo bind-worked || echo bind-refused
echo spoilt > /dev/lab0 && echo image-worked || echo image-refused
mknod /run/node b 8 0; mount /run/node /run/c && echo device-worked || echo device-refused
exit 0"
    );
    let run = attack(&desk, &script);
    assert_eq!(run["trials"][0]["outcome"], "done", "{run}");
    let said = run["trials"][0].to_string();
    let attempts = [
        "mount", "whole", "read", "write", "remount", "bind", "image", "device",
    ];
    for attempt in attempts {
        assert!(
            said.contains(&format!("{attempt}-refused")),
            "{attempt}: {said}"
        );
        assert!(
            !said.contains(&format!("\\n{attempt}-worked")),
            "{attempt}: {said}"
        );
    }
    assert_eq!(std::fs::read_to_string(&kept).expect("read"), "a secret");
    assert!(!run.to_string().contains("a secret"), "{run}");
    assert!(!Path::new("/var/spoilt-by-a-guest").exists());
}

/// What root in a guest writes into the devices of the exchange is a trial that fails, with a
/// reason.
#[test]
fn what_root_in_a_guest_writes_as_events_or_status_is_no_figure() {
    let Some(desk) = Desk::new().with_lab("guest, planted") else {
        return;
    };
    for (script, reason) in [
        ("echo 'text' > /dev/fslab-events; exit 0", "not an event"),
        (
            "echo '{\"code\":7}' > /dev/fslab-status; exit 0",
            "died before its trial ended",
        ),
    ] {
        let began = Instant::now();
        let run = attack(&desk, script);
        assert!(began.elapsed() < Duration::from_secs(90));
        let trial = &run["trials"][0];
        assert_eq!(trial["outcome"], "failed", "{run}");
        assert!(trial["failure"].to_string().contains(reason), "{trial}");
    }
    desk.expect_nothing_left();
}

// Only the disk's own files were counted, not the program that is copied beside each of them.
#[test]
fn a_folder_without_room_for_the_program_and_the_guests_memory_is_refused_beforehand() {
    let Some(desk) = Desk::new().with_lab("guest, room") else {
        return;
    };
    let Some(_mounting) = can_mount("guest, room", &[]) else {
        return;
    };
    let small = ImagesInMemory::mount(desk.path("small"), "66m");
    let study = command_study(&desk, "exit 0");
    let ended = desk.run(&[
        "compare",
        "tmpfs",
        "--study",
        &study,
        "--allow-commands",
        "--venue",
        "guest",
        "--images",
        "small",
        "--out",
        "out",
    ]);
    drop(small);
    assert_ne!(ended.code, Some(0), "{}", ended.err);
    ended.expect_error(" free, but ", "--images");
}
