//! A load of several ranks: processes, on one machine or several, that run the same jobs at the
//! same time.
//!
//! Each rank runs the workers that the job names. All workers are numbered through the ranks, so
//! that files, parts of a file and names follow from a worker's number, as those of threads of one
//! process. All ranks make the same calls in the same order:
//!
//! ```text
//!     prepare   files; all agree
//!     start     when the workers of all ranks are prepared
//!     end       all agree; rank 0 gets the outcomes of all workers
//! ```

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fslab_model::{CpuUse, Failure, FailureKind, format_ns};
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::recording::{Clock, MonotonicClock, ThreadOutcome, sum_of_cpu};

/// From the time when the last rank is prepared to the start of all: longer than a word takes.
const START_AFTER_NS: u64 = 30_000_000;

/// Connects the ranks of a load.
pub trait RankLink: Send + Sync + std::fmt::Debug {
    /// Waits until all ranks have called it; gives what each gave, in their order. With
    /// `has_failed` the flag of [`Self::failed`] is raised at all other ranks at once.
    fn exchange(&self, own: &[u8], has_failed: bool) -> io::Result<Vec<Vec<u8>>>;

    /// Waits until all ranks have called it; gives rank 0 what each gave, and the others nothing.
    fn gather(&self, own: &[u8]) -> io::Result<Vec<Vec<u8>>>;

    /// Raised while another rank has failed.
    fn failed(&self) -> Arc<AtomicBool>;
}

/// This rank of a load.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// Its number.
    pub rank: u32,
    /// Number of ranks.
    pub count: u32,
    /// The name of its machine.
    pub host: String,
    /// What its clock shows, less what that of rank 0 shows at the same time.
    pub clock_ahead_ns: i64,
    /// By how much that may be wrong, of all ranks the most.
    pub clock_error_ns: u64,
    /// By how much the clocks are certainly farther apart than that; found at the starts of jobs.
    pub drift_ns: Arc<AtomicU64>,
    /// Connects the ranks.
    pub link: Arc<dyn RankLink>,
}

/// What a rank says at a step.
#[derive(Serialize, Deserialize)]
struct Word {
    /// The step at which the rank is.
    step: String,
    host: String,
    number: u64,
    text: String,
    failure: Option<Failure>,
}

impl Ranks {
    /// True for the rank that does what is done once.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// The numbers of this rank's workers, if each rank has `own`.
    pub(crate) fn workers(&self, own: u32) -> Range<u32> {
        let first = own.saturating_mul(self.rank);
        first..first.saturating_add(own)
    }

    /// Waits until all ranks have done a step; `own` if all have succeeded.
    ///
    /// # Errors
    /// The failure of the first rank that failed, with its number and machine; of kind `Host`, if a
    /// rank is gone.
    pub fn agree<T>(&self, step: &str, own: Result<T, Failure>) -> Result<T, Failure> {
        let (value, failure) = parts(own);
        self.words(step, 0, String::new(), failure)?;
        value.ok_or_else(|| lost("the failure of a rank was not heard"))
    }

    /// As [`Self::agree`], with the errors of the engine.
    pub(crate) fn agree_in_engine<T>(
        &self,
        step: &str,
        own: Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let agreed = self.agree(step, own.map_err(Failure::from));
        agreed.map_err(EngineError::from_failure)
    }

    /// As [`Self::agree`]; the largest number of all ranks.
    pub(crate) fn agree_on(&self, step: &str, own: Result<u64, Failure>) -> Result<u64, Failure> {
        let (number, failure) = parts(own);
        let words = self.words(step, number.unwrap_or(0), String::new(), failure)?;
        Ok(words.iter().map(|word| word.number).max().unwrap_or(0))
    }

    /// As [`Self::agree`]; the texts of all ranks with the names of their machines, in order.
    pub fn share(
        &self,
        step: &str,
        own: Result<String, Failure>,
    ) -> Result<Vec<(String, String)>, Failure> {
        let (text, failure) = parts(own);
        let words = self.words(step, 0, text.unwrap_or_default(), failure)?;
        Ok(words
            .into_iter()
            .map(|word| (word.host, word.text))
            .collect())
    }

    /// As [`Self::agree`]; the first text that a rank has, with its number if rank 0 has none.
    pub fn first_text(
        &self,
        step: &str,
        own: Result<Option<String>, Failure>,
    ) -> Result<Option<String>, Failure> {
        let texts = self.share(step, own.map(Option::unwrap_or_default))?;
        let mut texts = texts.into_iter().enumerate();
        let first = texts.find(|(_, (_, text))| !text.is_empty());
        Ok(first.map(|(rank, (host, text))| match rank {
            0 => text,
            rank => format!("rank {rank} on {host}: {text}"),
        }))
    }

    /// What all ranks say of a step, if all have succeeded.
    fn words(
        &self,
        step: &str,
        number: u64,
        text: String,
        failure: Option<Failure>,
    ) -> Result<Vec<Word>, Failure> {
        let has_failed = failure.is_some();
        let word = Word {
            step: step.to_owned(),
            host: self.host.clone(),
            number,
            text,
            failure,
        };
        let given = serde_json::to_vec(&word).expect("a word holds texts and numbers");
        let all = match self.link.exchange(&given, has_failed) {
            Ok(all) => all,
            // A failure says more than that the others have ended, unless it follows from that.
            Err(error) => {
                let own = word
                    .failure
                    .filter(|it| it.kind != FailureKind::Interrupted);
                return Err(own.unwrap_or_else(|| unreachable_ranks(&error)));
            }
        };
        let words = all.iter().map(|bytes| serde_json::from_slice(bytes));
        let words: Vec<Word> = words
            .collect::<Result<_, _>>()
            .map_err(|error| lost("a rank sent what is no answer").because(&error))?;
        match first_failure(&words).or_else(|| out_of_step(&words)) {
            None => Ok(words),
            Some(failure) => Err(failure),
        }
    }

    /// At rank 0 the outcomes of all workers, by rank, and the processor use of all; at the others
    /// theirs.
    pub(crate) fn gather(
        &self,
        own: Vec<ThreadOutcome>,
        used: Option<CpuUse>,
    ) -> Result<(Vec<ThreadOutcome>, Option<CpuUse>), Failure> {
        let ahead_ns = self.clock_ahead_ns;
        let on_common_clock = own.into_iter().map(|it| it.with_clock_ahead(ahead_ns));
        let mut own: Vec<ThreadOutcome> = on_common_clock.collect();
        if let (Some(note), Some(first)) = (self.drift_note(), own.first_mut()) {
            first.note(note);
        }
        let given = serde_json::to_vec(&(&own, used)).expect("outcomes hold numbers and names");
        let all = self.link.gather(&given);
        let all = all.map_err(|error| unreachable_ranks(&error))?;
        if !self.is_first() {
            return Ok((own, used));
        }
        let (mut outcomes, mut uses) = (Vec::new(), Vec::new());
        for (rank, bytes) in all.into_iter().enumerate() {
            let read = serde_json::from_slice(&bytes);
            let (of_rank, used): (Vec<ThreadOutcome>, Option<CpuUse>) =
                read.map_err(|error| lost("a rank sent what is no result").because(&error))?;
            if of_rank.len() != own.len() {
                let (found, wanted) = (of_rank.len(), own.len());
                let text = format!("rank {rank} sent the results of {found} of {wanted} workers");
                return Err(lost(&text));
            }
            outcomes.extend(of_rank);
            uses.push(used);
        }
        Ok((outcomes, sum_of_cpu(uses.into_iter())))
    }

    /// Waits until the workers of all ranks are prepared, and then for a common time: a word
    /// reaches some ranks milliseconds after others. If one could not be, or a rank is gone,
    /// the flag is raised, and [`Self::agree`] says why.
    pub(crate) fn start(&self, has_failed: bool) {
        let failure = has_failed.then(|| Failure::new(FailureKind::Interrupted, "not prepared"));
        let ahead_ns = self.clock_ahead_ns;
        let now_ns = MonotonicClock.now_ns();
        let common_ns = now_ns.saturating_add_signed(ahead_ns.saturating_neg());
        match self.words("start", common_ns, String::new(), failure) {
            Ok(words) => {
                let last_ns = words.iter().map(|word| word.number).max().unwrap_or(0);
                self.compare_clocks(last_ns);
                let at_ns = last_ns.saturating_add(START_AFTER_NS);
                let own_ns = at_ns.saturating_add_signed(ahead_ns);
                let latest_ns = MonotonicClock.now_ns() + START_AFTER_NS;
                MonotonicClock.wait_until_ns(own_ns.min(latest_ns));
            }
            Err(_) => self.link.failed().store(true, Ordering::Relaxed),
        }
    }

    /// Notes a drift: no word can come from the future, so a clock that says it does has moved away
    /// from this one since they were compared. Of two such clocks, the rank of the other sees it.
    fn compare_clocks(&self, last_ns: u64) {
        let now_ns = MonotonicClock.now_ns();
        let now_ns = now_ns.saturating_add_signed(self.clock_ahead_ns.saturating_neg());
        let ahead_ns = last_ns.saturating_sub(now_ns);
        let drift_ns = ahead_ns.saturating_sub(self.clock_error_ns);
        self.drift_ns.fetch_max(drift_ns, Ordering::Relaxed);
    }

    /// What a drift does to the figures of a phase; `None` without one.
    fn drift_note(&self) -> Option<String> {
        let drift_ns = self.drift_ns.load(Ordering::Relaxed);
        (drift_ns > 0).then(|| {
            format!(
                "the clock of {} and that of another rank have moved apart by {} or more since the \
                 job began: start skew, duration and rate of all ranks are wrong by as much",
                self.host,
                format_ns(drift_ns as f64)
            )
        })
    }

    /// Raised while another rank has failed; lowered by [`Self::lower`].
    pub(crate) fn failed(&self) -> Arc<AtomicBool> {
        self.link.failed()
    }

    /// Lowers the flag before a job.
    pub(crate) fn lower(&self) {
        self.link.failed().store(false, Ordering::Relaxed);
    }
}

/// The number that the files and parts of thread `own` of `threads` follow from: its own, or that
/// of the rank that is `ranks` after this one. `all` is the number of threads of all ranks.
pub(crate) fn shifted(threads: &Range<u32>, own: u32, ranks: u32, all: u32) -> u32 {
    let number = threads.start + own;
    let ahead = u64::from(ranks) * threads.len() as u64;
    let shifted = (u64::from(number) + ahead) % u64::from(all.max(1));
    u32::try_from(shifted).unwrap_or(number)
}

/// The failure that ended a step: of the first rank that has one, and rather a cause than an
/// interruption, which follows from another rank's failure.
fn first_failure(words: &[Word]) -> Option<Failure> {
    let failures = words.iter().enumerate().filter_map(|(rank, word)| {
        let mut failure = word.failure.clone()?;
        // A failure that all have heard may be said again.
        let is_named = failure.message.starts_with("rank ") && failure.message.contains(" on ");
        if !is_named {
            failure.message = format!("rank {rank} on {}: {}", word.host, failure.message);
        }
        Some(failure)
    });
    failures.min_by_key(|failure| failure.kind == FailureKind::Interrupted)
}

/// A failure if the ranks are not at the same step.
fn out_of_step(words: &[Word]) -> Option<Failure> {
    let first = words.first()?;
    let (rank, other) = words
        .iter()
        .enumerate()
        .find(|(_, word)| word.step != first.step)?;
    let text = format!(
        "rank {rank} on {} is at the step '{}', and rank 0 at '{}'",
        other.host, other.step, first.step
    );
    Some(Failure::new(FailureKind::Protocol, text))
}

fn parts<T>(own: Result<T, Failure>) -> (Option<T>, Option<Failure>) {
    match own {
        Ok(value) => (Some(value), None),
        Err(failure) => (None, Some(failure)),
    }
}

fn lost(message: &str) -> Failure {
    Failure::new(FailureKind::Host, message)
}

fn unreachable_ranks(error: &io::Error) -> Failure {
    lost("cannot reach the other ranks").because(error)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;
    use std::sync::{Barrier, Mutex};

    use super::*;
    use crate::{
        Access, DataJob, EngineKind, Measured, MetadataJob, MetadataOperation, OpenMode, Order,
        RunContext, Sharing, TreeShape, Workers, lay_out, run_data, run_metadata,
    };

    /// Ranks that are threads of this process.
    #[derive(Debug)]
    struct ThreadLink {
        rank: usize,
        table: Arc<Table>,
    }

    #[derive(Debug)]
    struct Table {
        given: Mutex<Vec<Vec<u8>>>,
        barrier: Barrier,
        failed: Vec<Arc<AtomicBool>>,
    }

    impl RankLink for ThreadLink {
        fn exchange(&self, own: &[u8], has_failed: bool) -> io::Result<Vec<Vec<u8>>> {
            let table = &self.table;
            if has_failed {
                let others = table
                    .failed
                    .iter()
                    .enumerate()
                    .filter(|it| it.0 != self.rank);
                others.for_each(|(_, flag)| flag.store(true, Ordering::Relaxed));
            }
            table.given.lock().expect("a lock")[self.rank] = own.to_vec();
            table.barrier.wait();
            let all = table.given.lock().expect("a lock").clone();
            table.barrier.wait();
            Ok(all)
        }

        fn gather(&self, own: &[u8]) -> io::Result<Vec<Vec<u8>>> {
            let all = self.exchange(own, false)?;
            Ok(if self.rank == 0 { all } else { Vec::new() })
        }

        fn failed(&self) -> Arc<AtomicBool> {
            Arc::clone(&self.table.failed[self.rank])
        }
    }

    /// What each of `count` ranks gets of `run`.
    fn on_ranks<T: Send>(count: u32, root: &Path, run: impl Fn(RunContext) -> T + Sync) -> Vec<T> {
        let table = Arc::new(Table {
            given: Mutex::new(vec![Vec::new(); count as usize]),
            barrier: Barrier::new(count as usize),
            failed: (0..count).map(|_| Arc::default()).collect(),
        });
        std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..count)
                .map(|rank| {
                    let mut context = RunContext::new(EngineKind::Psync, root, 7);
                    context.ranks = Some(Ranks {
                        rank,
                        count,
                        host: format!("node{rank}"),
                        clock_ahead_ns: 0,
                        clock_error_ns: 0,
                        drift_ns: Arc::default(),
                        link: Arc::new(ThreadLink {
                            rank: rank as usize,
                            table: Arc::clone(&table),
                        }),
                    });
                    let run = &run;
                    scope.spawn(move || run(context))
                })
                .collect();
            ranks
                .into_iter()
                .map(|it| it.join().expect("no panic"))
                .collect()
        })
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(folder).expect("lists");
        let names = entries.map(|it| it.expect("an entry").file_name());
        names.map(|it| it.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn workers_are_numbered_through_all_ranks_and_rank_0_has_the_figures_of_all() {
        let place = tempfile::tempdir().expect("a directory");
        let job = DataJob {
            threads: 2,
            ..DataJob::write("f", 64 << 10, 4096)
        };
        let figures = on_ranks(3, place.path(), |context| run_data(&context, &job));
        let figures: Vec<Measured> = figures.into_iter().map(|it| it.expect("runs")).collect();
        assert_eq!((figures[0].threads.len(), figures[0].operations), (6, 96));
        assert_eq!(figures[0].bytes, Some(6 * (64 << 10)));
        assert_eq!(figures[1].threads.len(), 2);
        let expected = ["f", "f.1", "f.2", "f.3", "f.4", "f.5"].map(str::to_owned);
        assert_eq!(names(place.path()), expected.into());
    }

    /// The clocks were compared when the job began, and a later difference entered the figures.
    #[test]
    fn a_clock_that_has_moved_away_since_the_job_began_is_named() {
        for (shift_ns, by) in [(-5_000_000_000, "node0"), (5_000_000_000, "node1")] {
            let place = tempfile::tempdir().expect("a directory");
            let job = DataJob::write("f", 64 << 10, 4096);
            let figures = on_ranks(2, place.path(), |mut context| {
                let ranks = context.ranks.as_mut().expect("ranks");
                if ranks.rank == 1 {
                    ranks.clock_ahead_ns = shift_ns;
                }
                run_data(&context, &job)
            });
            let notes = &figures[0].as_ref().expect("runs").notes;
            let said = |note: &&String| note.contains("have moved apart by");
            let note = notes.iter().find(said).expect("a note");
            assert!(note.starts_with(&format!("the clock of {by} ")), "{note}");
        }
        let place = tempfile::tempdir().expect("a directory");
        let job = DataJob::write("f", 64 << 10, 4096);
        let figures = on_ranks(2, place.path(), |context| run_data(&context, &job));
        let notes = &figures[0].as_ref().expect("runs").notes;
        assert_eq!(notes, &Vec::<String>::new());
    }

    #[test]
    fn ranks_cover_a_shared_file_that_has_room_for_each() {
        let place = tempfile::tempdir().expect("a directory");
        let job = DataJob {
            sharing: Sharing::Shared,
            ..DataJob::write("f", 64 << 10, 4096)
        };
        let reading = DataJob {
            verify: true,
            open: OpenMode::Existing,
            access: Access::RandomOnce,
            sharing: Sharing::Shared,
            ..DataJob::read("f", 64 << 10, 4096)
        };
        on_ranks(4, place.path(), |context| {
            run_data(&context, &job).expect("writes");
            run_data(&context, &reading).expect("reads what all ranks have written");
        });
        let length = fs::metadata(place.path().join("f")).expect("a file").len();
        assert_eq!(length, 4 * (64 << 10));
    }

    #[test]
    fn a_shifted_rank_works_on_the_part_of_another() {
        let place = tempfile::tempdir().expect("a directory");
        let own = DataJob::write("f", 8192, 4096);
        let next = DataJob {
            rank_shift: 1,
            verify: true,
            ..DataJob::read("f", 8192, 4096)
        };
        on_ranks(3, place.path(), |context| {
            run_data(&context, &own).expect("writes");
            let ranks = context.ranks.clone().expect("is a rank");
            // Rank 0 reads f.1, so that its own file is not missed.
            if ranks.rank == 0 {
                fs::remove_file(place.path().join("f.1")).expect("removed");
            }
            ranks.agree("removed", Ok(())).expect("agrees");
            let text = run_data(&context, &next)
                .expect_err("is missed")
                .to_string();
            assert!(
                text.starts_with("rank 0 on node0: ") && text.contains("f.1"),
                "{text}"
            );
        });
        assert_eq!(shifted(&(4..6), 1, 1, 6), 1);
        assert_eq!(shifted(&(4..6), 1, 0, 6), 5);
    }

    #[test]
    fn interleaved_records_of_all_ranks_cover_the_file() {
        let place = tempfile::tempdir().expect("a directory");
        let job = DataJob {
            sharing: Sharing::Interleaved,
            threads: 2,
            ..DataJob::write("f", 4 * 47_008, 47_008)
        };
        on_ranks(2, place.path(), |context| {
            run_data(&context, &job).expect("writes");
        });
        let length = fs::metadata(place.path().join("f")).expect("a file").len();
        assert_eq!(length, 8 * 47_008);
    }

    #[test]
    fn missing_files_of_all_ranks_are_laid_out_once() {
        let place = tempfile::tempdir().expect("a directory");
        let job = DataJob {
            open: OpenMode::Create,
            verify: true,
            ..DataJob::read("f", 64 << 10, 4096)
        };
        let missing = on_ranks(2, place.path(), |context| lay_out(&context, &job));
        for missing in missing {
            assert_eq!(missing.expect("written"), 128 << 10);
        }
    }

    #[test]
    fn each_rank_has_its_tree_or_its_part_of_a_shared_one() {
        let place = tempfile::tempdir().expect("a directory");
        for base_per_worker in [true, false] {
            let base = if base_per_worker { "own" } else { "shared" };
            let job = |operation| MetadataJob {
                base_per_worker,
                workers: Workers::Threads,
                ..MetadataJob::new(operation, TreeShape::flat(base, 10, 0))
            };
            let figures = on_ranks(3, place.path(), |context| {
                run_metadata(&context, &job(MetadataOperation::Create)).expect("creates");
                run_metadata(&context, &job(MetadataOperation::Stat)).expect("finds all")
            });
            assert_eq!(figures[0].operations, 30);
        }
        assert_eq!(names(&place.path().join("shared")).len(), 30);
        assert_eq!(
            names(&place.path().join("own")),
            ["p0", "p1", "p2"].map(String::from).into()
        );
    }

    #[test]
    fn ranks_work_as_far_as_the_fastest_and_later_jobs_use_what_is_there() {
        let place = tempfile::tempdir().expect("a directory");
        for sharing in [Sharing::Own, Sharing::Shared, Sharing::Interleaved] {
            let writing = DataJob {
                sharing,
                stonewall_ns: Some(20_000_000),
                threads: 2,
                ..DataJob::write("f", 64 << 30, 4096)
            };
            let reading = DataJob {
                sharing,
                access: Access::RandomOnce,
                rank_shift: 1,
                verify: true,
                threads: 2,
                ..DataJob::read("f", 64 << 30, 4096)
            };
            let figures = on_ranks(2, place.path(), |context| {
                let written = run_data(&context, &writing).expect("writes");
                (written, run_data(&context, &reading).expect("reads all"))
            });
            let (written, read) = &figures[0];
            let each = written.threads[0].operations;
            assert!(each > 1 && written.notes[0].contains(&each.to_string()));
            for thread in written.threads.iter().chain(&read.threads) {
                assert_eq!(thread.operations, each, "{sharing:?}");
            }
            for name in names(place.path()) {
                fs::remove_file(place.path().join(name)).expect("removed");
            }
        }
    }

    #[test]
    fn as_many_files_as_the_fastest_made_are_found_and_removed() {
        let place = tempfile::tempdir().expect("a directory");
        for base_per_worker in [true, false] {
            let job = |operation, stonewall_ns| MetadataJob {
                base_per_worker,
                sharing: if base_per_worker {
                    Sharing::Own
                } else {
                    Sharing::Shared
                },
                stonewall_ns,
                rank_shift: 1,
                ..MetadataJob::new(operation, TreeShape::flat("t", 1 << 20, 0))
            };
            let figures = on_ranks(2, place.path(), |context| {
                let run = |operation, ns| run_metadata(&context, &job(operation, ns));
                let made = run(MetadataOperation::Create, Some(20_000_000)).expect("creates");
                run(MetadataOperation::Stat, None).expect("finds all");
                let as_listed = MetadataJob {
                    order: Order::Readdir,
                    ..job(MetadataOperation::Stat, None)
                };
                let found = run_metadata(&context, &as_listed).expect("finds all");
                assert!(
                    found
                        .threads
                        .iter()
                        .all(|it| it.operations == made.threads[0].operations)
                );
                run(MetadataOperation::Unlink, None).expect("removes all");
                made.threads
                    .iter()
                    .map(|it| it.operations)
                    .collect::<Vec<_>>()
            });
            assert!(
                figures[0][0] > 0 && figures[0][0] == figures[0][1],
                "{figures:?}"
            );
            let tree = place.path().join("t");
            let left = |path: &Path| fs::read_dir(path).expect("lists").count();
            match base_per_worker {
                true => assert_eq!(left(&tree.join("p0")) + left(&tree.join("p1")), 0),
                false => assert_eq!(left(&tree), 0),
            }
            fs::remove_dir_all(tree).expect("removed");
        }
    }

    #[test]
    fn a_rank_that_fails_before_the_stonewall_ends_the_job_at_all() {
        let place = tempfile::tempdir().expect("a directory");
        fs::write(place.path().join("f"), vec![0; 1 << 20]).expect("written");
        fs::write(place.path().join("f.1"), "").expect("written");
        let job = DataJob {
            stonewall_ns: Some(3_600_000_000_000),
            ..DataJob::read("f", 1 << 20, 4096)
        };
        for _ in 0..2 {
            for outcome in on_ranks(2, place.path(), |context| {
                let first = run_data(&context, &job);
                // All ranks are at the same step afterwards.
                let next = DataJob::write("g", 4096, 4096);
                run_data(&context, &next).expect("writes");
                first
            }) {
                let text = outcome.expect_err("fails").to_string();
                assert!(text.starts_with("rank 1 on node1: cannot read"), "{text}");
            }
        }
    }

    #[test]
    fn the_error_of_one_rank_ends_the_job_at_all_and_names_it() {
        let place = tempfile::tempdir().expect("a directory");
        fs::write(place.path().join("f"), vec![0; 4096]).expect("written");
        // Rank 1 has no file, and then an empty one; rank 0 would read for an hour.
        let job = DataJob {
            amount: crate::Amount::TimeNs(3_600_000_000_000),
            ..DataJob::read("f", 4096, 4096)
        };
        for why in ["cannot open", "cannot read"] {
            for outcome in on_ranks(2, place.path(), |context| run_data(&context, &job)) {
                let text = outcome.expect_err("fails").to_string();
                let begin = format!("rank 1 on node1: {why}");
                assert!(text.starts_with(&begin) && text.contains("f.1"), "{text}");
            }
            fs::write(place.path().join("f.1"), "").expect("written");
        }
    }
}
