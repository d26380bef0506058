//! The mark of figures whose durability is not real.

use crate::TableCell;
use crate::wording;
use fslab_compare::{Analysis, PhaseAnalysis};

/// The mark of a figure of a phase in which the subject does not flush.
pub(crate) const UNFLUSHED: &str = " ‡";

/// What the mark means, wherever there is room for it.
pub(crate) const DOES_NOT_FLUSH: &str = "does not flush";

/// Adds the mark if the subject does not flush in the phase.
pub(super) fn flush_marked(cell: TableCell, phase: &PhaseAnalysis, subject: usize) -> TableCell {
    match phase.does_not_flush(subject) {
        true => TableCell {
            text: cell.text + UNFLUSHED,
            ..cell
        },
        false => cell,
    }
}

/// The meaning of the mark; `None` if no figure has it.
pub(super) fn flush_note<'a>(
    phases: impl IntoIterator<Item = &'a PhaseAnalysis<'a>>,
) -> Option<String> {
    let mut marked = phases.into_iter().flat_map(PhaseAnalysis::not_flushing);
    marked.next().map(|_| {
        format!(
            "‡ {DOES_NOT_FLUSH}: the phase makes data durable (fsync, sync), and the disk got no \
             flush and no FUA write for it, though its cache is volatile, or another subject's \
             syncs flushed it. A power loss may take what was called durable, so this speed is not \
             one of durable data."
        )
    })
}

/// The phases in which each subject does not flush, as sentences.
pub(crate) fn flush_caveats(analysis: &Analysis, names: &[String]) -> Option<String> {
    let of_subject = |(subject, name): (usize, &String)| {
        let unflushed = |phase: &&PhaseAnalysis| phase.does_not_flush(subject);
        let phases = analysis.phases.iter().filter(unflushed);
        let phases: Vec<String> = phases.map(|of| wording::phase(of.name)).collect();
        (!phases.is_empty()).then(|| format!("{name} in {}", wording::list(&phases)))
    };
    let found: Vec<String> = names.iter().enumerate().filter_map(of_subject).collect();
    (!found.is_empty()).then(|| {
        format!(
            "Does not flush: {}. The disk got no flush and no FUA write for what was to be durable, \
             and may lose it when power fails; such a speed is not one of durable data.",
            found.join("; ")
        )
    })
}
