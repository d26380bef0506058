//! Claims against runs with known figures: each kind holds, fails, stays undecided and is not
//! measured where it must.

mod between_phases;
mod between_subjects;
mod beyond_the_mean;
mod defaults_then;
mod explanations;
mod originals;
mod over_points;
mod platforms;
mod run_builder;
mod then_and_now;
mod values;
