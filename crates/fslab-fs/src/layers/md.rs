//! Arrays of md, Linux's software RAID.

use fslab_model::LayerKind;

use crate::layer::{BlockLayer, LayerPlace};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{CommandLine, KernelConfig, OutputStream, Tool, VersionSource};

const MDADM: Tool = Tool {
    program: "mdadm",
    package: "mdadm",
    version: VersionSource::Asked {
        argument: "--version",
        stream: OutputStream::Error,
    },
};

const CHUNK: KeyRule = key("chunk", OptionValue::Number);
const BITMAP: KeyRule = key("bitmap", OptionValue::OneOf(&["internal", "none"]));
const LAYOUT: KeyRule = key("layout", OptionValue::Word);
const POLICY: KeyRule = key("policy", OptionValue::OneOf(&["resync", "bitmap", "ppl"]));

/// mdadm chooses the bitmap by the size of the members, and newer ones ask.
const DEVIATIONS: &[&str] = &[
    "the members of images and simulated disks are not synchronised: they read as zeros, of which \
     mirrors and parity are right. Those of real disks are, before anything is measured",
    "a bitmap unless bitmap=none, as mdadm makes it for members of 100 GB and more",
];
const NO_BITMAP: &[&str] = &[];

const fn array(kind: LayerKind, title: &'static str, summary: &'static str) -> BlockLayer {
    BlockLayer {
        kind,
        title,
        summary,
        config: KernelConfig(&[&["CONFIG_BLK_DEV_MD", "CONFIG_MD_RAID456"]]),
        modules: &["raid456"],
        tools: &[MDADM],
        options: &[CHUNK, BITMAP, LAYOUT, POLICY],
        make,
        close,
        device: device_of,
        deviations: DEVIATIONS,
    }
}

pub(crate) static RAID0: BlockLayer = BlockLayer {
    config: KernelConfig(&[&["CONFIG_BLK_DEV_MD", "CONFIG_MD_RAID0"]]),
    modules: &["raid0"],
    options: &[CHUNK],
    deviations: NO_BITMAP,
    ..array(
        LayerKind::Raid0,
        "RAID 0",
        "Stripes over all members, without redundancy: the loss of one loses all.",
    )
};

pub(crate) static RAID1: BlockLayer = BlockLayer {
    config: KernelConfig(&[&["CONFIG_BLK_DEV_MD", "CONFIG_MD_RAID1"]]),
    modules: &["raid1"],
    options: &[BITMAP],
    ..array(
        LayerKind::Raid1,
        "RAID 1",
        "The same on every member: reads go to one of them, writes to all.",
    )
};

pub(crate) static RAID5: BlockLayer = array(
    LayerKind::Raid5,
    "RAID 5",
    "Stripes with one parity that rotates over the members: one may be lost. A write of less than \
     a stripe reads before it writes.",
);

pub(crate) static RAID6: BlockLayer = BlockLayer {
    options: &[CHUNK, BITMAP, LAYOUT],
    ..array(
        LayerKind::Raid6,
        "RAID 6",
        "Stripes with two parities that rotate over the members: two may be lost.",
    )
};

pub(crate) static RAID10: BlockLayer = BlockLayer {
    config: KernelConfig(&[&["CONFIG_BLK_DEV_MD", "CONFIG_MD_RAID10"]]),
    modules: &["raid10"],
    options: &[CHUNK, BITMAP, LAYOUT],
    ..array(
        LayerKind::Raid10,
        "RAID 10",
        "Stripes of which two members have each (layout n2); one of them may be lost.",
    )
};

/// The link that mdadm makes to the array's device.
fn device_of(name: &str) -> String {
    format!("/dev/md/{name}")
}

fn make(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    let level = place.kind.to_string().replace("raid", "--level=");
    let mut words = vec![
        "--create".to_owned(),
        device_of(place.name),
        "--run".to_owned(),
        "--metadata=1.2".to_owned(),
        "--homehost=none".to_owned(),
        format!("--name={}", place.name),
        level,
        format!("--raid-devices={}", place.members.len()),
    ];
    let is_redundant = place.kind != LayerKind::Raid0;
    if is_redundant {
        words.extend(place.is_zeroed.then(|| "--assume-clean".to_owned()));
        let policy = place.value("policy");
        match (policy, place.value("bitmap")) {
            (Some(policy @ ("resync" | "ppl")), _) => {
                words.push(format!("--consistency-policy={policy}"));
            }
            (_, bitmap) => words.push(format!("--bitmap={}", bitmap.unwrap_or("internal"))),
        }
    }
    if let Some(chunk) = place.kibibytes("chunk") {
        words.push(format!("--chunk={chunk}"));
    }
    if let Some(layout) = place.value("layout") {
        words.push(format!("--layout={layout}"));
    }
    words.extend(place.members.iter().cloned());
    let create = MDADM.line(words.iter().map(String::as_str));
    let wait = MDADM.line(["--wait", &device_of(place.name)]);
    let waits = is_redundant && !place.is_zeroed;
    [create].into_iter().chain(waits.then_some(wait)).collect()
}

fn close(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    vec![MDADM.line(["--stop", &device_of(place.name)])]
}
