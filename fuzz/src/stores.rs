//! The target for stores. Its inputs are scripts, one change a line, which make a hostile store of
//! a sound one: by SQL, with a schema that may be written, and by bytes. Mutated bytes alone hardly
//! ever make a page that SQLite accepts.
//!
//! ```text
//!     of 8                 begins with the fixture of that version (without: the latest)
//!     sql DROP TABLE x     executes a statement; one that fails changes nothing
//!     xor 4096 255         changes a byte
//!     copy 0 8192 100      copies bytes from a place to another
//!     page 3 7             makes page 7 a copy of page 3
//!     link 5 9 200         makes page 5 one with 200 children, all of them page 9
//!     cut 5000             ends the file there
//!     grow 4096            appends zeros
//!     journal NAME         puts a journal beside it that names another file
//!     beside -wal 0 4096   puts a file beside it with these bytes of the store
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fslab_model::RunRecord;
use fslab_store::{RunFilter, RunSelector, Store};
use rusqlite::Connection;
use rusqlite::limits::Limit;

const FIXTURES: [&[u8]; 8] = [
    include_bytes!("../../tests/fixtures/stores/v1.sqlite"),
    include_bytes!("../../tests/fixtures/stores/v2.sqlite"),
    include_bytes!("../../tests/fixtures/stores/v3.sqlite"),
    include_bytes!("../../tests/fixtures/stores/v4.sqlite"),
    include_bytes!("../../tests/fixtures/stores/v5.sqlite"),
    include_bytes!("../../tests/fixtures/stores/v6.sqlite"),
    include_bytes!("../../tests/fixtures/stores/v7.sqlite"),
    include_bytes!("../../tests/fixtures/stores/v8.sqlite"),
];
const PAGE: usize = 4096;
/// A script's store has no more bytes.
const BYTES_MAX: usize = 8 << 20;
/// A script has no more changes.
const CHANGES_MAX: usize = 200;
/// A statement of a script takes no more steps, in units of [`INTERVAL`].
const STEPS_MAX: u32 = 50;
const INTERVAL: i32 = 10_000;
const PAGES_MAX: i64 = 1000;
const VICTIM: &str = "victim";

/// The run of the latest fixture.
static SAMPLE: LazyLock<RunRecord> = LazyLock::new(|| {
    let text = include_str!("../../tests/fixtures/stores/v8.json");
    serde_json::from_str(text).expect("a fixture of this version")
});

/// A store is made by the script, read as every command reads it, and written. What is written
/// reads back as it was, or not at all; no other file is touched.
pub(crate) fn store(input: &[u8]) {
    let script = String::from_utf8_lossy(input);
    let changes: Vec<&str> = script.lines().take(CHANGES_MAX).collect();
    let place = tempfile::tempdir().expect("a temporary directory");
    let path = place.path().join("s.db");
    let victim = place.path().join(VICTIM);
    fs::write(&victim, VICTIM).expect("is written");
    fs::write(&path, start(&changes)).expect("is written");
    for change in &changes {
        apply(change, &path);
    }
    read(&path, is_one_byte(&changes));
    write(&path);
    assert_eq!(fs::read(&victim).ok().as_deref(), Some(VICTIM.as_bytes()));
    let known: BTreeSet<PathBuf> = ["", "-journal", "-wal", "-shm"]
        .iter()
        .map(|suffix| place.path().join(format!("s.db{suffix}")))
        .chain([victim])
        .collect();
    let found = fs::read_dir(place.path()).expect("is listed").flatten();
    for file in found {
        assert!(known.contains(&file.path()), "{}", file.path().display());
    }
}

fn start(changes: &[&str]) -> &'static [u8] {
    let version = changes.iter().find_map(|change| {
        let version: usize = change.strip_prefix("of ")?.trim().parse().ok()?;
        FIXTURES.get(version.checked_sub(1)?)
    });
    version.copied().unwrap_or(FIXTURES[FIXTURES.len() - 1])
}

/// True for a script of a store with digests that changes one byte: its run reads back as it was,
/// or not at all. Two changes may remove a digest and change what it covers.
fn is_one_byte(changes: &[&str]) -> bool {
    matches!(changes, [change] if change.starts_with("xor "))
}

fn read(path: &Path, is_one_byte: bool) {
    let store = match Store::open_read_only(path) {
        Ok(store) => store,
        Err(error) => return drop(error.to_string()),
    };
    drop(store.runs(&RunFilter::default(), None));
    drop(store.count_runs(&RunFilter::default()));
    let last = RunSelector::Last;
    drop(store.metrics(&last));
    if let (Ok(run), true) = (store.run(&last), is_one_byte) {
        assert_eq!(run, *SAMPLE, "reads as it was written");
    }
    drop((store.deleted(), store.find("last"), store.check()));
}

fn write(path: &Path) {
    let mut run = SAMPLE.clone();
    run.header.run = "written".parse().expect("a name");
    let written = Store::open(path).and_then(|mut store| {
        store.begin_run(&run.header)?;
        for trial in &run.trials {
            store.add_trial(&run.header.run, trial)?;
        }
        Ok(())
    });
    if written.is_err() {
        return;
    }
    let read = Store::open_read_only(path)
        .and_then(|store| store.run(&RunSelector::Named(run.header.run.clone())));
    if let Ok(read) = read {
        assert_eq!(read, run, "reads as it was written");
    }
}

fn apply(change: &str, path: &Path) {
    if let Some(sql) = change.strip_prefix("sql ") {
        // Whatever it does, and whether it succeeds, is the script's own matter.
        let _ = execute(sql, path);
        return;
    }
    if let Some(name) = change.strip_prefix("journal ") {
        let name = path.with_file_name(name.trim().replace('/', ""));
        let _ = fs::write(path.with_file_name("s.db-journal"), journal(path, &name));
        return;
    }
    let mut words = change.split_whitespace();
    let word = words.next().unwrap_or_default();
    let suffix = match word {
        "beside" => words.next().unwrap_or_default(),
        _ => "",
    };
    let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    let Ok(mut bytes) = fs::read(path) else {
        return;
    };
    if word == "beside" {
        if let ("-journal" | "-wal" | "-shm", [from, count]) = (suffix, numbers.as_slice()) {
            let from = (*from).min(bytes.len());
            let to = from.saturating_add(*count).min(bytes.len());
            let _ = fs::write(
                path.with_file_name(format!("s.db{suffix}")),
                &bytes[from..to],
            );
        }
        return;
    }
    if change_bytes((word, &numbers), &mut bytes).is_some() {
        let _ = fs::write(path, bytes);
    }
}

fn change_bytes((word, numbers): (&str, &[usize]), bytes: &mut Vec<u8>) -> Option<()> {
    let page = |number: usize| {
        let begin = number.checked_sub(1)?.checked_mul(PAGE)?;
        Some(begin..begin.checked_add(PAGE)?)
    };
    match (word, numbers) {
        ("xor", [place, value]) => *bytes.get_mut(*place)? ^= *value as u8,
        ("copy", [from, to, count]) => {
            let part = bytes.get(*from..from.checked_add(*count)?)?.to_vec();
            let target = bytes.get_mut(*to..to.checked_add(*count)?)?;
            target.copy_from_slice(&part);
        }
        ("page", [from, to]) => {
            let part = bytes.get(page(*from)?)?.to_vec();
            bytes.get_mut(page(*to)?)?.copy_from_slice(&part);
        }
        ("link", [at, child, count]) => {
            let at = bytes.get_mut(page(*at)?)?;
            at.copy_from_slice(&page_of_one_child(*child as u32, (*count).min(400)));
        }
        ("cut", [length]) => bytes.truncate(*length),
        ("grow", [more]) => bytes.resize(bytes.len().saturating_add(*more).min(BYTES_MAX), 0),
        _ => return None,
    }
    Some(())
}

/// A page of a table whose children are all the same page.
fn page_of_one_child(child: u32, count: usize) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    page[0] = 5;
    page[3..5].copy_from_slice(&(count as u16).to_be_bytes());
    let begin = PAGE - count * 8;
    page[5..7].copy_from_slice(&(begin as u16).to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    for number in 0..count {
        let at = begin + number * 8;
        page[at..at + 4].copy_from_slice(&child.to_be_bytes());
        page[at + 4] = 1;
        page[12 + number * 2..14 + number * 2].copy_from_slice(&(at as u16).to_be_bytes());
    }
    page
}

/// Executes a statement that may write the schema, and reaches no other file.
fn execute(sql: &str, path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, BYTES_MAX as i32)?;
    connection.pragma_update_and_check(None, "max_page_count", PAGES_MAX, |_| Ok(()))?;
    let mut left = STEPS_MAX;
    let is_exhausted = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(INTERVAL, Some(is_exhausted))?;
    connection.execute_batch(&format!("PRAGMA writable_schema = ON; {sql}"))
}

/// A hot journal without pages that names `other` as its super-journal (SQLite's pager.c).
fn journal(store: &Path, other: &Path) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let pages = fs::metadata(store).map_or(0, |file| file.len() / PAGE as u64);
    let name = other.as_os_str().as_encoded_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    let mut journal = MAGIC.to_vec();
    for number in [0, 0, pages as u32, 512, PAGE as u32] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    // The page that SQLite locks by, which no journal holds.
    journal.extend((0x4000_0000_u32 / PAGE as u32 + 1).to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend(MAGIC);
    journal
}
