//! The numeric value of a table's text, for sorting columns.

/// Factors of the units of figures, within a column of one kind.
const UNITS: [(&str, f64); 19] = [
    ("ns", 1.0),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("PiB", 1_125_899_906_842_624.0),
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("op/s", 1.0),
    ("kop/s", 1e3),
    ("Mop/s", 1e6),
    ("Gop/s", 1e9),
    ("TB/s", 1e12),
];

/// The number to sort a cell by: 0.97 for `≈ 0.97`, 421 million for `421–440 MB/s`, 3 for `3 of 9`.
/// `None` if the text is no figure.
pub(super) fn sort_value(text: &str) -> Option<f64> {
    let begin = text.find(|letter: char| letter.is_ascii_digit())?;
    let (before, rest) = text.split_at(begin);
    // Names may contain digits; before a figure there are only marks.
    if before.chars().any(char::is_alphabetic) {
        return None;
    }
    let end = rest.find(|letter: char| !(letter.is_ascii_digit() || ",.".contains(letter)));
    let (digits, mut after) = rest.split_at(end.unwrap_or(rest.len()));
    let mut digits = digits.replace(',', "");
    if let Some(power) = exponent(after) {
        digits.push_str(&after[..power]);
        after = &after[power..];
    }
    let number: f64 = digits.trim_end_matches('.').parse().ok()?;
    let sign = if before.ends_with(['-', '−']) {
        -1.0
    } else {
        1.0
    };
    // An interval has one unit at its end if both ends share it.
    let own = after
        .split(['–', ' ', '\u{a0}'])
        .find(|word| !word.is_empty());
    let last = after.rsplit([' ', '\u{a0}']).next();
    let unit = [own, last].into_iter().flatten().find_map(worth);
    Some(sign * number * unit.unwrap_or(1.0))
}

/// The length of an exponent such as `e18` or `e-5` at the beginning.
fn exponent(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('e')?;
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    let count = digits.chars().take_while(char::is_ascii_digit).count();
    (count > 0).then(|| text.len() - digits.len() + count)
}

fn worth(unit: &str) -> Option<f64> {
    let found = UNITS.iter().find(|(name, _)| *name == unit);
    found.map(|(_, worth)| *worth)
}

/// A value in few characters: `429e6`.
pub(super) fn short(value: f64) -> String {
    let plain = value.to_string();
    let scientific = format!("{value:e}");
    match scientific.len() < plain.len() {
        true => scientific,
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_worth_what_they_say() {
        for (text, value) in [
            ("429 MB/s", 429e6),
            ("1.31 GB/s", 1.31e9),
            ("421–440 MB/s", 421e6),
            ("980 kB/s–1.02 MB/s", 980e3),
            ("≈ 0.97", 0.97),
            ("1,234,567", 1_234_567.0),
            ("1.00e18", 1e18),
            ("1.0e-5", 1e-5),
            ("48 KiB", 49_152.0),
            ("266.2 MiB", 266.2 * 1_048_576.0),
            ("2.20 ms", 2.2e6),
            ("12.3 s", 12.3e9),
            ("3 of 9", 3.0),
            ("10/10", 10.0),
            ("-1,000", -1000.0),
            ("−12 %", -12.0),
            ("< 0.1 %", 0.1),
            ("1.11 to 1.29", 1.11),
        ] {
            let found = sort_value(text).unwrap_or(f64::NAN);
            assert!(
                (found - value).abs() <= value.abs() * 1e-12,
                "{text}: {found}"
            );
        }
        for text in ["", "–", "skipped", "ext4", "tie of 4"] {
            assert_eq!(sort_value(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_written_in_few_letters() {
        assert_eq!(
            [429e6, 0.97, 49_152.0, 1e-7].map(short),
            ["4.29e8", "0.97", "49152", "1e-7"]
        );
    }
}
