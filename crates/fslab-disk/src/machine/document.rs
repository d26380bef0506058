//! The file of a machine, and its checks.

use fslab_model::{Bytes, CountedMachine, TomlError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the file format.
pub const MACHINE_FORMAT: u32 = 1;

/// The highest countable rate: one instruction per nanosecond.
const INSTRUCTIONS_PER_S_MAX: u64 = 1_000_000_000;
/// The lowest one: the highest, halved ten times.
const HALVINGS_MAX: u32 = 10;

/// A simulated computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Version of this format: 1.
    #[schemars(range(min = 1, max = MACHINE_FORMAT))]
    pub format: u32,
    /// Its name for `--machine`.
    pub name: String,
    /// Title for lists, one line.
    pub title: String,
    /// The year that it represents.
    pub year: u32,
    /// What it is for.
    pub description: String,
    /// The processor.
    pub processor: Processor,
    /// The memory.
    pub memory: InstalledMemory,
    /// The disk.
    pub disk: InstalledDisk,
}

/// A machine's processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// The processor that it represents.
    pub name: String,
    /// Its speed: 1,000,000,000 or that divided by a power of two up to 1024, or "free".
    pub instructions_per_s: ProcessorSpeed,
    /// Where the speed comes from.
    pub source: String,
}

/// The speed of a processor: instructions per second, or `"free"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it must be a number of instructions a second, or `free`"
)]
pub enum ProcessorSpeed {
    /// 1,000,000,000 or that divided by a power of two.
    Counted(u64),
    /// Computing takes no time.
    Free(Free),
}

/// The word `free`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Free {
    /// Computing takes no time.
    Free,
}

/// A machine's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstalledMemory {
    /// Its size.
    pub size: Bytes,
    /// Where the size comes from.
    pub source: String,
}

/// A machine's disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstalledDisk {
    /// The name of its profile.
    pub profile: String,
    /// Where the disk comes from.
    pub source: String,
}

impl Machine {
    /// Reads a machine's file.
    pub fn from_toml(text: &str) -> Result<Self, TomlError> {
        let machine: Self = fslab_model::from_toml(text)?;
        machine.check().map_err(|error| error.located(text))?;
        Ok(machine)
    }

    /// The machine as a TOML file.
    pub fn to_toml(&self) -> String {
        let text = toml::to_string(self).expect("it was read from TOML");
        // A size is a number of bytes there.
        let size = self.memory.size;
        text.replacen(
            &format!("size = {}", size.0),
            &format!("size = \"{size}\""),
            1,
        )
    }

    fn check(&self) -> Result<(), TomlError> {
        fslab_model::check_format(self.format, MACHINE_FORMAT)?;
        let ProcessorSpeed::Counted(rate) = self.processor.instructions_per_s else {
            return Ok(());
        };
        let is_countable = (0..=HALVINGS_MAX).any(|halvings| {
            INSTRUCTIONS_PER_S_MAX.is_multiple_of(1 << halvings)
                && rate == INSTRUCTIONS_PER_S_MAX >> halvings
        });
        if is_countable {
            return Ok(());
        }
        let path = ["processor", "instructions_per_s"];
        Err(TomlError::new(
            path,
            "must be 1,000,000,000 or that divided by a power of two: 500,000,000, 250,000,000",
        ))
    }

    /// The machine in a plan; `None` if its processor takes no time.
    pub fn counted(&self) -> Option<CountedMachine> {
        match self.processor.instructions_per_s {
            ProcessorSpeed::Free(_) => None,
            ProcessorSpeed::Counted(rate) => Some(CountedMachine {
                name: self.name.clone(),
                instructions_per_s: rate,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../../../machines/pc-2002.toml");

    fn refused(from: &str, to: &str) -> String {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT);
        Machine::from_toml(&text).expect_err("refused").to_string()
    }

    #[test]
    fn a_rate_that_cannot_be_counted_is_refused_with_its_line() {
        let error = refused("500000000", "600000000");
        assert!(error.contains("processor.instructions_per_s"), "{error}");
        assert!(error.contains("line 9"), "{error}");
        assert!(refused("500000000", "\"fast\"").contains("line 9"));
        assert!(refused("[memory]\nsize", "[memory]\nsise").contains("sise"));
        assert!(refused("format = 1", "format = 2").contains("format"));
    }

    #[test]
    fn a_free_processor_is_no_counted_machine() {
        let free = TEXT.replacen("500000000", "\"free\"", 1);
        assert_eq!(Machine::from_toml(&free).expect("read").counted(), None);
        let counted = Machine::from_toml(TEXT).expect("read").counted();
        let counted = counted.expect("a rate");
        assert_eq!(
            (counted.instructions_per_s, counted.shift()),
            (500_000_000, 1)
        );
    }
}
