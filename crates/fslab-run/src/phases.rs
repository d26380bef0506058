//! The phases of a plan: a study's entries at every point of their sweeps, scaled, with all
//! parameters explicit.

use fslab_model::{
    Bytes, Parameters, ParseBytesError, PhaseEntry, PhaseSpec, Point, Scale, Study, SweepError,
    Swept, parse_duration_in,
};
use fslab_workload::{Workload, WorkloadError};
use serde_json::Value;

use crate::dimension_text;

/// Scaled sizes are multiples of this, unless the phase has a record size.
const BLOCK_BYTES: u64 = 4096;
/// Limit of phases; each adds a record to every trial.
const PHASES_MAX: usize = 20_000;

/// Why the phases of a study cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PhasesError {
    /// Invalid parameters of a phase.
    #[error("cannot plan the phase '{phase}'")]
    Workload {
        /// The phase's name.
        phase: String,
        /// The cause.
        #[source]
        source: WorkloadError,
    },
    /// An invalid sweep.
    #[error("cannot use the sweep '{sweep}'")]
    Sweep {
        /// The sweep's name.
        sweep: String,
        /// The cause.
        #[source]
        source: SweepError,
    },
    #[error("the phase '{phase}' runs over the sweep '{sweep}', which the study does not have")]
    UnknownSweep {
        phase: String,
        /// The sweep it names.
        sweep: String,
    },
    #[error("the phase '{phase}' uses {value:?}, which is not a dimension of its sweep")]
    UnknownDimension {
        phase: String,
        /// The value with the unknown dimension.
        value: String,
        /// The dimensions of the phase's sweep.
        known: Vec<String>,
    },
    /// An invalid size.
    #[error("cannot use the {what} of the study")]
    Size {
        /// The size's name.
        what: &'static str,
        /// The cause.
        #[source]
        source: ParseBytesError,
    },
    /// Too many phases.
    #[error(
        "the study has more than {PHASES_MAX} phases, counted at each point of its sweeps; \
         '{phase}' is the first beyond the limit"
    )]
    TooMany {
        /// The first phase above the limit.
        phase: String,
    },
    /// All phases are disabled.
    #[error("every phase of the study '{0}' is off")]
    AllOff(String),
}

impl PhasesError {
    /// A hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Workload { source, .. } => source.hint(),
            Self::UnknownSweep { sweep, .. } => Some(format!("declare it as [sweep.{sweep}]")),
            Self::UnknownDimension { known, .. } if known.is_empty() => {
                Some("the phase has no sweep: add sweep = \"NAME\" and [sweep.NAME]".into())
            }
            Self::UnknownDimension { known, .. } => Some(format!(
                "the dimensions of the sweep are ${}",
                known.join(", $")
            )),
            Self::AllOff(_) => Some("turn one on: --set phase.NAME.enabled=true".into()),
            Self::TooMany { .. } => {
                Some("use a sweep with fewer points, or fewer phases in it".into())
            }
            Self::Sweep { .. } | Self::Size { .. } => None,
        }
    }
}

/// The size of the file system of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedSize {
    pub(crate) size: Bytes,
    /// Before it was scaled.
    pub(crate) unscaled: Bytes,
}

impl PlannedSize {
    /// That of a plan at full scale.
    pub(crate) fn full(size: Bytes) -> Self {
        let unscaled = size;
        Self { size, unscaled }
    }

    /// The same for a file system of another size.
    pub(crate) fn of(self, size: Bytes) -> Self {
        let unscaled = u128::from(self.unscaled.0) * u128::from(size.0);
        let unscaled = unscaled / u128::from(self.size.0.max(1));
        Self {
            size,
            unscaled: Bytes(u64::try_from(unscaled).unwrap_or(u64::MAX)),
        }
    }
}

/// All enabled phases of `study` in order; successive phases of one sweep run together at each of
/// its points.
pub(crate) fn phases(
    study: &Study,
    scale: Scale,
    sizes: PlannedSize,
) -> Result<Vec<PhaseSpec>, PhasesError> {
    let entries: Vec<_> = study.phases.iter().filter(|entry| entry.enabled).collect();
    let mut phases = Vec::new();
    for together in entries.chunk_by(|a, b| a.sweep.is_some() && a.sweep == b.sweep) {
        let points = points(study, together[0], scale)?;
        let more = points.len().saturating_mul(together.len());
        if more.saturating_add(phases.len()) > PHASES_MAX {
            return Err(PhasesError::TooMany {
                phase: together[0].name.clone(),
            });
        }
        let scaled: Vec<_> = together
            .iter()
            .map(|entry| (entry, scaled(study, entry, scale)))
            .collect();
        for point in points {
            for (entry, parameters) in &scaled {
                let parameters = parameters.clone();
                phases.push(phase(
                    study,
                    entry,
                    parameters,
                    (point.as_ref(), scale, sizes),
                )?);
            }
        }
    }
    if phases.is_empty() {
        return Err(PhasesError::AllOff(study.name.clone()));
    }
    Ok(phases)
}

/// The points of the entry's sweep; a single `None` without a sweep.
fn points(
    study: &Study,
    entry: &PhaseEntry,
    scale: Scale,
) -> Result<Vec<Option<Point>>, PhasesError> {
    let Some(name) = &entry.sweep else {
        return Ok(vec![None]);
    };
    let sweep = study
        .sweeps
        .get(name)
        .ok_or_else(|| PhasesError::UnknownSweep {
            phase: entry.name.clone(),
            sweep: name.clone(),
        })?;
    let points = sweep
        .points(scale.ratio())
        .map_err(|source| PhasesError::Sweep {
            sweep: name.clone(),
            source,
        })?;
    Ok(points.into_iter().map(Some).collect())
}

fn phase(
    study: &Study,
    entry: &PhaseEntry,
    mut parameters: Parameters,
    (point, scale, sizes): (Option<&Point>, Scale, PlannedSize),
) -> Result<PhaseSpec, PhasesError> {
    let unknown: Vec<String> = parameters
        .values_mut()
        .filter_map(|value| dimension_text::substitute(value, point))
        .collect();
    // Where a text may stand, `$NAME` is one.
    let failed = |source| match unknown.first() {
        Some(value) => PhasesError::UnknownDimension {
            phase: entry.name.clone(),
            value: value.clone(),
            known: point.into_iter().flat_map(Point::keys).cloned().collect(),
        },
        None => PhasesError::Workload {
            phase: entry.name.clone(),
            source,
        },
    };
    let planned = planned(study, entry, parameters);
    let workload = Workload::of_phase(&planned).map_err(failed)?;
    let parameters = workload.resolve(&planned.parameters, size_of_shares(study, scale, sizes));
    let swept = point.map(|point| Swept {
        phase: entry.name.clone(),
        point: point.clone(),
    });
    Ok(PhaseSpec {
        name: swept.as_ref().map_or_else(|| entry.name.clone(), name),
        cache: entry.cache,
        settle: entry.settle,
        group: entry.group.clone(),
        swept,
        parameters: parameters.map_err(failed)?,
        ..planned
    })
}

/// The size of which files are a share: that of the file system, or the scaled one, which may be
/// below its minimum, where files are scaled.
fn size_of_shares(study: &Study, scale: Scale, sizes: PlannedSize) -> Bytes {
    let mut scaled = study.scale.parameters.iter();
    match !scale.is_full() && scaled.any(|name| name == "file_size") {
        true => Bytes(scale.of(sizes.unscaled.0)),
        false => sizes.size,
    }
}

/// The phase's name at a point, such as `write 64KiB/8KiB`.
fn name(swept: &Swept) -> String {
    let values = swept.point.values();
    let values: Vec<_> = values
        .map(|value| value.to_string().replace(' ', ""))
        .collect();
    format!("{} {}", swept.phase, values.join("/"))
}

/// The entry's parameters, with those in the study's scale rules scaled.
fn scaled(study: &Study, entry: &PhaseEntry, scale: Scale) -> Parameters {
    let mut parameters = entry.parameters.clone();
    if scale.is_full() {
        return parameters;
    }
    let step_bytes = step_bytes(study, entry);
    shrink_named(study, &mut parameters, scale, step_bytes);
    // Jobs of a phase have parameters of the same names.
    let jobs = parameters.get_mut("jobs").and_then(Value::as_array_mut);
    for job in jobs.into_iter().flatten().filter_map(Value::as_object_mut) {
        let step_bytes = job.get("record").and_then(bytes_of).unwrap_or(step_bytes);
        shrink_named(study, job, scale, step_bytes.max(1));
    }
    parameters
}

fn shrink_named(study: &Study, parameters: &mut Parameters, scale: Scale, step_bytes: u64) {
    let named = study.scale.parameters.iter().filter(|name| *name != "jobs");
    for name in named {
        if let Some(value) = parameters.get_mut(name) {
            shrink(value, scale, step_bytes);
        }
    }
}

/// What scaled sizes are multiples of: the phase's record. Phases of a group share files, whose
/// sizes must be equal for all: there it is the largest record, those of the workloads included.
fn step_bytes(study: &Study, entry: &PhaseEntry) -> u64 {
    let given = |entry: &PhaseEntry| entry.parameters.get("record").and_then(bytes_of);
    let of_group = study
        .phases
        .iter()
        .filter(|other| entry.group.is_some() && other.group == entry.group)
        .filter_map(|other| given(other).or_else(|| record_of_workload(study, other)));
    let largest = given(entry).into_iter().chain(of_group).max();
    largest.filter(|bytes| *bytes > 0).unwrap_or(BLOCK_BYTES)
}

fn record_of_workload(study: &Study, entry: &PhaseEntry) -> Option<u64> {
    let workload = Workload::of_phase(&planned(study, entry, Parameters::new())).ok()?;
    // A record does not depend on the size of the file system.
    let parameters = workload.parameters(Bytes::gib(1));
    let record = parameters.iter().find(|it| it.name == "record")?;
    bytes_of(record.default.as_ref()?)
}

/// The phase of an entry before its parameters are resolved.
fn planned(study: &Study, entry: &PhaseEntry, parameters: Parameters) -> PhaseSpec {
    let definition = study.workloads.get(&entry.workload).cloned();
    PhaseSpec {
        definition: definition.map(Box::new),
        ..PhaseSpec::new("", &entry.workload, parameters)
    }
}

/// Scales numbers, times and sizes at any depth; shares of the file system stay, since its size is
/// scaled separately.
fn shrink(value: &mut Value, scale: Scale, step_bytes: u64) {
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_u64() {
                *value = scale.of(number).into();
            }
        }
        Value::String(text) => {
            if let Ok(bytes) = text.parse::<Bytes>() {
                // At least one record, and a multiple of it.
                let scaled = scale.of(bytes.0);
                *value = scaled
                    .checked_next_multiple_of(step_bytes)
                    .unwrap_or(scaled)
                    .into();
            } else if let Ok(ms) = parse_duration_in(text, 1_000_000, "milliseconds") {
                *value = format!("{}ms", scale.of(ms)).into();
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|it| shrink(it, scale, step_bytes)),
        Value::Object(map) => map
            .values_mut()
            .for_each(|it| shrink(it, scale, step_bytes)),
        _ => {}
    }
}

fn bytes_of(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse::<Bytes>().ok().map(|bytes| bytes.0),
        _ => None,
    }
}

/// Size of the file system at `scale`, in full mebibytes, unless `asked` for.
pub(crate) fn size(
    study: &Study,
    scale: Scale,
    asked: Option<Bytes>,
) -> Result<PlannedSize, PhasesError> {
    if let Some(size) = asked {
        return Ok(PlannedSize::full(size));
    }
    let unscaled = parse("size", &study.size)?;
    let size = reduced(unscaled, study.scale.size_min, scale);
    Ok(PlannedSize { size, unscaled })
}

/// A guest's memory at `scale`; `None` if the study gives none.
pub(crate) fn memory(study: &Study, scale: Scale) -> Result<Option<Bytes>, PhasesError> {
    let full = study.memory.as_deref();
    let full = full.map(|text| parse("memory", text)).transpose()?;
    Ok(full.map(|full| reduced(full, study.scale.memory_min, scale)))
}

/// The study's limit of memory that waits to be written; it follows the memory.
pub(crate) fn dirty_limit(study: &Study, scale: Scale) -> Result<Option<Bytes>, PhasesError> {
    let full = study.dirty_limit.as_deref();
    let full = full.map(|text| parse("dirty_limit", text)).transpose()?;
    let memory_scales = study.scale.memory_min.is_some() && !scale.is_full();
    Ok(full.map(|full| match memory_scales {
        true => Bytes(scale.of(full.0)),
        false => full,
    }))
}

fn parse(what: &'static str, text: &str) -> Result<Bytes, PhasesError> {
    text.parse()
        .map_err(|source| PhasesError::Size { what, source })
}

/// `full` at `scale`, but at least `min`; unchanged without a minimum.
fn reduced(full: Bytes, min: Option<Bytes>, scale: Scale) -> Bytes {
    match min {
        Some(min) if !scale.is_full() => {
            let scaled = scale.of(full.0);
            let whole = scaled.checked_next_multiple_of(Bytes::mib(1).0);
            Bytes(whole.unwrap_or(scaled).max(min.0).min(full.0))
        }
        _ => full,
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::PointValue;

    use super::*;

    const HEAD: &str = "format = 1\nname = 's'\ntitle = 't'\nsize = '1GiB'\nmemory = '512MiB'\n\
                        repeats = 1\ntrial_limit_s = 60\n";

    fn study(text: &str) -> Study {
        Study::from_toml(&format!("{HEAD}{text}")).expect("a study")
    }

    fn at(study: &Study, scale: &str) -> Result<Vec<PhaseSpec>, PhasesError> {
        let scale = scale.parse().expect("a scale");
        let sizes = size(study, scale, Some(Bytes::gib(1)))?;
        phases(study, scale, sizes)
    }

    const SWEPT: &str = "
        [sweep.sizes]
        file_size = ['64KiB', '1MiB']
        record = ['4KiB']
        [[phase]]
        name = 'first'
        workload = 'stat'
        [[phase]]
        name = 'write'
        workload = 'write'
        sweep = 'sizes'
        file_size = '$file_size'
        record = '$record'
        [[phase]]
        name = 'read'
        workload = 'read'
        sweep = 'sizes'
        file_size = '$file_size'
        record = '$record'";

    #[test]
    fn phases_of_one_sweep_run_together_at_each_of_its_points() {
        let phases = at(&study(SWEPT), "1").expect("phases");
        let names: Vec<_> = phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "first",
                "write 64KiB/4KiB",
                "read 64KiB/4KiB",
                "write 1MiB/4KiB",
                "read 1MiB/4KiB"
            ]
        );
        assert_eq!(phases[3].parameters["file_size"], 1 << 20);
        let swept = phases[3].swept.as_ref().expect("swept");
        assert_eq!(swept.phase, "write");
        assert_eq!(swept.point["record"], PointValue::Bytes(4096));
        assert_eq!(phases[0].swept, None);
    }

    #[test]
    fn phases_of_a_group_find_their_file_in_one_size_at_every_scale() {
        let study = study(
            "[scale]\nparameters = ['file_size']\n\
             [[phase]]\nname = 'w'\nworkload = 'write'\ngroup = 'g'\nfile_size = '1GiB'\n\
             [[phase]]\nname = 'a'\nworkload = 'disk-image'\ngroup = 'g'\nfile_size = '1GiB'\n\
             operations = 8\n\
             [[phase]]\nname = 'r'\nworkload = 'read'\nrecord = '64KiB'\ngroup = 'g'\n\
             file_size = '1GiB'\n",
        );
        for scale in ["1/3", "1/50", "1/999"] {
            let phases = at(&study, scale).expect("planned");
            let sizes: Vec<_> = phases
                .iter()
                .map(|phase| phase.parameters["file_size"].clone())
                .collect();
            assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
        }
    }

    #[test]
    fn a_scale_reduces_named_parameters_to_at_least_one_record() {
        let study = study(
            "scale = { parameters = ['file_size', 'files', 'stonewall'], size_min = '256MiB' }
            [[phase]]
            name = 'w'
            workload = 'io'
            file_size = '100MiB'
            record = '1MiB'
            stonewall = '5min'
            [[phase]]
            name = 'c'
            workload = 'create'
            files = 30
            file_size = '4KiB'
            files_per_directory = 200",
        );
        let phases = at(&study, "1/64").expect("phases");
        assert_eq!(phases[0].parameters["file_size"], 2 << 20);
        assert_eq!(phases[0].parameters["record"], 1 << 20);
        assert_eq!(phases[0].parameters["stonewall_ns"], 4_688_000_000_u64);
        assert_eq!(phases[1].parameters["files"], 1);
        assert_eq!(phases[1].parameters["file_size"], 4096);
        assert_eq!(phases[1].parameters["files_per_directory"], 200);
        let (half, small) = ("1/2".parse().expect("half"), "1/64".parse().expect("small"));
        let size = |scale| size(&study, scale, None).expect("a size").size;
        assert_eq!(
            (size(half), size(small)),
            (Bytes::mib(512), Bytes::mib(256))
        );
        assert_eq!(
            memory(&study, small).expect("memory"),
            Some(Bytes::mib(512))
        );
    }

    #[test]
    fn disabled_phases_do_not_run_and_one_must_be_enabled() {
        let off = "[[phase]]\nname = 'w'\nworkload = 'write'\nenabled = false\n";
        assert!(matches!(at(&study(off), "1"), Err(PhasesError::AllOff(_))));
        let on = format!("{off}[[phase]]\nname = 'r'\nworkload = 'read'\n");
        assert_eq!(at(&study(&on), "1").expect("phases").len(), 1);
    }

    #[test]
    fn unknown_sweeps_and_dimensions_are_named() {
        let phase = "[[phase]]\nname = 'w'\nworkload = 'write'\n";
        let unknown = study(&format!("{phase}sweep = 'x'"));
        assert!(matches!(
            at(&unknown, "1"),
            Err(PhasesError::UnknownSweep { .. })
        ));
        let loose = study(&format!("{phase}file_size = '$x'"));
        let Err(PhasesError::UnknownDimension { value, .. }) = at(&loose, "1") else {
            panic!("must be refused")
        };
        assert_eq!(value, "$x");
        let shell = "[[phase]]\nname = 'c'\nworkload = 'command'\n\
                     argv = ['sh', '-c', 'for f in *; do echo $f; done']\n";
        let planned = at(&study(shell), "1").expect("phases");
        assert_eq!(
            planned[0].parameters["argv"][2],
            "for f in *; do echo $f; done"
        );
        let empty = study(&format!("[sweep.x]\na = []\n{phase}sweep = 'x'"));
        assert!(matches!(at(&empty, "1"), Err(PhasesError::Sweep { .. })));
    }
}
