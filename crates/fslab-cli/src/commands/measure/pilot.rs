//! The scale of a comparison in real time, by a pilot: as large as its time budget allows.

use std::num::NonZeroUsize;
use std::time::Instant;

use fslab_model::{Plan, RunId, Scale};
use fslab_run::{PilotTimes, fresh_run_id, pilot_scale, pilot_times, scales};
use fslab_venue::Venue;

use crate::commands::measure::execution::{ExecutionArgs, Prepared, stoppable, venue_settings};
use crate::exit::CommandError;
use crate::terminal::screen;

/// The run at the scale that its budget allows: `full` is that at full scale, `at_scale` that at
/// another; the budget counts from `began`. A resumed run keeps its scale, and a plan that is only
/// shown keeps the full one.
pub(super) fn at_fitting_scale(
    args: &ExecutionArgs,
    mut full: Prepared,
    began: Instant,
    at_scale: &dyn Fn(Scale) -> Result<Prepared, CommandError>,
) -> Result<Prepared, CommandError> {
    let budget_s = full.plan.adaptive.as_ref().and_then(|it| it.budget_s);
    if args.plan.dry_run {
        full.notices.push(
            "the plan is shown at scale 1; the run takes the scale at which its repeats fit the \
             budget, by a pilot (see docs/repeats.md)"
                .to_owned(),
        );
        return Ok(full);
    }
    if let Some(earlier) = earlier(args, budget_s, at_scale)? {
        return Ok(earlier);
    }
    let smallest = pilot_scale();
    screen::notice(&format!(
        "pilot: one trial of each subject at scale {smallest}, to choose the scale"
    ));
    let Some(times) = times(args, &at_scale(smallest)?.plan)? else {
        return Ok(full);
    };
    let left_s = f64::from(budget_s.unwrap_or_default()) - began.elapsed().as_secs_f64();
    let scale = times.scale(left_s);
    let mut prepared = match scale.is_full() {
        true => full,
        false => at_scale(scale)?,
    };
    let notice = notice(&prepared.plan, &times, left_s);
    prepared.notices.push(notice);
    Ok(prepared)
}

/// The latest run at any of the scales that the store has, prepared again: a run that is resumed,
/// or one with the same budget, so that runs of one command compare.
fn earlier(
    args: &ExecutionArgs,
    budget_s: Option<u32>,
    at_scale: &dyn Fn(Scale) -> Result<Prepared, CommandError>,
) -> Result<Option<Prepared>, CommandError> {
    let store = args.store.open()?;
    let mut latest: Option<(u64, RunId, Prepared)> = None;
    for scale in scales() {
        let prepared = at_scale(scale)?;
        let Some(run) = store.latest_with_hash(&prepared.plan.hash())? else {
            continue;
        };
        let header = store.header(&run)?;
        let began_with = header.plan.adaptive.as_ref().and_then(|it| it.budget_s);
        let is_meant = args.plan.resume || began_with == budget_s;
        let started = header.started_unix_s;
        if is_meant && latest.as_ref().is_none_or(|(known, ..)| *known < started) {
            latest = Some((started, run, prepared));
        }
    }
    Ok(latest.map(|(_, run, mut prepared)| {
        let scale = prepared.plan.scale;
        prepared
            .notices
            .push(format!("scale {scale}, as in the run {run}"));
        prepared
    }))
}

fn times(args: &ExecutionArgs, plan: &Plan) -> Result<Option<PilotTimes>, CommandError> {
    let settings = venue_settings(plan, NonZeroUsize::MIN, None)?;
    let venue = Venue::open(&plan.venue, plan.size_bytes, settings)?;
    let control = stoppable()?;
    let run = fresh_run_id(fslab_sys::unix_seconds());
    let allow_commands = args.plan.allow_commands;
    Ok(pilot_times(&run, plan, &venue, &control, allow_commands)?)
}

/// What the pilot says of the run.
fn notice(plan: &Plan, times: &PilotTimes, left_s: f64) -> String {
    let scale = plan.scale;
    let repeat_s = times.repeat_s(scale);
    let repeats = (left_s / repeat_s).floor();
    if repeats < f64::from(plan.repeats) {
        let least = plan.repeats;
        return format!(
            "scale {scale}: a repeat takes about {repeat_s:.1} s; the minimum of {least} exceeds the \
             budget"
        );
    }
    format!(
        "scale {scale}: a repeat takes about {repeat_s:.1} s, so about {repeats:.0} fit the \
         budget; --scale 1 is all of the work"
    )
}
