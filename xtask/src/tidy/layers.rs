//! The layer table of ARCHITECTURE.md against what cargo knows of the workspace.
//!
//! The table is the fenced block that begins with ```` ```layers ````. Each of its lines is one of
//!
//! ```text
//!     2  fslab-store  what it owns        the crate, in that layer; it may use lower layers only
//!     never  fslab-store  fslab-report    neither reaches the other, by whatever way
//!     only   rusqlite  fslab-store        of our crates, only these use that crate of others';
//!                                         tests are free to
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{Dependency, DependencyKind, MetadataCommand};

use super::finding::Finding;
use super::tree::{Tree, join};

const TABLE: &str = "ARCHITECTURE.md";
const FENCE: &str = "```layers";

/// One of our crates.
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Its manifest, from the root of the workspace.
    pub(crate) manifest: String,
    /// The crates that it uses, for itself, its build and its tests.
    pub(crate) uses: BTreeSet<String>,
    /// Those of them that it does not use for its tests alone.
    pub(crate) ships: BTreeSet<String>,
}

/// The files that cargo compiles of crates outside of the workspace.
const ROOTS_OUTSIDE: [&str; 3] = [
    "crates/fslab-mpi/examples/stand_in.rs",
    "crates/fslab-mpi/src/main.rs",
    "crates/fslab-mpi/tests/mpi/main.rs",
];

/// What cargo knows.
pub(crate) struct Workspace {
    /// Our crates.
    pub(crate) crates: Vec<Crate>,
    /// The files that cargo compiles, from the root of the workspace: libraries, commands, tests.
    pub(crate) roots: Vec<String>,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let metadata = MetadataCommand::new()
            .current_dir(root)
            .no_deps()
            .exec()
            .map_err(|error| format!("cannot ask cargo about the workspace: {error}"))?;
        let base = metadata.workspace_root.clone();
        let below = |path: &cargo_metadata::camino::Utf8Path| {
            join("", path.strip_prefix(&base).unwrap_or(path).as_str())
        };
        let mut workspace = Self {
            crates: Vec::new(),
            roots: ROOTS_OUTSIDE.map(str::to_owned).into(),
        };
        for package in &metadata.packages {
            let used = package.dependencies.iter();
            let for_more_than_tests = |used: &&Dependency| used.kind != DependencyKind::Development;
            workspace.crates.push(Crate {
                name: package.name.to_string(),
                manifest: below(&package.manifest_path),
                uses: used.clone().map(|used| used.name.clone()).collect(),
                ships: used
                    .filter(for_more_than_tests)
                    .map(|used| used.name.clone())
                    .collect(),
            });
            workspace
                .roots
                .extend(package.targets.iter().map(|target| below(&target.src_path)));
        }
        Ok(workspace)
    }

    fn named(&self, name: &str) -> Option<&Crate> {
        self.crates.iter().find(|found| found.name == name)
    }
}

/// A line of the table.
struct Row<'a> {
    line: usize,
    words: Vec<&'a str>,
}

#[derive(Default)]
struct Table<'a> {
    /// Layer and line of each crate.
    layers: BTreeMap<&'a str, (u32, usize)>,
    never: Vec<Row<'a>>,
    only: Vec<Row<'a>>,
    wrong: Vec<Finding>,
}

pub(crate) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let text = tree
        .file(TABLE)
        .map(|file| file.text.as_str())
        .unwrap_or_default();
    let Some(rows) = rows(text) else {
        return vec![in_table(
            1,
            "there is no layer table",
            "write it in a block that begins ```layers",
        )];
    };
    let mut table = parse(rows);
    let mut findings = std::mem::take(&mut table.wrong);
    findings.extend(membership(&table, workspace));
    findings.extend(directions(&table, workspace));
    findings.extend(table.never.iter().filter_map(|row| never(row, workspace)));
    findings.extend(table.only.iter().flat_map(|row| only(row, workspace)));
    findings
}

fn in_table(line: usize, message: impl Into<String>, hint: &'static str) -> Finding {
    Finding {
        file: TABLE.into(),
        line,
        rule: "layers",
        message: message.into(),
        hint,
    }
}

fn rows(text: &str) -> Option<Vec<Row<'_>>> {
    let mut lines = (1..).zip(text.lines());
    lines.find(|(_, line)| line.trim() == FENCE)?;
    let inside = lines.take_while(|(_, line)| line.trim() != "```");
    let rows = inside.map(|(line, text)| Row {
        line,
        words: text.split_whitespace().collect(),
    });
    Some(rows.filter(|row| !row.words.is_empty()).collect())
}

fn parse(rows: Vec<Row<'_>>) -> Table<'_> {
    let mut table = Table::default();
    for row in rows {
        match (row.words[0], row.words.len()) {
            ("never", 3) => table.never.push(row),
            ("only", 3..) => table.only.push(row),
            (layer, 2..) if layer.parse::<u32>().is_ok() => {
                let layer = layer.parse().unwrap_or_default();
                let twice = table
                    .layers
                    .insert(row.words[1], (layer, row.line))
                    .is_some();
                if twice {
                    let message = format!("{} is listed twice", row.words[1]);
                    table
                        .wrong
                        .push(in_table(row.line, message, "remove one of the lines"));
                }
            }
            _ => {
                let hint = "write `LAYER CRATE what it owns`, `never A B` or `only THEIRS OURS`";
                table
                    .wrong
                    .push(in_table(row.line, "a line that says nothing", hint));
            }
        }
    }
    table
}

fn membership(table: &Table, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, (_, line)) in &table.layers {
        if workspace.named(name).is_none() {
            let message = format!("{name} is listed and does not exist");
            findings.push(in_table(
                *line,
                message,
                "remove the line, or make the crate",
            ));
        }
    }
    for unlisted in workspace
        .crates
        .iter()
        .filter(|c| !table.layers.contains_key(&*c.name))
    {
        let message = format!("{} is not in the layer table of {TABLE}", unlisted.name);
        findings.push(in_manifest(unlisted, message, "give it a line there"));
    }
    findings
}

fn in_manifest(of: &Crate, message: String, hint: &'static str) -> Finding {
    Finding {
        file: of.manifest.clone(),
        line: 1,
        rule: "layers",
        message,
        hint,
    }
}

fn directions(table: &Table, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for user in &workspace.crates {
        for used in &user.uses {
            let layer = |name: &str| table.layers.get(name).map(|(layer, _)| *layer);
            let (Some(above), Some(below)) = (layer(&user.name), layer(used)) else {
                continue;
            };
            if below >= above {
                let message = format!("{} (layer {above}) uses {used} (layer {below})", user.name);
                let hint = "a crate may use only what stands in lower layers";
                findings.push(in_manifest(user, message, hint));
            }
        }
    }
    findings
}

fn never(row: &Row, workspace: &Workspace) -> Option<Finding> {
    let (a, b) = (row.words[1], row.words[2]);
    let (from, to) = [(a, b), (b, a)]
        .into_iter()
        .find(|(from, to)| reaches(from, to, workspace))?;
    let message = format!("{from} reaches {to}, which is never to be");
    let hint = "let a crate above both hand over the data";
    Some(match workspace.named(from) {
        Some(user) => in_manifest(user, message, hint),
        None => in_table(row.line, message, hint),
    })
}

fn reaches(from: &str, to: &str, workspace: &Workspace) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(user) = next.pop() {
        for used in workspace
            .named(user)
            .into_iter()
            .flat_map(|user| &user.uses)
        {
            if used == to {
                return true;
            }
            if seen.insert(used) {
                next.push(used);
            }
        }
    }
    false
}

fn only(row: &Row, workspace: &Workspace) -> Vec<Finding> {
    let (theirs, owners) = (row.words[1], &row.words[2..]);
    let stray = |user: &&Crate| user.ships.contains(theirs) && !owners.contains(&&*user.name);
    workspace
        .crates
        .iter()
        .filter(stray)
        .map(|user| {
            let message = format!(
                "{} uses {theirs}, which is {}'s",
                user.name,
                owners.join(" and ")
            );
            in_manifest(user, message, "give the owner a function for it")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Crates, each with the names of those that it uses; `dev:` stands before one for tests.
    fn workspace(crates: &[(&str, &[&str])]) -> Workspace {
        let one = |(name, uses): &(&str, &[&str])| Crate {
            name: (*name).to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            uses: uses
                .iter()
                .map(|used| used.trim_start_matches("dev:").to_owned())
                .collect(),
            ships: uses
                .iter()
                .filter(|used| !used.starts_with("dev:"))
                .copied()
                .map(str::to_owned)
                .collect(),
        };
        Workspace {
            crates: crates.iter().map(one).collect(),
            roots: Vec::new(),
        }
    }

    fn messages(table: &str, crates: &[(&str, &[&str])]) -> Vec<String> {
        let text = format!("# A\n\n```layers\n{table}\n```\n9 beyond the table\n");
        let tree = Tree::of(&[("ARCHITECTURE.md", &text)]);
        let findings = check(&tree, &workspace(crates));
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn lower_layers_may_be_used_and_the_same_or_higher_ones_may_not() {
        let table = "2 run\n1 store\n1 report\n0 model what all share";
        let good: &[(&str, &[&str])] = &[
            ("run", &["store", "report", "serde"]),
            ("store", &["model"]),
            ("report", &["model"]),
            ("model", &[]),
        ];
        assert!(messages(table, good).is_empty());
        let bad: &[(&str, &[&str])] = &[
            ("run", &[]),
            ("store", &["report"]),
            ("report", &[]),
            ("model", &["dev:run"]),
        ];
        assert_eq!(
            messages(table, bad),
            [
                "store (layer 1) uses report (layer 1)",
                "model (layer 0) uses run (layer 2)"
            ]
        );
    }

    #[test]
    fn a_crate_without_a_line_and_a_line_without_a_crate_are_found() {
        let found = messages("0 model\n1 ghost", &[("model", &[]), ("new", &[])]);
        let expected = [
            "ghost is listed and does not exist",
            "new is not in the layer table of ARCHITECTURE.md",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn crates_that_never_meet_are_found_when_they_do_by_a_third() {
        let table = "2 store\n1 between\n0 report\nnever report store";
        let crates: &[(&str, &[&str])] = &[
            ("store", &["between"]),
            ("between", &["report"]),
            ("report", &[]),
        ];
        assert_eq!(
            messages(table, crates),
            ["store reaches report, which is never to be"]
        );
    }

    #[test]
    fn a_crate_of_others_with_an_owner_is_found_elsewhere() {
        let table = "0 store\n0 cli\nonly rusqlite store";
        let tests_only: &[(&str, &[&str])] =
            &[("store", &["rusqlite"]), ("cli", &["dev:rusqlite"])];
        assert!(messages(table, tests_only).is_empty());
        let crates: &[(&str, &[&str])] = &[("store", &["rusqlite"]), ("cli", &["rusqlite"])];
        assert_eq!(
            messages(table, crates),
            ["cli uses rusqlite, which is store's"]
        );
    }

    #[test]
    fn a_missing_table_and_a_line_that_says_nothing_are_found() {
        let tree = Tree::of(&[("ARCHITECTURE.md", "# A")]);
        let findings = check(&tree, &workspace(&[]));
        assert_eq!(findings[0].message, "there is no layer table");
        let found = messages(
            "0 model\n0 model\nzero model\nnever model",
            &[("model", &[])],
        );
        assert_eq!(
            found,
            [
                "model is listed twice",
                "a line that says nothing",
                "a line that says nothing"
            ]
        );
    }
}
