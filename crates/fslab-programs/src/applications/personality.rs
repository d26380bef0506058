//! Runs a personality: threads take iterations of the loop from one pool until it is empty.

use std::sync::atomic::{AtomicU64, Ordering};

use fslab_engine::{EngineError, EngineKind, RunContext, ThreadRecorder, run_recorded_threads};
use fslab_job::{Finished, PhasePart, RunError, synthetic_application};
use fslab_sys::ResourceUse;

use super::PersonalityParameters;
use super::fileset::Fileset;
use super::flows::{EngineResult, ThreadResources};

/// State shared by all threads.
pub(crate) struct Shared<'a> {
    pub(super) parameters: &'a PersonalityParameters,
    pub(super) set: &'a Fileset,
    pub(super) base: &'a std::path::Path,
}

/// Runs one phase of a personality.
pub(crate) fn play(
    parameters: &PersonalityParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        let loops = parameters.operations;
        let bytes = loops * parameters.mean_size.0.max(1);
        return Ok(synthetic_application(
            context.seed,
            loops * parameters.flow.operations(),
            bytes,
        ));
    }
    let base = context.root.join(&parameters.directory);
    let set = Fileset::of(parameters, context.seed);
    let shared = Shared {
        parameters,
        set: &set,
        base: &base,
    };
    match parameters.part {
        PhasePart::Prepare => return Ok(prepare(&shared, context)?),
        PhasePart::All => {
            set.make(&base, context.seed, parameters.record.0 as usize, |_| {
                check_stop(context)
            })?;
        }
        PhasePart::Play => {}
    }
    Ok(run(&shared, context)?.into())
}

/// Creates the files as a timed phase.
fn prepare(shared: &Shared<'_>, context: &RunContext) -> EngineResult<Finished> {
    let mut book = ThreadRecorder::new(context);
    let kind = book.kind("create");
    let used = ResourceUse::of_process();
    let mut last_ns = ThreadRecorder::now_ns();
    book.begin(last_ns);
    let record = shared.parameters.record.0 as usize;
    shared
        .set
        .make(shared.base, context.seed, record, |bytes| {
            let now_ns = ThreadRecorder::now_ns();
            book.operation(kind, last_ns, now_ns, bytes);
            last_ns = now_ns;
            check_stop(context)
        })?;
    let used = ResourceUse::of_process().since(used);
    Ok(ThreadRecorder::measured(vec![book], used, true).into())
}

fn check_stop(context: &RunContext) -> EngineResult<()> {
    if context.stop.is_raised() {
        return Err(EngineError::interrupted(&context.root));
    }
    Ok(())
}

fn run(shared: &Shared<'_>, context: &RunContext) -> EngineResult<fslab_engine::Measured> {
    let parameters = shared.parameters;
    let (pool, limit_ns) = (
        AtomicU64::new(0),
        parameters.seconds.saturating_mul(1_000_000_000),
    );
    let longest = match parameters.flow.writes_files() {
        true => parameters.record.0.max(parameters.append.0),
        false => parameters.append.0,
    } as usize;
    let prepare = |thread: u32, book: &mut ThreadRecorder| {
        let record = parameters.record.0 as usize;
        let resources =
            ThreadResources::new(shared.base, record, longest, context.seed, thread, book)?;
        if parameters.flow.has_log() {
            resources.open_log(shared.base)?;
        }
        // A thread that is ahead would find none of its files missing, and the other leave some.
        let share = parameters.flow.only_adds_files().then(|| {
            let threads = u64::from(parameters.threads.max(1));
            let (each, more) = (
                parameters.operations / threads,
                parameters.operations % threads,
            );
            each + u64::from(u64::from(thread) < more)
        });
        let part = shared.set.part(thread, context.seed);
        Ok((resources, part, share))
    };
    run_recorded_threads(
        context,
        parameters.threads,
        prepare,
        |(resources, mut part, share), book, must_stop| {
            let start_ns = ThreadRecorder::now_ns();
            let mut worker = resources.into_worker(shared.base, book);
            let mut done = 0;
            let mut has_next = || match share {
                None => pool.fetch_add(1, Ordering::Relaxed) < parameters.operations,
                Some(share) => {
                    done += 1;
                    done <= share
                }
            };
            while has_next() {
                if must_stop() {
                    return Err(EngineError::interrupted(shared.base));
                }
                if limit_ns > 0 && ThreadRecorder::now_ns() - start_ns >= limit_ns {
                    break;
                }
                parameters.flow.run_once(shared, &mut part, &mut worker)?;
            }
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use fslab_job::Job;
    use fslab_model::Bytes;

    fn counts(workload: &str, threads: u32, loops: u64) -> BTreeMap<String, u64> {
        let folder = tempfile::tempdir().expect("a directory");
        let mut parameters = PersonalityParameters {
            directory: "set".into(),
            files: 40,
            mean_size: Bytes::kib(8),
            directory_width: 5,
            present_percent: 80,
            threads,
            operations: loops,
            ..PersonalityParameters::built_in(workload)
        };
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 7);
        let finished = play(&parameters, &context).expect("there is room");
        let latencies = finished.measured.latencies.iter();
        latencies
            .map(|it| (it.operation.clone(), it.histogram.count()))
            .collect()
    }

    fn expected(counts: &[(&str, u64)]) -> BTreeMap<String, u64> {
        counts
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    #[test]
    fn a_file_server_issues_the_described_operations_in_each_loop() {
        let found = counts("fb-fileserver", 3, 50);
        let each = [
            ("create", 50),
            ("write", 50),
            ("open", 100),
            ("append", 50),
            ("read", 50),
            ("close", 150),
            ("unlink", 50),
            ("stat", 50),
        ];
        assert_eq!(found, expected(&each));
    }

    /// One thread that was ahead took iterations for which only the other had missing files.
    #[test]
    fn a_loop_that_only_creates_makes_every_missing_file() {
        let folder = tempfile::tempdir().expect("a directory");
        let flow =
            serde_json::json!([{ "file": "new", "operations": ["create", "write", "close"] }]);
        let mut parameters = PersonalityParameters {
            directory: "set".into(),
            files: 41,
            mean_size: Bytes::kib(4),
            directory_width: 20,
            present_percent: 50,
            threads: 2,
            operations: 20,
            flow: serde_json::from_value(flow).expect("a loop"),
            ..PersonalityParameters::default()
        };
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        for round in 0..20 {
            let folder = folder.path().join(round.to_string());
            std::fs::create_dir(&folder).expect("made");
            let context = RunContext::new(EngineKind::Psync, &folder, 7);
            let finished = play(&parameters, &context).expect("there is room");
            let created = finished.measured.latencies.iter();
            let created = created.filter(|it| it.operation == "create");
            let created: u64 = created.map(|it| it.histogram.count()).sum();
            assert_eq!(created, 20);
        }
    }

    #[test]
    fn a_mail_server_issues_two_syncs_in_each_loop() {
        let found = counts("fb-varmail", 2, 30);
        let each = [
            ("unlink", 30),
            ("create", 30),
            ("append", 60),
            ("fsync", 60),
            ("open", 60),
            ("read", 60),
            ("close", 90),
        ];
        assert_eq!(found, expected(&each));
    }

    #[test]
    fn a_web_server_reads_ten_files_and_appends_to_its_log_in_each_loop() {
        let found = counts("fb-webserver", 4, 20);
        let each = [("open", 200), ("read", 200), ("close", 200), ("append", 20)];
        assert_eq!(found, expected(&each));
    }

    #[test]
    fn the_operations_of_one_thread_follow_from_the_seed() {
        let run = |seed| {
            let folder = tempfile::tempdir().expect("a directory");
            let mut parameters = PersonalityParameters {
                directory: "set".into(),
                files: 30,
                mean_size: Bytes::kib(4),
                directory_width: 7,
                present_percent: 50,
                threads: 1,
                operations: 25,
                ..PersonalityParameters::built_in("fb-fileserver")
            };
            parameters.resolve(Bytes::gib(1)).expect("resolves");
            let context = RunContext::new(EngineKind::Psync, folder.path(), seed);
            let finished = play(&parameters, &context).expect("there is room");
            let mut lengths = Vec::new();
            for leaf in std::fs::read_dir(folder.path().join("set")).expect("lists") {
                for file in std::fs::read_dir(leaf.expect("an entry").path()).expect("lists") {
                    let file = file.expect("an entry");
                    lengths.push((
                        file.path().strip_prefix(folder.path()).map(Into::into),
                        file.metadata().expect("stat").len(),
                    ));
                }
            }
            lengths
                .sort_by_key(|(path, _): &(Result<std::path::PathBuf, _>, u64)| path.clone().ok());
            (
                finished.measured.bytes,
                lengths
                    .into_iter()
                    .map(|(_, length)| length)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn threads_stop_on_request() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 7);
        context.stop.raise();
        let mut parameters = PersonalityParameters {
            directory: "set".into(),
            ..PersonalityParameters::built_in("fb-fileserver")
        };
        parameters.resolve(Bytes::mib(16)).expect("resolves");
        let stopped = play(&parameters, &context).expect_err("stopped");
        assert_eq!(
            fslab_model::Failure::from(stopped).kind,
            fslab_model::FailureKind::Interrupted
        );
    }
}
