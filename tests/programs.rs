//! Phases that are programs: what an untrusted study may start, and what is left of it.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::harness::{Desk, Ended, skip, turn};

/// Writes a study of these phases to the desk and runs it in the directory at hand.
fn run(desk: &Desk, phases: &str, options: &[&str]) -> Ended {
    write_study(desk, phases);
    desk.run(&[&RUN, options].concat())
}

const RUN: [&str; 8] = [
    "run",
    "./foreign.toml",
    "--venue",
    "dir",
    "--out",
    "out",
    "--repeats",
    "1",
];

fn write_study(desk: &Desk, phases: &str) {
    let head = "format = 1\nname = \"foreign\"\ntitle = \"Foreign\"\nsubjects = [\"ext4\"]\n\
                size = \"320MiB\"\nrepeats = 1\ntrial_limit_s = 120\n";
    fs::write(desk.path("foreign.toml"), format!("{head}{phases}")).expect("the study");
}

/// The steps of a small build, each with `more`.
fn build(more: &str) -> String {
    let steps = ["unpack", "configure", "make", "install"];
    let phase = |step: &str| {
        format!(
            "[[phase]]\nname = \"{step}\"\nworkload = \"compile\"\nstep = \"{step}\"\n\
             units = 2\nheaders = 2\n{more}\n"
        )
    };
    steps.map(phase).concat()
}

/// Root ran what stood in `cflags` and `make_arguments` of anybody's study: only a tarball needed
/// leave.
#[test]
fn a_study_of_somebody_elses_starts_nothing_without_leave() {
    let _turn = turn();
    let desk = Desk::new();
    let ran = desk.path("ran");
    let mark = format!("touch {}", ran.display());
    let command = "[[phase]]\nname = \"c\"\nworkload = \"command\"\n";
    for phases in [
        build(&format!("cflags = \"-O0 -DX=`{mark}`\"")),
        build(&format!("cflags = \"-O0 -DX=$({mark})\"")),
        build(&format!("cflags = \"$(shell {mark})\"")),
        build(&format!("make_arguments = [\"CC={mark}; cc\"]")),
        build(&format!("make_arguments = [\"--eval=$(shell {mark})\"]")),
        build(&format!(
            "configure_arguments = [\"--prefix=/x|e {mark};#\"]"
        )),
        build("tarball = \"/srv/x.tar\""),
        format!("{command}argv = \"{mark}\"\n"),
        format!("{command}argv = [\"true\"]\nprepare = \"{mark}\"\n"),
        format!("{command}cleanup = \"{mark}\"\n"),
        format!("{command}environment = {{ LD_PRELOAD = \"/srv/x.so\" }}\n"),
    ] {
        let ended = run(&desk, &phases, &[]);
        if phases.contains('$') {
            // A study's own word for a dimension: refused for that reason.
            assert_ne!(ended.code, Some(0), "{phases}");
        } else {
            ended.expect_error("would start a program", "--allow-commands");
        }
        assert!(!ran.exists(), "{phases}");
    }
    run(
        &desk,
        &format!("{command}argv = \"{mark}\"\n"),
        &["--allow-commands"],
    )
    .expect_code(0);
    assert!(ran.exists());
    // A directory's name was a part of DESTDIR, which is read by the shell of make.
    fs::remove_file(&ran).expect("was made");
    let ended = run(&desk, &build(&format!("directory = \"x;{mark};\"")), &[]);
    assert!(
        !ran.exists() && !ended.err.contains("panicked"),
        "{}",
        ended.err
    );
}

/// `--resume` runs the plan of the store, which may come from elsewhere; only the study that was
/// named was looked at.
#[test]
fn the_plan_of_a_store_is_run_only_where_it_is_the_one_that_was_asked_for() {
    let _turn = turn();
    let desk = Desk::new();
    let ran = desk.path("ran");
    let evil = format!("touch {}", ran.display());
    // As long, so that it can be exchanged in the file of the store.
    let harmless = format!("{:1$}", "true", evil.len());
    let phase = "[[phase]]\nname = \"c\"\nworkload = \"command\"\n";
    let study = format!("{phase}argv = \"{harmless}\"\n");
    run(&desk, &study, &["--allow-commands"]).expect_code(0);
    let store = fs::read(desk.store()).expect("the store");
    let places = store.windows(evil.len()).enumerate();
    let places = places.filter(|(_, window)| *window == harmless.as_bytes());
    let places: Vec<_> = places.map(|(at, _)| at).collect();
    assert!(!places.is_empty(), "the plan is in the store");
    let mut forged = store.clone();
    for at in places {
        forged[at..at + evil.len()].copy_from_slice(evil.as_bytes());
    }
    fs::write(desk.store(), forged).expect("is forged");
    let resume = [
        &RUN[..6],
        &["--repeats", "2", "--resume", "--allow-commands"],
    ]
    .concat();
    let resumed = desk.run(&resume);
    assert_ne!(resumed.code, Some(0), "{}", resumed.out);
    assert!(!ran.exists(), "{}", resumed.err);
    // The same with the true plan goes on.
    fs::write(desk.store(), store).expect("is as it was");
    desk.run(&resume).expect_code(0);
}

/// The workers of nginx lost their master with the trial, and went on serving until the next run.
#[test]
fn a_trial_that_is_killed_leaves_no_web_server() {
    let test = "kill -9 of a trial with nginx";
    if !["/usr/sbin/nginx", "/usr/bin/nginx"]
        .iter()
        .any(|it| fs::exists(it).unwrap_or(false))
    {
        skip(test, "nginx is not installed (package nginx-light)");
        return;
    }
    let _turn = turn();
    let desk = Desk::new();
    write_study(
        &desk,
        "[[phase]]\nname = \"publish\"\nworkload = \"web-publish\"\nfiles = 20\n\
         [[phase]]\nname = \"serve\"\nworkload = \"web-server\"\nfiles = 20\n\
         server = \"nginx\"\nclients = 4\npasses = 10000\n",
    );
    let mut child = desk.start(&RUN);
    let began = Instant::now();
    let group = loop {
        let masters = nginx_masters(child.id());
        let group = masters
            .into_iter()
            .find(|group| processes_of(*group).len() >= 5);
        if let Some(group) = group {
            break group;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "nginx was not started"
        );
        std::thread::sleep(Duration::from_millis(20));
    };
    let trial = children(child.id())[0];
    let pid = Pid::from_raw(trial.cast_signed()).expect("a process");
    rustix::process::kill_process(pid, Signal::KILL).expect("is killed");
    let killed = Instant::now();
    while !processes_of(group).is_empty() && killed.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let left = processes_of(group);
    assert!(left.is_empty(), "left behind: {left:?}");
    child.wait().expect("the run ends");
}

/// The children of a process, by their numbers.
fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let numbers = texts.flat_map(|text| {
        let numbers = text.split_whitespace().filter_map(|it| it.parse().ok());
        numbers.collect::<Vec<_>>()
    });
    numbers.collect()
}

/// The masters of nginx among the children of the trials of the run `run`.
fn nginx_masters(run: u32) -> Vec<u32> {
    let of_trials = children(run).into_iter().flat_map(children);
    let is_master = |process: &u32| {
        let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).starts_with("nginx: master")
    };
    of_trials.filter(is_master).collect()
}

/// The processes of a group that have not ended, by their numbers.
fn processes_of(group: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let numbers = processes.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let is_of_group = |process: &u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
        let fields: Vec<_> = behind.split_whitespace().collect();
        fields.first() != Some(&"Z") && fields.get(2) == Some(&&*group.to_string())
    };
    numbers.filter(is_of_group).collect()
}

const GUEST: [&str; 11] = [
    "run",
    "./foreign.toml",
    "--venue",
    "sim",
    "--size",
    "64MiB",
    "--out",
    "out",
    "--repeats",
    "1",
    "--allow-commands",
];

/// The same words for another venue of guests.
fn in_venue(venue: &'static str) -> [&'static str; 11] {
    let mut words = GUEST;
    words[3] = venue;
    words
}

/// The phase of a command, with `more`.
fn command(argv: &str, more: &str) -> String {
    format!("[[phase]]\nname = \"c\"\nworkload = \"command\"\nargv = {argv:?}\n{more}\n")
}

/// The layers of the plan of these phases: names and digests.
fn layers(desk: &Desk, phases: &str) -> Vec<(String, String)> {
    write_study(desk, phases);
    let ended = desk.run(&[&GUEST[..], &["--dry-run", "--json"]].concat());
    ended.expect_code(0);
    let plan: serde_json::Value = serde_json::from_str(&ended.out).expect("a plan");
    let layers = plan["venue"]["layers"].as_array().cloned();
    let text = |layer: &serde_json::Value, key: &str| layer[key].as_str().expect(key).to_owned();
    let layers = layers.unwrap_or_default();
    layers
        .iter()
        .map(|layer| (text(layer, "name"), text(layer, "digest")))
        .collect()
}

/// A directory that a guest would see at its place: not below /tmp.
fn visible_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/srv").expect("a directory")
}

/// A guest saw all files of the machine, and what it found there was in its figures.
#[test]
fn a_plan_for_a_guest_names_what_is_brought_by_its_content() {
    if !rustix::process::geteuid().is_root() {
        skip("layers", "a file in /srv can be made by root alone");
        return;
    }
    let Some(desk) = Desk::new().with_lab("layers, plan") else {
        return;
    };
    let folder = visible_folder();
    let input = folder.path().join("input");
    fs::write(&input, "one").expect("an input");
    let phases = command("cat x", &format!("inputs = [{input:?}]"));
    let first = layers(&desk, &phases);
    let names: Vec<_> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["inputs", "loader", "command"]);
    assert!(first.iter().all(|(_, digest)| digest.len() == 64));
    // The same content with other times is the same layer, and another content is another.
    fs::remove_file(&input).expect("removed");
    fs::write(&input, "one").expect("an input");
    assert_eq!(layers(&desk, &phases), first);
    fs::write(&input, "two").expect("an input");
    let second = layers(&desk, &phases);
    assert_ne!(second[0], first[0]);
    assert_eq!(second[1..], first[1..]);
    // Nothing is brought for phases that start nothing.
    let plain = "[[phase]]\nname = \"w\"\nworkload = \"write\"\n";
    assert!(layers(&desk, plain).is_empty());
}

#[test]
fn what_a_guest_cannot_be_given_is_an_error_before_anything_runs() {
    let Some(desk) = Desk::new().with_lab("layers, errors") else {
        return;
    };
    let hidden = desk.path("foreign.toml");
    let hidden = format!("inputs = [{hidden:?}]");
    for (phases, words) in [
        (
            command("true", "programs = [\"no-such-program\"]"),
            ["no-such-program", "programs are searched for"],
        ),
        (
            command("true", &hidden),
            ["its own directory", "another directory"],
        ),
        (
            command("true", "inputs = [\"/srv/no/such/file\"]"),
            ["/srv/no/such/file", "No such file"],
        ),
    ] {
        write_study(&desk, &phases);
        let ended = desk.run(&GUEST);
        assert_ne!(ended.code, Some(0), "{phases}");
        for word in words {
            assert!(ended.err.contains(word), "{word} in {}", ended.err);
        }
        assert!(!desk.store().exists(), "nothing was begun: {phases}");
    }
}

#[test]
fn without_leave_a_plan_is_shown_and_nothing_that_it_names_is_written() {
    let Some(desk) = Desk::new().with_lab("layers, leave") else {
        return;
    };
    write_study(&desk, &command("true", ""));
    let ended = desk.run(&[&GUEST[..10], &["--dry-run"]].concat());
    ended.expect_code(0);
    assert!(ended.err.contains("without guest layers"), "{}", ended.err);
    assert!(!ended.out.contains("\nlayer "), "{}", ended.out);
    assert!(!desk.path("home/.cache/fslab/layers").exists());
}

/// Programs and files of layers are what a guest has, and the machine's others are not there.
#[test]
fn a_guest_runs_what_was_brought_and_sees_nothing_else() {
    if !rustix::process::geteuid().is_root() {
        skip("layers", "a file in /srv can be made by root alone");
        return;
    }
    let Some(desk) = Desk::new().with_lab("layers, guest") else {
        return;
    };
    let _turn = turn();
    let folder = visible_folder();
    let (input, other) = (folder.path().join("input"), folder.path().join("other"));
    fs::write(&input, "was brought\n").expect("an input");
    fs::write(&other, "was not\n").expect("a file");
    let argv = format!(
        "cat {}; [ -e {} ] && echo seen || echo unseen; touch /usr/x || echo closed",
        input.display(),
        other.display()
    );
    let phases = command(&argv, &format!("inputs = [{input:?}]\nkeep_output = true"));
    write_study(&desk, &phases);
    for venue in ["guest", "sim"] {
        desk.run(&in_venue(venue)).expect_code(0);
        let trial = desk.last_run()["trials"][0].clone();
        let text = trial["phases"].to_string();
        for word in ["was brought", "unseen", "closed"] {
            assert!(text.contains(word), "{venue}: {word} in {text}");
        }
        let facts = &trial["facts"];
        for layer in ["layer.inputs", "layer.loader", "layer.command"] {
            assert!(facts[layer].is_string(), "{venue}: {layer} in {facts}");
        }
    }
}

/// The program that fslab makes from its seed is built by the machine's compiler, brought with its
/// packages.
#[test]
fn a_guest_builds_a_program_and_serves_a_site_by_layers_alone() {
    let has = |name: &str| fs::exists(name).unwrap_or(false);
    if !["/usr/bin/cc", "/usr/bin/make", "/usr/sbin/nginx"]
        .into_iter()
        .all(has)
    {
        skip("layers, build", "cc, make or nginx is not installed");
        return;
    }
    let Some(desk) = Desk::new().with_lab("layers, build") else {
        return;
    };
    let _turn = turn();
    let site = "[[phase]]\nname = \"publish\"\nworkload = \"web-publish\"\nfiles = 10\n\
                [[phase]]\nname = \"serve\"\nworkload = \"web-server\"\nfiles = 10\n\
                server = \"nginx\"\n";
    write_study(&desk, &format!("{}{site}", build("")));
    let guest = in_venue("guest");
    let ended = desk.run(&[&guest[..4], &guest[6..]].concat());
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, desk.last_run());
}
