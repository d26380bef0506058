//! Caveats of the figures and of their statistics, as sentences of the summary.

use fslab_model::{
    CachePolicy, CacheVerdict, CellId, DataToMemory, MEMORY_MEDIUM_FACT, PhaseRecord,
};
use fslab_stats::{Drift, RESOLUTION};

use crate::device_costs::device_costs;
use crate::wording::{count, list, p_value, percent, phase, sensitivity};
use fslab_compare::{Analysis, Anomaly, PhaseAnalysis, PhaseCell, RunPrecision};

/// Samples named per anomaly; more are counted.
const NAMED_MAX: usize = 3;

/// The caveats of a run's figures.
pub(crate) fn caveats(analysis: &Analysis, names: &[String]) -> Vec<String> {
    let mut caveats = Vec::new();
    let phases = &analysis.phases;
    let plan = &analysis.run.header.plan;
    let few = (0..names.len()).all(|place| analysis.run.repeats(CellId::at(place)) < 2);
    let is_virtual = plan.venue.kind().is_virtual();
    if few && is_virtual && names.len() > 1 {
        let text = "Time is virtual: the figures are one exact point, and how sensitive they \
                    are is not known. By convention, differences below 1 % count as none.";
        caveats.push(text.to_owned());
    } else if few && names.len() > 1 {
        let text = "Each subject has a single repeat: no interval can be given, so no ranking \
                    is stated.";
        caveats.push(text.to_owned());
    } else if names.len() == 1 {
        caveats.push("There is one subject, hence no comparison.".to_owned());
    }
    let difference = plan
        .data_to_memory
        .as_ref()
        .and_then(DataToMemory::difference);
    caveats.extend(
        difference.map(|text| format!("Not at the original's ratio of data to memory: {text}.")),
    );
    caveats.extend(of_perturbation(analysis, names));
    caveats.extend(of_statistics(analysis, names));
    caveats.extend(of_sweeps(analysis));
    let idle = |cell: &PhaseCell| cell.done().any(PhaseRecord::took_no_device_time);
    if let Some(phases) = phases_where(analysis, &idle) {
        caveats.push(format!(
            "In virtual time the processor takes none, so there is no rate where nothing \
             waited for the disk: {phases}."
        ));
    }
    let little = phases.iter().filter(|phase| !phase.is_disk_bound());
    let little: Vec<String> = little.map(|of| phase(of.name)).collect();
    if !little.is_empty() {
        caveats.push(format!(
            "Not disk-bound: the disk worked for less than half of {}, and the rest is waiting for \
             timers, such as the kernel's pauses of writers. They count for no winner, and by disk \
             time in the mean.",
            list(&little)
        ));
    }
    caveats.extend(crate::tables::flush_caveats(analysis, names));
    caveats.extend(crate::tables::survival_caveat(analysis, names));
    caveats.extend(device_costs(analysis, names));
    let cached = |cell: &PhaseCell| cell.cache_verdict() == Some(CacheVerdict::Cache);
    if !is_virtual && let Some(phases) = phases_where(analysis, &cached) {
        caveats.push(format!(
            "The figures of {phases} come from the page cache: the device moved less than a \
             tenth of the bytes."
        ));
    }
    caveats.extend(of_medium(analysis));
    let holes = phases
        .iter()
        .flat_map(|phase| &phase.cells)
        .filter(|cell| cell.absence().is_some())
        .count();
    if holes > 0 {
        caveats.push(format!(
            "{} of {} of a phase and a subject have no figure; the reasons are listed.",
            holes,
            count(phases.len() * names.len(), "pair")
        ));
    }
    caveats
}

/// That cold phases were not cold, since the medium was memory; `None` if it was a disk.
fn of_medium(analysis: &Analysis) -> Option<String> {
    let records = &analysis.run.trials;
    let mut media: Vec<&str> = records
        .iter()
        .filter_map(|trial| trial.facts.get(MEMORY_MEDIUM_FACT))
        .map(String::as_str)
        .collect();
    media.sort_unstable();
    media.dedup();
    let is_measured = |of: &PhaseAnalysis| {
        let mut cells = of.points().iter().flat_map(|point| &point.cells);
        cells.any(|cell| cell.done().next().is_some())
    };
    let is_cold = |of: &&PhaseAnalysis| of.cache == CachePolicy::Cold && is_measured(of);
    let cold = analysis.phases.iter().filter(is_cold);
    let cold: Vec<String> = cold.map(|of| phase(of.name)).collect();
    (!media.is_empty() && !cold.is_empty()).then(|| {
        let media: Vec<String> = media.into_iter().map(str::to_owned).collect();
        format!(
            "The medium is memory, not a disk: {}. The figures of {} are not cold.",
            list(&media),
            list(&cold)
        )
    })
}

/// A note on the figures of sweeps; `None` without sweeps.
fn of_sweeps(analysis: &Analysis) -> Option<String> {
    let means = |of: &PhaseAnalysis| {
        let sweep = of.sweep.as_ref()?;
        let (shared, all) = (sweep.shared, sweep.points.len());
        Some(format!("{} ({shared} of {all})", phase(of.name)))
    };
    let means: Vec<String> = analysis.phases.iter().filter_map(means).collect();
    (!means.is_empty()).then(|| {
        format!(
            "Of a sweep the geometric mean over the points that all subjects have is \
             compared: {}.",
            list(&means)
        )
    })
}

/// The phases in which `holds` for any subject, as text; for a sweep, with the number of
/// points.
fn phases_where(analysis: &Analysis, holds: &dyn Fn(&PhaseCell) -> bool) -> Option<String> {
    let places = |of: &PhaseAnalysis| {
        let points = of.points();
        let found = points.iter().filter(|point| point.cells.iter().any(holds));
        match (found.count(), of.sweep.is_some()) {
            (0, _) => None,
            (_, false) => Some(phase(of.name)),
            (found, true) => Some(format!(
                "{} ({found} of {} points)",
                phase(of.name),
                points.len()
            )),
        }
    };
    let places: Vec<String> = analysis.phases.iter().filter_map(places).collect();
    (!places.is_empty()).then(|| list(&places))
}

/// Differences lost in correction, anomalies of the repeats, and wide intervals.
fn of_statistics(analysis: &Analysis, names: &[String]) -> Vec<String> {
    let caveats = [
        corrected(analysis, names),
        drifting(analysis),
        odd(analysis, names),
        wide(analysis),
        disturbed(analysis, names),
    ];
    caveats.into_iter().flatten().collect()
}

/// The most sensitive figure, in one line; `None` if repeats are not perturbed.
fn of_perturbation(analysis: &Analysis, names: &[String]) -> Option<String> {
    let runs = analysis.run.perturbed_runs()?;
    let sensitive = analysis.sensitive();
    let Some(most) = sensitive.first() else {
        return Some(format!(
            "How sensitive the figures are is not known: it takes three perturbed runs, and there \
             are {runs}."
        ));
    };
    if most.share < RESOLUTION {
        return Some(format!(
            "No figure is sensitive: over {runs} perturbed runs in virtual time, none is expected \
             to lie {} from these in a further one.",
            percent(RESOLUTION)
        ));
    }
    Some(format!(
        "Most sensitive, over {runs} perturbed runs in virtual time: {} in {}, {}.",
        names[most.subject],
        phase(analysis.phases[most.phase].name),
        sensitivity(most.share)
    ))
}

/// Differences that intervals alone would have shown.
fn corrected(analysis: &Analysis, names: &[String]) -> Option<String> {
    let lost = analysis
        .phases
        .iter()
        .filter_map(|phase| phase.comparison.as_ref());
    let lost = lost.flat_map(|comparison| {
        (0..names.len()).filter(|subject| comparison.is_lost_in_correction(*subject))
    });
    let lost = lost.count();
    (lost > 0).then(|| {
        let verb = if lost == 1 { "is" } else { "are" };
        format!(
            "{} whose 95 % interval excludes 1 {verb} not counted as certain: among {} of subjects \
             some intervals do so by chance.",
            count(lost, "difference"),
            count(analysis.family, "pair")
        )
    })
}

/// A drift of the machine.
fn drifting(analysis: &Analysis) -> Option<String> {
    let drift = analysis
        .diagnosis
        .findings
        .iter()
        .find(|finding| finding.phase.is_none())?;
    let Anomaly::Drift(Drift { times, .. }) = &drift.anomaly else {
        return None;
    };
    let direction = if *times > 1.0 { "faster" } else { "slower" };
    Some(format!(
        "All subjects together became {direction} by {} from the first trial to the last (p {}): \
         the machine changed during the run.",
        percent((times - 1.0).abs()),
        p_value(drift.p_corrected)
    ))
}

/// The anomalies and their places.
fn odd(analysis: &Analysis, names: &[String]) -> Option<String> {
    let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in &analysis.diagnosis.findings {
        let Some((place, subject)) = finding.phase.zip(finding.subject) else {
            continue;
        };
        let at = format!(
            "{} in {}",
            names[subject],
            phase(analysis.phases[place].name)
        );
        let kind = crate::tables::kind(&finding.anomaly);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, places)) => places.push(at),
            None => kinds.push((kind, vec![at])),
        }
    }
    let places: Vec<String> = kinds
        .into_iter()
        .map(|(kind, places)| of_kind(kind, places))
        .collect();
    (!places.is_empty()).then(|| {
        format!(
            "Anomalies in the repeats, all of which are in the figures: {}.",
            places.join("; ")
        )
    })
}

fn of_kind(kind: &str, mut places: Vec<String>) -> String {
    if places.len() > NAMED_MAX {
        let more = places.len() - NAMED_MAX;
        places.truncate(NAMED_MAX);
        places.push(format!("{more} more"));
    }
    format!("{} ({})", kind.to_lowercase(), list(&places))
}

/// The disturbed measurements.
fn disturbed(analysis: &Analysis, names: &[String]) -> Option<String> {
    let (mut places, mut repeats) = (Vec::new(), 0);
    for found in &analysis.phases {
        for (subject, name) in names.iter().enumerate() {
            let disturbed = found.disturbed(subject);
            repeats += disturbed;
            if disturbed > 0 {
                places.push(format!("{name} in {}", phase(found.name)));
            }
        }
    }
    if places.len() > NAMED_MAX {
        let more = places.len() - NAMED_MAX;
        places.truncate(NAMED_MAX);
        places.push(format!("{more} more"));
    }
    (repeats > 0).then(|| {
        format!(
            "{} disturbed by other activity on the machine, and all are in the figures: {}.",
            match repeats {
                1 => "1 measurement was".to_owned(),
                several => format!("{several} measurements were"),
            },
            list(&places)
        )
    })
}

/// The number of samples with an interval wider than the target.
fn wide(analysis: &Analysis) -> Option<String> {
    let RunPrecision {
        target,
        wide,
        known,
    } = RunPrecision::of(analysis);
    let with_interval = wide.iter().filter(|it| it.reach.is_some()).count();
    (with_interval > 0).then(|| {
        format!(
            "{with_interval} of {} of a phase and a subject {} an interval wider than ± {}.",
            count(wide.len() + known, "figure"),
            if with_interval == 1 { "has" } else { "have" },
            percent(target.share())
        )
    })
}
