//! Diffs and gates of runs with known truth.

mod chance;
mod comparable;
mod false_alarms;
mod gates;
mod several_runs;
mod story;
mod verdicts;
