//! The complete benchmark of a profile: all curves and the data sheet.

use fslab_simdisk_sys::DiskModel;
use schemars::JsonSchema;
use serde::Serialize;

use fslab_model::Failure;

use super::curve::Curve;
use super::load::RunLimit;
use super::setting::{SEED, Setting};
use super::sheet::{self, SheetFigure};
use super::{burst, depth, distance, position, request_size};
use crate::Profile;

/// The benchmark of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bench {
    /// The profile's name.
    pub profile: String,
    /// The digest of its parameters.
    pub digest: String,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The data sheet against the model.
    pub data_sheet: Vec<SheetFigure>,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Runs the complete benchmark in virtual time.
pub fn run(profile: &Profile) -> Result<Bench, Failure> {
    let setting = Setting { seed: SEED };
    let mut curves = Vec::new();
    curves.extend(depth::curve(profile, setting)?);
    curves.push(position::curve(profile, setting)?);
    curves.extend(request_size::curves(profile, setting)?);
    curves.extend(distance::curve(profile, setting)?);
    curves.push(burst::curve(profile, setting)?);
    Ok(Bench {
        profile: profile.name.clone(),
        digest: profile.digest(),
        seed: setting.seed,
        data_sheet: sheet::data_sheet(profile)?,
        curves,
    })
}

impl Profile {
    /// A new simulated disk with these parameters.
    pub fn model(&self) -> Result<DiskModel, Failure> {
        DiskModel::new(&self.parameters()).map_err(|reason| {
            let name = &self.name;
            Failure::bad_input(format!("cannot create the simulated disk {name}: {reason}"))
        })
    }
}

impl RunLimit {
    pub(super) fn operations(operations: u64) -> Self {
        Self {
            operations,
            elapsed_ns: u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::curve::Line;
    use super::*;
    use crate::profile::Medium;
    use crate::registry;

    fn bench(name: &str) -> Bench {
        run(&registry::find(name).expect("built in")).expect("a disk")
    }

    fn line<'a>(bench: &'a Bench, curve: &str, name: &str) -> &'a Line {
        let curve = bench.curves.iter().find(|found| found.name == curve);
        let lines = &curve.expect("the curve").lines;
        let line = lines.iter().find(|line| line.name == name);
        line.expect("the line")
    }

    fn ends(line: &Line) -> (f64, f64) {
        let y = |point: Option<&super::super::curve::CurvePoint>| point.expect("a point").y;
        (y(line.points.first()), y(line.points.last()))
    }

    #[test]
    fn the_same_profile_gives_the_same_figures() {
        assert_eq!(bench("hdd-7200-ata100-2002"), bench("hdd-7200-ata100-2002"));
    }

    #[test]
    fn a_queue_makes_a_hard_disk_faster_and_a_disk_without_one_lacks_the_curve() {
        let bench = bench("hdd-7200-sata-2010");
        let (one, many) = ends(line(&bench, "queue-depth", "read"));
        assert!(many > 1.8 * one, "{one} {many}");
        let old = self::bench("hdd-7200-ata100-2002");
        assert!(old.curves.iter().all(|curve| curve.name != "queue-depth"));
    }

    #[test]
    fn the_curves_of_a_hard_disk_have_the_shape_of_its_mechanics() {
        let bench = bench("hdd-7200-ata100-2002");
        let (outer, inner) = ends(line(&bench, "position", "read"));
        assert!(
            (outer / inner / (42.0 / 25.6) - 1.0).abs() < 0.03,
            "{outer} {inner}"
        );
        // The shortest seek is the step to the next cylinder, the longest that across the disk.
        let (near, far) = ends(line(&bench, "distance", "seek"));
        assert!(
            (2e6..2.2e6).contains(&near) && (19e6..=21e6).contains(&far),
            "{near} {far}"
        );
        let (cached, sustained) = ends(line(&bench, "burst", "write"));
        assert!(cached > 10.0 * sustained, "{cached} {sustained}");
        let (small, large) = ends(line(&bench, "size-rate", "random read"));
        assert!(small < 0.01 * large && large < 42e6, "{small} {large}");
    }

    #[test]
    fn a_full_stick_writes_a_few_random_blocks_per_second() {
        let bench = bench("usb-flash-16g-2015");
        let (_, sustained) = ends(line(&bench, "burst", "write"));
        // Each is a merge of 32 pages of 1.9 ms, and two erases of 5 ms.
        assert!((12.0..15.0).contains(&sustained), "{sustained}");
        assert!(bench.curves.iter().all(|curve| curve.name != "distance"));
    }

    #[test]
    fn parameters_that_the_model_refuses_are_its_error() {
        let mut profile = registry::find("hdd-7200-ata100-2002").expect("built in");
        if let Medium::HardDisk(disk) = &mut profile.medium {
            disk.media.rpm = 0;
        }
        let error = run(&profile).expect_err("refused");
        assert!(
            error
                .message
                .starts_with("cannot create the simulated disk "),
            "{error}"
        );
        assert!(error.to_string().contains("rpm"), "{error}");
    }
}
