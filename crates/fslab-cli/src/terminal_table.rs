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

use crate::color;
use crate::screen::{Lines, plain};

/// Spaces of a column beside its text.
const PADDING: usize = 2;
/// Text up to this width is wrapped only if its words do not fit otherwise.
const UNWRAPPED: usize = 20;

/// Lines below the header and below the table.
const TABLE_STYLE: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// Renders `table` for `lines`.
pub(crate) fn render(table: &Table, lines: Lines) -> String {
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
}

/// The widths of a part's columns: their least, and a share of what is left for those that have
/// longer text. Words that are wider than the terminal stay whole.
fn widths(columns: &[Room], part: &[usize], width: usize) -> Vec<usize> {
    let of_part = || part.iter().map(|place| columns[*place]);
    let available = width.saturating_sub(PADDING * part.len());
    let least: usize = of_part().map(|room| room.least).sum();
    let mut widths: Vec<usize> = match least <= available {
        true => of_part().map(|room| room.least).collect(),
        false => of_part().map(|room| room.word).collect(),
    };
    let mut wanting: Vec<usize> = (0..part.len()).collect();
    wanting.sort_by_key(|index| columns[part[*index]].most.saturating_sub(widths[*index]));
    let mut left = available.saturating_sub(widths.iter().sum());
    for (done, index) in wanting.iter().enumerate() {
        let wanted = columns[part[*index]].most.saturating_sub(widths[*index]);
        let given = wanted.min(left / (part.len() - done));
        widths[*index] += given;
        left -= given;
    }
    widths
}

fn draw(table: &Table, part: &[usize], widths: &[usize]) -> String {
    let mut screen = comfy_table::Table::new();
    screen
        .load_style(TABLE_STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic);
    let total = widths.iter().map(|width| width + PADDING).sum();
    screen.set_width(narrow(total));
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
