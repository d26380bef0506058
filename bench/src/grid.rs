//! Tables, for the terminal and for pages.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};

/// A line below the heads and one below the table.
const LINES: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A table: its head and its rows.
pub(crate) struct Grid {
    /// The heads of its columns.
    pub(crate) head: &'static [&'static str],
    /// Its cells, row by row.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    /// For a terminal of any width.
    pub(crate) fn terminal(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(LINES)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(self.head.iter().copied());
        table.add_rows(&self.rows);
        table.to_string()
    }

    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let head: Vec<_> = self.head.iter().copied().map(str::to_owned).collect();
        let mut text = line(&head);
        text.push_str(&line(&vec!["---".to_owned(); head.len()]));
        for row in &self.rows {
            text.push_str(&line(row));
        }
        text
    }
}
