//! fslab as a package installs it: the command in `bin`, the program of guests in `lib`, the lab in
//! `share`, an empty home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Desk, Ended};

/// A desk with the tree of a package, and the program in it.
fn installed(test: &str) -> Option<(Desk, PathBuf)> {
    let from = Desk::new().with_lab(test)?;
    let desk = Desk::new();
    for folder in ["package/bin", "package/share/fslab"] {
        fs::create_dir_all(desk.path(folder)).expect("a directory");
    }
    let program = desk.path("package/bin/fslab");
    let guest = desk.path("package/lib/fslab/fslab-guest");
    let files = [
        (env!("CARGO_BIN_EXE_fslab"), &program),
        (env!("CARGO_BIN_EXE_fslab-guest"), &guest),
    ];
    for (from, to) in files {
        let mut install = Command::new("install");
        let ended = install.arg("-Dm755").arg(from).arg(to).status();
        assert!(ended.expect("it starts").success());
    }
    from.run(&["lab", "export", "lab.tar"]).expect_code(0);
    fs::rename(
        from.path("lab.tar"),
        desk.path("package/share/fslab/lab.tar"),
    )
    .expect("moved");
    Some((desk, program))
}

fn plan(desk: &Desk, program: &Path) -> Ended {
    let mut command = Command::new(program);
    command.args(["compare", "ext4", "--venue", "sim", "--dry-run"]);
    desk.run_as_is(command)
}

#[test]
fn a_user_without_a_lab_gets_that_of_the_package_once() {
    let Some((desk, program)) = installed("packages, first use") else {
        return;
    };
    let first = plan(&desk, &program);
    first.expect_code(0);
    assert!(first.err.contains("the package's lab"), "{}", first.err);
    let second = plan(&desk, &program);
    second.expect_code(0);
    assert!(!second.err.contains("the package's lab"), "{}", second.err);
    assert_eq!(first.out, second.out);
}

#[test]
fn a_lab_that_another_user_may_write_is_not_taken_from_a_package() {
    use std::os::unix::fs::PermissionsExt;
    let Some((desk, program)) = installed("packages, trust") else {
        return;
    };
    let lab = desk.path("package/share/fslab/lab.tar");
    fs::set_permissions(&lab, fs::Permissions::from_mode(0o666)).expect("set");
    let ended = plan(&desk, &program);
    ended.expect_code(4).expect_error("refusing", "");
    assert!(!desk.path("home/.cache/fslab/names/default").exists());
}

#[test]
fn a_command_without_the_program_that_guests_run_is_refused_and_runs_elsewhere() {
    let Some(desk) = Desk::new().with_lab("packages, the command alone") else {
        return;
    };
    let program = desk.path("alone/fslab");
    let mut install = Command::new("install");
    install.arg("-Dm755").arg(env!("CARGO_BIN_EXE_fslab"));
    assert!(install.arg(&program).status().expect("it starts").success());
    plan(&desk, &program).expect_code(4).expect_error(
        "there is no fslab-guest",
        "copy fslab-guest to the same directory",
    );
    let mut here = Command::new(&program);
    here.args(["compare", "fake", "--study", "./small.toml", "--dry-run"]);
    desk.run_as_is(here).expect_code(0);
}
