//! Dates as IOR, mdtest and IO500 write them, in UTC.

/// The time of a day.
struct Moment {
    year: u64,
    month: u64,
    day: u64,
    weekday: usize,
    hour: u64,
    minute: u64,
    second: u64,
}

impl Moment {
    /// `01:29:24`.
    fn time(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}

/// Days of 400 years, and of the years before 1970 since the year 0.
const DAYS_OF_ERA: u64 = 146_097;
const DAYS_BEFORE_1970: u64 = 719_528;
const DAYS: [&str; 7] = ["Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `Fri Nov 27 01:28:15 2026`.
pub(super) fn of_ior(unix_s: u64) -> String {
    let it = moment(unix_s);
    let (weekday, month) = (DAYS[it.weekday], MONTHS[it.month as usize - 1]);
    let (day, year) = (it.day, it.year);
    format!("{weekday} {month} {day:>2} {} {year}", it.time())
}

/// `11/27/2026 01:29:24`.
pub(super) fn of_mdtest(unix_s: u64) -> String {
    let it = moment(unix_s);
    let date = format!("{:02}/{:02}/{}", it.month, it.day, it.year);
    format!("{date} {}", it.time())
}

/// `2026-11-27 01:29:24`.
pub(super) fn of_io500(unix_s: u64) -> String {
    let it = moment(unix_s);
    let date = format!("{}-{:02}-{:02}", it.year, it.month, it.day);
    format!("{date} {}", it.time())
}

fn moment(unix_s: u64) -> Moment {
    let days = unix_s / 86_400 + DAYS_BEFORE_1970;
    let second = unix_s % 86_400;
    // The year 0 was a leap year, as each first of an era is.
    let (era, mut rest) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let mut year = era * 400;
    while rest >= days_of(year) {
        rest -= days_of(year);
        year += 1;
    }
    let mut month = 1;
    while rest >= days_of_month(year, month) {
        rest -= days_of_month(year, month);
        month += 1;
    }
    Moment {
        year,
        month,
        day: rest + 1,
        weekday: (days % 7) as usize,
        hour: second / 3600,
        minute: second / 60 % 60,
        second: second % 60,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

fn days_of(year: u64) -> u64 {
    365 + u64::from(is_leap(year))
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By date(1).
    #[test]
    fn moments_are_those_of_the_calendar() {
        for (unix_s, ior) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (1_795_742_895, "Fri Nov 27 01:28:15 2026"),
            (4_107_542_399, "Sun Feb 28 23:59:59 2100"),
            (4_107_542_400, "Mon Mar  1 00:00:00 2100"),
        ] {
            assert_eq!(of_ior(unix_s), ior);
        }
        assert_eq!(of_mdtest(1_795_742_895), "11/27/2026 01:28:15");
    }
}
