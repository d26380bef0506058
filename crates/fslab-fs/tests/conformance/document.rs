//! docs/catalogue.md agrees with the entries.
//!
//! `UPDATE_DOCS=1 cargo test -p fslab-fs` updates its tables.

use std::fmt::Write;
use std::fs;

use fslab_fs::{Driver, FactsTable, FileSystem, all, network_file_system};
use fslab_model::{CaseRule, CrashSafety, Protocol, Subject};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/catalogue.md");
const MARK: &str =
    "<!-- Generated from here on: see crates/fslab-fs/tests/conformance/document.rs -->\n";
const TAKES_EVERYTHING: &str = "a string takes everything";

fn reference() -> String {
    let mut text = String::new();
    text.push_str(&table(
        "What a trial runs",
        "name | class | mkfs | mount | check | smallest size | measured with",
        commands,
    ));
    text.push_str(&table(
        "What they can do",
        "name | permissions | symbolic links | names of a file | case of names | holes \
         | extended attributes | reflinks | compression | checksums | after a crash",
        features,
    ));
    text.push_str(&table(
        "What they hold",
        "name | name | file | volume",
        limits,
    ));
    text.push_str(&list("Where a trial departs from defaults", |entry| {
        entry.deviations.iter().map(ToString::to_string).collect()
    }));
    text.push_str(&list("What a check does not look at", |entry| {
        let blind_to = entry.check.and_then(|check| check.blind_to);
        blind_to.map(|it| format!("{it}.")).into_iter().collect()
    }));
    text.push_str(&list("Bugs of kernels", bugs));
    text.push_str(&kernels());
    text.push_str(&list("What else a choice depends on", reservations));
    text.push_str(&list("Named, and not usable", |entry| match entry.driver {
        Driver::Nowhere(reason) => vec![format!("{reason}.")],
        _ => Vec::new(),
    }));
    text.push_str(&networks());
    text
}

/// What differs from one measured kernel to the next.
fn kernels() -> String {
    let mut text = String::from("\n## What another kernel does differently\n");
    for pair in FactsTable::all_measured().windows(2) {
        let [older, newer] = pair else { continue };
        let (from, to) = (&older.kernel, &newer.kernel);
        writeln!(
            text,
            "| name | fact | Linux {from} | Linux {to} |\n|---|---|---|---|"
        )
        .expect(TAKES_EVERYTHING);
        for it in older.differences(newer) {
            let values = it.values.each_ref();
            let [before, after] = values.map(|value| value.as_deref().unwrap_or("not measured"));
            let (name, about) = (&it.file_system, it.fact.about);
            writeln!(text, "| {name} | {about} | {before} | {after} |").expect(TAKES_EVERYTHING);
        }
        text.push('\n');
        let of = |these: &FactsTable, others: &FactsTable| {
            let names = these
                .facts
                .keys()
                .filter(|name| !others.facts.contains_key(*name));
            names.cloned().collect::<Vec<String>>().join(", ")
        };
        for (kernel, names) in [(from, of(older, newer)), (to, of(newer, older))] {
            if !names.is_empty() {
                writeln!(text, "Measured only under Linux {kernel}: {names}.\n")
                    .expect(TAKES_EVERYTHING);
            }
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn networks() -> String {
    let mut text = String::from("\n## What is served over a network\n");
    for entry in Protocol::ALL.iter().copied().map(network_file_system) {
        for fact in entry.facts {
            let (protocol, title) = (entry.protocol, fact.title);
            writeln!(text, "- **{protocol}**, {title}: {}", fact.text).expect(TAKES_EVERYTHING);
        }
    }
    text
}

fn usable() -> impl Iterator<Item = &'static &'static FileSystem> {
    all().iter().filter(|entry| entry.driver.is_mountable())
}

fn table(title: &str, head: &str, row: fn(&FileSystem) -> Vec<String>) -> String {
    let columns = head.split('|').count();
    let mut text = format!("\n## {title}\n| {head} |\n|{}\n", "---|".repeat(columns));
    for entry in usable() {
        let row = row(entry);
        assert_eq!(row.len() + 1, columns);
        let cells = row.join(" | ");
        writeln!(text, "| {} | {cells} |", entry.name).expect(TAKES_EVERYTHING);
    }
    text
}

fn list(title: &str, items: fn(&FileSystem) -> Vec<String>) -> String {
    let mut text = format!("\n## {title}\n");
    for entry in all() {
        for item in items(entry) {
            writeln!(text, "- **{}**: {item}", entry.name).expect(TAKES_EVERYTHING);
        }
    }
    text
}

fn commands(entry: &FileSystem) -> Vec<String> {
    let plan = entry.plan(&Subject::plain(entry.name)).expect("a plan");
    let code = |words: Option<Vec<String>>| {
        words.map_or("none".to_owned(), |words| format!("`{}`", words.join(" ")))
    };
    vec![
        entry.class.to_string(),
        code(plan.mkfs),
        code(plan.mount),
        code(plan.check),
        entry.minimum.size.to_string(),
        entry.mkfs.map_or_else(String::new, |mkfs| {
            format!("{} {}", mkfs.tool.package, entry.minimum.mkfs_version)
        }),
    ]
}

fn features(entry: &FileSystem) -> Vec<String> {
    let it = &entry.capabilities;
    let yes = |has: bool| if has { "yes" } else { "no" }.to_owned();
    vec![
        yes(it.permissions),
        yes(it.symlinks),
        it.hard_links_max.to_string(),
        match it.case {
            CaseRule::Sensitive => "sensitive",
            CaseRule::Preserving => "kept, not distinguished",
            CaseRule::Folding => "folded",
        }
        .to_owned(),
        yes(it.sparse_files),
        yes(it.extended_attributes),
        yes(it.reflinks),
        yes(it.compression),
        match (it.metadata_checksums, it.data_checksums) {
            (true, true) => "all",
            (true, false) => "metadata",
            (false, _) => "none",
        }
        .to_owned(),
        match (it.persistent, it.crash_safety) {
            (false, _) => "nothing is left",
            (true, CrashSafety::None | CrashSafety::JournalUnused) => "a check",
            (true, CrashSafety::Journal) => "the journal",
            (true, CrashSafety::CopyOnWrite) => "the last whole state",
        }
        .to_owned(),
    ]
}

fn limits(entry: &FileSystem) -> Vec<String> {
    let it = &entry.capabilities;
    let volume = it
        .volume_bytes_max
        .map_or(String::new(), |it| it.to_string());
    vec![
        format!("{} bytes", it.name_bytes_max),
        it.file_bytes_max.to_string(),
        volume,
    ]
}

fn bugs(entry: &FileSystem) -> Vec<String> {
    let bug = |bug: &fslab_fs::KernelBug| {
        let mut text = format!("{}. {}", bug.kernel, bug.effect);
        if !bug.message.is_empty() {
            write!(text, " The kernel says: `{}`.", bug.message).expect(TAKES_EVERYTHING);
        }
        match bug.avoided_by {
            Some(way) => write!(text, " Avoided: {way}."),
            None => write!(text, " Not avoided."),
        }
        .expect(TAKES_EVERYTHING);
        text
    };
    entry.bugs.iter().map(bug).collect()
}

fn reservations(entry: &FileSystem) -> Vec<String> {
    let reservations = entry.reservations_of(&Subject::plain(entry.name));
    let stated = reservations.iter().filter_map(|it| {
        let source = it.source.as_ref()?;
        Some(format!("{} ({}; {source})", it.text, it.kind.as_str()))
    });
    stated.collect()
}

#[test]
fn the_document_has_every_entry_as_the_code_has_it() {
    let document = fs::read_to_string(DOCUMENT).expect("docs/catalogue.md");
    let (head, generated) = document.split_once(MARK).expect("the mark");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(DOCUMENT, format!("{head}{MARK}{}", reference())).expect("written");
        return;
    }
    assert_eq!(
        generated,
        reference(),
        "run UPDATE_DOCS=1 cargo test -p fslab-fs"
    );
}
