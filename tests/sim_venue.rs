//! The venue sim: trials in virtual time, on a simulated disk, by a user without privileges.
//!
//! Where no guest kernel is built, these tests say that they did not run, and fail where they must.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Desk, SMALL_STUDY};

/// For how long a load works, and then rests.
const TURN: Duration = Duration::from_millis(3);

/// What the host's processor paid for the phase `name` of the last run's first trial, in ns for an
/// operation.
fn cost_of_operation(desk: &Desk, name: &str) -> u64 {
    let exported = desk.run(&["export", "last", "--format", "json"]);
    let run: Value = serde_json::from_str(&exported.out).expect("JSON");
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    let phase = phases.iter().find(|it| it["name"] == name);
    let phase = phase.expect("a phase");
    let number = |value: &Value| value.as_u64().expect("a number");
    number(&phase["host"]["cpu_ns"]) / number(&phase["operations"])
}

/// A thread that takes a processor in turns with whatever else runs, until it is dropped.
pub(crate) struct Load(Arc<AtomicBool>);

impl Load {
    pub(crate) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                // A thread that has slept goes before one that has not.
                std::thread::sleep(TURN);
                let end = Instant::now() + TURN;
                while Instant::now() < end {
                    std::hint::spin_loop();
                }
            }
        });
        Self(stop)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The heart of the venue. The second run has a load beside it, other neighbours in time, and a
/// directory of another name. Each file system has a repeat that is perturbed.
#[test]
fn every_file_system_leaves_the_same_records_twice_whatever_else_the_machine_does() {
    let Some(desk) = Desk::new().with_lab("sim, twice the same") else {
        return;
    };
    let desk = desk.unprivileged();
    let words = ["all", "--study", SMALL_STUDY];
    desk.compare_in_sim(&words).expect_code(0);
    let first = desk.exact();
    let trials: Vec<Value> = serde_json::from_str(&first).expect("JSON");
    assert!(trials.len() >= 2 * 26, "{}", trials.len());
    let load = Load::start();
    let again = Desk::new().with_lab("sim, twice the same");
    let again = again.expect("it was there a minute ago").unprivileged();
    again
        .compare_in_sim(&[&words[..], &["--jobs", "1"]].concat())
        .expect_code(0);
    drop(load);
    let second = again.exact_trials();
    for (first, second) in trials.iter().zip(&second) {
        let subject = &first["subject"];
        assert_eq!(first["outcome"], "done", "{subject}: {}", first["failure"]);
        assert_eq!(first, second, "{subject} differs from run to run");
    }
    let fingerprint = |desk: &Desk| {
        let shown = desk.run(&["show", "last"]).out;
        let line = shown.lines().find(|line| line.starts_with("Fingerprint"));
        line.expect("a fingerprint").to_owned()
    };
    let stated = fingerprint(&desk);
    assert_eq!(stated, fingerprint(&again));
    for word in ["belong to the lab", "seed 1", "2 repeats, perturbed"] {
        assert!(stated.contains(word), "{stated}");
    }
}

/// The first repeat is the exact point; each other one is in another state, which belongs to its
/// place in the plan, however many there are.
/// The kernel executes arrays of system calls, which costs the host less and changes no figure.
#[test]
fn figures_are_the_same_with_system_calls_one_by_one() {
    let Some(desk) = Desk::new().with_lab("sim, arrays of system calls") else {
        return;
    };
    let sim = ["--venue", "sim", "--images", "images", "--out", "out"];
    let words = ["compare", "ext4", "xfs", "jfs", "hfs+", "--repeats", "1"];
    let words = [&words[..], &sim, &["--scale", "1/8"]].concat();
    desk.run(&words).expect_code(0);
    let (together, cost_together) = (desk.exact(), cost_of_operation(&desk, "read-files"));
    let single = [("FSLAB_TEST_SINGLE_CALLS", "1")];
    desk.run_in(&words, &single).expect_code(0);
    assert_eq!(together, desk.exact());
    let cost_single = cost_of_operation(&desk, "read-files");
    assert!(
        cost_together * 2 < cost_single,
        "{cost_together} ns in arrays, {cost_single} ns one by one"
    );
}

#[test]
fn repeats_are_perturbed_by_the_seed_and_the_first_is_the_exact_point() {
    let Some(desk) = Desk::new().with_lab("sim, perturbed") else {
        return;
    };
    let run = |words: &[&str]| -> Vec<Value> {
        let study = ["ext4", "--study", SMALL_STUDY];
        desk.compare_in_sim(&[&study, words].concat())
            .expect_code(0);
        let mut trials = desk.exact_trials();
        // Its place depends on how many trials there are.
        trials
            .iter_mut()
            .for_each(|trial| trial["position"] = Value::Null);
        trials
    };
    let (three, two) = (run(&["--repeats", "3"]), run(&["--repeats", "2"]));
    let point = run(&["--perturb", "off"]);
    assert_eq!((three.len(), two.len(), point.len()), (3, 2, 1));
    assert_eq!(three[..2], two[..]);
    assert_eq!(three[0], point[0]);
    assert_eq!(three[0]["perturbation"], Value::Null);
    for repeat in &three[1..] {
        assert_eq!(repeat["outcome"], "done");
        assert_ne!(repeat["perturbation"], Value::Null);
    }
    let shows = |repeat: &Value| repeat["phases"] != three[0]["phases"];
    assert!(three[1..].iter().any(shows), "the state shows nowhere");
    let shown = desk.run(&["show", "last~2"]).out;
    assert_eq!(shown.matches("ensitive").count(), 1, "{shown}");
    let point = desk.run(&["show", "last"]).out;
    assert!(point.contains("with the seed 1 and 1 repeat."), "{point}");
}

/// Gives the default lab of the desk a second name.
fn name_again(desk: &Desk, name: &str) {
    let names = desk.path("home/.cache/fslab/names");
    let lab = std::fs::read_link(names.join("default")).expect("a name");
    std::os::unix::fs::symlink(lab, names.join(name)).expect("another name");
}

#[test]
fn one_kernel_by_two_names_gives_two_subjects_with_equal_exact_records() {
    let Some(desk) = Desk::new().with_lab("sim, two names") else {
        return;
    };
    name_again(&desk, "a-kernel-of-mine");
    let subjects = ["ext4@default", "ext4@a-kernel-of-mine"];
    let words = ["--study", SMALL_STUDY, "--repeats", "2"];
    desk.compare_in_sim(&[&subjects[..], &words].concat())
        .expect_code(0);
    let trials = desk.exact_trials();
    let [first, second] = subjects.map(|subject| -> Vec<Value> {
        let its = trials.iter().filter(|trial| trial["subject"] == subject);
        let mut its: Vec<_> = its.cloned().collect();
        for trial in &mut its {
            assert_eq!(trial["outcome"], "done", "{}", trial["failure"]);
            for place in ["subject", "position", "trial"] {
                trial[place] = Value::Null;
            }
        }
        its
    });
    assert_eq!((first.len(), second.len()), (2, 2));
    assert_eq!(first, second);
    let plan = &desk.last_run()["plan"];
    let lab = |place: usize| plan["subjects"][place]["lab"]["digest"].clone();
    assert!(lab(0).is_string());
    assert_eq!((lab(0), lab(1)), (plan["venue"]["lab"].clone(), lab(0)));
    let shown = desk.run(&["show", "last"]).out;
    assert!(subjects.iter().all(|name| shown.contains(name)), "{shown}");
    let pair = subjects.join("=");
    for words in [&["diff"][..], &["gate", "--max-slowdown", "1%"]] {
        let pair = ["last", "last", "--pair", &pair];
        desk.run(&[words, &pair].concat()).expect_code(0);
    }
}

#[test]
fn a_kernel_that_cannot_run_its_subject_is_refused_before_anything_runs() {
    let Some(desk) = Desk::new().with_lab("sim, kernels refused") else {
        return;
    };
    name_again(&desk, "mine");
    let refused = |words: &[&str], code: i32, what: &str, hint: &str| {
        let ended = desk.run(&[&["compare", "--study", SMALL_STUDY], words].concat());
        ended.expect_code(code).expect_error(what, hint);
        assert!(!desk.store().exists(), "a refused plan leaves a store");
    };
    let unknown = ["ext4@mien", "--venue", "sim"];
    refused(
        &unknown,
        4,
        "there is no lab 'mien'",
        "did you mean 'mine'? the labs are default, mine",
    );
    refused(
        &unknown,
        4,
        "there is no lab 'mien'",
        "fslab lab build --name NAME",
    );
    let own = "uses this machine's kernel";
    refused(
        &["ext4@mine", "--venue", "loop"],
        2,
        own,
        "venue guest or sim",
    );
    refused(&["ext4@mine", "--dir", "."], 2, own, "venue guest or sim");
    let twice = ["ext4@mine", "--lab", "default"];
    refused(&twice, 2, "every subject names its lab", "--lab");
    let names = desk.path("home/.cache/fslab/names");
    let lab = names.join("mine").canonicalize().expect("a lab");
    let kernels = std::fs::read_dir(&lab).expect("listed").flatten();
    let mut configs = kernels.map(|entry| entry.path().join("config"));
    let config = configs
        .find(|path| path.is_file())
        .expect("a configuration");
    let text = std::fs::read_to_string(&config).expect("read");
    let without = text.replace("CONFIG_XFS_FS=y", "# CONFIG_XFS_FS is not set");
    assert_ne!(text, without);
    std::fs::write(&config, without).expect("written");
    let lacking = ["ext4@mine", "xfs@mine", "--venue", "sim"];
    refused(
        &lacking,
        4,
        "xfs@mine: the guest kernel mine",
        "CONFIG_XFS_FS",
    );
}

#[test]
fn the_seed_decides_what_is_written_and_nothing_else_does() {
    let Some(desk) = Desk::new().with_lab("sim, seed") else {
        return;
    };
    let run = |words: &[&str]| {
        let study = ["btrfs", "--study", SMALL_STUDY, "--perturb", "off"];
        desk.compare_in_sim(&[&study[..], words].concat())
            .expect_code(0);
        desk.exact()
    };
    let default = run(&[]);
    assert_eq!(default, run(&["--seed", "1"]));
    assert_ne!(default, run(&["--seed", "2"]));
}

/// Half a turn of a disk with 7200 turns a minute is 4.17 ms, and no random read of a cold file
/// takes less on the average; flash has nothing that turns.
#[test]
fn random_reads_take_the_time_that_the_disk_needs() {
    let Some(desk) = Desk::new().with_lab("sim, disks") else {
        return;
    };
    let rate = |disk: &str| {
        let words = [
            "ext4",
            "--study",
            SMALL_STUDY,
            "--disk",
            disk,
            "--repeats",
            "1",
        ];
        desk.compare_in_sim(&words).expect_code(0);
        let run = desk.last_run();
        let phases = run["trials"][0]["phases"].as_array().expect("phases");
        let phase = phases.iter().find(|phase| phase["name"] == "random-read");
        let phase = phase.expect("the phase");
        let figure = |name: &str| phase[name].as_f64().expect("a figure");
        figure("operations") * 1e9 / figure("elapsed_ns")
    };
    let (turning, flash) = (rate("hdd-7200-ata100-2002"), rate("ssd-nvme-2024"));
    assert!((60.0..240.0).contains(&turning), "{turning}");
    assert!(flash > 5_000.0, "{flash}");
}

/// A file that ntfs3 had written was read at 296 MB/s from a disk of 125 MB/s: the unmount drops
/// the page cache and flushes nothing, so the disk answered from its own buffer.
#[test]
fn a_cold_read_comes_from_the_platters_and_not_from_the_buffer_of_the_disk() {
    let Some(desk) = Desk::new().with_lab("sim, buffer") else {
        return;
    };
    let study = "format = 1\nname = 'cold'\ntitle = 'Cold'\nsubjects = ['ntfs3']\n\
         size = '256MiB'\nmemory = '256MiB'\nrepeats = 1\ntrial_limit_s = 120\n\
         [[phase]]\nname = 'write'\nworkload = 'io'\nfile = 'f'\nfile_size = '4MiB'\n\
         record = '64KiB'\ndirection = 'write'\nopen = 'replace'\n\
         [[phase]]\nname = 'read'\nworkload = 'io'\ncache = 'cold'\nfile = 'f'\n\
         file_size = '4MiB'\nrecord = '64KiB'\ndirection = 'read'\nopen = 'existing'\n";
    std::fs::write(desk.path("cold.toml"), study).expect("written");
    let disk = ["--disk", "hdd-7200-sata-2010", "--repeats", "1"];
    desk.compare_in_sim(&[&["ntfs3", "--study", "./cold.toml"], &disk[..]].concat())
        .expect_code(0);
    let run = desk.last_run();
    let read = &run["trials"][0]["phases"][1];
    let figure = |name: &str| read[name].as_f64().expect("a figure");
    let rate = figure("bytes") * 1e9 / figure("elapsed_ns");
    assert!((50e6..125e6).contains(&rate), "{rate}");
}

#[test]
fn the_trace_tells_what_each_phase_made_the_disk_do() {
    let Some(desk) = Desk::new().with_lab("sim, insight") else {
        return;
    };
    desk.compare_in_sim(&["ext4", "--study", SMALL_STUDY, "--repeats", "1"])
        .expect_code(0);
    let run = desk.last_run();
    let trial = &run["trials"][0];
    assert!(trial["insight"].is_object(), "{trial}");
    for phase in trial["phases"].as_array().expect("phases") {
        let name = &phase["name"];
        let number = |path: &str| phase.pointer(path).and_then(Value::as_u64);
        assert!(
            number("/host/cpu_ns") > Some(0),
            "{name} cost the host nothing"
        );
        assert_eq!(phase["cpu"], Value::Null, "{name}");
        let (begin, end) = (number("/window/begin_ns"), number("/window/end_ns"));
        // What comes from the page cache takes no time at all.
        let took_time = begin.is_some() && begin < end;
        assert_eq!(took_time, name != "reread", "{name}: {begin:?} {end:?}");
        if name == "read" {
            let read = number("/insight/reads/all/bytes");
            assert!(read >= Some(8 << 20), "{phase}");
        }
    }
}

/// A disk that fills the entire log of nilfs2 within one second, which its cleaner then takes for
/// too young to be freed: it stayed full for ever, though all was deleted.
#[test]
fn a_log_that_was_filled_within_a_second_is_cleaned_again() {
    let Some(desk) = Desk::new().with_lab("sim, a log filled within a second") else {
        return;
    };
    let suite = [
        "--study",
        "conformance",
        "--size",
        "160MiB",
        "--repeats",
        "1",
    ];
    let words = ["nilfs2", "--disk", "ssd-nvme-2024", "--seed", "1"];
    desk.compare_in_sim(&[&words[..], &suite].concat())
        .expect_code(0);
    assert_eq!(desk.last_run()["trials"][0]["outcome"], "done");
}

/// The page structures of 4 GiB were once too many for the memory of the set-up: the trial's
/// process was killed.
#[test]
fn a_guest_may_have_more_memory_than_its_set_up() {
    let Some(desk) = Desk::new().with_lab("sim, memory") else {
        return;
    };
    let desk = desk.unprivileged();
    for memory in ["3GiB", "4GiB", "8GiB"] {
        let words = [
            "ext4",
            "--study",
            SMALL_STUDY,
            "--perturb",
            "off",
            "--memory",
            memory,
        ];
        desk.compare_in_sim(&words).expect_code(0);
        let facts = desk.last_run()["trials"][0]["facts"].clone();
        let wanted = memory.replace("GiB", " GiB");
        assert_eq!(facts["guest.memory"], Value::from(wanted), "{facts}");
    }
}

#[test]
fn a_conductor_that_is_killed_takes_all_its_guests_with_it() {
    let Some(desk) = Desk::new().with_lab("sim, killed") else {
        return;
    };
    let words = "compare ext4 xfs btrfs jfs --venue sim --images images --jobs 2 --out out";
    let words: Vec<_> = words.split(' ').collect();
    let mut run = desk.start(&words);
    let images = desk.path("images");
    let guests = || {
        let folders = std::fs::read_dir(&images).expect("images").flatten();
        let has_booted = |folder: &std::fs::DirEntry| {
            let events = folder.path().join("share/events");
            events.metadata().is_ok_and(|events| events.len() > 0)
        };
        folders.filter(has_booted).count()
    };
    let began = Instant::now();
    while guests() < 2 {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "no guests came up"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    run.kill().expect("killed");
    run.wait().expect("reaped");
    desk.run(&["clean"]).expect_code(0);
    desk.expect_nothing_left();
}

#[test]
fn what_goes_with_no_simulated_disk_is_refused_with_a_hint() {
    let Some(desk) = Desk::new().with_lab("sim, refused") else {
        return;
    };
    let refused = |words: &[&str], what: &str, hint: &str| {
        let ended = desk.run(&[&["compare", "ext4"], words].concat());
        ended.expect_code(2);
        ended.expect_error(what, hint);
    };
    refused(
        &["--disk", "hdd-7200-ata100-2003"],
        "hdd-7200-ata100-2003",
        "hdd-7200-ata100-2002",
    );
    refused(
        &["--disk", "hdd-7200-ata100-2002", "--size", "40GiB"],
        "less than the size",
        "--size",
    );
    refused(
        &["--venue", "loop", "--disk", "hdd-7200-ata100-2002"],
        "--disk needs the venue 'sim'",
        "leave out",
    );
    refused(
        &["--jobs", "2", "--venue", "guest"],
        "disturb",
        "--venue sim",
    );
    assert!(!desk.store().exists(), "a refused run is in the store");
}
