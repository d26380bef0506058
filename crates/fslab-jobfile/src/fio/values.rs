//! How the values of options set several things, or one in several ways.

use std::path::Path;

use super::settings::{Advice, Distribution, FioFile, FioSettings, Pattern};
use super::units::{KbBase, bytes, number, number_up_to, time_ns};
use crate::draft::plain_name;
use crate::problem::shown;

const SECOND_NS: u64 = 1_000_000_000;

/// The parts of a value for reads and for writes: one part is for both.
fn directions(text: &str) -> [Option<&str>; 2] {
    let mut parts = text.split(',').map(str::trim);
    let read = parts.next().filter(|part| !part.is_empty());
    let write = match parts.next() {
        None => read,
        Some(part) => Some(part).filter(|part| !part.is_empty()),
    };
    [read, write]
}

fn set_directions<T>(
    values: &mut [T; 2],
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<(), String> {
    for (value, part) in values.iter_mut().zip(directions(text)) {
        if let Some(part) = part {
            *value = parse(part)?;
        }
    }
    Ok(())
}

impl FioSettings {
    pub(crate) fn set_pattern(&mut self, text: &str) -> Result<(), String> {
        let (word, more) = text
            .split_once(':')
            .map_or((text, None), |(word, more)| (word, Some(more)));
        let (reads, writes, is_random) = match word.trim() {
            "read" => (true, false, false),
            "write" => (false, true, false),
            "rw" | "readwrite" => (true, true, false),
            "randread" => (true, false, true),
            "randwrite" => (false, true, true),
            "randrw" => (true, true, true),
            trim if trim.contains("trim") => {
                return Err("fslab's jobs read and write, and discard nothing".into());
            }
            other => return Err(format!("'{}' is no pattern of I/O", shown(other))),
        };
        let gap = match more.map(str::trim) {
            None => 0,
            Some(count) if is_random => match number(count)? {
                1 => 0,
                count => {
                    return Err(format!(
                        "{count} sequential records after each random offset; fslab has one"
                    ));
                }
            },
            Some(bytes_text) => {
                let (sign, magnitude) = match bytes_text.strip_prefix('-') {
                    Some(magnitude) => (-1, magnitude),
                    None => (1, bytes_text),
                };
                let magnitude = i64::try_from(bytes(magnitude, self.base)?);
                sign * magnitude.map_err(|_| "a gap of more than 8 EiB".to_owned())?
            }
        };
        self.pattern = Pattern {
            reads,
            writes,
            is_random,
            gap,
        };
        Ok(())
    }

    pub(crate) fn set_record(&mut self, text: &str) -> Result<(), String> {
        let base = self.base;
        self.split = [Vec::new(), Vec::new()];
        set_directions(&mut self.record, text, |part| record(part, base))
    }

    pub(crate) fn set_record_range(&mut self, text: &str) -> Result<(), String> {
        for (direction, part) in directions(text).into_iter().enumerate() {
            let Some(part) = part else { continue };
            let Some((low, high)) = part.split_once(['-', ':']) else {
                return Err("a range is LOW-HIGH".into());
            };
            let (low, high) = (record(low, self.base)?, record(high, self.base)?);
            let lengths = high / low;
            if high < low || !high.is_multiple_of(low) || lengths > 50 {
                return Err(format!(
                    "a range of {low} to {high} bytes; fslab has up to 50 lengths, multiples of \
                     the shortest"
                ));
            }
            self.record[direction] = high;
            self.split[direction] = match lengths {
                1 => Vec::new(),
                count => {
                    let each = 100 / count;
                    let rest = 100 - each * count;
                    let percent = |at| (each + u64::from(at <= rest)) as u8;
                    (1..=count).map(|at| (at * low, percent(at))).collect()
                }
            };
        }
        Ok(())
    }

    pub(crate) fn set_record_split(&mut self, text: &str) -> Result<(), String> {
        for (direction, part) in directions(text).into_iter().enumerate() {
            let Some(part) = part else { continue };
            let mut rows = Vec::new();
            for row in part.split(':') {
                let (length, percent) = row.split_once('/').unwrap_or((row, ""));
                rows.push((record(length, self.base)?, percent_or_rest(percent)?));
            }
            let percents = shared_out(rows.iter().map(|(_, percent)| *percent))?;
            let rows = rows
                .iter()
                .zip(percents)
                .map(|((length, _), percent)| (*length, percent));
            let rows: Vec<_> = rows.filter(|(_, percent)| *percent > 0).collect();
            self.record[direction] = rows.iter().map(|(length, _)| *length).max().unwrap_or(4096);
            self.split[direction] = match rows.len() {
                1 => Vec::new(),
                _ => rows,
            };
        }
        Ok(())
    }

    pub(crate) fn set_distribution(&mut self, text: &str) -> Result<(), String> {
        let (word, value) = text.split_once(':').unwrap_or((text, ""));
        let share = |default: f64| match value.trim() {
            "" => Ok(default),
            value => value
                .parse::<f64>()
                .map_err(|_| format!("'{}' is no number", shown(value))),
        };
        self.distribution = match word.trim() {
            "random" => Distribution::Uniform,
            "zipf" => match share(1.1)? {
                theta if theta > 0.0 && theta < 100.0 => Distribution::Zipf(theta),
                theta => return Err(format!("a Zipf exponent of {theta}")),
            },
            "pareto" => match share(0.2)? {
                h if h > 0.0 && h < 1.0 => Distribution::Pareto(h),
                h => {
                    return Err(format!(
                        "a Pareto share of {h}, which is not between 0 and 1"
                    ));
                }
            },
            "zoned" => Distribution::Zoned(zones(value)?),
            other => {
                return Err(format!(
                    "fslab has no distribution '{}'; it has random, zipf, pareto and zoned",
                    shown(other)
                ));
            }
        };
        Ok(())
    }

    pub(crate) fn set_filename(&mut self, text: &str) -> Result<(), String> {
        let plain = text.replace("\\:", "-");
        if plain.contains(':') {
            return Err("several files; fslab's job has one, or nrfiles of them".into());
        }
        let last = Path::new(&plain).file_name().and_then(|name| name.to_str());
        let Some(last) = last else {
            return Err("no name of a file".into());
        };
        let is_device = plain.starts_with("/dev/") && !plain.starts_with("/dev/shm/");
        let is_storage = !["null", "zero", "full", "random", "urandom"].contains(&last);
        if is_device && !is_storage {
            return Err("a device that stores nothing".into());
        }
        self.filename = Some(FioFile {
            given: text.to_owned(),
            name: plain_name(last),
            is_device,
        });
        Ok(())
    }

    pub(crate) fn set_filename_format(&mut self, text: &str) -> Result<(), String> {
        match text.contains("$jobnum") {
            true => Ok(()),
            false => Err("a format without $jobnum, with which copies of a job share files".into()),
        }
    }

    pub(crate) fn set_fallocate(&mut self, text: &str) -> Result<(), String> {
        self.preparation = match text {
            "none" | "0" => "none",
            "native" | "posix" | "1" => "allocate",
            "truncate" => "truncate",
            "keep" => return Err("space beyond the end of the file, which fslab never has".into()),
            other => return Err(format!("'{}' is no preallocation", shown(other))),
        };
        Ok(())
    }

    pub(crate) fn set_advice(&mut self, text: &str) -> Result<(), String> {
        self.advice = match text {
            "0" | "none" => Advice::None,
            "1" => Advice::ByPattern,
            "sequential" => Advice::Sequential,
            "random" => Advice::Random,
            "noreuse" => Advice::NoReuse,
            other => return Err(format!("'{}' is no hint to the kernel", shown(other))),
        };
        Ok(())
    }

    pub(crate) fn set_open_sync(&mut self, text: &str) -> Result<(), String> {
        self.open_sync = match text {
            "0" | "none" => None,
            "1" | "sync" => Some("full"),
            "dsync" => Some("data"),
            other => {
                return Err(format!(
                    "'{}' is neither none, sync nor dsync",
                    shown(other)
                ));
            }
        };
        Ok(())
    }

    pub(crate) fn set_file_order(&mut self, text: &str) -> Result<(), String> {
        self.files_in_turn = match text.split(':').next().unwrap_or_default() {
            "roundrobin" | "random" => true,
            "sequential" => false,
            other => return Err(format!("fslab has no order of files '{}'", shown(other))),
        };
        Ok(())
    }

    pub(crate) fn set_start_delay(&mut self, text: &str) -> Result<(), String> {
        if text.contains(['-', ',']) {
            return Err("a range, of which fio takes a random time".into());
        }
        self.start_delay_ns = time_ns(text, SECOND_NS)?;
        Ok(())
    }

    pub(crate) fn set_rate(&mut self, text: &str) -> Result<(), String> {
        let base = self.base;
        set_directions(&mut self.rate, text, |part| match bytes(part, base)? {
            0 => Ok(None),
            rate => Ok(Some(rate)),
        })
    }

    pub(crate) fn set_rate_iops(&mut self, text: &str) -> Result<(), String> {
        set_directions(&mut self.rate_iops, text, |part| match number(part)? {
            0 => Ok(None),
            rate => Ok(Some(rate)),
        })
    }

    pub(crate) fn set_rate_process(&mut self, text: &str) -> Result<(), String> {
        self.is_poisson = match text {
            "linear" => false,
            "poisson" => true,
            other => return Err(format!("'{}' is neither linear nor poisson", shown(other))),
        };
        Ok(())
    }

    pub(crate) fn set_base(&mut self, text: &str) -> Result<(), String> {
        self.base = match text {
            "1000" => KbBase::Thousand,
            "1024" => KbBase::Binary,
            other => return Err(format!("'{}' is neither 1000 nor 1024", shown(other))),
        };
        Ok(())
    }

    pub(crate) fn set_verify(&mut self, text: &str) -> Result<(), String> {
        self.verifies = !matches!(text, "0" | "none" | "null");
        Ok(())
    }
}

/// The length of a record.
fn record(text: &str, base: KbBase) -> Result<u64, String> {
    match bytes(text, base)? {
        bytes @ 1..=0x800_0000 => Ok(bytes),
        bytes => Err(format!(
            "records of {bytes} bytes; fslab has 1 byte to 128 MiB"
        )),
    }
}

fn percent_or_rest(text: &str) -> Result<Option<u8>, String> {
    match text.trim() {
        "" => Ok(None),
        text => Ok(Some(number_up_to(text, 100)? as u8)),
    }
}

/// The percents, 100 together: those that are left out share the rest.
fn shared_out(percents: impl Iterator<Item = Option<u8>> + Clone) -> Result<Vec<u8>, String> {
    let given: u64 = percents.clone().flatten().map(u64::from).sum();
    let open = percents.clone().filter(Option::is_none).count() as u64;
    if given > 100 || (open == 0 && given != 100) {
        return Err(format!("shares of {given} % together, not 100 %"));
    }
    let mut rest = 100 - given;
    let mut left = open;
    Ok(percents
        .map(|percent| {
            percent.unwrap_or_else(|| {
                let share = rest / left.max(1);
                rest -= share;
                left -= 1;
                share as u8
            })
        })
        .collect())
}

fn zones(text: &str) -> Result<Vec<(u8, u8)>, String> {
    if text.contains(',') {
        return Err("zones of reads and others of writes".into());
    }
    let mut rows = Vec::new();
    for row in text.split(':') {
        let (access, space) = row.split_once('/').unwrap_or((row, ""));
        rows.push((percent_or_rest(access)?, percent_or_rest(space)?));
    }
    let access = shared_out(rows.iter().map(|(access, _)| *access))?;
    let space = shared_out(rows.iter().map(|(_, space)| *space))?;
    Ok(access.into_iter().zip(space).collect())
}
