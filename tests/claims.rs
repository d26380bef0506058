//! `fslab study check`: a run against the claims of an original, from the command line.

use std::fs;

use crate::harness::{Desk, Ended};
use crate::schemas::expect_schema;

/// One claim that any run of the small study confirms, and one about a subject that it has not.
const CLAIMS: &str = "study = 'small'\n\
    \n\
    [[claim]]\n\
    id = 'reads-in-place'\n\
    text = 'Reading 8 MiB takes less than a minute.'\n\
    source = 'nowhere'\n\
    required = true\n\
    [claim.holds]\n\
    kind = 'value'\n\
    phase = 'read'\n\
    subject = 'fake'\n\
    metric = 'elapsed'\n\
    at_most = '1 min'\n\
    \n\
    [[claim]]\n\
    id = 'xfs-first'\n\
    text = 'XFS reads faster than the fake.'\n\
    source = 'nowhere'\n\
    required = true\n\
    [claim.holds]\n\
    kind = 'faster'\n\
    phase = 'read'\n\
    subject = 'xfs'\n\
    than = ['fake']\n";

const PUBLISHED: &str = "place,subject,phase,parameter,value,metric,unit,note\n\
    table,fake,read,,1000,rate,K/sec,\n\
    table,xfs,read,,2000,rate,K/sec,\n\
    table,fake,write,,500,rate,K/sec,\n";

/// A desk with a run of the small study, and claims beside it.
fn desk(claims: &str) -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("claims.toml"), claims).expect("written");
    fs::write(desk.path("published.csv"), PUBLISHED).expect("written");
    let run = desk.compare_fake(&[]);
    run.expect_code(0);
    desk
}

fn check(desk: &Desk, words: &[&str]) -> Ended {
    desk.run(&[&["study", "check", "last"], words].concat())
}

#[test]
fn a_claim_holds_or_fails_as_it_is_written_and_an_inverted_one_fails_the_command() {
    let desk = desk(CLAIMS);
    let held = check(&desk, &["--study", "./small.toml"]);
    held.expect_code(0);
    assert!(held.out.contains("✓ holds"), "{}", held.out);
    assert!(held.out.contains("· not applicable"), "{}", held.out);
    assert!(
        held.out.contains("the run has no subject xfs"),
        "{}",
        held.out
    );
    let counts = "2 claims: holds 1, fails 0, undecided 0, not measured 0, not applicable 1.";
    assert!(held.out.contains(counts), "{}", held.out);

    let inverted = CLAIMS.replace("at_most", "at_least");
    fs::write(desk.path("inverted.toml"), inverted).expect("written");
    let failed = check(&desk, &["--claims", "inverted.toml"]);
    failed.expect_code(1);
    assert!(failed.out.contains("✗ fails"), "{}", failed.out);
    assert!(
        failed.out.contains("Required, and not so: reads-in-place."),
        "{}",
        failed.out
    );

    // What is not required fails nothing.
    let inverted = fs::read_to_string(desk.path("inverted.toml")).expect("text");
    let lenient = inverted.replace("required = true", "required = false");
    fs::write(desk.path("lenient.toml"), lenient).expect("written");
    let failed = check(&desk, &["--claims", "lenient.toml"]);
    failed.expect_code(0);
    assert!(failed.out.contains("✗ fails"), "{}", failed.out);
}

#[test]
fn programs_get_every_number_of_a_claim() {
    let desk = desk(CLAIMS);
    let shown = check(&desk, &["--study", "./small.toml", "--json"]);
    shown.expect_code(0);
    let card: serde_json::Value = serde_json::from_str(&shown.out).expect("JSON");
    assert_eq!(card["counts"]["holds"], 1);
    let claim = &card["claims"][0];
    assert_eq!(claim["outcome"], "holds");
    assert_eq!(claim["findings"][0]["quantity"], "time");
    assert_eq!(claim["findings"][0]["limits"]["at_most"], 60e9);
    assert!(claim["findings"][0]["value"].is_number(), "{claim}");
    assert_eq!(card["claims"][1]["outcome"], "not-applicable");
    let csv = check(&desk, &["--study", "./small.toml", "--csv"]);
    csv.expect_code(0);
    assert!(
        csv.out.starts_with("Claim,Outcome,What the run says\n"),
        "{}",
        csv.out
    );
}

/// The study's fake file system on Linux against one that was measured elsewhere.
const ACROSS: &str = "study = 'small'\n\
    \n\
    [platforms]\n\
    fake = 'linux'\n\
    slow = 'windows'\n\
    \n\
    [[claim]]\n\
    id = 'linux-first'\n\
    text = 'Linux reads faster than Windows.'\n\
    source = 'nowhere'\n\
    required = true\n\
    platforms = ['linux', 'windows']\n\
    [claim.holds]\n\
    kind = 'faster'\n\
    phase = 'read'\n\
    subject = 'fake'\n\
    than = ['slow']\n\
    metric = 'elapsed'\n";

#[test]
fn a_claim_about_two_platforms_is_decided_by_two_stored_runs() {
    let desk = desk(ACROSS);
    let csv = "subject,phase,repeat,metric,value,unit\n\
               slow,read,1,time,3600,s\nslow,read,2,time,3601,s\n";
    fs::write(desk.path("windows.csv"), csv).expect("written");
    let alone = check(&desk, &["--study", "./small.toml"]);
    alone.expect_code(0);
    assert!(alone.out.contains("not applicable"), "{}", alone.out);
    assert!(alone.out.contains("--against RUN=windows"), "{}", alone.out);
    desk.run(&["import", "windows.csv", "--run", "elsewhere"])
        .expect_code(0);
    let words = [
        "study",
        "check",
        "last~1",
        "--study",
        "./small.toml",
        "--against",
    ];
    let both = desk.run(&[&words[..], &["elsewhere=windows"]].concat());
    both.expect_code(0);
    assert!(both.out.contains("holds 1"), "{}", both.out);
    let unknown = desk.run(&[&words[..], &["elsewhere=window"]].concat());
    unknown.expect_code(2);
    let expected = "the claims name linux, windows; did you mean 'windows'?";
    assert!(unknown.err.contains(expected), "{}", unknown.err);
    let nowhere = desk.run(&[&words[..], &["elsewhere"]].concat());
    nowhere.expect_code(2);
    let expected = "name it, for example --against elsewhere=windows";
    assert!(nowhere.err.contains(expected), "{}", nowhere.err);
}

#[test]
fn an_originals_own_figures_decide_its_claims_without_a_run() {
    let desk = Desk::new();
    let words = ["study", "check", "--original"];
    let shown = desk.run(&[&words[..], &["--study", "home-usb", "--json"]].concat());
    shown.expect_code(0);
    let card: serde_json::Value = serde_json::from_str(&shown.out).expect("JSON");
    assert_eq!(card["run"], "original");
    assert_eq!(card["counts"]["undecided"], 0);
    assert_eq!(card["counts"]["not-applicable"], 0);
    let none = desk.run(&[&words[..], &["--study", "quick"]].concat());
    none.expect_code(2);
    let expected = "the study 'quick' has no published original";
    assert!(none.err.contains(expected), "{}", none.err);
    desk.run(&words).expect_code(2);
}

#[test]
fn the_originals_figures_stand_beside_the_runs() {
    let desk = desk(CLAIMS);
    let csv = check(&desk, &["--study", "./small.toml", "--published", "--csv"]);
    csv.expect_code(0);
    let lines: Vec<&str> = csv.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", csv.out);
    assert!(
        lines[1].starts_with("read,rate,,fake,fake,1000,K/sec,1024000,"),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].starts_with("read,rate,,xfs,,2000,K/sec,2048000,,"),
        "{}",
        lines[2]
    );
    assert!(
        lines[2].ends_with("the run has no subject xfs"),
        "{}",
        lines[2]
    );
    let json = [
        "study",
        "check",
        "last",
        "--study",
        "./small.toml",
        "--published",
        "--json",
    ];
    let both = expect_schema(&desk, "study-check-published", &json);
    assert!(both["groups"][0]["rows"][0]["then"].is_number(), "{both}");
    let text = check(&desk, &["--study", "./small.toml", "--published"]);
    text.expect_code(0);
    assert!(text.out.contains("Rank correlation"), "{}", text.out);
    assert!(
        text.out.contains("one factor for all subjects?"),
        "{}",
        text.out
    );
    let group = &both["groups"][0];
    assert_eq!(group["one_factor"]["n"], 1, "{group}");
    let absent = serde_json::json!([{ "subject": "xfs", "reason": "not-measured" }]);
    assert_eq!(group["left_out"], absent);
}

#[test]
fn a_mistake_in_the_claims_is_named_by_its_file_claim_and_key() {
    let desk = desk(CLAIMS);
    let mistaken = CLAIMS.replace("at_most", "atmost");
    fs::write(desk.path("mistaken.toml"), mistaken).expect("written");
    let refused = check(&desk, &["--claims", "mistaken.toml"]);
    refused.expect_code(2);
    for part in ["mistaken.toml", "line 8", "reads-in-place"] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    let missing = check(&desk, &["--claims", "none.toml"]);
    missing.expect_code(2);
    assert!(
        missing.err.contains("there is no file none.toml"),
        "{}",
        missing.err
    );
    let without = check(&desk, &[]);
    without.expect_code(2);
    assert!(
        without
            .err
            .contains("the study 'small' has no published original"),
        "{}",
        without.err
    );
    assert!(without.err.contains("--study"), "{}", without.err);
}

#[test]
fn studies_are_listed_with_their_claims_and_shown_for_people() {
    let desk = Desk::new();
    fs::write(desk.path("claims.toml"), CLAIMS).expect("written");
    let list = desk.run(&["study", "list"]);
    list.expect_code(0);
    assert!(list.out.contains("Published"), "{}", list.out);
    let shown = desk.run(&["study", "show", "./small.toml"]);
    shown.expect_code(0);
    for part in [
        "small: A small study",
        "repeats   2, 120 s a trial",
        "read: read, cold",
        "original: 0 published values, 2 claims, 2 of them required",
        "xfs-first (faster: read, required)",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    let json = desk.run(&["study", "show", "./small.toml", "--json"]);
    let study: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(study["name"], "small");
}
