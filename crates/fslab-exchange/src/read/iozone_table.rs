//! Iozone's table: a row for each file and record size, a column for each test.
//!
//! A test that was not selected leaves its column blank, so values are assigned to tests by their
//! right ends. Wide values of a fast cache fill their columns without a space between; they are
//! split where the column ends. A value wider than its column shifts the others; if the assignment
//! is then ambiguous, the row is refused.

use super::iozone_test::{Place, Spot, TESTS};
use crate::error::Fault;
use crate::reading::number;

/// Possible numbers of tests in the table: with `-B`, `-H` and `-k` it lacks the tests of stdio,
/// with `-E` it also has pwrite and pread.
const COLUMNS: [usize; 5] = [4, 9, 13, 17, 21];
/// Largest distance of a value's end from the end of its column's head, in an unknown layout.
const REACH: usize = 4;
/// The most digits of a value in one column.
const DIGITS_MAX: usize = 9;
/// The right ends of values' columns, which differ from those of the heads: up to 3.4xx, and since.
/// The first one identifies the layout.
const LAYOUTS: [&[usize]; 2] = [
    &[32, 40, 49, 58, 66, 74, 82, 91, 100, 109, 118, 126, 135],
    &[
        33, 42, 51, 60, 69, 78, 87, 97, 107, 116, 125, 134, 143, 152, 161, 169, 178,
    ],
];
/// Largest distance of a head's end from its values in a known layout.
const HEAD_REACH: usize = 1;

/// The heads of the columns; the line above has the first words of those after `random`, `bkwd` and
/// so on.
const HEADS: [&str; 21] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "read",
    "write",
    "read",
    "rewrite",
    "read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
    "pwrite",
    "repwrite",
    "pread",
    "repread",
    "pwritev",
    "repwritev",
    "preadv",
    "repreadv",
];

/// The second line of the table's head.
pub(crate) fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let kb = words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("kb"));
    if !kb || words.next() != Some("reclen") {
        return false;
    }
    let heads: Vec<&str> = words.collect();
    COLUMNS.contains(&heads.len()) && HEADS.starts_with(&heads)
}

/// The figures of all rows; none without a table.
pub(crate) fn spots(lines: &[(usize, &str)]) -> Result<Vec<Spot>, Fault> {
    let mut spots = Vec::new();
    let mut heads: Option<Ends> = None;
    for (line_number, line) in lines {
        if is_head(line.trim()) {
            heads = Some(Ends::of(line));
            continue;
        }
        let Some(ends) = &heads else { continue };
        let words = words(line);
        let sizes = words.get(..2).and_then(sizes);
        match sizes {
            Some(place) => row(&words[2..], ends, (place, *line_number), &mut spots)?,
            // The table ends with an empty line; warnings may interrupt it.
            None if line.trim().is_empty() => heads = None,
            None => {}
        }
    }
    Ok(spots)
}

/// The right ends of the columns.
enum Ends {
    /// A known layout: exact ends.
    Values(&'static [usize]),
    /// An unknown layout: near the ends of the heads.
    Heads(Vec<usize>),
}

impl Ends {
    /// The ends of the columns below a head.
    fn of(head: &str) -> Self {
        let ends: Vec<usize> = words(head)
            .into_iter()
            .skip(2)
            .map(|(end, _)| end)
            .collect();
        let is_near = |layout: &&'static [usize]| {
            let mut pairs = layout.iter().zip(&ends);
            pairs.all(|(value, head)| value.abs_diff(*head) <= HEAD_REACH)
        };
        let mut layouts = LAYOUTS.iter().filter_map(|layout| layout.get(..ends.len()));
        let known = layouts.find(is_near);
        known.map_or(Self::Heads(ends), Self::Values)
    }

    /// The values of a row with their columns; `None` if ambiguous.
    fn columns<'r>(&self, values: &[(usize, &'r str)]) -> Option<Vec<(usize, &'r str)>> {
        let all = |count: usize| (values.len() == count).then(|| values.iter().map(|it| it.1));
        let found = match self {
            Self::Values(ends) => match all(ends.len()) {
                Some(all) => all.enumerate().collect(),
                None => {
                    let mut found = Vec::new();
                    for (end, word) in values {
                        // After tests that were left out columns may be shifted a little.
                        let near = || Some(vec![(nearest(*end, ends)?, *word)]);
                        found.extend(cut(*end, word, ends).or_else(near)?);
                    }
                    found
                }
            },
            Self::Heads(ends) => match all(ends.len()) {
                Some(all) => all.enumerate().collect(),
                None => values
                    .iter()
                    .map(|(end, word)| Some((nearest(*end, ends)?, *word)))
                    .collect::<Option<Vec<_>>>()?,
            },
        };
        let rises = found.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let fits = found.iter().all(|(_, word)| word.len() <= DIGITS_MAX);
        (rises && fits).then_some(found)
    }
}

/// The values in one word, which ends at `end`, split at the ends of columns.
fn cut<'r>(end: usize, word: &'r str, ends: &[usize]) -> Option<Vec<(usize, &'r str)>> {
    let begin = end.checked_sub(word.len())?;
    let mut from = 0;
    let mut found = Vec::new();
    for (column, column_end) in ends.iter().enumerate() {
        let here = column_end.checked_sub(begin).filter(|here| *here > from);
        if let Some(value) = here.and_then(|here| word.get(from..here)) {
            found.push((column, value));
            from += value.len();
        }
    }
    (from == word.len()).then_some(found)
}

/// The column with the nearest end of its head.
fn nearest(end: usize, ends: &[usize]) -> Option<usize> {
    let near = (0..ends.len()).filter(|column| ends[*column].abs_diff(end) <= REACH);
    near.min_by_key(|column| ends[*column].abs_diff(end))
}

/// The words of a line, each with the column after its end.
fn words(line: &str) -> Vec<(usize, &str)> {
    let line = line.trim_end();
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        // Both are slices of one line.
        let begin = word.as_ptr() as usize - line.as_ptr() as usize;
        words.push((begin + word.len(), word));
    }
    words
}

fn sizes(words: &[(usize, &str)]) -> Option<Place> {
    let size = |index: usize| words[index].1.parse::<u64>().ok().filter(|size| *size > 0);
    Some((size(0)?, size(1)?))
}

fn row(
    values: &[(usize, &str)],
    ends: &Ends,
    (place, line): (Place, usize),
    spots: &mut Vec<Spot>,
) -> Result<(), Fault> {
    let columns = ends.columns(values).ok_or_else(|| {
        let place = format!("line {line}");
        Fault::value(
            place,
            format!("{} values", values.len()),
            "a row of the table's columns",
        )
        .hint("with -R Iozone also prints reports, which are read without doubt")
    })?;
    for (column, text) in columns {
        let test = &TESTS[column];
        let wrong = || Fault::value(format!("line {line} ({})", test.phase), text, "a rate");
        spots.push(Spot {
            phase: test.phase.to_owned(),
            kind: test.kind,
            place,
            value: number(text).ok_or_else(wrong)?,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "              kB  reclen    write  rewrite    read    reread    read     \
                        write     read   rewrite      read   fwrite frewrite    fread  freread";

    fn phases(row: &str) -> Result<Vec<String>, Fault> {
        let lines = [(1, HEAD), (2, row)];
        let spots = spots(&lines)?;
        Ok(spots.into_iter().map(|spot| spot.phase).collect())
    }

    #[test]
    fn a_column_that_is_blank_moves_no_value_into_another_test() {
        let row = "             256       4  1400278  4840911                    5320671  4477549";
        let expected = ["write", "rewrite", "random-read", "random-write"];
        assert_eq!(phases(row).expect("a row"), expected);
    }

    /// Adjacent values of eight digits were read as the rate of one test.
    #[test]
    fn values_that_fill_their_columns_are_cut_where_these_end() {
        let head = "              KB  reclen   write rewrite    read    reread    read   write    \
                    read  rewrite     read   fwrite frewrite   fread  freread";
        let row = "              64      64 152688710402178 20962191 30484297159728851082152410821\
                   524 12902017 20962191 12902017 1290201720962191 22737791";
        let spots = spots(&[(1, head), (2, row)]).expect("a row");
        let values: Vec<f64> = spots.iter().map(|spot| spot.value).collect();
        let expected = [
            1526887, 10402178, 20962191, 30484297, 15972885, 10821524, 10821524, 12902017,
            20962191, 12902017, 12902017, 20962191, 22737791,
        ];
        assert_eq!(values, expected.map(f64::from));
    }

    #[test]
    fn a_row_whose_values_are_not_certain_is_refused() {
        let row = "             256       4  1400278 484091100484091100484091100 5 6 7";
        let fault = phases(row).expect_err("pushed").to_string();
        assert!(fault.starts_with("line 2: \"5 values\""), "{fault}");
        let row = "             256       4  1400278  -840911";
        let fault = phases(row).expect_err("negative").to_string();
        assert!(
            fault.starts_with("line 2 (rewrite): \"-840911\""),
            "{fault}"
        );
    }
}
