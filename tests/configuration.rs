//! The configuration file, variables of the environment, quietness, completions and the manual.

use std::fs;
use std::process::{Command, Stdio};

use crate::harness::{Desk, skip};

fn desk_with(text: &str) -> Desk {
    let desk = Desk::new();
    let folder = desk.path("home/.config/fslab");
    fs::create_dir_all(&folder).expect("a directory");
    fs::write(folder.join("config.toml"), text).expect("the configuration");
    desk
}

const PLAN: [&str; 6] = [
    "compare",
    "fake",
    "--study",
    "./small.toml",
    "--dry-run",
    "--json",
];

/// The plan that `fslab compare` resolves, with the arguments.
fn plan(desk: &Desk, further: &[&str], variables: &[(&str, &str)]) -> serde_json::Value {
    let ended = desk.run_in(&[&PLAN[..], further].concat(), variables);
    ended.expect_code(0);
    serde_json::from_str(&ended.out).expect("JSON")
}

#[test]
fn an_option_counts_before_a_variable_before_the_file_before_the_built_in_default() {
    let desk = desk_with("seed = 11\n\n[compare]\nrepeats = 4\n");
    let bare = plan(&desk, &["--no-config"], &[("FSLAB_SEED", "12")]);
    assert_ne!(bare["repeats"], 4);
    assert_ne!(bare["seed"], 12);
    let by_file = plan(&desk, &[], &[]);
    assert_eq!(
        (&by_file["repeats"], &by_file["seed"]),
        (&4.into(), &11.into())
    );
    let by_variable = plan(&desk, &[], &[("FSLAB_SEED", "12")]);
    assert_eq!(by_variable["seed"], 12);
    let typed = plan(
        &desk,
        &["--seed", "13", "--repeats", "2"],
        &[("FSLAB_SEED", "12")],
    );
    assert_eq!((&typed["repeats"], &typed["seed"]), (&2.into(), &13.into()));
}

#[test]
fn an_unknown_key_is_refused_with_line_column_and_the_nearest_key() {
    let desk = desk_with("quiet = true\n\n[compare]\nrepaets = 4\n");
    let ended = desk.run(&PLAN);
    ended
        .expect_code(2)
        .expect_error("config.toml", "'repeats'");
    assert!(
        ended.err.contains("line 4, column 1: compare.repaets"),
        "{}",
        ended.err
    );
    desk.run(&[&PLAN[..], &["--no-config"]].concat())
        .expect_code(0);
}

#[test]
fn a_permission_in_the_file_or_in_a_variable_is_refused() {
    for text in [
        "[compare]\nallow-commands = true\n",
        "[compare]\ndestroy = '/dev/sdb'\n",
        "[delete]\nyes = true\n",
        "[mkfs]\nforce = true\n",
    ] {
        let desk = desk_with(text);
        desk.run(&PLAN)
            .expect_code(2)
            .expect_error("permission", "give it");
    }
    let desk = Desk::new();
    let ended = desk.run_in(&PLAN, &[("FSLAB_ALLOW_COMMANDS", "1")]);
    ended
        .expect_code(2)
        .expect_error("permission", "with the command");
}

#[test]
fn a_value_that_its_option_refuses_is_named_with_its_line() {
    let desk = desk_with("\n[compare]\nsize = '1024'\n");
    let ended = desk.run(&["list"]);
    ended.expect_code(2).expect_error("line 3", "--no-config");
    assert!(ended.err.contains("has no unit"), "{}", ended.err);
}

/// The disk of the file was refused beside `--venue dir`, although the user had not typed it.
#[test]
fn an_option_of_another_venue_in_the_file_does_not_hinder_a_typed_venue() {
    let desk = desk_with("venue = 'sim'\n[compare]\ndisk = 'x'\njobs = 2\nmemory = '1GiB'\n");
    let words = [
        "compare",
        "--study",
        "./small.toml",
        "--dir",
        "out",
        "--dry-run",
        "--json",
    ];
    let ended = desk.run(&words);
    ended.expect_code(0);
    let plan: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(plan["venue"]["venue"], "dir", "{}", ended.out);
}

/// `--csv` conflicts with `--json`, and the file has the other one.
#[test]
fn a_typed_option_excludes_the_setting_that_conflicts_with_it() {
    let desk = desk_with("['disk test']\njson = true\n");
    let ended = desk.run(&["disk", "test", "usb-flash-16g-2015", "--csv"]);
    ended.expect_code(0);
    assert!(!ended.out.starts_with(['{', '[']), "{}", ended.out);
    let ended = desk.run(&["disk", "test", "usb-flash-16g-2015"]);
    assert!(ended.out.starts_with('{'), "{}", ended.out);
}

#[test]
fn config_show_has_each_default_and_where_it_comes_from() {
    let desk = desk_with("store = 'mine.db'\n\n[compare]\nstudy = 'nas'\n");
    let ended = desk.run_in(
        &["config", "show", "compare", "--json"],
        &[("FSLAB_TRIAL_LIMIT", "10min")],
    );
    ended.expect_code(0);
    let shown: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let of = |option: &str| {
        let found = shown.as_array().expect("a list").iter();
        let mut found = found.filter(|it| it["option"] == option);
        let it = found.next().expect(option);
        (
            it["values"][0].as_str().map(str::to_owned),
            it["from"].as_str().map(str::to_owned),
        )
    };
    let pair = |value: &str, from: &str| (Some(value.to_owned()), Some(from.to_owned()));
    assert_eq!(of("store"), pair("mine.db", "line 1"));
    assert_eq!(of("study"), pair("nas", "line 4"));
    assert_eq!(of("trial-limit"), pair("10min", "FSLAB_TRIAL_LIMIT"));
    assert_eq!(of("images"), pair("/var/tmp", "built-in"));
    let all = desk.run(&["config", "show"]);
    all.expect_code(0);
    assert!(
        all.out.contains("config.toml") && all.out.contains("mine.db"),
        "{}",
        all.out
    );
    desk.run(&["config", "show", "comapre"])
        .expect_code(2)
        .expect_error("comapre", "compare");
}

#[test]
fn the_process_of_a_trial_has_no_settings() {
    let desk = desk_with("no-such-option = 1\n");
    let ended = desk.run_with_input(&["trial"], "{}");
    assert!(!ended.err.contains("config.toml"), "{}", ended.err);
}

#[test]
fn a_quiet_run_writes_results_and_no_notes() {
    let desk = Desk::new();
    let loud = desk.compare_fake(&[]);
    loud.expect_code(0);
    assert!(loud.err.contains("done in"), "{}", loud.err);
    let quiet = desk.compare_fake(&["--quiet"]);
    quiet.expect_code(0);
    assert_eq!(quiet.err, "");
    assert!(quiet.out.contains("report: "), "{}", quiet.out);
    let refused = desk.run(&["compare", "brtfs", "--quiet"]);
    refused.expect_code(2).expect_error("brtfs", "btrfs");
}

/// A log of continuous integration shows every byte: there is no cursor to move.
#[test]
fn progress_without_a_terminal_is_lines_without_control_characters() {
    let desk = Desk::new();
    let ended = desk.compare_fake(&[]);
    ended.expect_code(0);
    assert!(ended.err.lines().count() >= 2, "{}", ended.err);
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!ended.err.contains(is_control), "{:?}", ended.err);
}

#[test]
fn colours_are_forced_and_refused_by_the_environment() {
    let desk = Desk::new();
    let coloured = |variables: &[(&str, &str)], further: &[&str]| {
        let ended = desk.run_in(&[&["disk", "list"][..], further].concat(), variables);
        ended.expect_code(0);
        ended.out.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!coloured(
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        &[]
    ));
    assert!(coloured(&[("NO_COLOR", "1")], &["--color", "always"]));
}

#[test]
fn the_completions_of_bash_complete_a_command_and_an_option() {
    let desk = Desk::new();
    let script = desk.run(&["completions", "bash"]);
    script.expect_code(0);
    fs::write(desk.path("fslab.bash"), &script.out).expect("written");
    let asked = "source ./fslab.bash
        COMP_WORDS=(fslab comp) COMP_CWORD=1; _fslab fslab comp fslab; echo \"${COMPREPLY[@]}\"
        COMP_WORDS=(fslab compare --ven) COMP_CWORD=2; _fslab fslab --ven compare
        echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", asked]);
    let ended = desk.run_as_is(bash);
    ended.expect_code(0);
    let lines: Vec<_> = ended.out.lines().collect();
    assert_eq!(lines, ["compare completions", "--venue"], "{}", ended.err);
}

#[test]
fn the_completions_of_zsh_and_fish_have_no_error_of_syntax() {
    let desk = Desk::new();
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let script = desk.run(&["completions", shell]);
        script.expect_code(0);
        assert!(script.out.contains("allow-commands"), "{}", script.out);
        let file = desk.path(shell);
        fs::write(&file, &script.out).expect("written");
        let mut command = Command::new(shell);
        command.arg(check).arg(&file).stdin(Stdio::null());
        match command.output() {
            Err(_) => println!("not checked: {shell} is not installed"),
            Ok(output) => assert!(output.status.success() && output.stderr.is_empty()),
        }
    }
    desk.run(&["completions", "tcsh"]).expect_code(2);
}

#[test]
fn the_manual_has_a_page_for_every_command_that_man_accepts() {
    let desk = Desk::new();
    desk.run(&["man", "--out", "man"]).expect_code(0);
    let mut pages: Vec<_> = fs::read_dir(desk.path("man"))
        .expect("pages")
        .flatten()
        .collect();
    pages.sort_by_key(fs::DirEntry::file_name);
    assert!(pages.len() > 30, "{} pages", pages.len());
    let text = fs::read_to_string(desk.path("man/fslab-lab-build.1")).expect("a page");
    assert!(text.contains("\\-\\-new\\-root"), "{text}");
    let groff = Command::new("groff").arg("--version").output();
    if groff.is_err() {
        return skip(
            "the_manual_has_a_page_for_every_command_that_man_accepts",
            "no groff",
        );
    }
    for page in pages {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-ww", "-z"]).arg(page.path());
        let ended = desk.run_as_is(groff);
        ended.expect_code(0);
        assert_eq!(ended.err, "", "{}", page.path().display());
    }
}
