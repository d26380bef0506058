//! A table for a terminal: columns as wide as the terminal permits, without breaking a word.
//!
//! A figure stays on one line with its unit, other text is wrapped at spaces. If the columns do not
//! fit, the table continues below with the columns that are left, each part with the first column:
//!
//! ```text
//!      Phase   ext4       xfs               Phase   btrfs      Fastest
//!     ─────────────────────────            ───────────────────────────
//!      Write   446 MB/s   460 MB/s          Write   300 MB/s   xfs
//! ```

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle,
    TableStyle, Width,
};
use fslab_report::{Align, Column, Table, TableCell, Tone};
use unicode_width::UnicodeWidthStr;

use crate::terminal::color;
use crate::terminal::screen::{Lines, plain};

/// Spaces of a column beside its text, and those between two columns more.
const PADDING: usize = 2;
const GAP: usize = 1;
/// Text up to this width is wrapped only if its words do not fit otherwise.
const UNWRAPPED: usize = 20;

/// Lines below the header and below the table.
const TABLE_STYLE: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A table for standard output.
pub(crate) fn render(table: &Table) -> String {
    render_within(table, Lines::of_output())
}

/// Renders `table` for `lines`.
pub(crate) fn render_within(table: &Table, lines: Lines) -> String {
    let columns: Vec<Room> = (0..table.columns.len())
        .map(|place| Room::of(table, place))
        .collect();
    let parts = parts(&columns, lines.columns);
    let parts: Vec<String> = parts
        .iter()
        .map(|part| {
            let widths = widths(&columns, part, lines.columns);
            draw(table, part, &widths)
        })
        .collect();
    let mut text = lines.wrap(&plain(&table.caption));
    text.push_str(&parts.join("\n"));
    for note in &table.notes {
        text.push_str(&lines.wrap(&plain(note)));
    }
    text
}

/// The widths that a column's text can have.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Of its widest line.
    most: usize,
    /// Of the widest text that is not wrapped.
    least: usize,
    /// Of its widest word.
    word: usize,
}

impl Room {
    fn of(table: &Table, place: usize) -> Self {
        let head = head(&table.columns[place]);
        let cells = table.rows.iter().filter_map(|row| row.get(place));
        let texts: Vec<String> = cells.map(text).collect();
        let lines = || texts.iter().flat_map(|text| text.split('\n'));
        let widest =
            |parts: &mut dyn Iterator<Item = &str>| parts.map(UnicodeWidthStr::width).max();
        let body = widest(&mut lines()).unwrap_or(0);
        let body_word = widest(&mut lines().flat_map(|line| line.split(' '))).unwrap_or(0);
        let head_word = widest(&mut head.split([' ', '\n'])).unwrap_or(0);
        let word = body_word.max(head_word);
        Self {
            most: body.max(widest(&mut head.split('\n')).unwrap_or(0)),
            least: word.max(body.min(UNWRAPPED)),
            word,
        }
    }
}

/// The columns of each part, the first column in all of them.
fn parts(columns: &[Room], width: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..columns.len()).collect();
    let needed = |part: &[usize], room: fn(&Room) -> usize| -> usize {
        part.iter()
            .map(|place| room(&columns[*place]) + PADDING)
            .sum()
    };
    // A table that fits with some figures wrapped is easier to read than one in parts.
    let is_short = needed(&all, |room| room.least) <= width;
    let barely = needed(&all, |room| room.word) <= width && columns.len() < 4;
    if is_short || barely || columns.len() < 3 {
        return vec![all];
    }
    let split = |width: usize| {
        let mut parts = vec![vec![0]];
        for place in 1..columns.len() {
            let part = parts.last_mut().expect("there is a first part");
            part.push(place);
            if part.len() > 2 && needed(part, |room| room.least) > width {
                part.pop();
                parts.push(vec![0, place]);
            }
        }
        parts
    };
    // As few parts as possible, about equally wide.
    let fewest = split(width).len();
    let narrower = (1..width).map(split).find(|parts| parts.len() == fewest);
    narrower.unwrap_or_else(|| split(width))
}

/// The columns of a terminal that a table needs beside its text.
fn beside_text(columns: usize) -> usize {
    PADDING * columns + GAP * columns.saturating_sub(1)
}

/// The widths of a part's columns: their least, and what is left for those that have longer text,
/// first for those that need little. Words that are wider than the terminal are not broken.
fn widths(columns: &[Room], part: &[usize], width: usize) -> Vec<usize> {
    let of_part = || part.iter().map(|place| columns[*place]);
    let available = width.saturating_sub(beside_text(part.len()));
    let least: usize = of_part().map(|room| room.least).sum();
    let mut widths: Vec<usize> = match least <= available {
        true => of_part().map(|room| room.least).collect(),
        false => of_part().map(|room| room.word).collect(),
    };
    let mut wanting: Vec<usize> = (0..part.len()).collect();
    wanting.sort_by_key(|index| columns[part[*index]].most.saturating_sub(widths[*index]));
    let mut left = available.saturating_sub(widths.iter().sum());
    for index in wanting {
        let wanted = columns[part[index]].most.saturating_sub(widths[index]);
        let given = wanted.min(left);
        widths[index] += given;
        left -= given;
    }
    widths
}

fn draw(table: &Table, part: &[usize], widths: &[usize]) -> String {
    let mut screen = comfy_table::Table::new();
    screen
        .load_style(TABLE_STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic);
    let texts: usize = widths.iter().sum();
    screen.set_width(narrow(texts + beside_text(widths.len())));
    if color::is_enabled() {
        screen.enforce_styling();
    } else {
        screen.force_no_tty();
    }
    screen.set_header(part.iter().map(|place| {
        let column = &table.columns[*place];
        Cell::new(head(column))
            .add_attribute(Attribute::Bold)
            .set_alignment(align(column.align))
    }));
    for row in &table.rows {
        let cells = part.iter().filter_map(|place| {
            let column = table.columns.get(*place)?;
            Some(screen_cell(row.get(*place)?).set_alignment(align(column.align)))
        });
        screen.add_row(cells);
    }
    for (column, width) in screen.column_iter_mut().zip(widths) {
        let fixed = Width::Fixed(narrow(width + PADDING));
        column.set_constraint(ColumnConstraint::Absolute(fixed));
    }
    format!("{screen}\n")
}

/// A width as comfy-table has it, which is far below the limit.
fn narrow(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

fn align(align: Align) -> CellAlignment {
    match align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    }
}

fn head(column: &Column) -> String {
    let title = match &column.group {
        Some(group) => format!("{group}\n{}", column.title),
        None => column.title.clone(),
    };
    plain(&title).into_owned()
}

fn text(cell: &TableCell) -> String {
    let text = match &cell.detail {
        Some(detail) => format!("{}\n{detail}", cell.text),
        None => cell.text.clone(),
    };
    plain(&text).into_owned()
}

fn screen_cell(cell: &TableCell) -> Cell {
    let screen = Cell::new(text(cell));
    match cell.tone {
        Tone::Plain => screen,
        Tone::Strong => screen.add_attribute(Attribute::Bold).fg(Color::Green),
        Tone::Weak => screen.add_attribute(Attribute::Dim),
        Tone::Bad => screen.fg(Color::Red),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::screen::is_control;

    fn lines(columns: usize) -> Lines {
        Lines {
            columns,
            is_unicode: true,
            wraps: true,
        }
    }

    /// Every word of every cell, head, caption and note.
    fn words(table: &Table) -> Vec<String> {
        let cells = table.rows.iter().flatten().map(text);
        let heads = table.columns.iter().map(head);
        let others = std::iter::once(table.caption.clone()).chain(table.notes.clone());
        let texts: Vec<String> = cells.chain(heads).chain(others).collect();
        let words = texts.iter().flat_map(|text| text.split_whitespace());
        words.map(str::to_owned).collect()
    }

    fn wide() -> Table {
        let names = [
            "ext4",
            "xfs:mkfs=-m reflink=0",
            "btrfs",
            "ext4:mount=data=journal",
        ];
        let mut columns = vec![Column::left("Phase")];
        columns.extend(names.map(|name| Column::right(name).in_group("Throughput")));
        columns.push(Column::left("Verdict"));
        columns.push(Column::left("Command"));
        let row = |phase: &str| {
            let mut row = vec![TableCell::new(phase).detail("cold")];
            row.extend(names.map(|_| TableCell::new("400–431 MB/s").detail("≈ 0.98")));
            row.push(TableCell::new("undecided, the same within 5 %"));
            row.push(TableCell::new(
                "mkfs.ext4 -F -q -E lazy_itable_init=0,lazy_journal_init=0 IMAGE",
            ));
            row
        };
        Table {
            caption: "Every phase's rate, with a long caption that is wrapped on a narrow terminal"
                .into(),
            columns,
            rows: vec![row("Random write 4k"), row("Sequential read")],
            notes: vec!["A note that is also longer than a line of a narrow terminal is.".into()],
        }
    }

    /// At 80 columns, "undecided" became "undecid" and "ed".
    #[test]
    fn no_word_is_broken_and_no_line_is_too_long() {
        for columns in [40, 60, 80, 100, 120, 200] {
            let text = render_within(&wide(), lines(columns));
            for word in words(&wide()) {
                let is_whole = text.split_whitespace().any(|found| found == word);
                assert!(is_whole, "{word} at {columns}:\n{text}");
            }
            // Only what has no space may be longer.
            let longest = words(&wide()).iter().map(|word| word.width()).max();
            let most = columns.max(longest.unwrap_or(0) + 25);
            assert!(
                text.lines().all(|line| line.width() <= most),
                "{columns}:\n{text}"
            );
        }
    }

    #[test]
    fn a_table_that_fits_is_in_one_part_and_a_wide_one_repeats_its_first_column() {
        let count = |columns| {
            render_within(&wide(), lines(columns))
                .matches("Random")
                .count()
        };
        assert_eq!(count(200), 1);
        assert_eq!(count(120), 2);
        assert_eq!(count(80), 3);
        assert_eq!(count(60), 4);
    }

    #[test]
    fn a_figure_stays_on_the_line_of_its_unit() {
        for columns in [40, 60, 80] {
            let text = render_within(&wide(), lines(columns));
            assert!(text.contains("400–431 MB/s"), "{columns}:\n{text}");
        }
    }

    #[test]
    fn a_table_without_rows_or_with_one_column_is_rendered() {
        let mut empty = wide();
        empty.rows.clear();
        assert!(render_within(&empty, lines(60)).contains("Phase"));
        let one = Table {
            columns: vec![Column::left("Name")],
            rows: vec![vec![TableCell::new("a b c d")]],
            ..Table::default()
        };
        assert!(render_within(&one, lines(20)).contains("a b c d"));
        assert!(!render_within(&Table::default(), lines(20)).contains("Phase"));
    }

    #[test]
    fn all_parts_of_a_table_are_escaped() {
        let evil = "a\u{1b}[31mb\u{9d}0;c\u{202e}";
        let table = Table {
            caption: evil.into(),
            columns: vec![Column::left(evil).in_group(evil)],
            rows: vec![vec![TableCell {
                detail: Some(evil.into()),
                ..TableCell::new(evil)
            }]],
            notes: vec![evil.into()],
        };
        let text = render(&table);
        assert!(!text.contains("\u{1b}[31m"), "{text:?}");
        assert!(
            !text.contains(|c| is_control(c) && c != '\u{1b}'),
            "{text:?}"
        );
    }
}
