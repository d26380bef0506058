//! What a guest runs: its first process, the trial, the judgement of states of a disk. fslab starts
//! it in guests, each of which loads all of it into memory, so that it has nothing else.

use std::io::{IsTerminal, stderr, stdout};
use std::process::ExitCode;

use fslab_model::{Failure, FailureKind};
use fslab_venue::GuestTask;

const USAGE: &str = "fslab-guest: fslab starts this program in guests\n\
                     usage: fslab-guest guest-init trial | shell | states\n\
                     \x20      fslab-guest trial | judge-states";

fn main() -> ExitCode {
    fslab_sys::catch_file_size_limit();
    ask_for_terminals();
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let words: Option<Vec<_>> = words.iter().map(|word| word.to_str()).collect();
    let ended = match words.as_deref() {
        Some(["guest-init", word]) => GuestTask::of_word(word).map(be_init),
        Some(["trial"]) => Some(fslab_trial::serve_trial()),
        Some(["judge-states"]) => Some(fslab_trial::serve_judgement()),
        _ => None,
    };
    match ended {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(failure)) => {
            eprintln!("fslab-guest: {failure}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Changes nothing here, and is part of every record in virtual time: the random numbers of a
/// guest's kernel depend on the system calls of its processes, and the processes of the published
/// records made these.
fn ask_for_terminals() {
    std::hint::black_box(stderr().is_terminal() && stdout().is_terminal());
}

/// Returns where this is no guest.
fn be_init(task: GuestTask) -> Result<(), Failure> {
    fslab_venue::run_as_init(task).map_err(|error| {
        Failure::new(
            FailureKind::Unsupported,
            "cannot be a guest's first process",
        )
        .because(&error)
    })
}
