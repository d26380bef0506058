//! What `cargo xtask hostile` is asked to do.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const USAGE: &str = "usage: cargo xtask hostile [OPTIONS]

Kills, stops, damaged files and mutated inputs; with the defaults, about an hour. As root also in
the venue loop. It needs a lab (fslab lab build), and for snapshots that of a PC
(fslab lab build --kernel debian:6.1).

  --kills N       kills at random moments, in turns in the venues sim, guest and loop [1000]
  --stops N       stops of all processes of a run for 3 s [100]
  --stores N      damaged stores [10000]
  --logs N        damaged logs of disks [10000]
  --snapshots N   damaged snapshots of guests [1000]
  --inputs N      mutated inputs for the readers, all targets together [10000000]
  --seed N        decides moments and damage [chance, and printed]
  --fslab FILE    the program [built with --release]
";

/// How much is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) kills: usize,
    pub(super) stops: usize,
    pub(super) stores: usize,
    pub(super) logs: usize,
    pub(super) snapshots: usize,
    pub(super) inputs: usize,
    pub(super) seed: u64,
    pub(super) fslab: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Self, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut options = Self {
            kills: 1000,
            stops: 100,
            stores: 10_000,
            logs: 10_000,
            snapshots: 1000,
            inputs: 10_000_000,
            seed: now.map_or(0, |now| now.as_secs()),
            fslab: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("{word} needs a value"))?;
            let number = || {
                let number = value.parse::<u64>();
                number.map_err(|_| format!("{word}: '{value}' is no number"))
            };
            match *word {
                "--kills" => options.kills = number()? as usize,
                "--stops" => options.stops = number()? as usize,
                "--stores" => options.stores = number()? as usize,
                "--logs" => options.logs = number()? as usize,
                "--snapshots" => options.snapshots = number()? as usize,
                "--inputs" => options.inputs = number()? as usize,
                "--seed" => options.seed = number()?,
                "--fslab" => options.fslab = Some(PathBuf::from(value)),
                _ => return Err(format!("unknown option {word}")),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_refused() {
        let options = Options::parse(&["--kills", "7", "--seed", "3"]).expect("read");
        assert_eq!((options.kills, options.seed), (7, 3));
        assert_eq!((options.stores, options.snapshots), (10_000, 1000));
        for wrong in [&["--kills"][..], &["--kills", "many"], &["--else", "1"]] {
            assert!(Options::parse(wrong).is_err());
        }
    }
}
