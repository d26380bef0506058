//! How uncertain the parameters of a profile are, and disks drawn within that.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fslab_model::{DISK_DRAW, Failure};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::{Table, Value};

use super::Profile;
use super::quantity::{Permille, Quantity, times};

/// The group's key.
pub(super) const UNCERTAIN: &str = "uncertain";
/// Steps of the fixed-point iteration, which halves its error or better.
const ROOT_STEPS: u32 = 60;

/// The uncertainty of a group's keys: with 25 %, the true value is between the stated one divided
/// by 1.25 and the stated one times 1.25.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncertain(BTreeMap<String, Permille>);

impl Uncertain {
    /// The keys with their uncertainties.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, Permille)> {
        self.0.iter().map(|(key, share)| (key.as_str(), *share))
    }
}

impl Quantity for Uncertain {
    fn read(value: &Value) -> Result<Self, String> {
        let Value::Table(table) = value else {
            let text = "must be keys with shares, such as { command = \"50 %\" }";
            return Err(text.to_owned());
        };
        let shares = table.iter().map(|(key, value)| {
            let share = Permille::read(value).map_err(|reason| format!("{key} {reason}"))?;
            match share.0 {
                1..=1000 => Ok((key.clone(), share)),
                _ => Err(format!("{key} must be above 0 % and at most 100 %")),
            }
        });
        shares.collect::<Result<_, _>>().map(Self)
    }

    fn write(&self) -> Option<Value> {
        let shares = self.0.iter();
        let shares = shares.filter_map(|(key, share)| Some((key.clone(), share.write()?)));
        Some(Value::Table(shares.collect()))
    }
}

impl JsonSchema for Uncertain {
    fn schema_name() -> Cow<'static, str> {
        "Uncertain".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Uncertainty of keys of this group: with 25 %, the true value is between the stated one divided by 1.25 and the stated one times 1.25.",
            "type": "object",
            "additionalProperties": generator.subschema_for::<Permille>()
        })
    }
}

/// The profile and the number of a draw in `NAME+drawN`; `None` for any other text.
pub(crate) fn split_draw(text: &str) -> Option<(&str, u32)> {
    let (name, number) = text.rsplit_once(DISK_DRAW)?;
    let number = number.parse().ok().filter(|number| *number > 0)?;
    Some((name, number))
}

impl Profile {
    /// A disk within the uncertainty of this profile: the parameters of each group are multiplied
    /// by factors that grow and fall together, and independently of those of the other groups. The
    /// numbers from 1 fill the range evenly, however many there are (the additive recurrence R of
    /// M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018).
    ///
    /// # Errors
    /// A profile without uncertainties, or one whose uncertainties allow a disk that cannot be.
    pub fn drawn(&self, number: u32) -> Result<Self, Failure> {
        let groups = self.groups();
        let is_uncertain = |keys: &[(&str, Value)]| keys.iter().any(|(key, _)| *key == UNCERTAIN);
        let uncertain = groups.iter().filter(|(_, keys)| is_uncertain(keys));
        let dimensions = uncertain.count();
        if dimensions == 0 {
            let text = format!("the disk profile {} has no uncertainties", self.name);
            return Err(Failure::bad_input(text).hint(
                "state them in its groups, for example uncertain = { outer = \"10 %\" } in [media]",
            ));
        }
        let ratio = recurrence_ratio(dimensions);
        let mut table = table_of(self.head());
        let mut drawn = 0;
        for (group, keys) in groups {
            let mut keys = table_of(keys);
            if let Some(shares) = keys.remove(UNCERTAIN) {
                drawn += 1;
                let place = f64::from(number) * ratio.powi(drawn) + 0.5;
                let place = 2.0 * place.fract() - 1.0;
                let shares = Uncertain::read(&shares).map_err(Failure::bad_input)?;
                for (key, share) in shares.keys() {
                    let most = f64::from(share.0) / 1000.0;
                    let factor = (place * most.ln_1p()).exp();
                    let scaled = keys.get(key).and_then(|value| times(value, factor));
                    keys.extend(scaled.map(|value| (key.to_owned(), value)));
                }
            }
            table.insert(group.to_owned(), Value::Table(keys));
        }
        let mut disk = Self::try_from(table).map_err(|error| {
            let text = format!("cannot draw disk {number} of the profile {}", self.name);
            Failure::of_toml(text, error)
        })?;
        disk.title = format!("{} (disk {number} within its uncertainty)", self.title);
        disk.name = format!("{}{DISK_DRAW}{number}", self.name);
        Ok(disk)
    }
}

fn table_of(keys: Vec<(&'static str, Value)>) -> Table {
    let keys = keys.into_iter();
    keys.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The step of the first coordinate: the inverse of the root above 1 of x^(d+1) = x + 1.
fn recurrence_ratio(dimensions: usize) -> f64 {
    let exponent = 1.0 / (dimensions as f64 + 1.0);
    let root = (0..ROOT_STEPS).fold(2.0_f64, |root, _| (1.0 + root).powf(exponent));
    1.0 / root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Medium;
    use crate::registry;

    const DRAWS: u32 = 64;

    #[test]
    fn every_built_in_profile_has_uncertainties_and_any_disk_within_them_can_be() {
        for profile in registry::all() {
            for number in 1..=DRAWS {
                let disk = profile.drawn(number).expect(&profile.name);
                assert_ne!(disk.digest(), profile.digest(), "{}", disk.name);
                assert_eq!(disk.capacity(), profile.capacity(), "{}", disk.name);
            }
        }
    }

    #[test]
    fn disks_stay_within_the_uncertainty_reach_both_ends_and_are_the_same_each_time() {
        let profile = registry::find("hdd-7200-sata-2010").expect("built in");
        let average = |disk: &Profile| match &disk.medium {
            Medium::HardDisk(disk) => (disk.seek.average.0 as f64, disk.seek.full.0 as f64),
            Medium::Flash(_) => panic!("a hard disk"),
        };
        let stated = average(&profile);
        let Medium::HardDisk(medium) = &profile.medium else {
            panic!("a hard disk")
        };
        let shares = medium.seek.uncertain.as_ref().expect("uncertain");
        let share = |wanted: &str| {
            let found = shares.keys().find(|(key, _)| *key == wanted);
            f64::from(found.expect(wanted).1.0) / 1000.0
        };
        let (most, most_full) = (1.0 + share("average"), 1.0 + share("full"));
        let mut ratios = Vec::new();
        for number in 1..=DRAWS {
            let disk = profile.drawn(number).expect("a disk");
            assert_eq!(disk, profile.drawn(number).expect("a disk"));
            let found = registry::find(&disk.name).expect("by name");
            assert_eq!(found, disk);
            let drawn = average(&disk);
            let (ratio, full) = (drawn.0 / stated.0, drawn.1 / stated.1);
            assert!(
                (1.0 / most - 1e-6..=most + 1e-6).contains(&ratio),
                "{ratio}"
            );
            // A group's parameters grow and fall together.
            let expected = ratio.ln() / most.ln() * most_full.ln();
            assert!((full.ln() - expected).abs() < 1e-6, "{full} {ratio}");
            ratios.push(ratio.ln() / most.ln());
        }
        let below = ratios.iter().filter(|it| **it < 0.0).count();
        assert!((28..=36).contains(&below), "{below} of {DRAWS} are below");
        assert!(ratios.iter().any(|it| *it > 0.9) && ratios.iter().any(|it| *it < -0.9));
    }

    /// The profile's text with `line` instead of the uncertainties of the group `interface`, and
    /// none in other groups.
    fn with(line: &str) -> String {
        let text = registry::find("ssd-sata-2022").expect("built in").to_toml();
        let lines = text.lines().filter(|line| !line.starts_with(UNCERTAIN));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        text.replacen("[interface]\n", &format!("[interface]\n{line}\n"), 1)
    }

    #[test]
    fn a_profile_without_uncertainties_says_how_to_state_them() {
        let bare = Profile::from_toml(&with("")).expect("a profile");
        let failure = bare.drawn(1).expect_err("refused");
        assert!(failure.to_string().contains("has no uncertainties"));
        assert!(
            failure
                .hint
                .is_some_and(|hint| hint.contains("uncertain ="))
        );
    }

    #[test]
    fn an_uncertainty_of_what_is_no_number_is_refused_by_its_key() {
        for (line, expected) in [
            (
                "uncertain = { comand = \"5 %\" }",
                "interface.uncertain.comand: unknown key",
            ),
            (
                "uncertain = { name = \"5 %\" }",
                "interface.uncertain.name: has no number that could be uncertain",
            ),
            (
                "uncertain = { command = \"0 %\" }",
                "interface.uncertain: command must be above 0 % and at most 100 %",
            ),
            (
                "uncertain = \"5 %\"",
                "interface.uncertain: '5 %': must be keys with shares, such as \
                 { command = \"50 %\" }",
            ),
        ] {
            let fault = Profile::from_toml(&with(line)).expect_err("refused");
            assert_eq!(fault.without_position().to_string(), expected);
        }
    }

    #[test]
    fn only_a_number_after_the_word_is_a_draw() {
        assert_eq!(split_draw("./my.toml+draw12"), Some(("./my.toml", 12)));
        for other in ["hdd", "hdd+draw", "hdd+draw0", "hdd+drawx"] {
            assert_eq!(split_draw(other), None, "{other}");
        }
    }
}
