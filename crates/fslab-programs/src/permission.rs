//! Permission to start programs with texts of a study.
//!
//! A study is untrusted. Its texts that a program, a shell or make would interpret need the user's
//! permission (`--allow-commands`); a fixed list of harmless words needs none.
//!
//! ```text
//!     plan  --> ensure_programs_allowed   before anything is stored
//!     trial --> ensure_programs_allowed   before formatting: a plan may come from a store
//!     phase --> Permission::of            required to open a session or start a server
//! ```
//!
//! Invariant: code that starts a program requires a [`Permission`], and a [`Permission`] requires
//! parameters that report their foreign texts. A workload that reports none while planning is still
//! refused at run time.

use fslab_engine::RunContext;
use fslab_job::Job;

use super::error::ProgramError;

/// Most characters of a foreign text in a message.
const SHOWN_MAX: usize = 400;
/// The hint of a refused program.
pub const ALLOW_PROGRAMS_HINT: &str = "check all of it, and allow it with --allow-commands";

/// Parameters of a workload that starts programs.
pub(crate) trait ProgramParameters: Job {
    /// Describes the texts of the study that a program would interpret; `None` if all texts come
    /// from fslab and the machine.
    ///
    /// Implementations destructure `self` without `..`, so that a new parameter does not compile
    /// until it is considered here.
    fn foreign(&self) -> Option<String>;
}

/// Permission to start the programs of one phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permission(());

impl Permission {
    /// The permission of a phase with `parameters`.
    ///
    /// # Errors
    /// Kind `BadInput` if they have foreign texts, which the trial does not allow.
    pub(crate) fn of(
        parameters: &impl ProgramParameters,
        context: &RunContext,
    ) -> Result<Self, ProgramError> {
        match ProgramParameters::foreign(parameters).filter(|_| !context.allow_commands) {
            None => Ok(Self(())),
            Some(foreign) => Err(ProgramError::refused(format!(
                "the phase would start a program that the study names: {}",
                shown_text(&foreign)
            ))
            .hint(ALLOW_PROGRAMS_HINT)),
        }
    }
}

/// `text` with control and bidirectional characters escaped, and shortened with a count of the
/// characters left out.
pub fn shown_text(text: &str) -> String {
    let count = text.chars().count();
    let kept = text.chars().take(SHOWN_MAX);
    let mut shown: String = kept.flat_map(escaped).collect();
    if count > SHOWN_MAX {
        shown.push_str(&format!(" ... and {} characters more", count - SHOWN_MAX));
    }
    shown
}

fn escaped(character: char) -> impl Iterator<Item = char> {
    let turns = matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let is_plain = !character.is_control() && !turns;
    let plain = is_plain.then_some(character);
    let escape = (!is_plain).then(|| character.escape_default());
    plain.into_iter().chain(escape.into_iter().flatten())
}
