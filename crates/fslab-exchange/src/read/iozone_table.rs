//! Iozone's table: a row for each file and record size, a column for each test.
//!
//! A test that was not selected leaves its column blank, so that a value's test is told by where it
//! ends. A value that is wider than its column pushes the others; where it is then not certain
//! whose they are, the row is refused.

use super::iozone::{Place, Spot, TESTS};
use crate::error::Fault;
use crate::reading::number;

/// The columns of the table.
const COLUMNS: usize = 13;
/// How far a value may end from the end of its column's head.
const REACH: usize = 4;

/// The heads of the columns; those behind `random`, `bkwd` and so on stand above them.
const HEADS: [&str; COLUMNS] = [
    "write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read", "fwrite",
    "frewrite", "fread", "freread",
];

/// The second line of the table's head.
pub(crate) fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let kb = words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("kb"));
    kb && words.next() == Some("reclen") && HEADS.iter().all(|head| words.next() == Some(head))
}

/// The figures of all rows; none where there is no table.
pub(crate) fn spots(lines: &[(usize, &str)]) -> Result<Vec<Spot>, Fault> {
    let mut spots = Vec::new();
    let mut heads: Option<Vec<usize>> = None;
    for (line_number, line) in lines {
        if is_head(line.trim()) {
            heads = Some(
                words(line)
                    .into_iter()
                    .skip(2)
                    .map(|(end, _)| end)
                    .collect(),
            );
            continue;
        }
        let Some(ends) = &heads else { continue };
        let words = words(line);
        let sizes = words.get(..2).and_then(sizes);
        match sizes {
            Some(place) => row(&words[2..], ends, (place, *line_number), &mut spots)?,
            // The table ends with an empty line; warnings may come in between.
            None if line.trim().is_empty() => heads = None,
            None => {}
        }
    }
    Ok(spots)
}

/// The words of a line, each with the column behind its end.
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
    ends: &[usize],
    (place, line): (Place, usize),
    spots: &mut Vec<Spot>,
) -> Result<(), Fault> {
    let columns = columns_of(values, ends).ok_or_else(|| {
        let place = format!("line {line}");
        Fault::value(
            place,
            format!("{} values", values.len()),
            "a row of the table's columns",
        )
        .hint("with -R Iozone also prints reports, which are read without doubt")
    })?;
    for ((_, text), column) in values.iter().zip(columns) {
        let test = &TESTS[column];
        let wrong = || Fault::value(format!("line {line} ({})", test.phase), *text, "a rate");
        spots.push(Spot {
            phase: test.phase.to_owned(),
            kind: test.kind,
            place,
            value: number(text).ok_or_else(wrong)?,
        });
    }
    Ok(())
}

/// The column of each value; `None` where that is not certain.
fn columns_of(values: &[(usize, &str)], ends: &[usize]) -> Option<Vec<usize>> {
    let known = ends.len().min(COLUMNS);
    if values.len() == known {
        return Some((0..known).collect());
    }
    let mut columns: Vec<usize> = Vec::new();
    for (end, _) in values {
        let near = (0..known).filter(|column| ends[*column].abs_diff(*end) <= REACH);
        let column = near.min_by_key(|column| ends[*column].abs_diff(*end))?;
        if columns.last().is_some_and(|last| *last >= column) {
            return None;
        }
        columns.push(column);
    }
    Some(columns)
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
