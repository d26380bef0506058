//! Cells of CSV that a spreadsheet would take for formulas.
//!
//! A spreadsheet evaluates a cell that begins with `=`, `+`, `-` or `@`, and some also one that
//! begins with a tab or a line break; a formula can start programs and send cells to others. Texts
//! of a run may come from anyone, so such a cell gets an apostrophe before it, by which a
//! spreadsheet shows it as a text. Figures are left alone. What is written so reads back as the
//! same text: see [`unguarded`].

use std::borrow::Cow;

/// How cells of CSV are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// With an apostrophe before a text that a spreadsheet would take for a formula.
    #[default]
    Guarded,
    /// As they are.
    Verbatim,
}

impl Cells {
    /// The text as a cell.
    pub fn cell(self, text: &str) -> Cow<'_, str> {
        match self {
            // A text that only looks guarded gets a further apostrophe, or it would lose its own.
            Self::Guarded if begins_formula(text.trim_start_matches(GUARD)) && !is_figure(text) => {
                Cow::Owned(format!("{GUARD}{text}"))
            }
            Self::Guarded | Self::Verbatim => Cow::Borrowed(text),
        }
    }

    /// The texts as cells.
    pub fn row<I>(self, texts: I) -> impl Iterator<Item = String>
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let cell = move |text: I::Item| self.cell(text.as_ref()).into_owned();
        texts.into_iter().map(cell)
    }
}

const GUARD: char = '\'';

/// The text of a cell that [`Cells::Guarded`] wrote.
pub fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix(GUARD) {
        Some(text) if begins_formula(text.trim_start_matches(GUARD)) => text,
        _ => cell,
    }
}

fn begins_formula(text: &str) -> bool {
    const BEGINNINGS: [char; 11] = [
        '=', '+', '-', '@', '\t', '\r', '\n', // In their full width, as typed in East Asia.
        '＝', '＋', '－', '＠',
    ];
    text.starts_with(BEGINNINGS)
}

/// True for a number, with or without a unit, and for an interval of numbers: `-5.2 %`,
/// `+1.3 MB/s`, `-5.1–3.2`.
fn is_figure(text: &str) -> bool {
    let is_number = |word: &str| {
        let is_in_number = |c: char| c.is_ascii_digit() || ".,+-−–±%".contains(c);
        word.parse::<f64>().is_ok() || word.chars().all(is_in_number)
    };
    let is_unit = |word: &str| word.chars().all(|c| c.is_alphabetic() || "/%".contains(c));
    let mut words = text.split(' ');
    let begins_with_number = words
        .next()
        .is_some_and(|word| is_number(word) && word.contains(|c: char| c.is_ascii_digit()));
    begins_with_number && words.all(|word| is_number(word) || is_unit(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell of an import that began with `=` was a formula in the export.
    #[test]
    fn formulas_are_guarded_and_figures_are_not() {
        for text in [
            "=1+1",
            "=HYPERLINK(\"http://x\")",
            "@SUM(A1)",
            "+A1",
            "-A1",
            "-1+cmd|' /C calc'!A0",
            "+1+A1",
            "-2 + cmd|x",
            "\t=1",
            "\r=1",
            "\n=1",
            "＝1+1",
            "-",
            "--version",
            "+",
        ] {
            assert_eq!(Cells::Guarded.cell(text), format!("'{text}"), "{text}");
            assert_eq!(Cells::Verbatim.cell(text), text);
        }
        for text in [
            "",
            "-5",
            "-5.25",
            "+0.1",
            "-1e-9",
            "-1,234.5",
            "-5.2 %",
            "+1.3 MB/s",
            "-5.1–3.2 %",
            "-0.5 to +0.7",
            "–",
            "ext4:mount=data=journal",
            "'quoted'",
            "1-2",
        ] {
            assert_eq!(Cells::Guarded.cell(text), text, "{text}");
        }
    }

    #[test]
    fn a_guarded_cell_reads_back_as_its_text() {
        for text in [
            "=1", "'=1", "''=1", "'", "''", "'a", "-5", "'-5", "-5 %", "'-5 %", "a", "", "@", "'@",
            "\t=1", "-",
        ] {
            assert_eq!(unguarded(&Cells::Guarded.cell(text)), text, "{text}");
        }
    }
}
