//! One run against another, on runs with a known answer.

mod chance;
mod comparable;
mod false_alarms;
mod gates;
mod several_runs;
mod story;
mod verdicts;
