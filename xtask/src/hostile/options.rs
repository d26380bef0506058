//! What `cargo xtask hostile` is asked to do.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const USAGE: &str = "usage: cargo xtask hostile [OPTIONS]

Kills and stops runs, damages files and mutates inputs; takes about an hour with the defaults. As
root, also tests the venue loop. Requires a lab (fslab lab build) and, for snapshots, a PC's lab
(fslab lab build --kernel debian:6.1).

  --kills N       Kill runs at N random moments, in turn in the venues sim, guest and loop
                  [default: 1000]
  --stops N       Stop all processes of a run for 3 s, N times [default: 100]
  --venue NAME    Kill and stop runs in this venue only, N times in it
  --stores N      Damage N stores [default: 10000]
  --logs N        Damage N disk logs [default: 10000]
  --snapshots N   Damage N snapshots of guests [default: 1000]
  --inputs N      Feed N mutated inputs to the readers, all targets together [default: 10000000]
  --seed N        Seed for moments and damage [default: random; it is printed]
  --fslab FILE    Use this program [default: built with --release]
";

/// How much is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) kills: usize,
    pub(super) stops: usize,
    pub(super) venue: Option<String>,
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
            venue: None,
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
                number.map_err(|_| format!("{word}: '{value}' is not a number"))
            };
            match *word {
                "--kills" => options.kills = number()? as usize,
                "--stops" => options.stops = number()? as usize,
                "--venue" => options.venue = Some((*value).to_owned()),
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
