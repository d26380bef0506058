//! Claims about the limits of a figure: `value`.

use fslab_stats::{Interval, Mean, Summary, deviation, mean, relative_deviation, share};

use crate::evidence::{Member, Place};
use crate::findings::NO_INTERVAL;
use crate::judgement::{Case, Judgement};
use crate::missing::MissingReason;
use crate::{ClaimKind, Finding, Limits, Measure, Score};

/// Evaluates `value`: the figure is within the limits for each subject, phase and point.
pub(crate) fn value(case: &Case<'_, '_>) -> Judgement {
    let ClaimKind::Value {
        phases,
        subjects,
        limits,
        ..
    } = &case.claim.holds.kind
    else {
        return Judgement::missing("it is no claim of a value");
    };
    let scale = case.evidence.run.header.plan.scale;
    if case.claim.holds.score.measure() == Measure::Time && !scale.is_full() {
        return Judgement::missing(format!(
            "a time is of the complete work, and this run is at scale {scale}"
        ));
    }
    let mut findings = Vec::new();
    for name in subjects {
        for phase in phases {
            match case.evidence.member(name) {
                Err(gap) => findings.push(Finding::gap(format!("{name}: {phase}"), gap, *limits)),
                Ok(member) => findings.extend(of_phase(case, &member, phase, *limits)),
            }
        }
    }
    Judgement::all(findings)
}

/// One finding for each point of the phase.
fn of_phase(case: &Case<'_, '_>, member: &Member, phase: &str, limits: Limits) -> Vec<Finding> {
    let what = format!("{}: {phase}", member.label);
    match estimates(case, member, phase) {
        Err(gap) => vec![Finding::gap(what, gap, limits)],
        Ok(estimates) => {
            let finding = |(point, estimate): (String, Mean)| Finding {
                outcome: limits.decide(estimate.interval),
                value: Some(estimate.value),
                quantity: case.claim.holds.score.measure().into(),
                interval: estimate.interval,
                places: 1,
                remark: estimate.interval.is_none().then(|| NO_INTERVAL.to_owned()),
                ..Finding::gap(format!("{what}{point}"), "", limits)
            };
            estimates.into_iter().map(finding).collect()
        }
    }
}

/// The figure at each point, with the point's text, which is empty outside any sweep.
fn estimates(
    case: &Case<'_, '_>,
    member: &Member,
    phase: &str,
) -> Result<Vec<(String, Mean)>, MissingReason> {
    let score = case.claim.holds.score;
    let phases = [phase.to_owned()];
    let selection = case.selection(&phases);
    let exact = case.evidence.exact;
    let is_over_repeats = case.evidence.is_over_repeats(score);
    if is_over_repeats && score == Score::FailedPercent {
        let (failed, all) = case.evidence.failed(member, selection)?;
        let share = share(failed, all).ok_or("there is no repeat")?;
        let mut percent = times(share, 100.0);
        if exact {
            percent = certain(percent.value);
        }
        return Ok(vec![(String::new(), percent)]);
    }
    if is_over_repeats {
        let sample = case.evidence.sample(member, selection)?;
        return Ok(vec![(String::new(), deviation_of(&sample, score)?)]);
    }
    let repeats = case
        .evidence
        .figures(member, &phases, &case.ranges, score)?;
    let Some(first) = repeats.first() else {
        return Err(format!("{} has no trial", member.label).into());
    };
    let estimate = |place: &Place<'_>| {
        let values = repeats
            .iter()
            .filter_map(|repeat| repeat.figures.get(place));
        if values.clone().any(|figure| figure.left_out) {
            return Err("no measurable time passed, so there is no figure".into());
        }
        let sample: Vec<f64> = values.map(|figure| figure.value).collect();
        let estimate = match sample[..] {
            [value] if exact => certain(value),
            _ => mean(&sample).ok_or("the figure is not a number")?,
        };
        let point = place.1.map(|point| {
            let values: Vec<String> = point
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            format!(" at {}", values.join(", "))
        });
        Ok((point.unwrap_or_default(), estimate))
    };
    first.figures.keys().map(estimate).collect()
}

fn certain(value: f64) -> Mean {
    Mean {
        value,
        interval: Some(Interval {
            low: value,
            high: value,
        }),
    }
}

fn times(mean: Mean, factor: f64) -> Mean {
    Mean {
        value: mean.value * factor,
        interval: mean.interval.map(|interval| Interval {
            low: interval.low * factor,
            high: interval.high * factor,
        }),
    }
}

/// The deviation of a sample; 0 is certain.
fn deviation_of(sample: &[f64], score: Score) -> Result<Mean, MissingReason> {
    let summary = Summary::of(sample).ok_or("the figure is not a number")?;
    let sd = summary.sd.ok_or("a deviation needs two repeats")?;
    if sd == 0.0 {
        return Ok(certain(0.0));
    }
    let relative = matches!(score, Score::RelativeDeviation(_));
    let (estimate, factor) = if relative {
        (relative_deviation(sample), 100.0)
    } else {
        (deviation(sample), 1.0)
    };
    let estimate = estimate.ok_or("the mean is not positive")?;
    let mean = Mean {
        value: estimate.value,
        interval: estimate.interval,
    };
    Ok(times(mean, factor))
}

impl Finding {
    /// Whether it was measured.
    pub fn is_measured(&self) -> bool {
        self.outcome.is_measured()
    }
}
