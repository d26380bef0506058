//! `fslab-mpi`: `fslab run` and `fslab compare` with their trials on the ranks of an MPI job.
//!
//! ```text
//!     rank 0     fslab run --workers SOCKET --jobs N-1      the conductor, with the store
//!                   | connection 1 .. N-1
//!                this relay ---- MPI ---- this relay        rank 1 .. N-1
//!                                            | standard input and output
//!                                         fslab worker
//! ```
//! That is for trials that do not disturb each other. With `--dir` each trial is one load from all
//! ranks: see `load`. Only the main thread of a process calls MPI.

mod arguments;
mod clocks;
mod conductor_side;
mod events;
mod exchange;
mod frame;
mod hello;
mod link;
mod load;
mod recovery;
mod stop;
mod streams;
mod worker_side;

use std::process::ExitCode;

use mpi::Threading;
use mpi::traits::Communicator;

use crate::link::Link;

/// How a side of the relay ended.
struct Ended {
    code: u8,
    /// Whether every rank is alive: MPI waits for all of them at its end.
    all_alive: bool,
}

fn main() -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: MPI is already initialised");
        return ExitCode::from(4);
    };
    let world = universe.world();
    let link = Link::new(&world);
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    let ended = match (world.rank(), world.size()) {
        _ if arguments::ask_for_load(&given) => {
            let ended = load::relay(&link);
            if link.rank() == 0 && ended.code != 0 {
                recovery::fail_job();
            }
            ended
        }
        (_, 1) => {
            eprintln!(
                "error: fslab-mpi needs at least two ranks: rank 0 conducts, the others run trials\n  \
                 hint: mpirun -np 3 fslab-mpi run STUDY --venue sim, or `fslab run` on one machine"
            );
            Ended {
                code: 2,
                all_alive: true,
            }
        }
        (0, _) => {
            let ended = conductor_side::relay(&link);
            if ended.code != 0 {
                recovery::fail_job();
            }
            ended
        }
        _ => worker_side::relay(&link),
    };
    if !ended.all_alive {
        // MPI's own end would wait for the dead rank.
        std::process::exit(ended.code.into());
    }
    drop(universe);
    ExitCode::from(ended.code)
}
