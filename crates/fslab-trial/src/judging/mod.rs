//! What a guest does to judge the disk that it is shown: states after a power loss, and scripts on
//! a failing disk.

mod faulty_run;
mod judged_volume;
mod states;
mod tree;

pub use judged_volume::ensure_judgeable;
pub(crate) use states::judge_states;
