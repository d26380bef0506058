//! Caveats of the statistics, as sentences of the summary.

use fslab_stats::{Drift, RESOLUTION};

use crate::wording::{count, list, p_value, percent, phase, sensitivity};
use fslab_compare::RunPrecision;
use fslab_compare::{Analysis, Anomaly};

/// Samples named per anomaly; more are counted.
const NAMED_MAX: usize = 3;

/// Differences lost in correction, anomalies of the repeats, and wide intervals.
pub(crate) fn of_statistics(analysis: &Analysis, names: &[String]) -> Vec<String> {
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
pub(crate) fn of_perturbation(analysis: &Analysis, names: &[String]) -> Option<String> {
    let runs = analysis.perturbed_runs()?;
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
            "{} disturbed by what else took place on the machine, and all are in the figures: {}.",
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
            "{with_interval} of {} of a phase and a subject are known no better than ± {}.",
            count(wide.len() + known, "figure"),
            percent(target.share())
        )
    })
}
