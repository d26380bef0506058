//! LVM: a logical volume on one physical volume.

use fslab_model::LayerKind;

use super::device_mapper::{DMSETUP, mapped};
use crate::layer::{BlockLayer, LayerPlace};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{CommandLine, KernelConfig, Tool, VersionSource};

pub(super) const LVM_TOOL: Tool = Tool {
    program: "lvm",
    package: "lvm2",
    version: VersionSource::Package,
};

/// The name of the logical volume.
pub(super) const VOLUME: &str = "data";

const OPTIONS: &[KeyRule] = &[key("extent", OptionValue::Number)];

pub(crate) static LVM: BlockLayer = BlockLayer {
    kind: LayerKind::Lvm,
    title: "LVM",
    summary: "A logical volume of all extents of a volume group, which lies on one physical \
              volume.",
    config: KernelConfig(&[&["CONFIG_BLK_DEV_DM"]]),
    modules: &["dm-mod"],
    tools: &[LVM_TOOL, DMSETUP],
    options: OPTIONS,
    make,
    close: close_group,
    device: volume_of,
    deviations: &[],
};

fn make(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    let create = ["--extents", "100%FREE", "--name", VOLUME];
    let mut lines = make_group(place);
    lines.push(line(
        place,
        "lvcreate",
        create.iter().copied().chain([place.name]),
    ));
    lines
}

/// The device of the logical volume in the group `name`, which has no dash.
pub(super) fn volume_of(name: &str) -> String {
    mapped(&format!("{name}-{VOLUME}"))
}

/// Makes the physical volume and the group.
pub(super) fn make_group(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    let extent = place.value("extent").into_iter();
    let extent = extent.flat_map(|it| ["--physicalextentsize", it]);
    vec![
        line(place, "pvcreate", ["--force", "--force", place.first()]),
        line(place, "vgcreate", extent.chain([place.name, place.first()])),
    ]
}

pub(super) fn close_group(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    vec![line(place, "vgchange", ["--activate", "n", place.name])]
}

/// A command of LVM that sees the layer's device only, asks nothing, starts no daemon and keeps no
/// copy of its metadata in files.
pub(super) fn line<'a>(
    place: &LayerPlace<'_>,
    command: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> CommandLine {
    let config = format!(
        "devices{{use_devicesfile=0 global_filter=[\"a|^{}$|\",\"r|.*|\"]}} \
         activation{{monitoring=0}} backup{{backup=0 archive=0}} \
         global{{event_activation=0 use_lvmpolld=0 thin_check_executable=\"\"}}",
        place.first()
    );
    let mut line = LVM_TOOL.line([command, "--config", &config, "--yes"]);
    line.arguments
        .extend(arguments.into_iter().map(str::to_owned));
    line
}
