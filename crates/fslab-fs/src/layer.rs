//! A layer of a stack: what makes and closes it, and its options.

use std::str::FromStr;

use fslab_model::{Bytes, Failure, LayerKind, StackLayer, did_you_mean, nearest_name};

use crate::layers::{INTEGRITY, LINEAR, LUKS, LVM, RAID0, RAID1, RAID5, RAID6, RAID10, THIN};
use crate::option_rule::{KeyRule, key_names, key_refusal};
use crate::{CommandLine, KernelConfig, Tool};

/// What lists the layers.
pub(crate) const LIST_HINT: &str = "list them with fslab layer list";

/// The placeholder of a number of sectors in commands that are shown before there is a disk.
const SECTORS_WORD: &str = "SECTORS";

/// A layer's entry in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct BlockLayer {
    pub kind: LayerKind,
    /// Its name in prose.
    pub title: &'static str,
    /// What it does, in one or two sentences.
    pub summary: &'static str,
    /// The kernel configuration that includes it.
    pub config: KernelConfig,
    /// The modules of a kernel that has it as modules.
    pub modules: &'static [&'static str],
    /// The programs that a trial runs.
    pub tools: &'static [Tool],
    /// The options that a subject may set.
    pub options: &'static [KeyRule],
    /// The commands that make it on its members and open it.
    pub(crate) make: fn(&LayerPlace<'_>) -> Vec<CommandLine>,
    /// The commands that close it, so that nothing holds its members.
    pub(crate) close: fn(&LayerPlace<'_>) -> Vec<CommandLine>,
    /// The device of the layer of a name.
    pub(crate) device: fn(&str) -> String,
    /// Deviations of a trial from the defaults of its tools, each with the reason.
    pub deviations: &'static [&'static str],
}

/// Sorted as [`LayerKind::ALL`].
static LAYERS: &[&BlockLayer] = &[
    &LINEAR, &LUKS, &LVM, &THIN, &INTEGRITY, &RAID0, &RAID1, &RAID5, &RAID6, &RAID10,
];

/// Every layer of the catalogue.
pub fn layers() -> &'static [&'static BlockLayer] {
    LAYERS
}

/// The entry of a kind.
pub(crate) fn layer(kind: LayerKind) -> &'static BlockLayer {
    LAYERS[kind as usize]
}

/// The entry of that name.
///
/// # Errors
/// Bad input, with the most similar name as hint.
pub fn find_layer(name: &str) -> Result<&'static BlockLayer, Failure> {
    let kind: Option<LayerKind> = name.parse().ok();
    kind.map(layer).ok_or_else(|| {
        let nearest = nearest_layer(name);
        let hint = nearest.map_or_else(|| LIST_HINT.to_owned(), did_you_mean);
        Failure::bad_input(format!("the catalogue has no layer '{name}'")).hint(hint)
    })
}

/// The name of the layer that `word` is most similar to; `None` if it is similar to none.
pub(crate) fn nearest_layer(word: &str) -> Option<&'static str> {
    nearest_name(word, LayerKind::ALL.iter().map(|&kind| kind.into()))
}

impl BlockLayer {
    /// Checks the options of a layer of this kind.
    pub(crate) fn validate(&self, layer: &StackLayer) -> Result<(), Failure> {
        for option in &layer.options {
            let Some(reason) = self.refusal(option) else {
                continue;
            };
            let text = format!(
                "cannot use the option '{option}' with the layer {}: {reason}",
                self.kind
            );
            let hint = match self.options {
                [] => format!("{} takes no options", self.kind),
                options => format!(
                    "options of {} are {}",
                    self.kind,
                    key_names(options).join(", ")
                ),
            };
            return Err(Failure::bad_input(text).hint(hint));
        }
        Ok(())
    }

    fn refusal(&self, option: &str) -> Option<String> {
        let size = option.strip_prefix("chunk=").map(Bytes::from_str);
        match (key_refusal(self.options, option), size) {
            (Some(reason), _) => Some(reason),
            (None, Some(Err(error))) => Some(error.to_string()),
            (None, _) => None,
        }
    }
}

/// A layer with the devices that it lies on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerPlace<'a> {
    pub(crate) kind: LayerKind,
    /// The name of the layer's device: letters, digits and `_`.
    pub(crate) name: &'a str,
    /// The devices below.
    pub(crate) members: &'a [String],
    pub(crate) options: &'a [String],
    /// Bytes of the smallest of them; `None` in a plan.
    pub(crate) bytes: Option<Bytes>,
    /// True if the devices read as zeros.
    pub(crate) is_zeroed: bool,
}

impl LayerPlace<'_> {
    /// The first device below; of a layer on one device, the device.
    pub(crate) fn first(&self) -> &str {
        self.members.first().map_or("", String::as_str)
    }

    /// The sectors of 512 bytes of the smallest device below, as a word.
    pub(crate) fn sectors(&self) -> String {
        self.bytes
            .map_or_else(|| SECTORS_WORD.to_owned(), |it| (it.0 / 512).to_string())
    }

    /// The value of the option `key`, the last one.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let pairs = self.options.iter().rev();
        let mut pairs = pairs.filter_map(|it| it.split_once('='));
        pairs
            .find(|(found, _)| *found == key)
            .map(|(_, value)| value)
    }

    /// True if the option `key` without a value is set.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.options.iter().any(|it| it == key)
    }

    /// The value of a size in KiB.
    pub(crate) fn kibibytes(&self, key: &str) -> Option<u64> {
        let bytes: Bytes = self.value(key)?.parse().ok()?;
        Some(bytes.0 >> 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_entry() {
        for kind in LayerKind::ALL {
            assert_eq!(layer(*kind).kind, *kind);
        }
        assert_eq!(layers().len(), LayerKind::ALL.len());
    }

    #[test]
    fn options_are_checked_and_those_that_there_are_named() {
        let parse = |text: &str| {
            let subject: fslab_model::Subject = format!("ext4/{text}").parse().expect(text);
            subject.layers()[0].clone()
        };
        let checked = |text: &str| {
            let parsed = parse(text);
            layer(parsed.kind).validate(&parsed)
        };
        for good in [
            "luks",
            "luks:cipher=aes-xts-plain64,sector=4096,key-size=512,discards",
            "raid5x4:chunk=64KiB,bitmap=none,policy=ppl",
            "thin:chunk=128k",
            "integrity:mode=bitmap",
        ] {
            assert_eq!(checked(good), Ok(()), "{good}");
        }
        for (bad, named) in [
            ("luks:key-file=x", "cipher, key-size, sector"),
            ("luks:sector=513", "512, 1024"),
            ("raid5x4:chunk=64", "unit"),
            ("raid1x2:chunk=64KiB", "bitmap"),
            ("linear:x", "takes no options"),
        ] {
            let failure = checked(bad).expect_err(bad);
            let text = format!("{} {}", failure.message, failure.hint.unwrap_or_default());
            assert!(text.contains(named), "{bad}: {text}");
        }
    }
}
