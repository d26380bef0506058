//! The plan of what another tool measured, of which little is known.

use std::collections::BTreeMap;

use crate::{Bytes, ColdMethod, FORMAT_VERSION, Plan, Rounds, Scale, VenuePlan};

impl Plan {
    /// The plan of results of another tool: one repeat and one rank, no subjects and phases, and
    /// the size unknown.
    pub fn imported(study: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            format: FORMAT_VERSION,
            study: study.into(),
            title: String::new(),
            question: None,
            answer: None,
            condition: None,
            score: None,
            venue: VenuePlan::Imported { tool: tool.into() },
            size_bytes: Bytes(0),
            // It marks no phase as cold.
            cold: ColdMethod::Drop,
            cold_after_s: 0,
            dirty_limit_bytes: None,
            engine: String::new(),
            subjects: Vec::new(),
            phases: Vec::new(),
            repeats: 1,
            adaptive: None,
            perturb: false,
            rounds: Rounds::ONE,
            ranks: 1,
            // A plan must have one; the trials are not run again.
            trial_limit_s: 1,
            seed: 0,
            scale: Scale::FULL,
            required_facts: BTreeMap::new(),
            data_to_memory: None,
            survival: None,
            figures: Vec::new(),
        }
    }
}
