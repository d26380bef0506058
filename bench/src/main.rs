//! The bench: fslab against its peers and against bare loops in C, in one run that anyone can
//! repeat. `make bench` installs what it needs, builds and starts it.
//!
//! ```text
//!     args --- bench --- place        where: tmpfs, ext4 over a loop device, here
//!                    --- contenders   who: commands, and readers of what programs print
//!                    --- measure      rounds, mirrored             -> series
//!                    --- counting     callgrind, strace            -> counts
//!              results --- targets    what must be reached
//!                      --- report     the page: see `page`, which every benchmark fills
//! ```
//!
//! `fslab-bench sim` measures what virtual time costs: see `sim`. `fslab-bench store` measures a
//! store of a million trials: see `store`.

mod args;
mod bench;
mod child;
mod contenders;
mod counting;
mod counts;
mod error;
mod grid;
mod machine;
mod measure;
mod page;
mod place;
mod privacy;
mod processor;
mod report;
mod results;
mod series;
mod sim;
mod store;
mod targets;
mod verdict;
mod work;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;

use crate::args::{Args, Other, PlaceKind};
use crate::error::BenchError;
use crate::page::Page;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results");

fn main() -> ExitCode {
    let args = Args::parse();
    let is_superuser = fslab_sys::is_superuser();
    if is_superuser
        && args.other.is_none()
        && args.places(is_superuser).contains(&PlaceKind::Ext4)
        && let Some(error) = privacy::enter()
    {
        eprintln!("bench: cannot make a mount namespace with unshare: {error}");
        return ExitCode::FAILURE;
    }
    match measure(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                eprintln!("caused by: {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &Args) -> Result<(), BenchError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|e| BenchError::io("catch signals for", Path::new("the bench"), e))?;
    }
    let (page, out, is_quick, suffix) = match &args.other {
        None => (
            report::page(&bench::run(args, &stop)?),
            &args.out,
            args.quick,
            "",
        ),
        Some(Other::Sim(args)) => {
            let fslab = bench::find_fslab(args.fslab.as_deref())?;
            let findings = sim::measure(args, &fslab, &stop)?;
            (sim::page(&findings), &args.out, args.quick, "-sim")
        }
        Some(Other::Processor(args)) => {
            let fslab = bench::find_fslab(args.fslab.as_deref())?;
            let findings = processor::measure(args, &fslab, &stop)?;
            (processor::page(&findings), &args.out, false, "-processor")
        }
        Some(Other::Store(args)) => {
            let fslab = bench::find_fslab(args.fslab.as_deref())?;
            let findings = store::measure(args, &fslab, &stop)?;
            (store::page(&findings), &args.out, args.quick, "-store")
        }
    };
    print!("{}", page.terminal());
    keep(&page, out.as_deref(), is_quick, suffix)
}

/// What a page is kept as.
struct Name {
    date: String,
    /// The file's name without its extension.
    stem: String,
    /// What was typed.
    command: String,
}

impl Name {
    fn of(suffix: &str) -> Self {
        let now = jiff::Timestamp::now().to_string();
        let date = now.split('T').next().unwrap_or(&now).to_owned();
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        let command = format!("fslab-bench {}", arguments.join(" "));
        Self {
            stem: format!("{date}-{}{suffix}", machine::short_name()),
            date,
            command: command.trim_end().to_owned(),
        }
    }

    /// The file of its picture, in the same directory.
    fn picture(&self) -> String {
        format!("{}.svg", self.stem)
    }
}

/// Writes the page and its picture into the directory of results; what was measured with small
/// amounts is kept only where the user says in which directory.
fn keep(page: &Page, out: Option<&Path>, is_quick: bool, suffix: &str) -> Result<(), BenchError> {
    let Some(folder) = out.or((!is_quick).then_some(Path::new(RESULTS))) else {
        return Ok(());
    };
    let name = Name::of(suffix);
    let text = page.markdown(&name.date, &name.command, &name.picture());
    std::fs::create_dir_all(folder).map_err(|e| BenchError::io("make", folder, e))?;
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|e| BenchError::io("write", path, e))
    };
    if let Some((svg, _)) = &page.picture {
        write(&folder.join(name.picture()), svg)?;
    }
    let path = folder.join(format!("{}.md", name.stem));
    write(&path, &text)?;
    println!("results: {}", path.display());
    Ok(())
}
