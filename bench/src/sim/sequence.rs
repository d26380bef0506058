//! The sequence: the model, then long phases, sizes, and everything.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fslab_model::{RunRecord, TrialOutcome};

use super::args::{Part, SimArgs};
use super::findings::{Everything, Findings, SizeFigures, Sized};
use super::page;
use super::requests;
use super::session::{Compared, Comparison, Session};
use crate::error::BenchError;
use crate::machine;

const SPEED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sim/speed.toml");
const SIZE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sim/size.toml");
/// The small and the large file system.
const SIZES: [&str; 2] = ["1GiB", "20GiB"];
/// The disk that has room for the large one, and on which everything runs.
const DISK: &str = "hdd-7200-ata100-2002";
/// Disks whose model is measured alone.
const MODELS: [&str; 7] = [
    "hdd-7200-ata100-2002",
    "hdd-7200-sata-2010",
    "sas-15k-raid10-2012",
    "hdd-7200-sata-20tb",
    "usb-flash-16g-2015",
    "ssd-sata-2022",
    "ssd-nvme-2024",
];
/// Memory that is touched: twice what a trial takes for its guest and for what the host keeps of
/// its image, since a kernel need not hand out first what it got back last.
const TOUCHED_BYTES: u64 = 8 << 30;
/// What stays free when memory is touched.
const SPARE_BYTES: u64 = 1 << 30;

/// Measures what `args` ask for.
pub(crate) fn measure(
    args: &SimArgs,
    fslab: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Findings, BenchError> {
    let bench = Bench {
        args,
        session: Session::open(fslab, &args.folder)?,
        stop,
    };
    let mut findings = Findings {
        facts: machine::facts(),
        rounds: args.rounds(),
        ..Findings::default()
    };
    let version = bench.session.version()?;
    findings.facts.push(("fslab".to_owned(), version));
    if args.wants(Part::Model) {
        bench.measure_models(&mut findings)?;
    }
    if args.wants(Part::Phases) {
        bench.measure_phases(&mut findings)?;
    }
    if args.wants(Part::Size) {
        bench.measure_sizes(&mut findings)?;
    }
    if args.wants(Part::All) {
        bench.measure_everything(&mut findings)?;
    }
    Ok(findings)
}

/// What every part needs.
struct Bench<'a> {
    args: &'a SimArgs,
    session: Session,
    stop: &'a AtomicBool,
}

impl Bench<'_> {
    fn measure_models(&self, findings: &mut Findings) -> Result<(), BenchError> {
        for disk in MODELS {
            let parameters = self.session.model(disk)?;
            let rounds = self.args.rounds();
            let found = requests::measure(disk, &parameters, rounds)?;
            findings.requests.extend(found);
            self.go_on()?;
        }
        Ok(())
    }

    /// One guest at a time, so that each has a processor.
    fn measure_phases(&self, findings: &mut Findings) -> Result<(), BenchError> {
        for round in 1..=self.args.rounds() {
            for disk in self.args.disks() {
                for subject in self.args.subjects() {
                    let comparison = Comparison {
                        study: SPEED,
                        disk,
                        subjects: std::slice::from_ref(subject),
                        size: None,
                        jobs: Some(1),
                    };
                    let compared = self.compare(&comparison, findings)?;
                    findings.add_phases(disk, &compared.record);
                    page::progress(&format!("round {round}, {disk}, {subject}"), &compared);
                }
            }
        }
        Ok(())
    }

    fn measure_sizes(&self, findings: &mut Findings) -> Result<(), BenchError> {
        for subject in self.args.subjects() {
            let pair = self.measure_pair(subject, findings)?;
            findings.sizes.push(Sized {
                subject: subject.clone(),
                pair,
            });
        }
        Ok(())
    }

    /// Both sizes in every round. The inner error is a trial's, which costs this figure alone.
    fn measure_pair(
        &self,
        subject: &String,
        findings: &mut Findings,
    ) -> Result<Result<[SizeFigures; 2], String>, BenchError> {
        let mut pair = SIZES.map(|size| SizeFigures {
            size,
            real_ns: Vec::new(),
            written_bytes: 0,
            footprint: super::footprint::Footprint::new(),
        });
        for round in 1..=self.args.rounds() {
            for figures in &mut pair {
                let comparison = Comparison {
                    study: SIZE,
                    disk: DISK,
                    subjects: std::slice::from_ref(subject),
                    size: Some(figures.size),
                    jobs: Some(1),
                };
                let compared = self.compare(&comparison, findings)?;
                let what = format!("round {round}, {subject} of {}", figures.size);
                page::progress(&what, &compared);
                if let Err(why) = add_size(figures, compared) {
                    return Ok(Err(why));
                }
            }
        }
        Ok(Ok(pair))
    }

    fn measure_everything(&self, findings: &mut Findings) -> Result<(), BenchError> {
        let comparison = Comparison {
            study: "quick",
            disk: DISK,
            subjects: &["all".to_owned()],
            size: None,
            jobs: None,
        };
        let compared = self.compare(&comparison, findings)?;
        page::progress("everything", &compared);
        let trials = compared.record.trials.iter().map(|trial| {
            let failure = match &trial.outcome {
                TrialOutcome::Done => None,
                TrialOutcome::Failed { failure } => Some(failure.message.clone()),
            };
            (trial.subject.to_string(), trial.elapsed_ns, failure)
        });
        findings.everything = Some(Everything {
            disk: DISK.to_owned(),
            real_ns: compared.real_ns,
            trials: trials.collect(),
        });
        Ok(())
    }

    fn compare(
        &self,
        comparison: &Comparison<'_>,
        findings: &mut Findings,
    ) -> Result<Compared, BenchError> {
        touch_memory();
        let compared = self.session.compare(comparison);
        self.go_on()?;
        let compared = compared?;
        note_kernel(&compared.record, findings);
        Ok(compared)
    }

    fn go_on(&self) -> Result<(), BenchError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(BenchError::Interrupted);
        }
        Ok(())
    }
}

/// Adds a run of one trial to the figures of its size.
fn add_size(figures: &mut SizeFigures, compared: Compared) -> Result<(), String> {
    let trial = compared.record.trials.first().ok_or("it was not run")?;
    if let TrialOutcome::Failed { failure } = &trial.outcome {
        return Err(failure.message.clone());
    }
    let insight = trial.insight.as_ref().ok_or("it has no trace")?;
    figures.real_ns.push(trial.elapsed_ns as f64);
    figures.written_bytes = insight.writes.all.bytes;
    for (name, bytes) in compared.footprint {
        let most = figures.footprint.entry(name).or_default();
        *most = (*most).max(bytes);
    }
    Ok(())
}

/// The guest kernel is a part of what is measured.
fn note_kernel(run: &RunRecord, findings: &mut Findings) {
    const NAME: &str = "guest kernel";
    let facts = run.trials.first().map(|trial| &trial.facts);
    let kernel = facts.and_then(|facts| facts.get("kernel"));
    if let Some(kernel) = kernel
        && !findings.facts.iter().any(|(name, _)| name == NAME)
    {
        findings.facts.push((NAME.to_owned(), kernel.clone()));
    }
}

/// Touches the memory that a trial takes. Where the machine is itself a guest, memory that was free
/// for a while may have been returned to its host, and getting it again costs more than the trial.
fn touch_memory() {
    let began = Instant::now();
    let available = machine::available_bytes().unwrap_or(0);
    let bytes = TOUCHED_BYTES.min(available.saturating_sub(SPARE_BYTES));
    let mut memory = vec![0_u8; usize::try_from(bytes).unwrap_or(0)];
    for page in memory.chunks_mut(4096) {
        page[0] = 1;
    }
    std::hint::black_box(&memory);
    drop(memory);
    let took_s = began.elapsed().as_secs_f64();
    if took_s > 5.0 {
        eprintln!("bench: getting memory back from the host took {took_s:.1} s");
    }
}
