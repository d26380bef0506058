//! The project's own checks. `cargo xtask gate` is the one to pass before a commit; `cargo xtask
//! tidy` is the part of it that no compiler does: layers, sizes, headers, ownership, dead files;
//! `cargo xtask lines` counts; `cargo xtask exact` runs the catalogue in virtual time on hosts
//! that differ; `cargo xtask mutants` plants faults in the guest's kernel and looks whether a power
//! loss shows them; `cargo xtask hostile` kills, stops and damages; `cargo xtask systems` follows
//! the README in new systems; `cargo xtask dist` makes what is published.

mod cross;
mod dist;
mod exact;
mod fuzz;
mod gate;
mod hostile;
mod lines;
mod mutants;
mod program;
mod python;
mod systems;
mod tally;
mod tidy;
mod zig;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  gate     Run fmt, tidy, clippy, doc, deny, build, fuzz, exact and test; stop at the first failure
  exact    Check that exact figures stay the same on other hosts; see `exact --help`
  mutants  Check that faults planted in the kernel show after a power loss; see `mutants --help`
  hostile  Kill and stop runs, damage files, mutate inputs, for an hour; see `hostile --help`
  systems  Run `make demo` and `make test` in new systems of Debian; see `systems --help`
  cross    Build fslab for another platform, in target/cross/: TARGET [--release]
  dist     Build the release, in dist/: [--target NAME] [--no-guest]
  python   Run the tests of the Python package: [--ready] or words for pytest
  tidy     Check the layer table, sizes, headers, ownership, banned words and dead files
  lines    Count lines of Rust outside tests, by crate; in another checkout: [DIR]
  fuzz     Feed mutated inputs to all targets, or to TARGET: [TARGET] [--seconds N] [--seed N]
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["gate"] => gate::run(&root()),
        ["exact", "--help" | "-h"] => {
            print!("{}", exact::USAGE);
            ExitCode::SUCCESS
        }
        ["exact", ref rest @ ..] => exact::run(&root(), rest),
        ["mutants", "--help" | "-h"] => {
            print!("{}", mutants::USAGE);
            ExitCode::SUCCESS
        }
        ["mutants", ref rest @ ..] => mutants::run(&root(), rest),
        ["hostile", "--help" | "-h"] => {
            print!("{}", hostile::USAGE);
            ExitCode::SUCCESS
        }
        ["hostile", ref rest @ ..] => hostile::run(&root(), rest),
        ["systems", "--help" | "-h"] => {
            print!("{}", systems::USAGE);
            ExitCode::SUCCESS
        }
        ["systems", ref rest @ ..] => systems::run(&root(), rest),
        ["cross", ref rest @ ..] => cross::run(&root(), rest),
        ["dist", "--help" | "-h"] => {
            print!("{}", dist::USAGE);
            ExitCode::SUCCESS
        }
        ["dist", ref rest @ ..] => dist::run(&root(), rest),
        ["python", ref rest @ ..] => python::run(&root(), rest),
        ["tidy"] => tidy::run(&root()),
        ["lines"] => lines::run(&root()),
        ["lines", folder] => lines::run(Path::new(folder)),
        ["fuzz", ref rest @ ..] => fuzz::run(&root(), rest),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The directory of the workspace, wherever the command was typed.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
