//! Fits a hard disk to the rates of a benchmark that was published, and says how far the model is
//! from each.
//!
//! A file system reaches what the disk does or less, so the rates to fit are those of the fastest
//! file systems. One factor, of the rates of the media, is solved for by bisection, since the rate
//! of reading rises with it. Whether the write cache is on, and whether the disk has a queue, is
//! decided by the smallest error of all rates. Writing and random reading have no parameter of
//! their own: data of a few GiB spans too little of a disk to tell its seeks.

use fslab_model::{Bytes, Failure};
use fslab_simdisk_sys::DiskOp;
use fslab_stats::{Random, quantile};
use schemars::JsonSchema;
use serde::Serialize;

use super::load::{Addresses, Load, LoadRunner, RunLimit, SECTOR};
use super::setting::{SEED, SEQUENTIAL_WARM_UP, Setting};
use crate::Profile;
use crate::profile::{HardDisk, Medium};

/// A factor is looked for from its inverse to it.
const FACTOR_MOST: f64 = 4.0;
const BISECTIONS: u32 = 40;
const QUANTILE: f64 = 0.75;
const RANDOM_OPERATIONS: u64 = 4000;

/// The rate of the disk, by the rates of the file systems on it: their upper quartile, since the
/// fastest may have read a part from memory. `None` without a rate above 0.
pub fn rate_of_disk(rates: &[f64]) -> Option<f64> {
    quantile(rates, QUANTILE).filter(|rate| *rate > 0.0)
}

/// The published rates, of the disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitTargets {
    /// Sequential reading in bytes per second.
    pub read: f64,
    /// Sequential writing in bytes per second.
    pub write: f64,
    /// Random reads per second at the disk.
    pub random: f64,
    /// The size of a random read.
    pub random_bytes: Bytes,
    /// Processes that read at random at once.
    pub random_depth: u32,
    /// The size of the data.
    pub span: Bytes,
}

/// A rate, published and reached.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FitResidual {
    /// What is measured.
    pub name: &'static str,
    /// Whether the rate is of bytes; otherwise of operations.
    pub is_of_bytes: bool,
    /// Published, per second.
    pub published: f64,
    /// Reached by the model, per second.
    pub model: f64,
}

impl FitResidual {
    /// The relative error: 0.02 if the model is 2 % faster.
    pub fn error(&self) -> f64 {
        self.model / self.published - 1.0
    }
}

/// A parameter before and after the fit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FittedParameter {
    /// Its key in the profile.
    pub key: &'static str,
    pub before: String,
    pub after: String,
}

/// One of the alternatives: with the write cache and the queue that it has.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FitAlternative {
    pub write_cache: bool,
    pub queue_depth: u32,
    /// The root of the mean square of the logarithms of model / published.
    pub error: f64,
    pub residuals: Vec<FitResidual>,
}

/// A fitted disk.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedDisk {
    pub profile: Profile,
    pub parameters: Vec<FittedParameter>,
    /// All alternatives, the best first.
    pub alternatives: Vec<FitAlternative>,
}

/// Fits a profile of a hard disk.
///
/// # Errors
/// Bad input if it is no single hard disk.
pub fn fit(profile: &Profile, targets: FitTargets) -> Result<FittedDisk, Failure> {
    let is_single = profile.array.is_none() && profile.controller.is_none();
    let Some(stated) = hard_disk(profile).filter(|_| is_single) else {
        let text = format!("the disk profile {} is no single hard disk", profile.name);
        let hint = "fit one of those that fslab disk list calls 'hard disk'";
        return Err(Failure::bad_input(text).hint(hint));
    };
    let depth = profile.device.queue_depth;
    let mut depths = vec![depth, 1];
    depths.dedup();
    let mut fitted: Vec<(FitAlternative, Profile)> = Vec::new();
    for write_cache in [true, false] {
        for queue_depth in &depths {
            let mut disk = profile.clone();
            disk.cache.write_cache = write_cache;
            disk.device.queue_depth = *queue_depth;
            fitted.push(fit_media(&disk, targets)?);
        }
    }
    fitted.sort_by(|a, b| a.0.error.total_cmp(&b.0.error));
    let best = fitted[0].1.clone();
    let parameters = parameters(profile, stated, &best);
    Ok(FittedDisk {
        profile: best,
        parameters,
        alternatives: fitted.into_iter().map(|it| it.0).collect(),
    })
}

fn hard_disk(profile: &Profile) -> Option<&HardDisk> {
    match &profile.medium {
        Medium::HardDisk(disk) => Some(disk),
        Medium::Flash(_) => None,
    }
}

/// Solves for the factor of the media's rates.
fn fit_media(disk: &Profile, targets: FitTargets) -> Result<(FitAlternative, Profile), Failure> {
    let with = |factor: f64| {
        let mut disk = changed(disk, |disk| scale_media(disk, factor));
        let sheet = &mut disk.data_sheet;
        for rate in [
            Some(&mut sheet.sequential_read),
            sheet.sequential_read_end.as_mut(),
        ] {
            rate.into_iter()
                .for_each(|rate| scaled(&mut rate.0, factor));
        }
        disk
    };
    let factor = bisect(|factor| Ok(sequential(&with(factor), DiskOp::Read)? - targets.read))?;
    let disk = with(factor);
    let residual = |name, is_of_bytes, published, model| FitResidual {
        name,
        is_of_bytes,
        published,
        model,
    };
    let residuals = vec![
        residual(
            "sequential read",
            true,
            targets.read,
            sequential(&disk, DiskOp::Read)?,
        ),
        residual(
            "sequential write",
            true,
            targets.write,
            sequential(&disk, DiskOp::Write)?,
        ),
        residual(
            "random read",
            false,
            targets.random,
            random(&disk, targets)?,
        ),
    ];
    let squares = residuals.iter().map(|it| (1.0 + it.error()).ln().powi(2));
    let alternative = FitAlternative {
        write_cache: disk.cache.write_cache,
        queue_depth: disk.device.queue_depth,
        error: (squares.sum::<f64>() / residuals.len() as f64).sqrt(),
        residuals,
    };
    Ok((alternative, disk))
}

/// The factor at which `excess`, which rises with it, is 0. If there is none, it is the nearest
/// end, and its residual shows that.
fn bisect(excess: impl Fn(f64) -> Result<f64, Failure>) -> Result<f64, Failure> {
    let (mut low, mut high) = (-FACTOR_MOST.ln(), FACTOR_MOST.ln());
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        match excess(middle.exp())? > 0.0 {
            true => high = middle,
            false => low = middle,
        }
    }
    Ok(f64::midpoint(low, high).exp())
}

fn changed(profile: &Profile, change: impl FnOnce(&mut HardDisk)) -> Profile {
    let mut profile = profile.clone();
    if let Medium::HardDisk(disk) = &mut profile.medium {
        change(disk);
    }
    profile
}

fn scaled(value: &mut u64, factor: f64) {
    *value = ((*value as f64 * factor).round() as u64).max(1);
}

fn scale_media(disk: &mut HardDisk, factor: f64) {
    for rate in [&mut disk.media.outer, &mut disk.media.inner] {
        scaled(&mut rate.0, factor);
    }
}

/// Bytes per second, in requests of the largest size, as many at once as the disk takes.
fn sequential(profile: &Profile, op: DiskOp) -> Result<f64, Failure> {
    let setting = Setting { seed: SEED };
    let mut runner = LoadRunner::new(profile, op)?;
    let bytes = profile.device.max_request.0;
    let mut load = Load {
        op,
        bytes,
        depth: setting.sequential_depth(&runner),
        addresses: Addresses::Sequential { sector: 0 },
    };
    let warm_up = match op {
        DiskOp::Write => 16 * setting.fill_operations(profile, bytes),
        _ => SEQUENTIAL_WARM_UP,
    };
    runner.run(&mut load, RunLimit::operations(warm_up), |_| ());
    let operations = setting.sequential_bytes(profile) / bytes;
    let measured = runner.run(&mut load, RunLimit::operations(operations), |_| ());
    Ok(measured.bytes_per_s())
}

/// Random reads per second within the data.
fn random(profile: &Profile, targets: FitTargets) -> Result<f64, Failure> {
    let mut runner = LoadRunner::new(profile, DiskOp::Read)?;
    let mut load = Load {
        op: DiskOp::Read,
        bytes: targets.random_bytes.0,
        depth: targets.random_depth,
        addresses: Addresses::Random {
            span: targets.span.0 / SECTOR,
            random: Random::from_seed(SEED),
        },
    };
    let measured = runner.run(&mut load, RunLimit::operations(RANDOM_OPERATIONS), |_| ());
    Ok(measured.operations_per_s())
}

fn parameters(before: &Profile, stated: &HardDisk, after: &Profile) -> Vec<FittedParameter> {
    let fitted = hard_disk(after).unwrap_or(stated);
    let parameter = |key, before: String, after: String| FittedParameter { key, before, after };
    let on = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    let rate = |rate: u64| format!("{:.1} MB/s", rate as f64 / 1e6);
    let media = (&stated.media, &fitted.media);
    vec![
        parameter(
            "cache.write_cache",
            on(before.cache.write_cache),
            on(after.cache.write_cache),
        ),
        parameter(
            "device.queue_depth",
            before.device.queue_depth.to_string(),
            after.device.queue_depth.to_string(),
        ),
        parameter("media.outer", rate(media.0.outer.0), rate(media.1.outer.0)),
        parameter("media.inner", rate(media.0.inner.0), rate(media.1.inner.0)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn the_rates_of_a_known_disk_give_back_its_parameters() {
        let known = registry::find("hdd-7200-sata-2010").expect("built in");
        let mut slow = changed(&known, |disk| {
            scale_media(disk, 0.5);
        });
        slow.cache.write_cache = false;
        slow.device.queue_depth = 1;
        let mut targets = FitTargets {
            read: sequential(&slow, DiskOp::Read).expect("a disk"),
            write: sequential(&slow, DiskOp::Write).expect("a disk"),
            random: 0.0,
            random_bytes: Bytes(8192),
            random_depth: 5,
            span: Bytes::gib(2),
        };
        targets.random = random(&slow, targets).expect("a disk");
        let found = fit(&known, targets).expect("a fit");
        assert!(found.alternatives[0].error < 0.01, "{found:?}");
        assert!(!found.profile.cache.write_cache);
        let (wanted, disk) = (hard_disk(&slow), hard_disk(&found.profile));
        let outer = |disk: Option<&HardDisk>| disk.expect("a hard disk").media.outer.0 as f64;
        assert!((outer(disk) / outer(wanted) - 1.0).abs() < 0.02);
        // The alternatives are sorted, and no other one explains slow writes.
        assert!(found.alternatives[1].error > 0.05, "{found:?}");
    }

    #[test]
    fn a_flash_disk_is_refused() {
        let flash = registry::find("ssd-sata-2022").expect("built in");
        let targets = FitTargets {
            read: 1e8,
            write: 1e8,
            random: 100.0,
            random_bytes: Bytes(4096),
            random_depth: 1,
            span: Bytes::gib(1),
        };
        let error = fit(&flash, targets).expect_err("flash");
        assert!(error.message.contains("is no single hard disk"), "{error}");
    }
}
