//! `scripts/results --check`, with a command instead of fslab that prints what the test gives it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts");

/// The dry run, the run of which a subject fails, its figures, its records.
const FSLAB: &str = r#"#!/bin/sh
case "$*" in
run*--dry-run) printf 'venue  sim, lab %s\nhash   %s\n' "${LAB:-0123456789ab}" "${HASH:-f00d}" ;;
run*) exit "${CODE:-3}" ;;
show*) echo "Fingerprint ${FINGERPRINT:-29dcda9f}: these records belong to this lab." ;;
report*)
    for folder; do :; done
    mkdir -p "$folder"
    printf 'figure,phase,subject,x,what,value,unit\ntotal,clear,"a,b",,total_ns,%s,ns\n' "${TIME:-100}" >"$folder/total.csv"
    ;;
export*) echo '{"venue": {"lab": "0123456789ab"}}' ;;
esac
"#;

/// A checkout with the scripts only.
struct Checkout(TempDir);

impl Checkout {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("scripts")).expect("a directory");
        for name in ["results", "csv.awk", "figures.awk", "sensitivity.awk"] {
            let file = Path::new(SCRIPTS).join(name);
            fs::copy(file, at("scripts").join(name)).expect("the script");
        }
        fs::write(at("fslab"), FSLAB).expect("written");
        fs::set_permissions(at("fslab"), fs::Permissions::from_mode(0o755)).expect("opened");
        Self(folder)
    }

    /// The status of `scripts/results WORDS`, and what it printed.
    fn run(&self, words: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
        let mut sh = Command::new("sh");
        sh.arg(self.path().join("scripts/results")).args(words);
        sh.env("FSLAB", self.path().join("fslab"));
        let ended = sh.envs(environment.iter().copied()).output();
        let ended = ended.expect("sh starts");
        let said = [ended.stdout, ended.stderr].concat();
        (ended.status.code(), String::from_utf8(said).expect("text"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

#[test]
fn a_study_is_equal_differs_or_cannot_be_checked() {
    let checkout = Checkout::new();
    let made = checkout.run(&["home-usb"], &[]);
    assert_eq!(made.0, Some(0), "{}", made.1);
    let summary = checkout.path().join("results/home-usb/summary.txt");
    let text = fs::read_to_string(&summary).expect("a summary");
    assert!(text.ends_with("\nLab 0123456789ab\n"), "{text}");
    let check = |environment: &[(&str, &str)], code: i32, said: &[&str]| {
        let ended = checkout.run(&["--check", "home-usb"], environment);
        assert_eq!(ended.0, Some(code), "{}", ended.1);
        for words in said {
            assert!(ended.1.contains(words), "no '{words}' in: {}", ended.1);
        }
    };
    check(&[], 0, &["home-usb: equal: 29dcda9f"]);
    let other = [("FINGERPRINT", "11111111")];
    check(&other, 1, &["home-usb: DIFFERS: 11111111, and 29dcda9f"]);
    check(&[("CODE", "1")], 1, &["FAILED"]);
    let lab = ("LAB", "ba9876543210");
    let same = "another lab than 0123456789ab: 1 of 1 figures within 1 %";
    check(&[lab], 2, &[same]);
    check(&[lab, ("TIME", "100.9")], 2, &[same]);
    let slower = ["0 of 1 figures within 1 %", "clear, a,b: +10.0 %"];
    check(&[lab, ("TIME", "110")], 1, &slower);
    let sensitivity = checkout.path().join("results/home-usb/sensitivity.csv");
    let text = "phase,subject,sensitivity\nclear,\"a,b\",0.13\n";
    fs::write(&sensitivity, text).expect("written");
    check(&[lab, ("TIME", "110")], 2, &[same]);
    for name in ["total.csv", "sensitivity.csv"] {
        let file = checkout.path().join("results/home-usb").join(name);
        fs::remove_file(file).expect("removed");
    }
    let import = ["the lab 0123456789ab", "fslab lab import"];
    check(&[lab], 2, &import);
    check(&[("HASH", "beef")], 2, &["another", "> hash   beef"]);
    fs::write(&summary, "Fingerprint 29dcda9f: as it was before labs\n").expect("written");
    check(&[], 2, &["names no lab"]);
}

#[test]
fn one_study_that_differs_decides_over_those_that_cannot_be_checked() {
    let checkout = Checkout::new();
    assert_eq!(checkout.run(&[], &[]).0, Some(0));
    assert_eq!(checkout.run(&["--check"], &[]).0, Some(0));
    let small = checkout.path().join("results/small-files/summary.txt");
    let lab_of_another = "Fingerprint 29dcda9f: these\nLab ba9876543210\n";
    fs::write(&small, lab_of_another).expect("written");
    assert_eq!(checkout.run(&["--check"], &[]).0, Some(2));
    let bonnie = checkout.path().join("results/bonnie-2010/summary.txt");
    fs::write(&bonnie, "Fingerprint 1: these\nLab 0123456789ab\n").expect("written");
    assert_eq!(checkout.run(&["--check"], &[]).0, Some(1));
    assert_eq!(checkout.run(&["--check", "no-such-study"], &[]).0, Some(2));
}
