//! Stores that are damaged, runs that are deleted, and what others wrote: none of it harms, and no
//! figure changes without a word.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::harness::{COMPARE_FAKE, Desk};
use crate::interruption::wait_for_first_trial;

/// A run as `fslab export --format json` writes it.
const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/stores/v4.json"
);
const NAME: &str = "20261121-143205-k3f9";
/// Sets the title of a terminal, colours, turns the direction of text.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}2J\u{202e}";

fn document() -> serde_json::Value {
    let text = fs::read_to_string(RUN).expect("the fixture");
    serde_json::from_str(&text).expect("a run")
}

/// A desk with the run of the fixture.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.run(&["import", RUN]).expect_code(0);
    desk
}

fn acts_on_a_terminal(text: &str) -> bool {
    let layout = |c: char| c == '\n' || c == '\t';
    text.contains(|c: char| (c.is_control() && !layout(c)) || c == '\u{202e}')
}

#[test]
fn a_deleted_run_is_in_no_list_until_it_is_brought_back_or_removed() {
    let desk = desk();
    let whole = desk.run(&["export", "--format", "json"]).out;
    desk.run(&["delete", "last"])
        .expect_code(2)
        .expect_error("cannot ask for confirmation", "--yes");
    let deleted = desk.run(&["delete", "last", "--yes"]);
    deleted.expect_code(0);
    let undo = format!("fslab delete --undo {NAME}");
    assert!(deleted.out.contains(&undo), "{}", deleted.out);
    assert!(desk.run(&["list"]).out.starts_with("0 runs"));
    assert!(desk.run(&["list", "--deleted"]).out.contains(NAME));
    desk.run(&["show", NAME])
        .expect_code(2)
        .expect_error("is deleted", &undo);
    desk.run(&["show"]).expect_code(2);
    desk.run(&["import", RUN]).expect_code(2);
    desk.run(&["delete", "--undo", NAME]).expect_code(0);
    assert_eq!(desk.run(&["export", "--format", "json"]).out, whole);

    let removed = desk.run(&["delete", "--purge", NAME, "--yes", "--json"]);
    removed.expect_code(0);
    let removed: serde_json::Value = serde_json::from_str(&removed.out).expect("JSON");
    assert_eq!(
        removed,
        serde_json::json!([{"run": NAME, "trials": 4, "state": "removed"}])
    );
    desk.run(&["delete", "--undo", NAME]).expect_code(2);
    desk.run(&["import", RUN]).expect_code(0);
}

#[test]
fn a_run_that_is_under_way_is_not_deleted() {
    let desk = desk();
    let folder = desk.path("home/.local/state/fslab/runs");
    fs::create_dir_all(&folder).expect("a directory");
    let lock = fs::File::create(folder.join(format!("{NAME}.lock"))).expect("a lock");
    lock.lock().expect("locked");
    desk.run(&["delete", NAME, "--yes"])
        .expect_code(2)
        .expect_error("is under way", "wait until it ends");
    drop(lock);
    desk.run(&["delete", NAME, "--yes"]).expect_code(0);
}

/// A document with `"run": "a/b"` was stored, and `fslab list` failed from then on.
#[test]
fn an_import_with_a_name_that_is_none_is_refused_and_the_store_stays_readable() {
    let desk = desk();
    let long = "a".repeat(5_000);
    for (field, name) in [
        ("run", "a/b"),
        ("run", "../../x"),
        ("run", ""),
        ("run", &long),
        ("run", EVIL),
        ("plan_hash", "zz"),
        ("plan_hash", EVIL),
    ] {
        let mut run = document();
        run[field] = name.into();
        let refused = desk.run_with_input(&["import", "-"], &run.to_string());
        refused.expect_code(2);
        assert!(!acts_on_a_terminal(&refused.err), "{:?}", refused.err);
        assert!(refused.err.len() < 2_000, "{}", refused.err);
        desk.run(&["list"]).expect_code(0);
    }
}

/// Of 200 random changes of a store's file, 23 gave other figures without a word.
#[test]
fn no_change_of_a_byte_of_a_store_gives_other_figures_with_exit_code_0() {
    let desk = desk();
    let store = desk.store();
    let bytes = fs::read(&store).expect("the store");
    let arguments = ["export", "--format", "csv"];
    let whole = desk.run(&arguments).out;
    assert!(whole.lines().count() > 20);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        random.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16
    };
    let mut refused = 0;
    for _ in 0..200 {
        let mut changed = bytes.clone();
        let place = next() as usize % changed.len();
        changed[place] ^= (next() % 255 + 1) as u8;
        fs::write(&store, changed).expect("written");
        for beside in ["-wal", "-shm"] {
            let _ = fs::remove_file(store.with_file_name(format!("fslab.db{beside}")));
        }
        let ended = desk.run(&arguments);
        match ended.code {
            Some(0) => assert_eq!(ended.out, whole, "byte {place}"),
            code => {
                assert!(matches!(code, Some(2 | 4)), "byte {place}: {code:?}");
                assert!(!ended.err.contains("panicked"), "{}", ended.err);
                refused += 1;
            }
        }
    }
    assert!(refused > 10, "{refused} of 200 are refused");
}

#[test]
fn the_check_of_a_store_names_the_damage_by_run_and_trial() {
    let desk = desk();
    let sound = desk.run(&["store", "check"]);
    sound.expect_code(0);
    assert!(sound.out.contains("1 run and 4 trials: no damage"));
    let store = desk.store();
    let mut bytes = fs::read(&store).expect("the store");
    // The text of a fact, which stands in one row alone.
    let needle = b"ext4";
    let places = bytes.windows(4).enumerate();
    let places: Vec<_> = places
        .filter(|(_, window)| window == needle)
        .map(|(place, _)| place)
        .collect();
    for place in places {
        bytes[place] = b'E';
    }
    fs::write(&store, &bytes).expect("written");
    let found = desk.run(&["store", "check", "--json"]);
    found.expect_code(1);
    let found: serde_json::Value = serde_json::from_str(&found.out).expect("JSON");
    let findings = found["findings"].as_array().expect("a list");
    assert!(
        findings.iter().any(|finding| finding["run"] == NAME),
        "{found}"
    );
    desk.run(&["show"]).expect_code(2);
    fs::write(
        &store,
        b"no database at all, but a text of some length".repeat(100),
    )
    .expect("written");
    desk.run(&["store", "check"]).expect_code(1);
}

#[test]
fn control_characters_of_others_do_not_reach_the_terminal() {
    let desk = Desk::new();
    let mut run = document();
    run["plan"]["title"] = format!("t{EVIL}").into();
    run["plan"]["study"] = format!("s{EVIL}").into();
    run["trials"][0]["console"] = EVIL.into();
    run["trials"][0]["phases"][0]["notes"] = serde_json::json!([EVIL]);
    let imported = desk.run_with_input(&["import", "-"], &run.to_string());
    imported.expect_code(0);
    let study = fs::read_to_string(desk.path("small.toml")).expect("the study");
    let title = "title = \"\\u001b]0;owned\\u0007\\u202e\"";
    let study: Vec<_> = study
        .lines()
        .map(|line| {
            if line.starts_with("title") {
                title
            } else {
                line
            }
        })
        .collect();
    assert!(study.contains(&title));
    fs::write(desk.path("evil.toml"), study.join("\n")).expect("written");
    let mut ended = vec![imported];
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["show", "--all"],
        &["show", "--json"],
        &["study", "show", "./evil.toml"],
        &["compare", "fake", "--study", "./evil.toml"],
        &["show", EVIL],
        &["list", EVIL],
        &[EVIL],
        &["delete", EVIL],
        &["report", "--store", EVIL],
        &["compare", EVIL],
        &["disk", "show", EVIL],
        &["trace", "show", EVIL],
    ] {
        for color in ["never", "always"] {
            let mut arguments = arguments.to_vec();
            arguments.insert(0, color);
            arguments.insert(0, "--color");
            ended.push(desk.run(&arguments));
        }
    }
    for ended in ended {
        for text in [&ended.out, &ended.err] {
            for bad in ["\u{1b}]", "\u{7}", "\u{9b}", "\u{202e}", "\u{1b}[31m\u{9b}"] {
                assert!(!text.contains(bad), "{text:?}");
            }
        }
    }
}

/// A guess of the name, `report.csv.PID.part`, was opened through a link, and the link's target
/// overwritten; and a killed export left the part file.
#[test]
fn a_file_that_is_written_goes_through_no_name_that_others_could_prepare() {
    let desk = desk();
    let precious = desk.path("precious");
    fs::write(&precious, "precious").expect("written");
    let out = desk.path("out/run.csv");
    let out = out.to_str().expect("a path of text");
    // Every process number that the command could get.
    let child = desk.start(&["--version"]);
    let first = child.id();
    child.wait_with_output().expect("ended");
    for number in first..first + 300 {
        let name = format!("run.csv.{number}.part");
        symlink(&precious, desk.path("out").join(name)).expect("a link");
    }
    desk.run(&["export", "--format", "csv", "--output", out])
        .expect_code(0);
    assert_eq!(fs::read_to_string(&precious).expect("reads"), "precious");
    let written = fs::symlink_metadata(out).expect("there");
    assert!(written.is_file());
    let names = fs::read_dir(desk.path("out")).expect("lists").count();
    assert_eq!(names, 301, "nothing else is left");

    // A link that the user names is followed, as `>` follows it.
    let link = desk.path("link.csv");
    symlink("out/linked.csv", &link).expect("a link");
    let link = link.to_str().expect("a path of text");
    desk.run(&["export", "--format", "csv", "--output", link])
        .expect_code(0);
    let linked = fs::read_to_string(desk.path("out/linked.csv")).expect("written");
    assert_eq!(linked, fs::read_to_string(out).expect("written"));
}

/// SIGXFSZ ended the process: no error, no hint, a part file.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_with_a_hint() {
    let desk = desk();
    let limited = |blocks: u32, arguments: &str| {
        let mut shell = Command::new("sh");
        let fslab = env!("CARGO_BIN_EXE_fslab");
        let script = format!("ulimit -f {blocks}; exec '{fslab}' {arguments}");
        shell.args(["-c", &script]).stdin(Stdio::null());
        desk.run_as_is(shell)
    };
    // In blocks of 512 bytes: room for what a reader of the store makes, not for the report.
    limited(100, "report --out out")
        .expect_code(4)
        .expect_error("cannot write out/fslab-", "ulimit -f");
    let left = fs::read_dir(desk.path("out")).expect("lists").count();
    assert_eq!(left, 0, "no half a file");
    let refused = limited(100, "compare fake --repeats 1");
    assert!(
        matches!(refused.code, Some(2..=4)),
        "{:?} {}",
        refused.code,
        refused.err
    );
    assert!(refused.err.contains("ulimit -f"), "{}", refused.err);
}

/// A trigger of a foreign store made a run ten times as fast, with exit code 0, and a view hung
/// every command that opens a store.
#[test]
fn a_store_with_triggers_or_views_of_its_own_is_refused_by_every_command() {
    let endless = "CREATE VIEW pragma_application_id AS
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT count(*) AS application_id FROM n";
    let trigger = "CREATE TRIGGER faster AFTER INSERT ON phases BEGIN
        UPDATE phases SET bytes = bytes * 10 WHERE key = new.key; END";
    for (sql, object) in [
        (trigger, "trigger 'faster'"),
        (endless, "view 'pragma_application_id'"),
    ] {
        let desk = desk();
        let connection = rusqlite::Connection::open(desk.store()).expect("opens");
        connection.execute_batch(sql).expect(sql);
        drop(connection);
        let before = fs::read(desk.store()).expect("its bytes");
        for command in [
            &["list"][..],
            &["show"],
            &["report", "--out", "out"],
            &["export", "--format", "json"],
            &["diff", "last", "last"],
            &["store", "check"],
            &["import", RUN],
            &["delete", "last", "--yes"],
            &COMPARE_FAKE,
        ] {
            let ended = desk.run(command);
            let what = format!("has a {object} that fslab did not make");
            ended.expect_code(2).expect_error(&what, "sqlite3");
        }
        assert_eq!(fs::read(desk.store()).expect("its bytes"), before);
    }
}

/// A run whose store was removed ended with exit code 0 and without a store.
#[test]
fn a_run_whose_store_is_removed_ends_with_an_error_and_keeps_its_records() {
    let desk = Desk::new();
    let options = ["--repeats", "200", "--resume"];
    let mut child = desk.start(&[&COMPARE_FAKE[..], &options].concat());
    wait_for_first_trial(&mut child);
    let store = desk.store();
    for suffix in ["", "-wal", "-shm"] {
        let file = store.with_file_name(format!("fslab.db{suffix}"));
        fs::remove_file(file).expect("is there");
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(4));
    assert!(!store.exists());
    let kept = store.with_file_name("fslab.db.kept-1");
    fs::rename(&kept, &store).expect("moved back, as the hint says");
    let before = desk.last_run()["trials"].as_array().map_or(0, Vec::len);
    assert!((1..200).contains(&before), "{before} trials");
    desk.run(&["store", "check"]).expect_code(0);
    let resumed = desk.run(&[&COMPARE_FAKE[..], &options].concat());
    resumed.expect_code(0);
    let done = format!("{before} of 200 trials are done already");
    assert!(resumed.err.contains(&done), "{}", resumed.err);
}

/// A name with U+FFFE made documents that no reader of XML takes, and a phase whose name begins
/// with = was a formula in the spreadsheet that opened the export.
#[test]
fn texts_of_an_import_are_neither_formulas_nor_forbidden_in_xml() {
    let desk = Desk::new();
    let mut run = document();
    let evil = "=HYPERLINK(\"http://x\")\u{fffe}";
    for trial in run["trials"].as_array_mut().expect("trials") {
        for phase in trial["phases"].as_array_mut().expect("phases") {
            rename(phase, evil);
        }
    }
    for phase in run["plan"]["phases"].as_array_mut().expect("phases") {
        rename(phase, evil);
    }
    let file = desk.path("evil.json");
    fs::write(&file, run.to_string()).expect("written");
    desk.run(&["import", file.to_str().expect("text")])
        .expect_code(0);
    let guarded = desk.run(&["export", "--format", "csv"]).out;
    assert!(guarded.contains("\"'=HYPERLINK("), "{guarded}");
    let verbatim = ["export", "--format", "csv", "--verbatim-cells"];
    let verbatim = desk.run(&verbatim).out;
    assert!(verbatim.contains(",\"=HYPERLINK("), "{verbatim}");

    let csv = desk.path("evil.csv");
    fs::write(&csv, &guarded).expect("written");
    let again = ["import", csv.to_str().expect("text"), "--run", "again"];
    desk.run(&again).expect_code(0);
    let name = desk.last_run()["trials"][0]["phases"][0]["name"].clone();
    assert_eq!(name, evil);

    desk.run(&["report", NAME, "--out", "out", "--charts", "charts"])
        .expect_code(0);
    desk.run(&["gate", NAME, NAME, "--write", "junit=gate.xml"]);
    let mut documents: Vec<_> = walk(&desk.path("charts"));
    documents.retain(|file| file.extension().is_some_and(|extension| extension == "svg"));
    assert!(!documents.is_empty());
    let page = format!("out/fslab-{NAME}.html");
    documents.extend([desk.path("gate.xml"), desk.path(&page)]);
    let mut shown = Vec::new();
    for file in documents {
        let text = fs::read_to_string(&file).expect("is there");
        let forbidden = |c: char| c == '\u{fffe}' || (c.is_control() && !"\n\r\t".contains(c));
        assert!(!text.contains(forbidden), "{}", file.display());
        let extension = file.extension().unwrap_or_default().to_owned();
        shown.extend(text.contains('\u{fffd}').then_some(extension));
    }
    for extension in ["svg", "xml", "html"] {
        assert!(shown.iter().any(|it| it == extension), "{shown:?}");
    }
}

fn rename(phase: &mut serde_json::Value, name: &str) {
    phase["name"] = name.into();
    if let Some(swept) = phase.get_mut("swept").filter(|swept| swept.is_object()) {
        swept["phase"] = name.into();
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a directory").flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![path],
        })
        .collect()
}
