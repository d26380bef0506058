//! A mapping that passes everything on: what the device mapper itself costs.

use fslab_model::LayerKind;

use super::device_mapper::{DMSETUP, mapped};
use crate::layer::{BlockLayer, LayerPlace};
use crate::{CommandLine, KernelConfig};

pub(crate) static LINEAR: BlockLayer = BlockLayer {
    kind: LayerKind::Linear,
    title: "dm-linear",
    summary: "A target of the device mapper that passes each request on to one device. It shows \
              what the device mapper itself costs.",
    config: KernelConfig(&[&["CONFIG_BLK_DEV_DM"]]),
    modules: &["dm-mod"],
    tools: &[DMSETUP],
    options: &[],
    make,
    close,
    device: mapped,
    deviations: &[],
};

fn make(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    let table = format!("0 {} linear {} 0", place.sectors(), place.first());
    vec![DMSETUP.line(["create", place.name, "--table", &table])]
}

fn close(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    vec![DMSETUP.line(["remove", place.name])]
}
