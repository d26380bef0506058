//! Tables as LaTeX, for `\input` in a paper: booktabs, escaped text, a column's unit in its head.

use std::fmt::Write;

use crate::{Align, Column, Table, TableCell, Tone, xml};

/// A table with more rows may break across pages.
const ROWS_MAX: usize = 40;
/// Columns of longer words are wrapped in what other columns leave of a line.
const LONG_LETTERS: usize = 28;
/// Letters of a line, and the share of it that wrapped columns have together.
const LINE_LETTERS: f64 = 95.0;
const LONG_SHARE: (f64, f64) = (0.25, 0.7);
/// A table with more columns is shrunk to the line.
const COLUMNS_MAX: usize = 7;

/// Characters with a meaning in LaTeX, or that the fonts of pdfLaTeX lack.
const ESCAPES: [(char, &str); 35] = [
    ('\\', r"\textbackslash{}"),
    ('&', r"\&"),
    ('%', r"\%"),
    ('$', r"\$"),
    ('#', r"\#"),
    ('_', r"\_"),
    ('{', r"\{"),
    ('}', r"\}"),
    ('~', r"\textasciitilde{}"),
    ('^', r"\textasciicircum{}"),
    ('<', r"\textless{}"),
    ('>', r"\textgreater{}"),
    ('|', r"\textbar{}"),
    ('"', "''"),
    // At the begin of a row, it would open an option of the line break or rule before it.
    ('[', "{[}"),
    ('`', r"\textasciigrave{}"),
    ('\u{a0}', "~"),
    ('–', "--"),
    ('—', "---"),
    ('−', "$-$"),
    ('…', r"\ldots{}"),
    ('·', r"$\cdot$"),
    ('×', r"$\times$"),
    ('±', r"$\pm$"),
    ('µ', r"$\mu$"),
    ('μ', r"$\mu$"),
    ('≈', r"$\approx$"),
    ('≤', r"$\leq$"),
    ('≥', r"$\geq$"),
    ('→', r"$\rightarrow$"),
    ('←', r"$\leftarrow$"),
    ('↑', r"$\uparrow$"),
    ('↓', r"$\downarrow$"),
    ('√', r"$\surd$"),
    ('∞', r"$\infty$"),
];

impl Table {
    /// The table as LaTeX under the label `tab:LABEL`, with its caption above and its notes below.
    ///
    /// If all figures of a column have one unit, the unit is in the head; otherwise each figure has
    /// its own.
    pub fn to_latex(&self, label: &str) -> String {
        let units: Vec<Option<&str>> = (0..self.columns.len()).map(|at| self.unit(at)).collect();
        let caption = format!(
            "\\caption{{{}}}\\label{{tab:{}}}",
            escape(&self.caption),
            plain_label(label)
        );
        let columns = self.column_types();
        let head = format!("\\toprule\n{}\\midrule\n", self.head(&units));
        let mut rows = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&units);
            let cells: Vec<String> = cells.map(|(cell, unit)| latex_cell(cell, *unit)).collect();
            writeln!(rows, "{} \\\\", cells.join(" & ")).expect("writes to memory");
        }
        let notes: String = self
            .notes
            .iter()
            .map(|note| format!("\\par\\footnotesize {}\n", escape(note)))
            .collect();
        if self.rows.len() > ROWS_MAX {
            return format!(
                "% Needs \\usepackage{{array,booktabs,longtable,textcomp}}.\n\
                 {{\\footnotesize\n\\begin{{longtable}}{{@{{}}{columns}@{{}}}}\n{caption} \\\\\n\
                 {head}\\endfirsthead\n{head}\\endhead\n{rows}\\bottomrule\n\
                 \\end{{longtable}}\n{notes}}}\n"
            );
        }
        let tabular = format!(
            "\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n{head}{rows}\\bottomrule\n\\end{{tabular}}"
        );
        let (packages, tabular) = match self.columns.len() > COLUMNS_MAX {
            true => (
                "array,booktabs,graphicx,textcomp",
                format!("\\resizebox{{\\linewidth}}{{!}}{{%\n{tabular}}}"),
            ),
            false => ("array,booktabs,textcomp", tabular),
        };
        format!(
            "% Needs \\usepackage{{{packages}}}.\n\\begin{{table}}[htbp]\n\\centering\\small\n\
             {caption}\n{tabular}\n{notes}\\end{{table}}\n"
        )
    }

    /// The types of the columns: `l`, `r`, or a wrapped column for long words.
    fn column_types(&self) -> String {
        let letters = |at: &usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(*at));
            let widest = cells.map(|cell| cell.line().chars().count()).max();
            widest
                .unwrap_or(0)
                .max(self.columns[*at].title.chars().count())
        };
        let is_long =
            |at: &usize| self.columns[*at].align == Align::Left && letters(at) > LONG_LETTERS;
        let places = 0..self.columns.len();
        let (long, short): (Vec<usize>, Vec<usize>) = places.clone().partition(is_long);
        let used: usize = short.iter().map(|at| letters(at) + 2).sum();
        let left = (1.0 - used as f64 / LINE_LETTERS).clamp(LONG_SHARE.0, LONG_SHARE.1);
        let share = left / long.len().max(1) as f64;
        let kind = |at: usize| match (self.columns[at].align, is_long(&at)) {
            (_, true) => format!(">{{\\raggedright\\arraybackslash}}p{{{share:.2}\\linewidth}}"),
            (Align::Left, false) => "l".to_owned(),
            (Align::Right, false) => "r".to_owned(),
        };
        places.map(kind).collect()
    }

    /// The common unit of a column's figures.
    fn unit(&self, column: usize) -> Option<&str> {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let mut units = cells.filter_map(|cell| unit_of(&cell.text));
        let first = units.next().filter(|unit| !unit.is_empty())?;
        units.all(|unit| unit == first).then_some(first)
    }

    fn head(&self, units: &[Option<&str>]) -> String {
        let mut head = String::new();
        if self.columns.iter().any(|column| column.group.is_some()) {
            let (mut cells, mut rules, mut at) = (Vec::new(), String::new(), 1);
            for group in self.columns.chunk_by(|a, b| a.group == b.group) {
                let last = at + group.len() - 1;
                match &group[0].group {
                    None => cells.extend(std::iter::repeat_n(String::new(), group.len())),
                    Some(title) => {
                        let (count, title) = (group.len(), escape(title));
                        cells.push(format!("\\multicolumn{{{count}}}{{c}}{{{title}}}"));
                        rules += &format!("\\cmidrule(lr){{{at}-{last}}}");
                    }
                }
                at = last + 1;
            }
            head = format!("{} \\\\\n{rules}\n", cells.join(" & "));
        }
        let title = |(column, unit): (&Column, &Option<&str>)| match unit {
            Some(unit) => format!("{} ({})", escape(&column.title), escape(unit)),
            None => escape(&column.title),
        };
        let titles: Vec<String> = self.columns.iter().zip(units).map(title).collect();
        head + &format!("{} \\\\\n", titles.join(" & "))
    }
}

/// The unit of a figure, empty for a plain number; `None` if the text is no figure.
fn unit_of(text: &str) -> Option<&str> {
    let is_number = |text: &str| {
        let known = |c: char| c.is_ascii_digit() || ".,–-+±≈<> ".contains(c);
        text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(known)
    };
    if is_number(text) {
        return Some("");
    }
    let (number, unit) = text.rsplit_once(' ')?;
    let is_unit = unit.starts_with(|c: char| c.is_alphabetic() || c == '%');
    (is_number(number) && is_unit).then_some(unit)
}

fn latex_cell(cell: &TableCell, unit: Option<&str>) -> String {
    let bare = unit.and_then(|unit| cell.text.strip_suffix(unit)?.strip_suffix(' '));
    let text = TableCell {
        text: bare.unwrap_or(&cell.text).to_owned(),
        ..cell.clone()
    };
    let text = escape(&text.line());
    match cell.tone {
        _ if cell.code => format!("\\texttt{{{text}}}"),
        Tone::Strong => format!("\\textbf{{{text}}}"),
        Tone::Plain | Tone::Weak | Tone::Bad => text,
    }
}

/// A text without commands: everything that is special to LaTeX is escaped, control characters are
/// removed.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match ESCAPES.iter().find(|(known, _)| *known == letter) {
            Some((_, sequence)) => escaped.push_str(sequence),
            None if letter.is_whitespace() => escaped.push(' '),
            // A star at the begin of a row would be one of the line break before it.
            None if letter == '*' => escaped.push_str("{*}"),
            None if letter.is_control() || is_unprintable(letter) => {}
            None => escaped.push(letter),
        }
    }
    escaped
}

/// True for characters that have no glyph in any font: they turn the direction of a text, or may
/// not be in one.
fn is_unprintable(letter: char) -> bool {
    const INVISIBLE: [std::ops::RangeInclusive<char>; 4] = [
        '\u{200b}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{2066}'..='\u{2069}',
        '\u{feff}'..='\u{feff}',
    ];
    INVISIBLE.iter().any(|range| range.contains(&letter)) || xml::is_forbidden(letter)
}

/// A label of letters, digits and hyphens.
fn plain_label(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let cell = TableCell::new;
        Table {
            caption: "Rates & 50 % of {them}".into(),
            columns: vec![
                Column::left("Subject"),
                Column::right("mean").in_group("Throughput"),
                Column::right("95 % interval").in_group("Throughput"),
                Column::right("Time"),
            ],
            rows: vec![
                vec![
                    cell("ext4:mkfs=-O ^has_journal").code(),
                    cell("446 MB/s").detail("≈ 0.98"),
                    cell("400–431 MB/s"),
                    cell("12 µs"),
                ],
                vec![
                    cell("xfs"),
                    cell("460 MB/s").tone(Tone::Strong),
                    TableCell::nothing(),
                    cell("1.2 ms"),
                ],
            ],
            notes: vec!["A note, with a_b.".into()],
        }
    }

    #[test]
    fn a_table_has_rules_groups_escapes_and_the_units_of_its_columns() {
        insta::assert_snapshot!(table().to_latex("run 1/overview"), @r"
        % Needs \usepackage{array,booktabs,textcomp}.
        \begin{table}[htbp]
        \centering\small
        \caption{Rates \& 50 \% of \{them\}}\label{tab:run-1-overview}
        \begin{tabular}{@{}lrrr@{}}
        \toprule
         & \multicolumn{2}{c}{Throughput} &  \\
        \cmidrule(lr){2-3}
        Subject & mean (MB/s) & 95 \% interval (MB/s) & Time \\
        \midrule
        \texttt{ext4:mkfs=-O \textasciicircum{}has\_journal} & 446 ($\approx$ 0.98) & 400--431 & 12 $\mu$s \\
        xfs & \textbf{460} & -- & 1.2 ms \\
        \bottomrule
        \end{tabular}
        \par\footnotesize A note, with a\_b.
        \end{table}
        ");
    }

    #[test]
    fn a_long_table_breaks_across_pages_and_long_words_are_wrapped() {
        let mut long = table();
        long.rows = std::iter::repeat_n(long.rows[0].clone(), 50).collect();
        long.rows[3][0].text = "a text that is far too long for one line of a column".into();
        let text = long.to_latex("long");
        assert!(
            text.contains("\\begin{longtable}{@{}>{\\raggedright"),
            "{text}"
        );
        assert!(text.contains("p{0.57\\linewidth}rrr@{}}"), "{text}");
        assert_eq!(text.matches("\\midrule").count(), 2, "a head for each page");
    }

    #[test]
    fn a_wide_table_is_shrunk_to_the_line() {
        let mut wide = table();
        for row in &mut wide.rows {
            row.extend(std::iter::repeat_n(row[1].clone(), 6));
        }
        wide.columns.extend(vec![Column::right("more"); 6]);
        let text = wide.to_latex("wide");
        assert!(
            text.contains("\\resizebox{\\linewidth}{!}{%\n\\begin{tabular}"),
            "{text}"
        );
        assert!(text.contains("\\end{tabular}}\n"), "{text}");
    }

    #[test]
    fn no_text_becomes_a_command() {
        let evil = "\\input{/etc/passwd}\u{1b}[1m %$#_&~^\n";
        let mut table = table();
        table.caption = evil.into();
        table.rows[0][0].text = evil.into();
        table.columns[0].title = evil.into();
        let text = table.to_latex(evil);
        assert!(
            !text.contains("\\input") && !text.contains('\u{1b}'),
            "{text}"
        );
        let count =
            |what: char| text.matches(what).count() - text.matches(&format!("\\{what}")).count();
        assert_eq!(count('{'), count('}'), "{text}");
    }

    /// A bracket or a star at the begin of a row was an option of the line break before it.
    #[test]
    fn a_row_begins_with_no_option_and_has_no_letter_without_a_glyph() {
        assert_eq!(escape("[2cm] *a"), "{[}2cm] {*}a");
        assert_eq!(escape("a\u{202e}b\u{fffe}c\u{7}"), "abc");
    }

    #[test]
    fn units_are_those_of_figures_alone() {
        assert_eq!(unit_of("12.3 %"), Some("%"));
        assert_eq!(unit_of("1.12 to 1.31"), None);
        assert_eq!(unit_of("≈ 0.98"), Some(""));
        assert_eq!(unit_of("3 of 12 points"), None);
        assert_eq!(unit_of("failed"), None);
        assert_eq!(unit_of("–"), None);
    }
}
