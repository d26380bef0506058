//! The search in one process: inputs are made and run, one after the other, until time is up or one
//! of them fails. What cannot be caught (no memory, no stack) ends the process; the file of the
//! input that runs is then what the parent has of it.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fslab_sys::ResourceUse;

use crate::Target;
use crate::minimise::minimise;
use crate::mutator::Mutator;

/// No input may take longer, on a busy machine either.
pub(crate) const INPUT_LIMIT: Duration = Duration::from_secs(60);
/// Nor more of the processor's time, which is the same on every machine that is as fast.
const PROCESSOR_LIMIT: Duration = Duration::from_secs(10);
/// The input that runs.
pub(crate) const CURRENT: &str = "current";
/// The input that failed, minimised.
pub(crate) const FOUND: &str = "found";
/// What it did.
pub(crate) const FAULT: &str = "fault";
/// The command's stack, which is that of a main thread.
const STACK_BYTES: usize = 8 << 20;
const MINIMISE_BUDGET: usize = 20_000;

/// What an input did that it must not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// With the message and its place.
    Panic(String),
    /// It took longer than the limit.
    Hang,
}

/// Runs `target` with `input` in a thread with the stack that the command has.
///
/// # Panics
/// Where no thread can be started.
pub fn work(target: &'static Target, input: &[u8]) -> Result<(), Fault> {
    let input = input.to_vec();
    let running = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run(target, &input))
        .expect("a thread starts");
    let began = Instant::now();
    while !running.is_finished() {
        if began.elapsed() > INPUT_LIMIT {
            return Err(Fault::Hang);
        }
        thread::sleep(Duration::from_millis(1));
    }
    running.join().expect("panics are caught inside")
}

fn run(target: &Target, input: &[u8]) -> Result<(), Fault> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        Fault::Panic(text.unwrap_or_default())
    })
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    pub(crate) seed: u64,
    pub(crate) time: Duration,
}

/// Searches until time is up; returns how many inputs ran, or `None` where one failed, which is in
/// `folder` then.
pub(crate) fn search(
    target: &'static Target,
    seeds: &[Vec<u8>],
    search: Search,
    folder: &Path,
) -> std::io::Result<Option<u64>> {
    let until = Instant::now() + search.time;
    let began = Arc::new(AtomicU64::new(0));
    watch(&began, folder);
    let mut mutator = Mutator::new(target.syntax, seeds, search.seed);
    let mut count = 0;
    // A panic is a finding, and is reported once it is minimised.
    std::panic::set_hook(Box::new(|_| {}));
    while Instant::now() < until {
        let input = match seeds.get(count as usize) {
            Some(seed) => seed.clone(),
            None => mutator.next(seeds),
        };
        count += 1;
        fs::write(folder.join(CURRENT), &input)?;
        began.store(count, Ordering::SeqCst);
        if let Err(Fault::Panic(text)) = run(target, &input) {
            let same = |fault: Result<(), Fault>| matches!(fault, Err(Fault::Panic(_)));
            let shortest = minimise(&input, MINIMISE_BUDGET, |input| {
                began.fetch_add(1 << 32, Ordering::SeqCst);
                same(run(target, input))
            });
            fs::write(folder.join(FOUND), shortest)?;
            fs::write(folder.join(FAULT), format!("panic: {text}"))?;
            return Ok(None);
        }
    }
    Ok(Some(count))
}

/// Ends the process where the same input runs for longer than the limit.
fn watch(began: &Arc<AtomicU64>, folder: &Path) {
    let (began, folder) = (Arc::clone(began), folder.to_owned());
    thread::spawn(move || {
        let mut seen = (0, Instant::now(), ResourceUse::of_process());
        loop {
            thread::sleep(Duration::from_millis(100));
            let number = began.load(Ordering::SeqCst);
            let used = ResourceUse::of_process().since(seen.2);
            let used = Duration::from_nanos(used.user_ns.saturating_add(used.system_ns));
            if number != seen.0 {
                seen = (number, Instant::now(), ResourceUse::of_process());
            } else if used > PROCESSOR_LIMIT || seen.1.elapsed() > INPUT_LIMIT {
                let text = format!("hang: {used:?} of the processor's time, and no end");
                // Without the file the parent still has the status.
                let _ = fs::write(folder.join(FAULT), text);
                std::process::exit(1);
            }
        }
    });
}
