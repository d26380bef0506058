//! Which phases of two runs meet, as a table and as a document.

use fslab_compare::{ComparedSide, ConditionDifference, LeftOver, Meeting, Meetings};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Column, Table, TableCell, Tone};

/// A table with a row for each pair of phases, and for each that meets none. Points of a sweep with
/// the same differences are one row.
pub fn meetings_table(meetings: &Meetings, base: &str, new: &str) -> Table {
    let mut rows: Vec<(Row, usize)> = Vec::new();
    let all = meetings.pairs.iter().map(Row::of_pair);
    for row in all.chain(meetings.left.iter().map(Row::of_left)) {
        match rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, points)) => *points += 1,
            None => rows.push((row, 1)),
        }
    }
    let (pairs, left) = (meetings.pairs.len(), meetings.left.len());
    Table {
        caption: format!("{new} against {base}: {pairs} pairs of phases, {left} left over"),
        columns: vec![
            Column::left(format!("Phase of {base}")),
            Column::left(format!("Phase of {new}")),
            Column::left("What they do"),
            Column::left("Different or not known"),
        ],
        rows: rows
            .into_iter()
            .map(|(row, points)| row.cells(points))
            .collect(),
        notes: vec![
            "Phases of two tools are matched by what they do, phases of one tool by name. Match \
             others with --map THEIRS=OURS."
                .to_owned(),
        ],
    }
}

/// A row; points of a sweep are equal.
#[derive(PartialEq, Eq)]
struct Row {
    base: Option<String>,
    new: Option<String>,
    does: Option<String>,
    remark: String,
}

impl Row {
    fn of_pair(pair: &Meeting) -> Self {
        let each: Vec<String> = pair.differences.iter().map(in_words).collect();
        Self {
            base: Some(pair.base.study_phase.clone()),
            new: Some(pair.new.study_phase.clone()),
            does: pair.does.clone(),
            remark: each.join("; "),
        }
    }

    fn of_left(left: &LeftOver) -> Self {
        let name = Some(left.phase.study_phase.clone());
        let (base, new) = match left.place {
            ComparedSide::Base => (name, None),
            ComparedSide::New => (None, name),
        };
        Self {
            base,
            new,
            does: left.does.clone(),
            remark: left.why.clone(),
        }
    }

    fn cells(self, points: usize) -> Vec<TableCell> {
        let is_left = self.base.is_none() || self.new.is_none();
        let name = |name: Option<String>| match (name, points) {
            (None, _) => TableCell::nothing(),
            (Some(name), 1) => TableCell::new(name),
            (Some(name), points) => TableCell::new(name).detail(format!("{points} points")),
        };
        let remark = TableCell::new(self.remark);
        vec![
            name(self.base),
            name(self.new),
            TableCell::optional(self.does),
            if is_left {
                remark.tone(Tone::Weak)
            } else {
                remark
            },
        ]
    }
}

/// `file size: 64 MiB against 300 MiB`, new against base.
fn in_words(difference: &ConditionDifference) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let (base, new) = (value(&difference.base), value(&difference.new));
    format!("{}: {new} against {base}", difference.condition)
}

/// The meetings with every difference.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MeetingsDocument<'a> {
    pairs: Vec<PairDocument<'a>>,
    left_over: Vec<LeftDocument<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PairDocument<'a> {
    base: &'a str,
    new: &'a str,
    /// The name under which they are compared.
    phase: &'a str,
    /// What both do; null if they meet by name or by --map.
    does: Option<&'a str>,
    differences: Vec<DifferenceDocument<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DifferenceDocument<'a> {
    condition: &'a str,
    /// Null if not known.
    base: Option<&'a str>,
    new: Option<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LeftDocument<'a> {
    /// `base` or `new`.
    run: &'static str,
    phase: &'a str,
    /// Null if not known.
    does: Option<&'a str>,
    why: &'a str,
}

impl<'a> MeetingsDocument<'a> {
    /// The document of `meetings`.
    pub fn of(meetings: &'a Meetings) -> Self {
        Self {
            pairs: meetings.pairs.iter().map(PairDocument::of).collect(),
            left_over: meetings.left.iter().map(LeftDocument::of).collect(),
        }
    }
}

impl<'a> PairDocument<'a> {
    fn of(pair: &'a Meeting) -> Self {
        let differences = pair.differences.iter();
        Self {
            base: &pair.base.name,
            new: &pair.new.name,
            phase: &pair.shared.name,
            does: pair.does.as_deref(),
            differences: differences
                .map(|it| DifferenceDocument {
                    condition: it.condition,
                    base: it.base.as_deref(),
                    new: it.new.as_deref(),
                })
                .collect(),
        }
    }
}

impl<'a> LeftDocument<'a> {
    fn of(left: &'a LeftOver) -> Self {
        Self {
            run: match left.place {
                ComparedSide::Base => "base",
                ComparedSide::New => "new",
            },
            phase: &left.phase.name,
            does: left.does.as_deref(),
            why: &left.why,
        }
    }
}
