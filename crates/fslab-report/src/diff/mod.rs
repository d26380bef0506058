//! A diff and a gate as tables, JSON, JUnit XML and annotations of a workflow.

mod annotation;
mod document;
mod junit;
mod meetings;
mod tables;

pub use annotation::annotations;
pub use document::{DiffDocument, GateDocument};
pub use junit::junit;
pub use meetings::{MeetingsDocument, meetings_table};
pub use tables::{diff_table, gate_table};
