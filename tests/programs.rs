//! Phases that are programs: what a study of somebody else's may start, and what is left of it.

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
    // A folder's name was a part of DESTDIR, which is read by the shell of make.
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
