//! The committed results: docs/results.md names the cause of each claim that fails.

use std::collections::BTreeMap;
use std::path::Path;

const CAUSES: [&str; 8] = [
    "kernel changed",
    "mount default changed",
    "disk model",
    "another platform",
    "needs processor time",
    "original contradicts itself",
    "repetition differs",
    UNKNOWN,
];
const UNKNOWN: &str = "unknown";

/// The names of the claims that fail, of a table that `fslab study check` wrote.
fn failing(table: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_failing = false;
    for line in table.lines() {
        if ["✓ holds", "? undecided", "– not"]
            .iter()
            .any(|outcome| line.contains(outcome))
        {
            is_failing = false;
        }
        is_failing |= line.contains("✗ fails");
        let name = line.trim_start().split(':').next().unwrap_or_default();
        let is_name = line.contains(": ") && name.contains('-') && !name.contains(' ');
        if is_failing && is_name {
            names.push(name);
            is_failing = false;
        }
    }
    names
}

/// The causes by claim of each section of the document: rows of `` | `claim` | cause | .. | ``.
fn explained(document: &str) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut sections: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    let mut section = "";
    for line in document.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let claim = cells
            .get(1)
            .and_then(|cell| cell.strip_prefix('`')?.strip_suffix('`'));
        if let (Some(claim), Some(cause), true) = (claim, cells.get(2), cells.len() == 5) {
            sections.entry(section).or_default().push((claim, cause));
        }
    }
    sections
}

#[test]
fn each_claim_that_fails_has_a_cause() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = std::fs::read_to_string(root.join("docs/results.md")).expect("docs/results.md");
    let sections = explained(&document);
    let (mut number, mut unknown) = (0, 0);
    for study in [
        "bonnie-2010",
        "home-usb",
        "iozone-2003",
        "ntfs-ext4",
        "small-files",
    ] {
        let path = root.join("results").join(study).join("claims.txt");
        let table = std::fs::read_to_string(&path).expect("the table of claims");
        let mut wanted = failing(&table);
        let total = table.lines().last().unwrap_or_default();
        assert!(
            total.contains(&format!("fails {},", wanted.len())),
            "{study}: {total} {wanted:?}"
        );
        let rows = sections.get(study).map_or(&[][..], Vec::as_slice);
        let mut named: Vec<&str> = rows.iter().map(|(claim, _)| *claim).collect();
        wanted.sort_unstable();
        named.sort_unstable();
        assert_eq!(
            named, wanted,
            "{study}: claims that fail, and those with a cause"
        );
        for (claim, cause) in rows {
            assert!(
                CAUSES.contains(cause),
                "{study}, {claim}: '{cause}' is no cause"
            );
            number += 1;
            unknown += usize::from(*cause == UNKNOWN);
        }
    }
    let total = format!("Of the {number} claims that fail");
    assert!(
        document.contains(&total),
        "the document does not say: {total}"
    );
    let unknowns = format!("{unknown} are unknown");
    assert!(
        document.contains(&unknowns),
        "the document does not say: {unknowns}"
    );
}
