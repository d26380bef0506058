//! The data sheet against the model: does the whole come to what its maker says?

use fslab_simdisk_sys::DiskOp;
use serde::Serialize;

use super::load::{Desk, Load, Measured, Place, SECTOR, Until};
use super::test::{SEED, START, Setting};
use crate::profile::DerivedValue;
use crate::{DiskError, Profile};
use fslab_stats::Random;

const SMALL: u64 = 4096;
const OPERATIONS: u64 = 10_000;

/// A figure of the data sheet, beside what the model comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SheetFigure {
    /// Its key in the profile, with the unit.
    pub name: &'static str,
    /// What it is.
    pub about: String,
    /// What the data sheet says.
    pub sheet: DerivedValue,
    /// What the model comes to.
    pub model: DerivedValue,
    /// How far the model is off: 0.02 is 2 % above the data sheet.
    pub difference: f64,
}

/// All figures that the data sheet has, of one member where there is an array.
///
/// # Errors
/// [`DiskError::Model`] where the model refuses the profile.
pub fn data_sheet(profile: &Profile) -> Result<Vec<SheetFigure>, DiskError> {
    let (profile, setting) = (profile.member(), Setting { seed: SEED });
    let mut figures = times(&profile, setting)?;
    figures.extend(frequencies(&profile, setting)?);
    figures.extend(rates(&profile, setting)?);
    Ok(figures)
}

fn times(profile: &Profile, setting: Setting) -> Result<Vec<SheetFigure>, DiskError> {
    let sheet = &profile.data_sheet;
    let wanted = [
        ("random_read_ns", "a read", sheet.random_read, DiskOp::Read),
        (
            "random_write_ns",
            "a write",
            sheet.random_write,
            DiskOp::Write,
        ),
    ];
    let mut figures = Vec::new();
    for (name, noun, said, op) in wanted {
        let Some(said) = said else { continue };
        let about = format!("{noun} of 4 KiB at random{}", span(profile));
        let mean_ns = random(profile, setting, op, 1)?.mean_ns();
        figures.push(figure(name, about, (said.0, mean_ns), DerivedValue::Time));
    }
    Ok(figures)
}

fn frequencies(profile: &Profile, setting: Setting) -> Result<Vec<SheetFigure>, DiskError> {
    let sheet = &profile.data_sheet;
    let wanted = [
        (
            "random_read_deep_per_s",
            "reads",
            sheet.random_read_deep,
            DiskOp::Read,
        ),
        (
            "random_write_deep_per_s",
            "writes",
            sheet.random_write_deep,
            DiskOp::Write,
        ),
    ];
    let mut figures = Vec::new();
    for (name, noun, said, op) in wanted {
        let (Some(said), Some(depth)) = (said, sheet.depth) else {
            continue;
        };
        let span = span(profile);
        let about = format!("{noun} of 4 KiB at random{span}, {depth} at a time");
        let rate = random(profile, setting, op, depth)?.operations_per_s();
        figures.push(figure(name, about, (said.0, rate), DerivedValue::Frequency));
    }
    Ok(figures)
}

fn rates(profile: &Profile, setting: Setting) -> Result<Vec<SheetFigure>, DiskError> {
    let sheet = &profile.data_sheet;
    let wanted = [
        (
            "sequential_read_bytes_per_s",
            "reading on and on at the beginning",
            Some(sheet.sequential_read),
            (DiskOp::Read, false),
        ),
        (
            "sequential_read_end_bytes_per_s",
            "reading on and on at the end",
            sheet.sequential_read_end,
            (DiskOp::Read, true),
        ),
        (
            "sequential_write_bytes_per_s",
            "writing on and on at the beginning",
            sheet.sequential_write,
            (DiskOp::Write, false),
        ),
    ];
    let mut figures = Vec::new();
    for (name, about, said, (op, at_end)) in wanted {
        let Some(said) = said else { continue };
        let rate = sequential(profile, setting, op, at_end)?.bytes_per_s();
        figures.push(figure(
            name,
            about.to_owned(),
            (said.0, rate),
            DerivedValue::Rate,
        ));
    }
    Ok(figures)
}

/// Where random access was measured, if not everywhere.
fn span(profile: &Profile) -> String {
    let span = profile.data_sheet.span;
    span.map_or_else(String::new, |span| format!(" within {span}"))
}

fn figure(
    name: &'static str,
    about: String,
    (sheet, model): (u64, f64),
    amount: fn(f64) -> DerivedValue,
) -> SheetFigure {
    let sheet = sheet as f64;
    let difference = model / sheet - 1.0;
    SheetFigure {
        name,
        about,
        sheet: amount(sheet),
        model: amount(model),
        difference: (difference * 1e4).round() / 1e4,
    }
}

fn random(
    profile: &Profile,
    setting: Setting,
    op: DiskOp,
    depth: u32,
) -> Result<Measured, DiskError> {
    let mut desk = Desk::new(profile, op)?;
    let span = profile.data_sheet.span;
    let mut load = Load {
        op,
        bytes: SMALL,
        depth,
        place: Place::Anywhere {
            span: span.map_or(desk.sectors(), |span| span.0 / SECTOR),
            random: Random::from_seed(setting.seed),
        },
    };
    let operations = OPERATIONS.max(100 * u64::from(depth));
    Ok(desk.run(&mut load, Until::operations(operations), |_| ()))
}

fn sequential(
    profile: &Profile,
    setting: Setting,
    op: DiskOp,
    at_end: bool,
) -> Result<Measured, DiskError> {
    let mut desk = Desk::new(profile, op)?;
    let bytes = profile.device.max_request.0;
    let total = setting.stretch_bytes(profile);
    let sector = if at_end {
        let last = desk
            .sectors()
            .saturating_sub((total + START * bytes) / SECTOR);
        last - last % 8
    } else {
        0
    };
    let mut load = Load {
        op,
        bytes,
        depth: setting.streaming_depth(&desk),
        place: Place::Onwards { sector },
    };
    let warm_up = match op {
        // A stream is hardly faster than the medium: it takes long to fill the cache.
        DiskOp::Write => 16 * setting.fill_operations(profile, bytes),
        _ => START,
    };
    desk.run(&mut load, Until::operations(warm_up), |_| ());
    Ok(desk.run(&mut load, Until::operations(total / bytes), |_| ()))
}
