//! dm-integrity: a checksum of each sector.

use fslab_model::LayerKind;

use super::device_mapper::mapped;
use crate::layer::{BlockLayer, LayerPlace};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{CommandLine, KernelConfig, OutputStream, Tool, VersionSource};

const INTEGRITYSETUP: Tool = Tool {
    program: "integritysetup",
    package: "cryptsetup-bin",
    version: VersionSource::Asked {
        argument: "--version",
        stream: OutputStream::Output,
    },
};

const OPTIONS: &[KeyRule] = &[
    key("checksum", OptionValue::OneOf(&["crc32c", "sha256"])),
    key(
        "sector",
        OptionValue::OneOf(&["512", "1024", "2048", "4096"]),
    ),
    key("mode", OptionValue::OneOf(&["journal", "bitmap", "direct"])),
];

pub(crate) static INTEGRITY: BlockLayer = BlockLayer {
    kind: LayerKind::Integrity,
    title: "dm-integrity",
    summary: "A checksum of each sector, so that a disk that returns other data gives an error. \
              Data and checksum are written together by a journal, by a bitmap, or directly, which \
              a power loss may tear.",
    config: KernelConfig(&[&["CONFIG_DM_INTEGRITY"]]),
    modules: &["dm-integrity"],
    tools: &[INTEGRITYSETUP],
    options: OPTIONS,
    make,
    close,
    device: mapped,
    deviations: &[],
};

fn make(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    let mut format = vec!["format", "--batch-mode"];
    let mut open = vec!["open"];
    if let Some(checksum) = place.value("checksum") {
        format.extend(["--integrity", checksum]);
        open.extend(["--integrity", checksum]);
    }
    if let Some(sector) = place.value("sector") {
        format.extend(["--sector-size", sector]);
    }
    let mode = match place.value("mode") {
        Some("bitmap") => Some("--integrity-bitmap-mode"),
        Some("direct") => Some("--integrity-no-journal"),
        _ => None,
    };
    open.extend(mode);
    format.push(place.first());
    open.extend([place.first(), place.name]);
    vec![INTEGRITYSETUP.line(format), INTEGRITYSETUP.line(open)]
}

fn close(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    vec![INTEGRITYSETUP.line(["close", place.name])]
}
