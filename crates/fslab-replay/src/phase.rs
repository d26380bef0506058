//! The phase `replay`, from the trace to its figures.

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, PhasePart, RunError, synthetic_application};
use fslab_model::MetricDefinition;
use fslab_model::definitions::{REPLAY_DEVIATIONS, REPLAY_DIFFERENCES};

use super::parameters::ReplayParameters;
use super::player::Player;
use super::prepared_calls::Script;
use super::source::Source;
use super::{final_state, setup};

/// Runs one phase of a replay.
pub(crate) fn replay(
    parameters: &ReplayParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    // The trace is outside of the confined tree.
    let source = context
        .outside(|| Source::planned(&parameters.trace, &parameters.sha256))
        .map_err(|problem| parameters.refused(problem))?;
    if context.engine == EngineKind::Null {
        let operations = source.trace.events.len() as u64;
        return Ok(synthetic_application(
            context.seed,
            operations,
            parameters.footprint.0,
        ));
    }
    let base = context.root.join(&parameters.directory);
    let trace = &source.trace;
    if parameters.part == PhasePart::Prepare {
        return Ok(setup::create(context, &base, trace)?.into_finished());
    }
    let mut notes = source.notes();
    if parameters.part == PhasePart::All {
        notes.extend(setup::create(context, &base, trace)?.notes);
    }
    let script = Script::of(trace).map_err(|problem| parameters.refused(problem))?;
    notes.extend(script.notes.iter().cloned());
    let played = Player::new(context, &base, trace, &script, parameters.pace)?.play()?;
    let deviations = played.deviations;
    notes.extend((played.substituted > 0).then(|| {
        format!(
            "{} copies within the kernel or renames with flags were refused here, and issued as \
            reads and writes or as plain renames, as programs do",
            played.substituted
        )
    }));
    let done = script.operations();
    notes.extend(deviations.note(done));
    deviations.demand(done, parameters.deviations_percent_max, &base)?;
    let mut finished = Finished::from(played.measured);
    let mut figure = |definition: &MetricDefinition, value: u64| {
        finished
            .figures
            .insert(definition.name.to_owned(), value as f64);
    };
    figure(&REPLAY_DEVIATIONS, deviations.count());
    if parameters.check {
        let diff = final_state::compare(&base, trace)?;
        figure(&REPLAY_DIFFERENCES, diff.differences.len() as u64);
        notes.extend(diff.note());
        diff.demand(parameters.deviations_percent_max, &base)?;
    }
    finished.notes = notes;
    Ok(finished)
}
