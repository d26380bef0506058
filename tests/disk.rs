//! `fslab disk`: the shelf of profiles, a profile of the user's own, and what its disk does.

use std::fs;

use crate::harness::Desk;

const OLD: &str = "hdd-7200-ata100-2002";

/// A desk with `mine.toml`, the profile of the old disk under another name, with changes.
fn desk_with_profile(from: &str, to: &str) -> Desk {
    let desk = Desk::new();
    let shown = desk.run(&["disk", "show", OLD, "--toml"]);
    shown.expect_code(0);
    assert!(shown.out.contains(from), "{from:?} is in {}", shown.out);
    let mine = shown.out.replace(OLD, "mine").replacen(from, to, 1);
    fs::write(desk.path("mine.toml"), mine).expect("written");
    desk
}

#[test]
fn the_list_names_every_profile_on_the_terminal_and_in_json() {
    let desk = Desk::new();
    let listed = desk.run(&["disk", "list", "--json"]);
    listed.expect_code(0);
    let profiles: serde_json::Value = serde_json::from_str(&listed.out).expect("pure JSON");
    let profiles = profiles.as_array().expect("a list");
    assert!(profiles.len() >= 9, "{}", profiles.len());
    let table = desk.run(&["disk", "list"]);
    table.expect_code(0);
    for profile in profiles {
        let name = profile["name"].as_str().expect("a name");
        assert!(table.out.contains(name), "{name} is in {}", table.out);
        assert!(profile["mean_access_ns"].as_u64() > Some(0), "{profile}");
    }
}

#[test]
fn a_profile_is_shown_with_its_sources_and_what_follows_from_it() {
    let desk = Desk::new();
    let shown = desk.run(&["disk", "show", OLD]);
    shown.expect_code(0);
    for part in ["8.9 ms", "WD400BB", "derived figures", "8.33 ms"] {
        assert!(shown.out.contains(part), "{part:?} is in {}", shown.out);
    }
    let shown = desk.run(&["disk", "show", OLD, "--json"]);
    shown.expect_code(0);
    let document: serde_json::Value = serde_json::from_str(&shown.out).expect("pure JSON");
    assert_eq!(document["profile"]["seek"]["average"], "8.9 ms");
    assert_eq!(document["parameters"]["seek_average_ns"], 8_900_000);
    assert_eq!(document["derived"]["revolution_ns"], 8_333_333);
}

#[test]
fn an_unknown_profile_suggests_the_nearest() {
    let desk = Desk::new();
    desk.run(&["disk", "test", "hdd-7200-ata-2002"])
        .expect_code(2)
        .expect_error("no disk profile 'hdd-7200-ata-2002'", OLD);
}

#[test]
fn a_profile_of_the_users_own_is_shown_and_its_disk_runs() {
    let desk = desk_with_profile("average = \"8.9 ms\"", "average = \"12.9 ms\"");
    let mean = |name: &str| {
        let tested = desk.run(&["disk", "test", name, "--json"]);
        tested.expect_code(0);
        let bench: serde_json::Value = serde_json::from_str(&tested.out).expect("pure JSON");
        bench["data_sheet"][0]["model"].as_u64().expect("a time")
    };
    let slower_ns = mean("./mine.toml") - mean(OLD);
    assert!((3_800_000..4_200_000).contains(&slower_ns), "{slower_ns}");
}

#[test]
fn what_is_wrong_with_a_profile_is_reported_with_file_and_key() {
    let desk = desk_with_profile("average =", "avrage =");
    desk.run(&["disk", "show", "./mine.toml"])
        .expect_code(2)
        .expect_error("cannot use the disk profile ./mine.toml", "'average'")
        .expect_error("seek.avrage", "");
    let desk = desk_with_profile("\"8.9 ms\"", "\"8.9 MB\"");
    desk.run(&["disk", "show", "./mine.toml"])
        .expect_code(2)
        .expect_error("seek.average: '8.9 MB'", "");
    desk.run(&["disk", "show", "./none.toml"])
        .expect_code(2)
        .expect_error("cannot read the disk profile ./none.toml", "");
}

#[test]
fn a_test_prints_the_same_every_time_and_draws_a_file() {
    let desk = Desk::new();
    let first = desk.run(&["disk", "test", OLD, "--output", "out/curves.svg"]);
    first.expect_code(0);
    for part in [
        "The data sheet and the model",
        "A burst of random writes",
        "13.4 ms",
    ] {
        assert!(first.out.contains(part), "{part:?} is in {}", first.out);
    }
    let drawing = fs::read_to_string(desk.path("out/curves.svg")).expect("a drawing");
    assert!(drawing.starts_with("<svg ") && drawing.trim_end().ends_with("</svg>"));
    let again = desk.run(&["disk", "test", OLD, "--output", "out/again.svg"]);
    assert_eq!(first.out, again.out);
    let again = fs::read_to_string(desk.path("out/again.svg")).expect("a drawing");
    assert_eq!(drawing, again);
}

#[test]
fn the_points_of_all_curves_are_rows_of_csv() {
    let desk = Desk::new();
    let tested = desk.run(&["disk", "test", OLD, "--csv"]);
    tested.expect_code(0);
    let mut rows = tested.out.lines();
    assert_eq!(
        rows.next(),
        Some("profile,digest,curve,line,x_unit,x,y_unit,y")
    );
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> = row.split(',').collect();
        assert_eq!(cells.len(), 8, "{row}");
        assert!(
            cells[5].parse::<f64>().is_ok() && cells[7].parse::<f64>().is_ok(),
            "{row}"
        );
        count += 1;
    }
    assert!(count > 150, "{count}");
}

#[test]
fn a_drawing_that_would_be_no_svg_or_has_no_folder_is_refused() {
    let desk = Desk::new();
    desk.run(&["disk", "test", OLD, "--output", "curves.png"])
        .expect_code(2)
        .expect_error("cannot draw the curves to curves.png", ".svg");
    desk.run(&["disk", "test", OLD, "--output", "none/curves.svg"])
        .expect_code(2)
        .expect_error("cannot write none/curves.svg", "");
}
