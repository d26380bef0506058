//! Judges in guests what a power loss or a failing disk leaves: states of a log, scripts on a
//! failing disk, and after trials what is left of their subjects.

mod faulty_scripts;
mod guests;
mod kept_states;
mod log_states;
mod subject_survival;

pub use faulty_scripts::{FaultChoice, FaultObserver, FaultyScripts};
pub use guests::JudgeGuests;
pub use kept_states::KeptStates;
pub use log_states::{
    JudgedStates, MinimalState, StateObserver, judge_state, judge_states, minimal_state,
};
pub(crate) use subject_survival::planned;
pub use subject_survival::{SurvivalJudge, ensure_recordable};
