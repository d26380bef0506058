//! What IO500 computes of its phases: scores, their validity, and the checksum of both.

use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{
    MetricDefinition, PhaseOutcome, PhaseRecord, RunRecord, TrialRecord, VenuePlan, phase_metrics,
};

/// The least time of a phase that writes, in seconds.
pub(super) const LEAST_S: u64 = 300;
const GIB: f64 = 1_073_741_824.0;

/// Groups of phases, each with a mean in the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// GiB/s.
    Bandwidth,
    /// kIOPS.
    Metadata,
}

/// A phase of IO500 in standard mode.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) group: Group,
    /// True if it has to run for [`LEAST_S`].
    pub(super) is_timed: bool,
}

const fn row(name: &'static str, group: Group, is_timed: bool) -> Row {
    Row {
        name,
        group,
        is_timed,
    }
}

/// The phases in their order.
pub(super) const ROWS: [Row; 12] = [
    row("ior-easy-write", Group::Bandwidth, true),
    row("mdtest-easy-write", Group::Metadata, true),
    row("ior-hard-write", Group::Bandwidth, true),
    row("mdtest-hard-write", Group::Metadata, true),
    row(FIND, Group::Metadata, false),
    row("ior-easy-read", Group::Bandwidth, false),
    row("mdtest-easy-stat", Group::Metadata, false),
    row("ior-hard-read", Group::Bandwidth, false),
    row("mdtest-hard-stat", Group::Metadata, false),
    row("mdtest-easy-delete", Group::Metadata, false),
    row("mdtest-hard-read", Group::Metadata, false),
    row("mdtest-hard-delete", Group::Metadata, false),
];
const FIND: &str = "find";
/// The phases of fslab that are one phase of IO500 together.
pub(super) const FIND_PARTS: [&str; 2] = ["find-easy", "find-hard"];
/// The beginning of a note with a mark of an imported run.
const IMPORTED_MARK: &str = "IO500: invalid: ";

/// A phase with its score.
pub(super) struct Scored<'r> {
    pub(super) row: &'static Row,
    /// The phase of the run; of several, the first. `None` if none has figures.
    pub(super) phase: Option<&'r PhaseRecord>,
    /// 0 without figures.
    pub(super) score: f64,
    pub(super) seconds: f64,
    /// Why it does not count.
    pub(super) invalid: Vec<String>,
}

/// The scores of one trial.
pub(super) struct Scores<'r> {
    pub(super) rows: Vec<Scored<'r>>,
    /// Why the run does not count, whatever its phases are.
    pub(super) invalid: Vec<String>,
    pub(super) bandwidth: f64,
    pub(super) metadata: f64,
}

impl<'r> Scores<'r> {
    /// `None` if the trial has none of the phases.
    pub(super) fn of(run: &RunRecord, trial: &'r TrialRecord) -> Option<Self> {
        let rows: Vec<Scored> = ROWS.iter().map(|row| Scored::of(row, trial)).collect();
        if rows.iter().all(|row| row.phase.is_none()) {
            return None;
        }
        let mean = |group: Group| {
            let scores = rows.iter().filter(|it| it.row.group == group);
            let positive: Vec<f64> = scores.map(|it| it.score).filter(|it| *it > 0.0).collect();
            let product: f64 = positive.iter().product();
            match positive.len() {
                0 => 0.0,
                count => product.powf(1.0 / count as f64),
            }
        };
        let (bandwidth, metadata) = (mean(Group::Bandwidth), mean(Group::Metadata));
        Some(Self {
            rows,
            invalid: invalid_run(run, trial),
            bandwidth,
            metadata,
        })
    }

    pub(super) fn total(&self) -> f64 {
        (self.bandwidth * self.metadata).sqrt()
    }

    pub(super) fn is_valid(&self) -> bool {
        self.invalid.is_empty() && self.rows.iter().all(|row| row.invalid.is_empty())
    }

    /// The checksum of version, scores and validity, which IO500 verifies.
    pub(super) fn checksum(&self, version: &str) -> u32 {
        let mut sum = checksum_of("version", version);
        for row in &self.rows {
            sum ^= checksum_of(row.row.name, &format!("{:.6}", row.score));
        }
        for (key, value) in [
            ("MD", self.metadata),
            ("BW", self.bandwidth),
            ("SCORE", self.total()),
        ] {
            sum ^= checksum_of(key, &format!("{value:.6}"));
        }
        match self.is_valid() {
            true => sum,
            false => sum ^ checksum_of("valid", "NO"),
        }
    }
}

/// That of one key and its value: 32 bits, turned left by two for each byte, which is added.
fn checksum_of(key: &str, value: &str) -> u32 {
    let bytes = key.bytes().chain(value.bytes());
    bytes.fold(0, |sum: u32, byte| {
        sum.rotate_left(2).wrapping_add(byte.into())
    })
}

/// Why the figures of the run are not those of IO500: its scale, or the marks of an import.
fn invalid_run(run: &RunRecord, trial: &TrialRecord) -> Vec<String> {
    let plan = &run.header.plan;
    let mut invalid = Vec::new();
    if !plan.scale.is_full() {
        invalid.push(format!("the study ran at a scale of {} != 1", plan.scale));
    }
    if plan.venue.kind().is_virtual() {
        invalid.push("its time is virtual, on a simulated disk".to_owned());
    }
    let is_marked = trial
        .facts
        .get("io500 validity")
        .is_some_and(|it| it == "invalid");
    if is_marked && matches!(plan.venue, VenuePlan::Imported { .. }) {
        invalid.push("IO500 has marked the run".to_owned());
    }
    invalid
}

impl<'r> Scored<'r> {
    fn of(row: &'static Row, trial: &'r TrialRecord) -> Self {
        let named = |name: &str| {
            let done = |it: &&PhaseRecord| it.name == name && it.outcome == PhaseOutcome::Done;
            trial.phases.iter().find(done)
        };
        let parts: Vec<&PhaseRecord> = match named(row.name) {
            Some(phase) => vec![phase],
            None if row.name == FIND => {
                let parts: Option<Vec<_>> = FIND_PARTS.into_iter().map(named).collect();
                parts.unwrap_or_default()
            }
            None => Vec::new(),
        };
        let seconds = parts.iter().filter_map(|it| seconds(it)).sum();
        let score = score(row.group, &parts).unwrap_or(0.0);
        let mut invalid: Vec<String> = Vec::new();
        for note in parts.iter().flat_map(|it| &it.notes) {
            let mark = note.strip_prefix(IMPORTED_MARK);
            invalid.extend(mark.map(str::to_owned));
        }
        if score == 0.0 {
            invalid.push("Resulting score shouldn't be 0.0".to_owned());
        }
        if row.is_timed && seconds < LEAST_S as f64 && invalid.is_empty() {
            invalid.push(format!(
                "Runtime is smaller than expected minimum runtime: {seconds:.3} s of {LEAST_S} s"
            ));
        }
        Self {
            row,
            phase: parts.first().copied(),
            score,
            seconds,
            invalid,
        }
    }
}

fn seconds(phase: &PhaseRecord) -> Option<f64> {
    figure(phase, &ELAPSED).map(|ns| ns / 1e9)
}

fn figure(phase: &PhaseRecord, definition: &MetricDefinition) -> Option<f64> {
    let metrics = phase_metrics(phase);
    let found = metrics
        .iter()
        .find(|it| it.definition.name == definition.name);
    found.map(|it| it.value).filter(|value| *value > 0.0)
}

/// The rate of a phase, or of several by the time of all; `None` without figures.
fn score(group: Group, parts: &[&PhaseRecord]) -> Option<f64> {
    let (definition, unit) = match group {
        Group::Bandwidth => (&THROUGHPUT, GIB),
        Group::Metadata => (&OPERATION_RATE, 1e3),
    };
    let rate = |phase: &PhaseRecord| Some(figure(phase, definition)? / unit);
    if let [only] = parts {
        return rate(only);
    }
    let mut work = 0.0;
    let mut time_s = 0.0;
    for part in parts {
        let of_part_s = seconds(part)?;
        work += rate(part)? * of_part_s;
        time_s += of_part_s;
    }
    (time_s > 0.0).then(|| work / time_s)
}
