//! Shares in percent: of the lengths of records, and of the accesses to parts of a file.

use fslab_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DataJob;
use super::limits::RECORD_BYTES_MAX;
use crate::Access;

/// Limit of the rows of a table of shares.
const SHARES_MAX: usize = 64;

/// The share of the records with one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordShare {
    /// Length of the record.
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    pub bytes: Bytes,
    /// Percent of the records that have it.
    #[schemars(range(max = 100))]
    pub percent: u8,
}

/// A part of the file, and how often it is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneShare {
    /// Percent of the accesses that go to it.
    #[schemars(range(max = 100))]
    pub access_percent: u8,
    /// Percent of the file that it has.
    #[schemars(range(max = 100))]
    pub space_percent: u8,
}

impl DataJob {
    /// Mean length of a record.
    pub(crate) fn mean_record_bytes(&self) -> u64 {
        let weighted = self.record_split.iter();
        let sum: u128 = weighted
            .map(|share| u128::from(share.bytes.0) * u128::from(share.percent))
            .sum();
        match u64::try_from(sum / 100) {
            Ok(mean) if mean > 0 => mean,
            _ => self.record.0,
        }
    }

    pub(super) fn fault_in_shares(&self) -> Option<String> {
        (self.fault_in_record_split()).or_else(|| self.fault_in_zones())
    }

    fn fault_in_record_split(&self) -> Option<String> {
        let split = &self.record_split;
        let shortest = split.iter().map(|share| share.bytes.0).min()?;
        let longest = split.iter().map(|share| share.bytes.0).max()?;
        if let Some(fault) = fault_in_sum("records", split.iter().map(|it| it.percent)) {
            return Some(fault);
        }
        if shortest == 0 || split.iter().any(|it| !it.bytes.0.is_multiple_of(shortest)) {
            return Some("lengths of records that are no multiples of the shortest".into());
        }
        if longest != self.record.0 {
            let record = self.record.0;
            return Some(format!(
                "a record of {record} bytes and a longest of {longest}"
            ));
        }
        if self.file_size.bytes() < longest || !self.file_size.bytes().is_multiple_of(shortest) {
            return Some("a file that has not room for whole records of every length".into());
        }
        let is_plain = matches!(self.access, Access::Sequential | Access::RandomUniform);
        if !is_plain || self.verify || self.segment.is_some() {
            return Some(
                "records of several lengths and an access, a verification or segments that need \
                 one length"
                    .into(),
            );
        }
        None
    }

    fn fault_in_zones(&self) -> Option<String> {
        let zones = &self.zones;
        if zones.is_empty() {
            return None;
        }
        if self.access != Access::RandomUniform {
            return Some("parts with shares of the accesses, which are not random-uniform".into());
        }
        fault_in_sum("accesses", zones.iter().map(|it| it.access_percent))
            .or_else(|| fault_in_sum("the file", zones.iter().map(|it| it.space_percent)))
    }
}

fn fault_in_sum(what: &str, percents: impl ExactSizeIterator<Item = u8>) -> Option<String> {
    let rows = percents.len();
    if rows > SHARES_MAX {
        return Some(format!("{rows} shares of {what}, more than {SHARES_MAX}"));
    }
    let sum: u32 = percents.map(u32::from).sum();
    (sum != 100).then(|| format!("shares of {what} of {sum} % together, not 100 %"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(bytes: u64, percent: u8) -> RecordShare {
        let bytes = Bytes(bytes);
        RecordShare { bytes, percent }
    }

    fn zone(access_percent: u8, space_percent: u8) -> ZoneShare {
        ZoneShare {
            access_percent,
            space_percent,
        }
    }

    fn job() -> DataJob {
        DataJob {
            record_split: vec![share(512, 50), share(4096, 50)],
            access: Access::RandomUniform,
            zones: vec![zone(90, 10), zone(10, 90)],
            ..DataJob::read("f", 1 << 20, 4096)
        }
    }

    #[test]
    fn the_mean_record_counts_each_length_by_its_share() {
        assert_eq!(job().mean_record_bytes(), 2304);
        assert_eq!(DataJob::read("f", 1 << 20, 4096).mean_record_bytes(), 4096);
    }

    #[test]
    fn shares_that_make_no_sense_are_refused() {
        job().validate().expect("makes sense");
        let refused = |change: fn(&mut DataJob), words: &str| {
            let mut bad = job();
            change(&mut bad);
            let error = bad.validate().expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(|it| it.record_split[0].percent = 40, "of 90 % together");
        refused(|it| it.record_split[0].bytes = Bytes(700), "no multiples");
        refused(|it| it.record = Bytes(8192), "a longest of 4096");
        refused(|it| it.access = Access::RandomOnce, "need one length");
        refused(|it| it.zones[0].space_percent = 11, "of 101 % together");
        refused(|it| it.file_size = 2048.into(), "not room");
        refused(
            |it| {
                it.record_split.clear();
                it.access = Access::Sequential;
            },
            "not random-uniform",
        );
    }
}
