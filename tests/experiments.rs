//! `--vary` and `fslab experiment`, and what an answer counts.

use serde_json::Value;

use crate::harness::Desk;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

const VARY: [&str; 6] = [
    "--vary",
    "phase.write.record=4KiB,1MiB",
    "--vary",
    "size=320MiB,640MiB",
    "--repeats",
    "2",
];

#[test]
fn every_combination_is_a_run_and_the_experiment_says_what_decides() {
    let desk = Desk::new();
    let planned = desk.compare_fake(&[&VARY[..], &["--dry-run"]].concat());
    planned.expect_code(0);
    assert!(
        planned.out.contains("4 conditions in all"),
        "{}",
        planned.out
    );
    // The figures of the fake file system follow from the seed.
    let ended = desk.compare_fake(&[&VARY[..], &["--seed", "1"]].concat());
    ended.expect_code(0);
    for part in ["What decides", "report: ", "fslab-experiment-"] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    let listed = json(&desk.run(&["list", "--json"]).out);
    assert_eq!(listed.as_array().map(Vec::len), Some(4));
    let shown = desk.run(&["experiment", "--json"]);
    shown.expect_code(0);
    let experiment = json(&shown.out);
    assert_eq!(experiment["planned"], 4);
    let levels = |place: usize| experiment["conditions"][place]["levels"].clone();
    assert_eq!(levels(0), serde_json::json!(["4KiB", "320MiB"]));
    assert_eq!(levels(3), serde_json::json!(["1MiB", "640MiB"]));
    // The record has an effect on the phase that it is of; the size has none on a fixed file.
    let effects = experiment["effects"].as_array().expect("effects");
    let of_write = effects.iter().filter(|it| it["phase"] == "write");
    let largest = of_write.max_by(|a, b| {
        let share = |it: &Value| it["share"].as_f64().expect("a share");
        share(a).total_cmp(&share(b))
    });
    let largest = largest.expect("an effect");
    assert_eq!(largest["effect"], "phase.write.record", "{effects:?}");
    assert!(largest["share"].as_f64() > Some(0.5), "{largest}");
}

#[test]
fn the_same_command_resumes_an_experiment_and_another_begins_a_new_one() {
    // Without a seed each command has another.
    for seed in [&["--seed", "5"][..], &[]] {
        let desk = Desk::new();
        let words = [&VARY[..], seed].concat();
        desk.compare_fake(&words).expect_code(0);
        let runs = || {
            json(&desk.run(&["list", "--json"]).out)
                .as_array()
                .map_or(0, Vec::len)
        };
        desk.compare_fake(&[&words[..], &["--resume"]].concat())
            .expect_code(0);
        assert_eq!(runs(), 4, "{seed:?}");
        desk.compare_fake(&words).expect_code(0);
        assert_eq!(runs(), 8, "{seed:?}");
    }
}

#[test]
fn factors_that_do_not_exist_and_levels_that_do_not_fit_are_refused_by_name() {
    let desk = Desk::new();
    for (words, part) in [
        (
            &["--vary", "colour=red,blue"][..],
            "there is no factor 'colour'",
        ),
        (&["--vary", "size=1GiB"], "needs two levels or more"),
        (&["--vary", "size=1GiB,huge"], "size=huge"),
        (
            &["--vary", "size=1GiB,2GiB", "--vary", "size=3GiB,4GiB"],
            "given twice",
        ),
    ] {
        let ended = desk.compare_fake(words);
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.err);
        assert!(ended.err.contains(part), "{words:?}: {}", ended.err);
    }
    desk.compare_fake(&[]).expect_code(0);
    let none = desk.run(&["experiment"]);
    assert_eq!(none.code, Some(2), "{}", none.err);
    assert!(
        none.err.contains("the store has no experiment"),
        "{}",
        none.err
    );
}

#[test]
fn weights_and_measures_of_a_run_are_checked_and_shown() {
    let desk = Desk::new();
    desk.compare_fake(&[]).expect_code(0);
    let unknown = desk.run(&["show", "--weights", "wriet=2"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.err.contains("'wriet'") && unknown.err.contains("'write'"),
        "{}",
        unknown.err
    );
    let shown = desk.run(&["show", "--json", "--measure", "time", "--weights", "read=3"]);
    shown.expect_code(0);
    let answer = &json(&shown.out)["plan"]["answer"];
    assert_eq!(
        (&answer["measure"], &answer["weights"]["read"]),
        (&"time".into(), &3.0.into())
    );
}

#[test]
fn the_answer_on_disks_within_the_uncertainty_of_a_profile_is_the_answer_of_the_model() {
    let desk = Desk::new();
    let both = ["--tolerance", "--vary", "disk=ram-2024,ssd-sata-2022"];
    for (words, part) in [
        (&both[..], "both set the disk"),
        (
            &["--tolerance", "--venue", "loop", "--images", "images"],
            "needs the venue sim",
        ),
        (&["--tolerance=0"], "1..=100"),
    ] {
        let ended = desk.run(&[&["compare", "ext4", "--dry-run"], words].concat());
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.err);
        assert!(ended.err.contains(part), "{words:?}: {}", ended.err);
    }
    let Some(desk) = desk.with_lab("tolerance") else {
        return;
    };
    // Ext2 and ext4 differ by their journal alone, which a slow disk shows.
    let words = [
        "compare",
        "ext2",
        "ext4",
        "--study",
        "./small.toml",
        "--disk",
        "usb-flash-16g-2015",
        "--tolerance=2",
        "--repeats",
        "1",
        "--perturb",
        "off",
        "--images",
        "images",
        "--out",
        "out",
    ];
    let ended = desk.run(&[&words[..], &["--json"]].concat());
    ended.expect_code(0);
    let experiment = json(&ended.out);
    let model = &experiment["model"];
    assert_eq!(
        (&model["disk"], &model["draws"]),
        (&"usb-flash-16g-2015".into(), &2.into())
    );
    let number = |value: &Value| value.as_f64().expect("a number");
    let (least, most) = (number(&model["leads"][0]), number(&model["leads"][1]));
    let stated = number(&model["stated_lead"]);
    assert!(least <= stated && stated <= most, "{model}");
    assert!(least < most, "other disks have other figures: {model}");
    let shown = desk.run(&["experiment", "--out", "out"]);
    shown.expect_code(0);
    let sentence = shown.out.lines().next().expect("a line");
    assert!(
        sentence.contains("2 disks drawn within their uncertainty"),
        "{sentence}"
    );
    // A drawn disk by its name, alone.
    let listed = desk.run(&["disk", "show", "usb-flash-16g-2015+draw2"]);
    listed.expect_code(0);
    assert!(
        listed.out.contains("disk 2 within its uncertainty"),
        "{}",
        listed.out
    );
}
