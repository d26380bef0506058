//! Numbers, sizes, times and truth values as fio reads them.
//!
//! With `kb_base=1024`, its default, fio takes `k` and `kb` for 1024 and `kib` for 1000; with
//! `kb_base=1000` it is the other way round. Both are as in fio's manual.

/// The bytes of a `k`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KbBase {
    Thousand,
    #[default]
    Binary,
}

/// A size of fio: bytes, or percent of the file or device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FioSize {
    Bytes(u64),
    Percent(u64),
}

/// A whole number; hexadecimal after `0x`.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("'{}' is no whole number", crate::problem::shown(text)))
}

/// A whole number up to `most`.
pub(crate) fn number_up_to(text: &str, most: u64) -> Result<u64, String> {
    match number(text)? {
        number if number <= most => Ok(number),
        number => Err(format!("{number} is more than {most}")),
    }
}

/// A truth value: `0` or `1`.
pub(crate) fn truth(text: &str) -> Result<bool, String> {
    match text.trim() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        other => Err(format!(
            "'{}' is neither 0 nor 1",
            crate::problem::shown(other)
        )),
    }
}

/// A size in bytes.
pub(crate) fn bytes(text: &str, base: KbBase) -> Result<u64, String> {
    match size(text, base)? {
        FioSize::Bytes(bytes) => Ok(bytes),
        FioSize::Percent(_) => Err("a percentage instead of a size".into()),
    }
}

/// A size, or a percentage.
pub(crate) fn size(text: &str, base: KbBase) -> Result<FioSize, String> {
    let text = text.trim().to_ascii_lowercase();
    let wrong = || format!("'{}' is no size", crate::problem::shown(&text));
    let digits = match text.starts_with("0x") {
        true => text.len(),
        false => text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    };
    let (count, unit) = text.split_at(digits);
    if count.is_empty() || unit.contains(['+', '-', '*', '/', '(', '$']) {
        return Err(format!("{}; fslab evaluates no expressions", wrong()));
    }
    let count = number(count)?;
    let (other, base) = match base {
        KbBase::Binary => (1000_u64, 1024_u64),
        KbBase::Thousand => (1024, 1000),
    };
    let (base, power) = match unit {
        "" | "b" => (base, 0),
        "k" | "kb" | "ki" => (base, 1),
        "m" | "mb" | "mi" => (base, 2),
        "g" | "gb" | "gi" => (base, 3),
        "t" | "tb" | "ti" => (base, 4),
        "p" | "pb" | "pi" => (base, 5),
        "kib" => (other, 1),
        "mib" => (other, 2),
        "gib" => (other, 3),
        "tib" => (other, 4),
        "pib" => (other, 5),
        "%" if count <= 100 => return Ok(FioSize::Percent(count)),
        "z" => return Err("a number of zones, which only zoned devices have".into()),
        _ => return Err(wrong()),
    };
    let bytes = (0..power).try_fold(count, |bytes, _| bytes.checked_mul(base));
    match bytes.filter(|bytes| *bytes <= 1 << 60) {
        Some(bytes) => Ok(FioSize::Bytes(bytes)),
        None => Err(format!(
            "{} is more than 1 EiB",
            crate::problem::shown(&text)
        )),
    }
}

/// Limit of times: fslab counts in nanoseconds.
const TIME_NS_MAX: u64 = 100 * 365 * 86_400 * 1_000_000_000;

/// A time in nanoseconds; a number without a unit has `unit_ns`.
pub(crate) fn time_ns(text: &str, unit_ns: u64) -> Result<u64, String> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (count, unit) = text.split_at(digits);
    let wrong = || format!("'{}' is no time", crate::problem::shown(&text));
    let unit_ns = match unit {
        "" => unit_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(wrong()),
    };
    let count: u64 = count.parse().map_err(|_| wrong())?;
    match count.checked_mul(unit_ns).filter(|ns| *ns <= TIME_NS_MAX) {
        Some(ns) => Ok(ns),
        None => Err(format!(
            "{} is more than 100 years",
            crate::problem::shown(&text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_k_is_1024_bytes_and_a_kib_1000_unless_the_base_is_1000() {
        let at = |text: &str, base| bytes(text, base).expect(text);
        for (text, binary, thousand) in [
            ("4096", 4096, 4096),
            ("4k", 4096, 4000),
            ("4KB", 4096, 4000),
            ("4kib", 4000, 4096),
            ("2M", 2 << 20, 2_000_000),
            ("1GiB", 1_000_000_000, 1 << 30),
            ("0x10", 16, 16),
            ("1t", 1 << 40, 1_000_000_000_000),
        ] {
            assert_eq!(at(text, KbBase::Binary), binary, "{text}");
            assert_eq!(at(text, KbBase::Thousand), thousand, "{text}");
        }
        assert_eq!(size("30%", KbBase::Binary), Ok(FioSize::Percent(30)));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for bad in [
            "", "k", "4q", "-1", "1.5m", "2*4k", "8z", "101%", "9999999p", "4k 4k",
        ] {
            assert!(size(bad, KbBase::Binary).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_have_units_and_default_to_seconds_or_microseconds() {
        assert_eq!(time_ns("60", 1_000_000_000), Ok(60_000_000_000));
        assert_eq!(time_ns("2000", 1_000), Ok(2_000_000));
        assert_eq!(time_ns("5m", 1), Ok(300_000_000_000));
        assert_eq!(time_ns("10s", 1), Ok(10_000_000_000));
        assert_eq!(time_ns("3ms", 1), Ok(3_000_000));
        for bad in ["", "s", "-1", "1w", "99999999999d"] {
            assert!(time_ns(bad, 1).is_err(), "{bad}");
        }
    }

    #[test]
    fn truth_values_and_numbers_are_strict() {
        assert_eq!((truth("1"), truth("0")), (Ok(true), Ok(false)));
        assert!(truth("2").is_err() && number("x").is_err() && number("").is_err());
        assert!(number_up_to("65", 64).is_err());
    }
}
