//! Real jobs under mpirun that load one directory from all ranks.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::desk::{Desk, children_of, processes, text};

/// Data of each rank, a shared file, trees, and what one rank has left to another.
const STUDY: &str = "format = 1\nname = 'load'\ntitle = 'Load'\nsize = '64MiB'\nrepeats = 1\n\
    trial_limit_s = 60\n\
    [[phase]]\nname = 'write'\nworkload = 'write'\nfile_size = '1MiB'\nrecord = '64KiB'\n\
    [[phase]]\nname = 'cold-read'\nworkload = 'read'\nfile_size = '1MiB'\nrecord = '64KiB'\ncache = 'cold'\n\
    [[phase]]\nname = 'interleaved'\nworkload = 'io'\nfile = 'one'\nfile_size = '1MiB'\n\
    record = '64KiB'\ndirection = 'write'\nopen = 'replace'\nsharing = 'interleaved'\n\
    [[phase]]\nname = 'read-of-another'\nworkload = 'io'\nfile = 'one'\nfile_size = '1MiB'\n\
    record = '64KiB'\ndirection = 'read'\nopen = 'existing'\nsharing = 'interleaved'\n\
    rank_shift = 1\nverify = true\n\
    [[phase]]\nname = 'stonewall'\nworkload = 'io'\nfile = 'until'\nfile_size = '16MiB'\n\
    record = '4KiB'\ndirection = 'write'\nopen = 'replace'\nstonewall = '1ms'\n\
    [[phase]]\nname = 'read-until'\nworkload = 'io'\nfile = 'until'\nfile_size = '16MiB'\n\
    record = '4KiB'\ndirection = 'read'\nopen = 'existing'\nrank_shift = 1\nverify = true\n\
    [[phase]]\nname = 'create'\nworkload = 'create'\nfiles = 50\n\
    [[phase]]\nname = 'stat'\nworkload = 'stat'\nfiles = 50\n\
    [[phase]]\nname = 'programs'\nworkload = 'seeks'\nfile_size = '1MiB'\n\
    [[phase]]\nname = 'clear'\nworkload = 'clear'\n";

/// A phase that goes on until a rank fails.
const LONG: &str = "format = 1\nname = 'long'\ntitle = 'Long'\nsize = '64MiB'\nrepeats = 2\n\
    trial_limit_s = 60\n\
    [[phase]]\nname = 'write'\nworkload = 'io'\nfile_size = '1MiB'\nrecord = '4KiB'\n\
    direction = 'write'\nopen = 'replace'\namount = { time = '3s' }\n";

fn desk() -> Option<Desk> {
    let desk = Desk::new()?;
    fs::write(desk.path("load.toml"), STUDY).expect("a study");
    fs::write(desk.path("long.toml"), LONG).expect("a study");
    fs::create_dir(desk.path("dir")).expect("a directory");
    Some(desk)
}

#[test]
fn every_rank_takes_part_in_every_phase_and_nothing_is_left() {
    let Some(desk) = desk() else { return };
    let output = desk
        .job(
            &["-np", "3"],
            &["run", "load.toml", "--dir", "dir", "--store", "s.db"],
        )
        .output()
        .expect("mpirun starts");
    assert!(output.status.success(), "{}", text(&output));
    let stored = desk.shown("s.db");
    assert_eq!(stored["plan"]["ranks"], 3);
    let trial = &stored["trials"][0];
    assert_eq!(trial["outcome"], "done", "{trial}");
    let hosts = trial["facts"]["ranks.hosts"].as_str().expect("names");
    assert_eq!(hosts.split(' ').count(), 3);
    let phases = trial["phases"].as_array().expect("phases");
    let operations = |name: &str| {
        let phase = phases
            .iter()
            .find(|it| it["name"] == name)
            .expect("a phase");
        assert_eq!(phase["outcome"], "done", "{phase}");
        let threads = phase["threads"].as_array().map_or(0, Vec::len);
        let skew_ns = phase["figures"]["start_skew_ns"].as_f64();
        (
            phase["operations"].as_u64().expect("a count"),
            threads,
            skew_ns.is_some(),
        )
    };
    for name in ["write", "cold-read", "interleaved", "read-of-another"] {
        assert_eq!(operations(name), (48, 3, true), "{name}");
    }
    let (written, ..) = operations("stonewall");
    assert!(written > 3 && written < 3 * 4096 && written.is_multiple_of(3));
    assert_eq!(operations("read-until"), (written, 3, true));
    for name in ["create", "stat"] {
        assert_eq!(operations(name), (150, 3, true), "{name}");
    }
    let skipped = phases
        .iter()
        .find(|it| it["name"] == "programs")
        .expect("a phase");
    let reason = skipped["reason"].as_str().expect("a reason");
    assert!(reason.contains("not on several ranks"), "{reason}");
    let left = fs::read_dir(desk.path("dir")).expect("lists");
    assert_eq!(left.count(), 0);
}

/// True if this machine lets a process have another clock, in a time namespace.
fn can_shift_clocks() -> bool {
    let tried = Command::new("unshare")
        .args(["--time", "--monotonic", "1", "--fork", "true"])
        .output();
    tried.is_ok_and(|output| output.status.success())
}

/// The clocks of two machines show different times since their starts, and were compared by unit
/// tests alone.
#[test]
fn a_rank_whose_clock_shows_two_hours_more_or_less_starts_with_the_others() {
    let Some(desk) = desk() else { return };
    if !can_shift_clocks() {
        println!("skipped: no time namespaces");
        return;
    }
    // The namespace of the less can go no farther back than this machine has been up.
    for shift in ["7200", "-60"] {
        let store = format!("shift{shift}.db");
        let arguments = ["run", "load.toml", "--dir", "dir", "--store", &store];
        let output = desk
            .mpirun(&["-np", "1"])
            .arg(desk.path("bin/fslab-mpi"))
            .args(arguments)
            .args([":", "-np", "1", "unshare", "--time", "--monotonic", shift])
            .args(["--fork", "--kill-child"])
            .arg(desk.path("bin/fslab-mpi"))
            .args(arguments)
            .output()
            .expect("mpirun starts");
        assert!(output.status.success(), "{}", text(&output));
        let stored = desk.shown(&store);
        let trial = &stored["trials"][0];
        assert_eq!(trial["outcome"], "done", "{trial}");
        let error_ns = trial["facts"]["ranks.clock_error_ns"].as_str();
        let error_ns: u64 = error_ns.expect("a fact").parse().expect("a number");
        assert!(error_ns < 1_000_000_000, "{error_ns}");
        for phase in trial["phases"].as_array().expect("phases") {
            let Some(skew_ns) = phase["figures"]["start_skew_ns"].as_f64() else {
                continue;
            };
            let elapsed_ns = phase["elapsed_ns"].as_f64().expect("a time");
            // An hour would be 3.6e12.
            assert!(skew_ns < 1e10 && elapsed_ns < 6e10, "{phase}");
        }
    }
}

/// The trials of rank 1 have another clock than the one that was compared when the job began.
#[test]
fn a_clock_that_moves_away_after_the_job_began_is_named_in_its_phases() {
    let Some(desk) = desk() else { return };
    if !can_shift_clocks() {
        println!("skipped: no time namespaces");
        return;
    }
    let (program, moved) = (desk.path("bin/fslab"), desk.path("bin/moved"));
    fs::rename(&program, &moved).expect("renamed");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*\"--rank 1 \"*) exec unshare --time --monotonic 5 --fork \
         --kill-child {0} \"$@\" ;;\n*) exec {0} \"$@\" ;;\nesac\n",
        moved.display()
    );
    fs::write(&program, script).expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).expect("executable");
    let output = desk
        .job(
            &["-np", "2"],
            &["run", "load.toml", "--dir", "dir", "--store", "s.db"],
        )
        .output()
        .expect("mpirun starts");
    assert!(output.status.success(), "{}", text(&output));
    let stored = desk.shown("s.db");
    let phases = stored["trials"][0]["phases"].as_array().expect("phases");
    let write = phases.iter().find(|it| it["name"] == "write");
    let notes = write.expect("a phase")["notes"].to_string();
    assert!(notes.contains("have moved apart by"), "{notes}");
}

/// The ranks are killed one after the other: a trial's process, and a worker.
#[test]
fn a_killed_process_of_a_rank_ends_the_trial_at_once_and_names_the_rank() {
    let Some(desk) = desk() else { return };
    for (program, why) in [
        ("fslab trial", "its trial has ended"),
        ("fslab worker", "has ended"),
    ] {
        let store = format!("{}.db", program.replace(' ', "-"));
        let mut job = desk
            .job(
                &["-np", "3"],
                &["run", "long.toml", "--dir", "dir", "--store", &store],
            )
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mpirun starts");
        let errors = BufReader::new(job.stderr.take().expect("a pipe"));
        let mut lines = errors.lines().map_while(Result::ok);
        let first = lines.find(|line| line.trim_start().starts_with("1/2 "));
        assert!(first.is_some(), "the job ended before its first trial");
        // The second trial runs.
        std::thread::sleep(std::time::Duration::from_secs(1));
        // Rank 0 would be named otherwise: it is the run's.
        let workers = processes(&desk, "fslab worker");
        let workers: Vec<i32> = workers.into_iter().filter(|id| is_rank(*id, 2)).collect();
        let victims = match program {
            "fslab worker" => workers,
            _ => children_of(&workers),
        };
        let victim = victims.last().expect("it runs").to_string();
        let killed = Command::new("kill").args(["-KILL", &victim]).status();
        assert!(killed.expect("kill starts").success());
        let said: Vec<String> = lines.collect();
        let output = job.wait_with_output().expect("mpirun ends");
        assert!(!output.status.success());
        let said = format!("{}{}", said.join("\n"), text(&output));
        assert!(
            said.contains("rank ") && said.contains(why),
            "{program}: {said}"
        );
        let resumed = desk
            .job(
                &["-np", "3"],
                &[
                    "run",
                    "long.toml",
                    "--dir",
                    "dir",
                    "--store",
                    &store,
                    "--resume",
                ],
            )
            .output()
            .expect("mpirun starts");
        assert!(
            resumed.status.success(),
            "{program}: {said}\n{}",
            text(&resumed)
        );
        assert_eq!(
            desk.shown(&store)["trials"].as_array().map(Vec::len),
            Some(2)
        );
    }
}

/// The second phase needs more files than the file system can hold.
#[test]
fn a_full_file_system_ends_the_phase_at_all_ranks_and_what_was_measured_is_kept() {
    let Some(desk) = desk() else { return };
    if !can_mount() {
        return;
    }
    let study = "format = 1\nname = 'full'\ntitle = 'Full'\nsize = '64MiB'\nrepeats = 1\n\
        [[phase]]\nname = 'few'\nworkload = 'create'\nfiles = 20\n\
        [[phase]]\nname = 'many'\nworkload = 'create'\ndirectory = 'many'\nfiles = 5000\nfile_size = '4KiB'\n";
    fs::write(desk.path("full.toml"), study).expect("a study");
    let job = desk.job(
        &["-np", "2"],
        &["run", "full.toml", "--dir", "dir", "--store", "s.db"],
    );
    let output = in_separate_mounts(&job, "mount -t tmpfs -o size=512m,nr_inodes=500 none dir");
    let said = text(&output);
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("rank ") && said.contains("No space left"),
        "{said}"
    );
    let phases = &desk.shown("s.db")["trials"][0]["phases"];
    assert_eq!(
        (&phases[0]["outcome"], &phases[0]["operations"]),
        (&"done".into(), &40.into())
    );
    assert_eq!(phases[1]["outcome"], "failed", "{phases}");
}

/// A rank of which a process stands still is not an error: its time is in the figures.
#[test]
fn a_rank_that_stood_still_is_the_slowest_of_the_report() {
    let Some(desk) = desk() else { return };
    let study = "format = 1\nname = 'slow'\ntitle = 'Slow'\nsize = '64MiB'\nrepeats = 1\n\
        [[phase]]\nname = 'paced'\nworkload = 'io'\nfile_size = '1MiB'\nrecord = '4KiB'\n\
        direction = 'write'\nopen = 'replace'\namount = { operations = 600 }\n\
        pace = { fixed = { per_second = 200.0 } }\n";
    fs::write(desk.path("slow.toml"), study).expect("a study");
    let job = desk
        .job(
            &["-np", "2"],
            &["run", "slow.toml", "--dir", "dir", "--store", "s.db"],
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mpirun starts");
    let begun = || fs::read_dir(desk.path("dir")).is_ok_and(|mut it| it.next().is_some());
    let since = std::time::Instant::now();
    while !begun() || children_of(&processes(&desk, "fslab worker")).len() < 2 {
        assert!(since.elapsed().as_secs() < 30, "no trial has begun");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    let trials = children_of(&processes(&desk, "fslab worker"));
    let victim = trials[0].to_string();
    let signal = |name: &str| Command::new("kill").args([name, &victim]).status();
    assert!(signal("-STOP").expect("kill starts").success());
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(signal("-CONT").expect("kill starts").success());
    let output = job.wait_with_output().expect("mpirun ends");
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Slowest") && said.contains(" on "), "{said}");
    let phase = &desk.shown("s.db")["trials"][0]["phases"][0];
    let elapsed = |rank: usize| {
        phase["threads"][rank]["elapsed_ns"]
            .as_f64()
            .expect("a time")
    };
    let (fast, slow) = (elapsed(0).min(elapsed(1)), elapsed(0).max(elapsed(1)));
    assert!(slow > fast + 1e9, "{phase}");
    let last = if elapsed(0) > elapsed(1) {
        "rank 0"
    } else {
        "rank 1"
    };
    assert!(said.contains(last), "{said}");
}

/// True for the worker of that rank.
fn is_rank(worker: i32, rank: u32) -> bool {
    let line = fs::read(format!("/proc/{worker}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    line.contains(&format!("--rank {rank}")) || line.contains(&format!("--rank={rank}"))
}

/// False, with the reason printed, if no file system can be mounted apart from the others'.
fn can_mount() -> bool {
    let unshared = Command::new("unshare").args(["-m", "true"]).status();
    let may = unshared.is_ok_and(|status| status.success());
    if !may {
        println!("skipped: no separate mounts without root");
    }
    may
}

/// The output of `job` after `mount`, which other processes do not see.
fn in_separate_mounts(job: &Command, mount: &str) -> std::process::Output {
    let mut command = Command::new("unshare");
    let script = format!("{mount} && exec \"$@\"");
    command.args(["-m", "sh", "-c", &script, "sh"]);
    command.arg(job.get_program()).args(job.get_args());
    for (name, value) in job.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(job.get_current_dir().expect("that of the desk"));
    command.output().expect("unshare starts")
}

/// Rank 1 has another file system mounted there.
#[test]
fn a_directory_that_is_not_shared_is_found_before_the_first_phase() {
    let Some(desk) = desk() else { return };
    if !can_mount() {
        return;
    }
    let own = desk.path("bin/fslab-mpi");
    let words = ["run", "load.toml", "--dir", "dir", "--store", "s.db"];
    let mount = format!(
        "mount -t tmpfs none dir && exec {} {}",
        own.display(),
        words.join(" ")
    );
    let output = desk
        .mpirun(&["-np", "1"])
        .arg(&own)
        .args(words)
        .args([":", "-np", "1", "unshare", "-m", "sh", "-c", &mount])
        .output()
        .expect("mpirun starts");
    let said = text(&output);
    assert!(!output.status.success());
    assert!(
        said.contains("rank 1 on ") && said.contains("is not shared"),
        "{said}"
    );
}
