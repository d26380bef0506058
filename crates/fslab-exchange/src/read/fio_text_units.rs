//! Sizes and latencies in fio's normal output, with their units and suffixes.

use serde_json::{Map, Value};

use crate::reading::number;

/// `8192KiB`, `16.0MiB`, `4096B`, or with `kb_base=1000` `8389kB`.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return None,
    };
    let bytes = (number(digits)? * unit).round();
    (bytes < 1e18).then_some(bytes as u64)
}

/// The nanoseconds of the unit in a line: `clat (usec): min=...`.
pub(super) fn unit_ns(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once('(')?;
    match rest.split_once(')')?.0 {
        "nsec" => Some(1.0),
        "usec" => Some(1e3),
        "msec" => Some(1e6),
        "sec" => Some(1e9),
        _ => None,
    }
}

/// `1192, max=4168.6k, avg=100619.62, stdev=253192.29`: what follows `min=`.
pub(super) fn latencies(rest: &str, unit: f64) -> Option<Map<String, Value>> {
    let mut span = Map::new();
    for part in format!("min={rest}").split(", ") {
        let (name, value) = part.split_once('=')?;
        let name = match name.trim() {
            "avg" => "mean",
            name @ ("min" | "max") => name,
            _ => continue,
        };
        span.insert(name.to_owned(), (figure(value)? * unit).into());
    }
    Some(span)
}

/// A figure with a decimal suffix: `4168.6k`.
fn figure(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.trim_end_matches(['k', 'M', 'G']);
    let power = match &text[digits.len()..] {
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        _ => return None,
    };
    // A product would have another last digit.
    number(&format!("{digits}e{power}"))
}

/// `|  1.00th=[   12],  5.00th=[   12],`.
pub(super) fn percentiles(line: &str, unit: f64) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    let entries = line.trim_start_matches('|').split(']');
    let entries = entries.map(|entry| entry.trim_start_matches([',', ' ']).trim_end());
    for entry in entries.filter(|entry| !entry.is_empty()) {
        let (percent, value) = entry.split_once("th=[")?;
        found.insert(percent.to_owned(), (number(value)? * unit).into());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_latencies_have_the_units_of_fio() {
        assert_eq!(bytes("8192KiB"), Some(8 << 20));
        assert_eq!(bytes("16.0MiB"), Some(16 << 20));
        assert_eq!((bytes("8389kB"), bytes("4096")), (Some(8_389_000), None));
        assert_eq!(unit_ns("lat (usec): min=1"), Some(1e3));
        assert_eq!(unit_ns("lat (hours): min=1"), None);
        let span = latencies("1192, max=4168.6k, avg= 8.50, stdev=2.29", 1.0).expect("a span");
        assert_eq!(
            (span["max"].as_f64(), span["mean"].as_f64()),
            (Some(4_168_600.0), Some(8.5))
        );
        let found = percentiles("| 99.00th=[   60], 99.90th=[1220608],", 1e3).expect("two");
        assert_eq!(found["99.90"].as_f64(), Some(1_220_608e3));
        assert_eq!(percentiles("| 99.00th=[ 6x0],", 1e3), None);
    }
}
