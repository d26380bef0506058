//! The round and sweep point of a row of CSV.
//!
//! Each requires two columns together. A column `iteration` alone, which in other tools mostly
//! counts repeats, is ignored.

use std::collections::BTreeSet;

use fslab_model::{Parameters, Point, PointValue, Round, Swept};

use crate::error::Fault;
use crate::reading::Measured;

/// The round and the point of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) round: Option<Round>,
    pub(crate) swept: Option<Swept>,
}

impl Place {
    pub(crate) fn of<'r>(
        field: impl Fn(&str) -> Option<&'r str>,
        line: u64,
    ) -> Result<Self, Fault> {
        let number = |name: &str, text: &str| {
            let wrong = || Fault::value(format!("line {line}, {name}"), text, "a number from 0");
            text.parse::<u32>().map_err(|_| wrong())
        };
        let round = match (field("mount"), field("iteration")) {
            (Some(mount), Some(iteration)) => Some(Round {
                mount: number("mount", mount)?,
                iteration: number("iteration", iteration)?,
            }),
            _ => None,
        };
        let swept = match (field("sweep"), field("point")) {
            (Some(phase), Some(text)) => {
                let wanted = "a point, for example file_size=65536B processes=2";
                let wrong = || Fault::value(format!("line {line}, point"), text, wanted);
                Some(Swept {
                    phase: phase.to_owned(),
                    point: point(text).ok_or_else(wrong)?,
                })
            }
            _ => None,
        };
        Ok(Self { round, swept })
    }

    /// The point's values as parameters of the phase.
    pub(crate) fn parameters(&self) -> Parameters {
        let point = self.swept.iter().flat_map(|swept| &swept.point);
        point
            .map(|(name, value)| (name.clone(), value.number().into()))
            .collect()
    }
}

/// `file_size=65536B processes=2`: sizes end in `B`.
fn point(text: &str) -> Option<Point> {
    let value = |word: &str| {
        let (name, value) = word.rsplit_once('=')?;
        let value = match value.strip_suffix('B') {
            Some(bytes) => PointValue::Bytes(bytes.parse().ok()?),
            None => PointValue::Count(value.parse().ok()?),
        };
        (!name.is_empty()).then(|| (name.to_owned(), value))
    };
    text.split_whitespace().map(value).collect()
}

/// Renumbers mounts and iterations from 0 without gaps.
pub(crate) fn number_rounds(trials: &mut [Measured]) {
    let rounds = || trials.iter().flat_map(|trial| &trial.phases);
    let mounts: BTreeSet<u32> = rounds().filter_map(|it| Some(it.round?.mount)).collect();
    let iterations: BTreeSet<u32> = rounds()
        .filter_map(|it| Some(it.round?.iteration))
        .collect();
    let place = |known: &BTreeSet<u32>, number: u32| {
        let before = known.range(..number).count();
        u32::try_from(before).unwrap_or(number)
    };
    for phase in trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        phase.round = phase.round.map(|round| Round {
            mount: place(&mounts, round.mount),
            iteration: place(&iterations, round.iteration),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&str, &'static str)]) -> Result<Place, Fault> {
        let field = |name: &str| {
            let found = fields.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| *text)
        };
        Place::of(field, 3)
    }

    #[test]
    fn a_round_and_a_point_take_two_columns_each() {
        let place = of(&[("mount", "1"), ("iteration", "2")]).expect("a round");
        let round = place.round.expect("a round");
        assert_eq!((round.mount, round.iteration), (1, 2));
        for alone in [("iteration", "2"), ("mount", "noatime"), ("sweep", "write")] {
            assert_eq!(of(&[alone]), Ok(Place::default()));
        }
        let place = of(&[("sweep", "write"), ("point", "file_size=4096B processes=2")]);
        let swept = place.expect("a point").swept.expect("a point");
        assert_eq!(swept.point["file_size"], PointValue::Bytes(4096));
        assert_eq!(swept.point["processes"], PointValue::Count(2));
    }

    #[test]
    fn what_is_no_round_and_no_point_is_refused_by_line_and_column() {
        let shown = |fields: &[(&str, &'static str)]| of(fields).expect_err("wrong").to_string();
        let round = shown(&[("mount", "first"), ("iteration", "2")]);
        assert!(
            round.starts_with("line 3, mount: \"first\" is not"),
            "{round}"
        );
        for wrong in ["big", "=4", "size=4KiB", "size=-1"] {
            let point = shown(&[("sweep", "write"), ("point", wrong)]);
            assert!(point.starts_with("line 3, point: "), "{point}");
        }
    }
}
