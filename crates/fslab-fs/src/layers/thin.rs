//! LVM's thin volumes: space is given from a pool when it is written.

use fslab_model::LayerKind;

use super::device_mapper::DMSETUP;
use super::lvm::{LVM_TOOL, VOLUME, close_group, line, make_group, volume_of};
use crate::layer::{BlockLayer, LayerPlace};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{CommandLine, KernelConfig};

const POOL: &str = "pool";

const OPTIONS: &[KeyRule] = &[
    key("extent", OptionValue::Number),
    key("chunk", OptionValue::Number),
];

pub(crate) static THIN: BlockLayer = BlockLayer {
    kind: LayerKind::Thin,
    title: "LVM thin",
    summary: "A thin volume of LVM, which gets its space in chunks from a pool when they are first \
              written. The volume has the size of the device below, the pool a little less.",
    config: KernelConfig(&[&["CONFIG_DM_THIN_PROVISIONING"]]),
    modules: &["dm-thin-pool"],
    tools: &[LVM_TOOL, DMSETUP],
    options: OPTIONS,
    make,
    close: close_group,
    device: volume_of,
    deviations: &["LVM does not check the metadata of the pool when it opens it"],
};

fn make(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    let chunk = place.value("chunk").into_iter();
    let chunk = chunk.flat_map(|it| ["--chunksize", it]);
    let pool = [
        "--type",
        "thin-pool",
        "--extents",
        "90%FREE",
        "--name",
        POOL,
    ];
    let size = format!("{}s", place.sectors());
    let (name, of_pool) = (place.name, format!("{}/{POOL}", place.name));
    let volume = ["--thin", "--virtualsize", &size, "--name", VOLUME, &of_pool];
    let mut lines = make_group(place);
    lines.push(line(place, "lvcreate", chunk.chain(pool).chain([name])));
    lines.push(line(place, "lvcreate", volume));
    lines
}
