//! The dimensions of a result: two runs compare only if all of them but the one studied agree.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::dimension_value::Values;
use crate::pairing::{Pair, subjects};
use fslab_model::{
    DRIVER_FACT, FEATURES_FACT, Failure, NetworkMount, PhaseSpec, Plan, RunHeader, RunRecord,
    Subject, VenueKind,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Prefix of facts that are versions of tools.
const TOOL_FACT: &str = "tool.";
/// Prefix of facts that are digests of a guest's layers with a study's programs and files.
const LAYER_FACT: &str = "layer.";

/// A property in which two runs may differ.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    JsonSchema,
    strum::IntoStaticStr,
    strum::VariantArray,
    strum::Display,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Dimension {
    /// What was measured.
    Subject,
    /// Processor, memory, host.
    Machine,
    /// The operating system around the kernel; in a guest, with the host's kernel.
    System,
    /// The kernel that the trials ran on.
    Kernel,
    /// Kernel and root image of a guest, which includes mkfs and fsck.
    Lab,
    /// The version of fslab.
    Fslab,
    /// Where the trials ran.
    Venue,
    /// The disk, or the directory in its place.
    Device,
    /// Server, address and export of a network mount.
    Server,
    /// Protocol of a network mount, with version and transport.
    Protocol,
    /// Memory of a guest.
    Memory,
    /// The rate of instructions of a simulated computer, or that computing takes no time.
    Processor,
    /// Size of the file system.
    Size,
    /// Number of processes that run each phase together.
    Ranks,
    /// The meaning of a cold cache.
    Cold,
    /// How I/O is issued.
    Engine,
    /// mkfs and mount options of the same subject; of a network mount, those of the client.
    Options,
    /// The features that mkfs gave the same subject.
    Features,
    /// The kernel's driver that mounted the same subject, such as ext4's for ext2.
    Driver,
    /// Versions of mkfs and the other tools, and the programs and files that a study brings.
    Tools,
    /// The seed of data and places, where figures depend on nothing else: in virtual time.
    Seed,
}

impl Dimension {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl FromStr for Dimension {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL
            .iter()
            .copied()
            .find(|known| known.as_str() == text);
        found.ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|d| d.as_str()).collect();
            format!(
                "there is no dimension '{text}'; there are {}",
                known.join(", ")
            )
        })
    }
}

/// One dimension in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// The dimension.
    pub dimension: Dimension,
    /// The value of the base.
    pub base: String,
    /// The value of the new run.
    pub new: String,
}

impl Difference {
    /// `None` if both are equal.
    fn of(dimension: Dimension, base: String, new: String) -> Option<Self> {
        (base != new).then_some(Self {
            dimension,
            base,
            new,
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} against {}", self.dimension, self.new, self.base)
    }
}

/// The dimensions in which the runs differ, for the compared subjects.
pub fn differences(base: &RunRecord, new: &RunRecord, pairs: &[Pair]) -> Vec<Difference> {
    let mut found = match pairs {
        [] => header_differences(&base.header, &new.header),
        _ => Vec::new(),
    };
    for pair in pairs {
        let sides = [
            Values::of_subject(&base.header, pair.base),
            Values::of_subject(&new.header, pair.new),
        ];
        for difference in value_differences(&sides) {
            if !found.contains(&difference) {
                found.push(difference);
            }
        }
        for dimension in [
            Dimension::Subject,
            Dimension::Options,
            Dimension::Features,
            Dimension::Driver,
            Dimension::Tools,
        ] {
            let (base, new) = of_pair(dimension, (base, new), *pair);
            found.extend(Difference::of(dimension, base, new));
        }
    }
    found.sort_by_key(|it| it.dimension);
    found
}

/// The differences apart from subjects: those of plan and machine, known before a trial.
pub fn header_differences(base: &RunHeader, new: &RunHeader) -> Vec<Difference> {
    value_differences(&[Values::of_run(base), Values::of_run(new)])
}

fn value_differences([of_base, of_new]: &[Values; 2]) -> Vec<Difference> {
    let differs = |it: Dimension| of_base.value(it) != of_new.value(it);
    let is_imported = of_base.is_imported() || of_new.is_imported();
    let elsewhere = differs(Dimension::Venue);
    let another_kernel = differs(Dimension::Kernel);
    let is_unlike = !of_base.is_like(of_new);
    let is_implied = |dimension: &Dimension| match dimension {
        // Another venue implies another device; of an import none is known.
        Dimension::Device | Dimension::Memory | Dimension::Processor => elsewhere && !is_imported,
        // The version that imported has not measured, and no import says its ranks.
        Dimension::Fslab | Dimension::Ranks => is_imported,
        // Where one side is no network mount, or of another protocol, the subject says so.
        Dimension::Server => {
            is_imported || is_unlike && of_base.protocol().is_some() != of_new.protocol().is_some()
        }
        Dimension::Protocol => is_imported || is_unlike && of_base.protocol() != of_new.protocol(),
        // Another kernel implies another lab; the tools show the rest of its differences.
        Dimension::Lab => elsewhere || another_kernel,
        _ => false,
    };
    let compared = Dimension::ALL.iter().copied().filter(|it| !is_implied(it));
    let shown = |of: &Values, it: Dimension| match (it, of.value(it)) {
        // Plans of older versions do not say it.
        (Dimension::Server | Dimension::Protocol, value) if value.is_empty() => {
            "not recorded".to_owned()
        }
        (_, value) => value,
    };
    compared
        .filter_map(|it| Difference::of(it, shown(of_base, it), shown(of_new, it)))
        .collect()
}

/// A difference of two plans that cannot be waived; `None` if there is none.
pub(crate) fn question_difference(first: &Plan, other: &Plan) -> Option<&'static str> {
    let are_same =
        |(a, b): (&PhaseSpec, &PhaseSpec)| a.name == b.name && phase_difference(a, b).is_none();
    let (phases, others) = (&first.phases, &other.phases);
    if first.study != other.study {
        Some("their study")
    } else if phases.len() != others.len() || !phases.iter().zip(others).all(are_same) {
        Some("their phases")
    } else if first.scale != other.scale {
        Some("their scale")
    } else if first.venue.kind().is_virtual() != other.venue.kind().is_virtual() {
        Some("their time, which is virtual in one of them")
    } else {
        None
    }
}

/// The difference of two phases of one name; `None` if they are defined alike.
pub fn phase_difference(base: &PhaseSpec, new: &PhaseSpec) -> Option<String> {
    if base.workload != new.workload {
        return Some(format!(
            "workload {} against {}",
            new.workload, base.workload
        ));
    }
    if base.cache != new.cache {
        return Some("another cache policy".to_owned());
    }
    if base.settle != new.settle {
        return Some("another end: sync and unmount are timed in one of them".to_owned());
    }
    if base.definition != new.definition {
        return Some(format!(
            "another definition of the workload {}",
            new.workload
        ));
    }
    let names = base.parameters.keys().chain(new.parameters.keys());
    let differs = |name: &&String| base.parameters.get(*name) != new.parameters.get(*name);
    let name = names.into_iter().find(differs)?;
    let shown = |spec: &PhaseSpec| match spec.parameters.get(name) {
        Some(value) => value.to_string(),
        None => "nothing".to_owned(),
    };
    Some(format!("{name}: {} against {}", shown(new), shown(base)))
}

/// True if another tool has measured.
pub(crate) fn is_imported(plan: &Plan) -> bool {
    plan.venue.kind() == VenueKind::Imported
}

/// Checks that `found` has at most one dimension that is not waived, and that both runs are in real
/// time or both in virtual time.
pub fn ensure_comparable(
    base: &RunRecord,
    new: &RunRecord,
    found: &[Difference],
    waived: &[Dimension],
) -> Result<(), Failure> {
    let (base_name, new_name) = (&base.header.run, &new.header.run);
    if base.header.plan.venue.kind().is_virtual() != new.header.plan.venue.kind().is_virtual() {
        let text = format!(
            "{base_name} and {new_name} do not compare: the time of one of them is virtual"
        );
        let hint = "run the same study at the same scale for both";
        return Err(Failure::bad_input(text).hint(hint));
    }
    let mut open: Vec<(Dimension, String)> = Vec::new();
    for difference in found.iter().filter(|d| !waived.contains(&d.dimension)) {
        if !open.iter().any(|(known, _)| *known == difference.dimension) {
            let values = format!("{} against {}", difference.new, difference.base);
            open.push((difference.dimension, values));
        }
    }
    if open.len() > 1 {
        let each = open
            .iter()
            .map(|(it, values)| format!("{} ({values})", it.as_str()));
        let text = format!(
            "{base_name} and {new_name} differ in {} dimensions: {}",
            open.len(),
            each.collect::<Vec<_>>().join(", ")
        );
        let names: Vec<_> = open.iter().map(|(it, _)| it.as_str()).collect();
        return Err(Failure::bad_input(text).hint(format!(
            "one may differ, which is the one studied; to waive it for others: --across {}",
            names.join(",")
        )));
    }
    Ok(())
}

/// Checks that the runs of one side agree in all that is not waived: they must be repetitions of
/// one measurement.
pub(crate) fn ensure_alike(runs: &[RunRecord], waived: &[Dimension]) -> Result<(), Failure> {
    let Some((first, others)) = runs.split_first() else {
        return Ok(());
    };
    for other in others {
        if let Some(difference) = unlike(first, other, waived) {
            let (first, other) = (&first.header.run, &other.header.run);
            let text = format!("{first} and {other} are on one side and differ in {difference}");
            return Err(Failure::bad_input(text).hint(format!(
                "runs of one side are one measurement, made several times; to let them differ: \
                 --across {}",
                difference.dimension
            )));
        }
    }
    Ok(())
}

/// The first dimension not waived in which two runs differ, for the subjects that both have: they
/// are not repetitions of one measurement.
pub fn unlike(first: &RunRecord, other: &RunRecord, waived: &[Dimension]) -> Option<Difference> {
    let common = subjects(first).enumerate().filter_map(|(base, subject)| {
        let new = subjects(other).position(|it| it == subject)?;
        Some(Pair { base, new })
    });
    let found = differences(first, other, &common.collect::<Vec<_>>());
    found.into_iter().find(|d| !waived.contains(&d.dimension))
}

/// The subjects' names, or the differences of their commands or tool versions. Subjects that differ
/// in their place alone differ in another dimension.
fn of_pair(
    dimension: Dimension,
    (base, new): (&RunRecord, &RunRecord),
    pair: Pair,
) -> (String, String) {
    let subject = |run: &RunRecord, place: usize| subjects(run).nth(place).cloned();
    let (of_base, of_new) = (subject(base, pair.base), subject(new, pair.new));
    let name = |it: &Option<Subject>| it.as_ref().map(Subject::to_string).unwrap_or_default();
    let anywhere = |it: &Option<Subject>| it.as_ref().map(Subject::without_place);
    let mounts = (network_mount(base, pair.base), network_mount(new, pair.new));
    // The kernel has a name for each version of NFS; the protocol says which it is.
    let is_one_protocol = match &mounts {
        (Some(of_base), Some(of_new)) => of_base.protocol == of_new.protocol,
        _ => false,
    };
    let are_same = anywhere(&of_base) == anywhere(&of_new) || is_one_protocol;
    match dimension {
        Dimension::Subject if are_same => Default::default(),
        Dimension::Subject => (name(&of_base), name(&of_new)),
        // As the options: of two subjects they are a part of the dimension studied.
        Dimension::Features | Dimension::Driver if !are_same => Default::default(),
        Dimension::Features => {
            let (of_base, of_new) = (features(base, pair.base), features(new, pair.new));
            // Older versions did not record them.
            match of_base.is_empty() || of_new.is_empty() {
                true => Default::default(),
                false => unlike_words(&of_base, &of_new, " "),
            }
        }
        Dimension::Driver => differing(&driver(base, pair.base), &driver(new, pair.new)),
        // Two subjects differ in their commands; that is the dimension studied.
        Dimension::Options if !are_same => Default::default(),
        Dimension::Options => match mounts {
            (Some(of_base), Some(of_new)) => unlike_words(&of_base.options, &of_new.options, ","),
            _ => (commands(base, pair.base), commands(new, pair.new)),
        },
        _ => {
            let (mut of_base, mut of_new) = (tools(base, pair.base), tools(new, pair.new));
            // A layer contains what its labs lack, so it differs between labs by that alone.
            if base.header.plan.labs() == new.header.plan.labs() {
                of_base.extend(layers(base));
                of_new.extend(layers(new));
            }
            differing(&of_base, &of_new)
        }
    }
}

fn network_mount(run: &RunRecord, place: usize) -> Option<&NetworkMount> {
    run.header.plan.subjects.get(place)?.network_mount.as_ref()
}

/// The words that only one side has, joined; "none" where there are none.
fn unlike_words(base: &[String], new: &[String], joint: &str) -> (String, String) {
    let alone = |of: &[String], other: &[String]| {
        let alone: Vec<&str> = of
            .iter()
            .filter(|option| !other.contains(option))
            .map(String::as_str)
            .collect();
        alone.join(joint)
    };
    match (alone(base, new), alone(new, base)) {
        (base, new) if base == new => Default::default(),
        (base, new) if base.is_empty() => ("none".to_owned(), new),
        (base, new) if new.is_empty() => (base, "none".to_owned()),
        both => both,
    }
}

fn commands(run: &RunRecord, place: usize) -> String {
    let Some(planned) = run.header.plan.subjects.get(place) else {
        return String::new();
    };
    let commands = [&planned.mkfs, &planned.mount].into_iter().flatten();
    let lines: Vec<String> = commands.map(|words| words.join(" ")).collect();
    lines.join("; ")
}

/// Versions of tools by name, as the subject's trials reported them.
fn tools(run: &RunRecord, place: usize) -> BTreeMap<String, String> {
    facts(run, place, |name| name.starts_with(TOOL_FACT))
}

/// The driver that mounted the subject, as its trials reported it.
fn driver(run: &RunRecord, place: usize) -> BTreeMap<String, String> {
    facts(run, place, |name| name == DRIVER_FACT)
}

/// The features of the subject's file system, as its trials reported them.
fn features(run: &RunRecord, place: usize) -> Vec<String> {
    let facts = facts(run, place, |name| name == FEATURES_FACT);
    let words = facts.values().flat_map(|value| value.split(' '));
    words.map(str::to_owned).collect()
}

fn facts(run: &RunRecord, place: usize, is_asked: fn(&str) -> bool) -> BTreeMap<String, String> {
    let Some(subject) = subjects(run).nth(place) else {
        return BTreeMap::new();
    };
    let trials = run.trials.iter().filter(|trial| trial.subject == *subject);
    let facts = trials.flat_map(|trial| &trial.facts);
    let asked = facts.filter(|(name, _)| is_asked(name));
    asked
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The layers over a guest's root, by name.
fn layers(run: &RunRecord) -> impl Iterator<Item = (String, String)> {
    let layers = run.header.plan.venue.layers().iter();
    layers.map(|layer| (format!("{LAYER_FACT}{}", layer.name), layer.to_string()))
}

/// The entries that both sides have with different values, for either side.
fn differing(base: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> (String, String) {
    let known = base.iter().filter_map(|(name, value)| {
        let other = new.get(name).filter(|other| *other != value)?;
        Some((value.clone(), other.clone()))
    });
    let (base, new): (Vec<String>, Vec<String>) = known.unzip();
    (base.join(", "), new.join(", "))
}
