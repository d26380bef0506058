//! `scripts/setup` on systems with other package managers, which stand-ins play.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crate::harness::{Desk, Ended};

/// Runs the script where only `manager` is installed; returns what it asked for, by line.
fn set_up(desk: &Desk, manager: &str) -> (Ended, Vec<String>) {
    let programs = desk.path("programs");
    fs::create_dir(&programs).expect("a directory");
    let asked = desk.path("asked");
    let stand_in = format!("#!/bin/sh\necho \"$@\" >> {}\n", asked.display());
    for name in [manager, "sudo", "cargo"] {
        fs::write(programs.join(name), &stand_in).expect("written");
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).expect("set");
    }
    // sudo runs what it is given.
    fs::write(programs.join("sudo"), "#!/bin/sh\nexec \"$@\"\n").expect("written");
    for name in ["sh", "id", "cut", "find", "env"] {
        symlink(format!("/usr/bin/{name}"), programs.join(name)).expect("linked");
    }
    let mut script = Command::new("env");
    script.arg(format!("PATH={}", programs.display())).arg("sh");
    script.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/setup"));
    let ended = desk.run_as_is(script);
    let asked = fs::read_to_string(asked).unwrap_or_default();
    (ended, asked.lines().map(str::to_owned).collect())
}

#[test]
fn packages_have_the_names_of_each_system() {
    // A package that every build needs, and one that only tests need.
    for (manager, first, needed, wished) in [
        ("dnf", "install -y", "xz", "nilfs-utils"),
        ("pacman", "-S --needed", "xz", "ttf-dejavu"),
        ("apk", "add", "xz", "ntfs-3g-progs"),
    ] {
        let desk = Desk::new();
        let (ended, asked) = set_up(&desk, manager);
        ended.expect_code(0);
        assert!(
            asked.iter().all(|line| line.starts_with(first)),
            "{asked:?}"
        );
        let has = |name: &str| {
            asked
                .iter()
                .any(|line| line.split(' ').any(|it| it == name))
        };
        assert!(has(needed), "{manager}: {asked:?}");
        let is_here = |program: &str| {
            ["/usr/sbin", "/sbin"]
                .iter()
                .any(|it| fs::exists(format!("{it}/{program}")).is_ok_and(|is| is))
        };
        let of_wish = match wished {
            "nilfs-utils" => is_here("mkfs.nilfs2"),
            "ntfs-3g-progs" => is_here("mkntfs"),
            _ => fs::exists("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").is_ok_and(|it| it),
        };
        assert_eq!(has(wished), !of_wish, "{manager}: {asked:?}");
        assert!(
            !has("xz-utils") && !has("-") && !has("zfs-fuse"),
            "{asked:?}"
        );
    }
}

#[test]
fn a_system_without_a_known_manager_is_named_what_it_needs() {
    let desk = Desk::new();
    let (ended, asked) = set_up(&desk, "zypper");
    ended.expect_code(1);
    assert!(
        ended.err.contains("none of apt-get, dnf, pacman and apk"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("xz-utils"), "{}", ended.err);
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn the_demo_installs_what_its_file_systems_need() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |name: &str| fs::read_to_string(format!("{root}/scripts/{name}")).expect("read");
    let setup = read("setup");
    assert!(setup.contains("\ndemo) wishes=$tools ;;\n"));
    let packages: Vec<&str> = ["needs", "tools"]
        .iter()
        .flat_map(|list| {
            let (_, rest) = setup.split_once(&format!("\n{list}='")).expect("a list");
            let (pairs, _) = rest.split_once('\'').expect("its end");
            pairs.split_whitespace()
        })
        .map(|pair| pair.split_once(':').expect("program:package").1)
        .collect();
    let demo = read("demo");
    let mut compared = 0;
    for line in demo.lines() {
        let Some((_, words)) = line.split_once("\"$fslab\" compare ") else {
            continue;
        };
        for subject in words.split(' ').take_while(|word| !word.starts_with('-')) {
            let subject = fslab_fs::find(subject).expect("in the catalogue");
            compared += 1;
            for tool in subject.tools().iter().filter(|it| it.package != "fslab") {
                assert!(packages.contains(&tool.package), "{tool:?}");
            }
        }
    }
    assert_eq!(compared, 9);
}
