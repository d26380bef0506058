//! The figures of a study as files and on the terminal, the layouts of the originals' tools, and
//! one report of several machines.

use std::fs;

use crate::harness::{Desk, Ended};

/// Two phases over file and record size, with a figure of each shape that fits them.
const SWEPT: &str = "format = 1
name = 'swept'
title = 'A small sweep'
subjects = ['fake']
size = '64MiB'
repeats = 2
trial_limit_s = 60

[sweep.sizes]
file_size = { from = '64KiB', to = '256KiB', factor = 2 }
record = ['16KiB', '64KiB', '128KiB']
where = 'record <= file_size'

[[phase]]
name = 'write'
workload = 'write'
sweep = 'sizes'
file_size = '$file_size'
record = '$record'

[[phase]]
name = 'read'
workload = 'read'
sweep = 'sizes'
file_size = '$file_size'
record = '$record'

[[figure]]
id = 'figure-1'
title = 'Reading and writing over file size'
layout = 'curves'
phases = ['read', 'write']
over = 'file_size'
where = { record = '16KiB' }

[[figure]]
id = 'table'
title = 'As Iozone prints it'
layout = 'iozone-table'
phases = ['write', 'read']
";

fn compared(desk: &Desk) -> Ended {
    fs::write(desk.path("swept.toml"), SWEPT).expect("the study");
    let ended = desk.run(&["compare", "fake", "--study", "./swept.toml", "--out", "out"]);
    ended.expect_code(0);
    ended
}

#[test]
fn a_report_writes_each_figure_as_drawing_picture_numbers_and_text() {
    let desk = Desk::new();
    compared(&desk);
    let ended = desk.run(&["report", "last", "--out", "out", "--figures", "figures"]);
    ended.expect_code(0);
    let file = |name: &str| fs::read(desk.path("figures").join(name)).expect(name);
    let svg = String::from_utf8(file("figure-1.svg")).expect("text");
    assert!(
        svg.starts_with("<svg xmlns=") && svg.contains(">256 KiB</text>"),
        "{svg}"
    );
    let csv = String::from_utf8(file("figure-1.csv")).expect("text");
    assert!(
        csv.contains("figure-1,read,fake,65536,throughput,"),
        "{csv}"
    );
    let text = String::from_utf8(file("table.txt")).expect("text");
    assert!(text.contains("reclen"), "{text}");
    assert_eq!(file("figure-1.png")[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(file("figure-1.pdf")[..8], *b"%PDF-1.4");
    let latex = String::from_utf8(file("figure-1.tex")).expect("text");
    assert!(latex.contains("\\label{tab:figure-1}"), "{latex}");
    assert!(
        ended
            .out
            .lines()
            .any(|line| line.ends_with("figures/table.csv")),
        "{}",
        ended.out
    );
}

/// A TrueType font as one of another family, whose name is no longer than its own.
fn renamed(font: &[u8], family: &str) -> Vec<u8> {
    let number = |at: usize| usize::from(u16::from_be_bytes([font[at], font[at + 1]]));
    let long = |at: usize| number(at) << 16 | number(at + 2);
    // A directory of tables; the table of names has records, and their letters behind them.
    let tables = (0..number(4)).map(|index| 12 + 16 * index);
    let names = tables.clone().find(|at| font[*at..].starts_with(b"name"));
    let names = long(names.expect("a table of names") + 8);
    let letters = names + number(names + 4);
    let mut renamed = font.to_vec();
    for record in (0..number(names + 2)).map(|index| names + 6 + 12 * index) {
        let (platform, kind) = (number(record), number(record + 6));
        if kind != 1 {
            continue;
        }
        let name: Vec<u8> = match platform {
            1 => family.bytes().collect(),
            _ => family.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        };
        let (length, at) = (number(record + 8), letters + number(record + 10));
        assert!(name.len() <= length, "{family} is longer");
        renamed[at..at + name.len()].copy_from_slice(&name);
        let length = u16::try_from(name.len()).expect("a name");
        renamed[record + 8..record + 10].copy_from_slice(&length.to_be_bytes());
    }
    assert!(renamed != font, "the font has no name");
    renamed
}

/// Pictures were drawn with what the machine had: another font for another user, and none on a
/// machine without fonts.
#[test]
fn a_picture_is_the_same_whatever_fonts_the_user_has() {
    let desk = Desk::new();
    compared(&desk);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fslab-render/fonts");
    let font = fs::read(format!("{folder}/LiberationSans-Bold.ttf")).expect("a font");
    // The family that charts ask for first, with letters that are bold.
    let renamed = renamed(&font, "Helvetica Neue");
    let pictures = |figures: &str| {
        let ended = desk.run(&["report", "last", "--out", "out", "--figures", figures]);
        ended.expect_code(0);
        assert!(!ended.err.contains("PNG"), "{}", ended.err);
        ["figure-1.png", "table.png", "figure-1.pdf", "table.pdf"]
            .map(|name| fs::read(desk.path(figures).join(name)).expect(name))
    };
    let without = pictures("without");
    for folder in ["home/.fonts", "home/.local/share/fonts"] {
        fs::create_dir_all(desk.path(folder)).expect("a directory for fonts");
        fs::write(desk.path(folder).join("same.ttf"), &font).expect("a font");
        fs::write(desk.path(folder).join("other.ttf"), &renamed).expect("a font");
    }
    assert!(
        pictures("with") == without,
        "the user's fonts make a difference"
    );
}

#[test]
fn a_report_writes_every_chart_and_every_table_with_an_index_that_links_all() {
    let desk = Desk::new();
    compared(&desk);
    let parts = ["--charts", "parts/charts", "--tables", "parts/tables"];
    let ended = desk.run(&[&["report", "last", "--out", "out"][..], &parts].concat());
    ended.expect_code(0);
    assert!(!ended.err.contains("PNG"), "{}", ended.err);
    for (folder, wanted) in [
        ("charts", "/write/rate.svg"),
        ("tables", "/write/points.csv"),
    ] {
        let folder = desk.path("parts").join(folder);
        let index = fs::read_to_string(folder.join("index.md")).expect("an index");
        let links = index
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let links: Vec<&str> = links.collect();
        assert!(links.iter().any(|link| link.ends_with(wanted)), "{index}");
        for link in &links {
            let content = fs::read(folder.join(link)).expect(link);
            let is_whole = match link.rsplit('.').next() {
                Some("svg") => {
                    content.starts_with(b"<svg xmlns=") && content.ends_with(b"</svg>\n")
                }
                Some("png") => content.starts_with(b"\x89PNG\r\n\x1a\n"),
                Some("pdf") => content.starts_with(b"%PDF-1.4\n"),
                Some("md") => content.starts_with(b"**"),
                Some("tex") => content.starts_with(b"% Needs \\usepackage{"),
                _ => content.contains(&b','),
            };
            assert!(is_whole, "{link}");
        }
        let count = |end: &str| links.iter().filter(|link| link.ends_with(end)).count();
        assert_eq!(count(".png"), count(".svg"));
        assert_eq!(count(".pdf"), count(".svg"));
        assert_eq!(count(".tex"), count(".csv"));
    }
    let refused = desk.run(&["report", "last", "--out", "out", "--tables", "swept.toml"]);
    assert!(
        refused
            .err
            .contains("cannot write a report to the directory swept.toml"),
        "{}",
        refused.err
    );
}

#[test]
fn the_figures_are_shown_on_the_terminal_and_a_sweep_is_one_row_of_the_overview() {
    let desk = Desk::new();
    let ended = compared(&desk);
    let rows = ended
        .out
        .lines()
        .filter(|line| line.trim_start().starts_with("Write"));
    assert_eq!(rows.count(), 1, "{}", ended.out);
    assert!(ended.out.contains("8 of 8 points"), "{}", ended.out);
    let figures = desk.run(&["show", "last", "--figures"]);
    figures.expect_code(0);
    assert!(
        figures
            .out
            .contains("figure-1: Reading and writing over file size")
    );
    assert!(figures.out.contains("128 KiB"), "{}", figures.out);
    let all = desk.run(&["show", "last", "--all"]);
    all.expect_code(0);
    assert!(all.out.contains("Every point of read"), "{}", all.out);
}

#[test]
fn a_sweep_is_exported_as_iozone_prints_it_and_bonnie_s_layout_is_refused() {
    let desk = Desk::new();
    compared(&desk);
    let iozone = desk.run(&["export", "last", "--format", "iozone"]);
    iozone.expect_code(0);
    assert!(
        iozone
            .out
            .contains("\"Writer report\"\n        \"16\"  \"64\"  \"128\"\n\"64\"")
    );
    let bonnie = desk.run(&["export", "last", "--format", "bonnie"]);
    assert_ne!(bonnie.code, Some(0));
    assert!(
        bonnie.err.contains("bonnie++'s layout needs phases"),
        "{}",
        bonnie.err
    );
}

#[test]
fn a_study_without_figures_says_so() {
    let desk = Desk::new();
    desk.compare_fake(&[]).expect_code(0);
    let ended = desk.run(&["report", "last", "--out", "out", "--figures", "figures"]);
    assert_ne!(ended.code, Some(0));
    assert!(ended.err.contains("defines no figures"), "{}", ended.err);
}

#[test]
fn runs_of_two_directories_become_one_comparison_under_their_labels() {
    let desk = Desk::new();
    let mut names = Vec::new();
    for folder in ["left", "right"] {
        fs::create_dir(desk.path(folder)).expect("a directory");
        let venue = [
            "--venue", "dir", "--dir", folder, "--size", "320MiB", "--json",
        ];
        let study = ["compare", "--study", "./small.toml", "--out", "out"];
        let ended = desk.run(&[&study[..], &venue[..]].concat());
        ended.expect_code(0);
        let run: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
        names.push(run["run"].as_str().expect("a name").to_owned());
    }
    let (left, right) = (format!("{}=ntfs", names[0]), format!("{}=ext4", names[1]));
    let merge = [
        "report",
        &names[0],
        &names[1],
        "--across-machines",
        "--out",
        "merged",
    ];
    let twins = desk.run(&merge);
    assert_ne!(twins.code, Some(0));
    assert!(
        twins.err.contains("rename one with --label"),
        "{}",
        twins.err
    );
    let ended = desk.run(&[&merge[..], &["--label", &left, "--label", &right]].concat());
    ended.expect_code(0);
    let page = fs::read_to_string(desk.path(ended.out.trim())).expect("the report");
    assert!(page.contains("compared across machines") && page.contains(">ntfs</th>"));
    let stray = desk.run(&[
        "report",
        &names[0],
        "--label",
        "nobody=ntfs",
        "--out",
        "merged",
    ]);
    assert!(
        stray.err.contains("is not one of the runs"),
        "{}",
        stray.err
    );
}
