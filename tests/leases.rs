//! What root believes of the files that it finds: leases, locks, kernels.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use crate::harness::{Desk, can_mount, is_root, skip};

const NAME: &str = "20261121-143205-k3f9-c0r0-1";

/// Writes a lease of a run that is dead, of `belongings`.
fn forge(desk: &Desk, name: &str, belongings: &serde_json::Value) {
    let leases = desk.path("home/.local/state/fslab/leases");
    fs::create_dir_all(&leases).expect("a directory");
    let line = |path: &str| {
        fs::read_to_string(path)
            .map(|text| text.trim().to_owned())
            .ok()
    };
    for format in [1, 2] {
        let lease = serde_json::json!({
            "format": format,
            "owner": { "pid": 4_000_000, "start_ticks": 1 },
            "whereabouts": {
                "machine": line("/etc/machine-id"),
                "boot": line("/proc/sys/kernel/random/boot_id"),
                "pid_namespace": null,
            },
            "belongings": belongings,
        });
        let path = leases.join(format!("{name}{}.json", if format == 1 { "" } else { "2" }));
        fs::write(path, format!("{lease}\n")).expect("written");
    }
}

/// Any directory that stood in a lease was removed, and any mount point unmounted.
#[test]
fn clean_touches_nothing_that_a_forged_lease_names() {
    let Some(_turn) = can_mount("a forged lease", &[]) else {
        return;
    };
    let desk = Desk::new();
    let precious = desk.path("precious");
    fs::create_dir(&precious).expect("a directory");
    fs::write(precious.join("file"), "x").expect("a file");
    let text = precious.to_str().expect("text");
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "fslab-test"])
        .arg(desk.path("out"))
        .status();
    assert!(mounted.expect("mount starts").success());
    let out = desk.path("out");
    for (number, belongings) in [
        serde_json::json!({ "scratch": text }),
        serde_json::json!({ "work_folder": text }),
        serde_json::json!({ "image": precious.join("file") }),
        serde_json::json!({ "mount_point": &out }),
        serde_json::json!({ "mount_point": &out, "work_folder": text }),
        serde_json::json!({ "scratch": format!("{text}/x/..") }),
    ]
    .iter()
    .enumerate()
    {
        forge(&desk, &format!("{NAME}{number}"), belongings);
    }
    let cleaned = desk.run(&["clean"]);
    let is_mounted = fs::read_to_string("/proc/self/mountinfo")
        .expect("mountinfo")
        .contains(out.to_str().expect("text"));
    let _ = std::process::Command::new("umount").arg(&out).status();
    cleaned.expect_code(4);
    assert!(
        cleaned.err.contains("cannot use the lease"),
        "{}",
        cleaned.err
    );
    assert!(precious.join("file").exists() && is_mounted);
}

/// Root believed what stood in the directory of another user.
#[test]
fn root_does_not_act_on_leases_of_others_and_does_not_begin_a_run_there() {
    if !is_root() {
        return skip("leases of others", "it needs root");
    }
    let desk = Desk::new();
    let state = desk.path("home/.local/state/fslab");
    fs::create_dir_all(state.join("leases")).expect("folders");
    chown(state.join("leases"), Some(65534), Some(65534)).expect("chown");
    let compare = ["compare", "fake", "--study", "./small.toml", "--out", "out"];
    for run in [&compare[..], &["clean"]] {
        let ended = desk.run(run);
        ended.expect_code(4);
        assert!(
            ended.err.contains("it belongs to the user 65534"),
            "{}",
            ended.err
        );
    }
    chown(state.join("leases"), Some(0), Some(0)).expect("chown");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).expect("changed");
    let ended = desk.run(&["clean"]);
    ended.expect_code(4);
    assert!(
        ended.err.contains("every user may write to it"),
        "{}",
        ended.err
    );
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("changed");
    desk.run(&compare).expect_code(0);
}

/// A killed run left its lock for ever.
#[test]
fn clean_removes_the_locks_of_killed_runs() {
    let desk = Desk::new();
    let runs = desk.path("home/.local/state/fslab/runs");
    fs::create_dir_all(&runs).expect("a directory");
    fs::write(runs.join("20261121-143205-k3f9.lock"), "").expect("a lock");
    let cleaned = desk.run(&["clean"]);
    cleaned.expect_code(0);
    assert!(
        cleaned.out.contains("20261121-143205-k3f9.lock"),
        "{}",
        cleaned.out
    );
    assert_eq!(fs::read_dir(&runs).expect("listed").count(), 0);
    assert!(desk.run(&["clean"]).out.contains("nothing to clean"));
}
