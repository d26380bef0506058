//! The commands that are measured, as a person types them.

use std::path::Path;
use std::time::Instant;

use super::filling::run_id;
use super::findings::Measured;
use crate::child::run_accounted;
use crate::contenders::{Invocation, Programs};
use crate::error::BenchError;
use crate::series::Spread;

/// What is measured with, and where.
pub(crate) struct Desk<'a> {
    pub(crate) fslab: &'a Path,
    pub(crate) store: &'a Path,
    pub(crate) programs: &'a Programs,
    pub(crate) scratch: &'a Path,
    pub(crate) times: u32,
    /// Whether the page cache can be emptied before each.
    pub(crate) may_drop_caches: bool,
}

/// The words of every command. `runs` is how many runs the store has; those in the middle are
/// asked for.
pub(crate) fn commands(runs: u32) -> Vec<Vec<String>> {
    let (one, other) = (
        run_id(runs / 2).to_string(),
        run_id(runs / 2 + 1).to_string(),
    );
    let lines = [
        "list".to_owned(),
        "list --study other".to_owned(),
        "list --subject xfs --limit 20".to_owned(),
        "list --json".to_owned(),
        format!("show {one}"),
        "show last --all".to_owned(),
        format!("report {one} --out OUT"),
        format!("diff {one} {other}"),
        format!("export {one} --format csv --output OUT/export.csv"),
    ];
    let words = |line: &String| line.split(' ').map(str::to_owned).collect();
    lines.iter().map(words).collect()
}

impl Desk<'_> {
    /// Measures one command, warm and, where possible, cold.
    pub(crate) fn measure(&self, words: &[String]) -> Result<Measured, BenchError> {
        let warm = self.repeat(words, false)?;
        let cold = self
            .may_drop_caches
            .then(|| self.repeat(words, true))
            .transpose()?;
        Ok(Measured {
            command: words.join(" "),
            warm_ms: warm.0,
            cold_ms: cold.map(|(took, _)| took),
            resident_mib: warm.1,
        })
    }

    fn repeat(&self, words: &[String], is_cold: bool) -> Result<(Spread, f64), BenchError> {
        let out = self.scratch.display().to_string();
        let mut arguments: Vec<String> =
            words.iter().map(|word| word.replace("OUT", &out)).collect();
        arguments.extend(["--store".to_owned(), self.store.display().to_string()]);
        let invocation = Invocation::preparation(self.fslab.to_owned(), arguments);
        let (mut took_ms, mut resident_kib) = (Vec::new(), 0);
        if !is_cold {
            run_accounted(&invocation, self.scratch, self.programs, self.scratch)?;
        }
        for _ in 0..self.times {
            if is_cold {
                fslab_sys::drop_caches()
                    .map_err(|e| BenchError::io("drop the caches for", self.store, e))?;
            }
            let began = Instant::now();
            let (_, used) = run_accounted(&invocation, self.scratch, self.programs, self.scratch)?;
            took_ms.push(began.elapsed().as_secs_f64() * 1e3);
            resident_kib = resident_kib.max(used.resident_kib);
        }
        let spread = Spread::of(&took_ms)
            .ok_or_else(|| BenchError::output("fslab", "it was never measured"))?;
        Ok((spread, resident_kib as f64 / 1024.0))
    }
}
