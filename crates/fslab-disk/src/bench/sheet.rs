//! Compares the figures of the data sheet with those that the model reaches.

use fslab_simdisk_sys::DiskOp;
use fslab_stats::Random;
use schemars::JsonSchema;
use serde::Serialize;

use fslab_model::Failure;

use super::load::{Addresses, Load, LoadRunner, Measured, RunLimit, SECTOR};
use super::setting::{SEED, SEQUENTIAL_WARM_UP, Setting};
use crate::Profile;
use crate::profile::DerivedValue;

const RANDOM_BYTES: u64 = 4096;
const OPERATIONS: u64 = 10_000;

/// A figure of the data sheet and of the model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SheetFigure {
    /// Its key in the profile with the unit as a suffix.
    pub name: &'static str,
    /// What it measures.
    pub about: String,
    /// Value in the data sheet.
    #[schemars(with = "u64")]
    pub sheet: DerivedValue,
    /// Value reached by the model.
    #[schemars(with = "u64")]
    pub model: DerivedValue,
    /// Relative error of the model: 0.02 is 2 % above the data sheet.
    pub difference: f64,
}

/// All figures of the data sheet; for an array, of one member.
pub fn data_sheet(profile: &Profile) -> Result<Vec<SheetFigure>, Failure> {
    let (profile, setting) = (profile.member(), Setting { seed: SEED });
    let mut figures = times(&profile, setting)?;
    figures.extend(frequencies(&profile, setting)?);
    figures.extend(rates(&profile, setting)?);
    Ok(figures)
}

fn times(profile: &Profile, setting: Setting) -> Result<Vec<SheetFigure>, Failure> {
    let sheet = &profile.data_sheet;
    let table = [
        ("random_read_ns", "read", sheet.random_read, DiskOp::Read),
        (
            "random_write_ns",
            "write",
            sheet.random_write,
            DiskOp::Write,
        ),
    ];
    let mut figures = Vec::new();
    for (name, noun, value, op) in table {
        let Some(value) = value else { continue };
        let about = format!("random {noun} of 4 KiB{}", span(profile));
        let mean_ns = random(profile, setting, op, 1)?.mean_ns();
        figures.push(figure(name, about, (value.0, mean_ns), DerivedValue::Time));
    }
    Ok(figures)
}

fn frequencies(profile: &Profile, setting: Setting) -> Result<Vec<SheetFigure>, Failure> {
    let sheet = &profile.data_sheet;
    let table = [
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
    for (name, noun, value, op) in table {
        let (Some(value), Some(depth)) = (value, sheet.depth) else {
            continue;
        };
        let span = span(profile);
        let about = format!("random {noun} of 4 KiB{span}, queue depth {depth}");
        let rate = random(profile, setting, op, depth)?.operations_per_s();
        figures.push(figure(
            name,
            about,
            (value.0, rate),
            DerivedValue::Frequency,
        ));
    }
    Ok(figures)
}

fn rates(profile: &Profile, setting: Setting) -> Result<Vec<SheetFigure>, Failure> {
    let sheet = &profile.data_sheet;
    let table = [
        (
            "sequential_read_bytes_per_s",
            "sequential read at the beginning of the disk",
            Some(sheet.sequential_read),
            (DiskOp::Read, false),
        ),
        (
            "sequential_read_end_bytes_per_s",
            "sequential read at the end of the disk",
            sheet.sequential_read_end,
            (DiskOp::Read, true),
        ),
        (
            "sequential_write_bytes_per_s",
            "sequential write at the beginning of the disk",
            sheet.sequential_write,
            (DiskOp::Write, false),
        ),
    ];
    let mut figures = Vec::new();
    for (name, about, value, (op, at_end)) in table {
        let Some(value) = value else { continue };
        let rate = sequential(profile, setting, op, at_end)?.bytes_per_s();
        figures.push(figure(
            name,
            about.to_owned(),
            (value.0, rate),
            DerivedValue::Rate,
        ));
    }
    Ok(figures)
}

/// The part of the disk in which random access was measured, unless it is all of it.
fn span(profile: &Profile) -> String {
    let span = profile.data_sheet.span;
    span.map_or_else(String::new, |span| format!(" within {span}"))
}

fn figure(
    name: &'static str,
    about: String,
    (sheet, model): (u64, f64),
    unit: fn(f64) -> DerivedValue,
) -> SheetFigure {
    let sheet = sheet as f64;
    let difference = model / sheet - 1.0;
    SheetFigure {
        name,
        about,
        sheet: unit(sheet),
        model: unit(model),
        difference: (difference * 1e4).round() / 1e4,
    }
}

fn random(
    profile: &Profile,
    setting: Setting,
    op: DiskOp,
    depth: u32,
) -> Result<Measured, Failure> {
    let mut runner = LoadRunner::new(profile, op)?;
    let span = profile.data_sheet.span;
    let mut load = Load {
        op,
        bytes: RANDOM_BYTES,
        depth,
        addresses: Addresses::Random {
            span: span.map_or(runner.sectors(), |span| span.0 / SECTOR),
            random: Random::from_seed(setting.seed),
        },
    };
    let operations = OPERATIONS.max(100 * u64::from(depth));
    Ok(runner.run(&mut load, RunLimit::operations(operations), |_| ()))
}

fn sequential(
    profile: &Profile,
    setting: Setting,
    op: DiskOp,
    at_end: bool,
) -> Result<Measured, Failure> {
    let mut runner = LoadRunner::new(profile, op)?;
    let bytes = profile.device.max_request.0;
    let total = setting.sequential_bytes(profile);
    let sector = if at_end {
        let last = runner
            .sectors()
            .saturating_sub((total + SEQUENTIAL_WARM_UP * bytes) / SECTOR);
        last - last % 8
    } else {
        0
    };
    let mut load = Load {
        op,
        bytes,
        depth: setting.sequential_depth(&runner),
        addresses: Addresses::Sequential { sector },
    };
    let warm_up = match op {
        // The cache fills slowly, since a stream is little faster than the medium.
        DiskOp::Write => 16 * setting.fill_operations(profile, bytes),
        _ => SEQUENTIAL_WARM_UP,
    };
    runner.run(&mut load, RunLimit::operations(warm_up), |_| ());
    Ok(runner.run(&mut load, RunLimit::operations(total / bytes), |_| ()))
}
