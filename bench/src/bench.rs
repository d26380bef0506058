//! The sequence: what takes part, where, the rounds, the counts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::args::{Args, PlaceKind};
use crate::contenders::{Contender, Fslab, PeerFile, Programs, Reference, Task, peers};
use crate::counting::{self, Counter};
use crate::error::BenchError;
use crate::machine;
use crate::measure::{Settings, measure_row};
use crate::place::Place;
use crate::results::{Commands, Results, Setting};
use crate::work::{Amounts, Work};

/// Measures what `args` ask for.
pub(crate) fn run(args: &Args, stop: &Arc<AtomicBool>) -> Result<Results, BenchError> {
    let scratch = tempfile::tempdir()
        .map_err(|e| BenchError::io("make a directory in", &std::env::temp_dir(), e))?;
    let settings = Settings {
        rounds: args.rounds(),
        amounts: if args.quick {
            Amounts::QUICK
        } else {
            Amounts::FULL
        },
        stop: Arc::clone(stop),
        programs: Programs::compile(scratch.path())?,
    };
    let mut results = Results {
        machine: machine::facts(),
        works: args.rows(),
        amounts: Some(settings.amounts),
        rounds: settings.rounds,
        quick: args.quick,
        ..Results::default()
    };
    let parties = Parties {
        fslab: find_fslab(args.fslab.as_deref())?,
        programs: settings.programs.clone(),
        peers: args.peers.clone(),
    };
    let is_superuser = fslab_sys::is_superuser();
    if !is_superuser && args.places.is_empty() {
        note(
            &mut results,
            "not root: ext4 over a loop device is not measured",
        );
    }
    for kind in args.places(is_superuser) {
        let mut place = make_place(kind, args, &settings, scratch.path())?;
        place.write_data(&settings.programs, &settings.amounts)?;
        let fact = ("place".to_owned(), place.facts().to_owned());
        results.machine.push(fact);
        let everyone = Everyone::new(&place, &parties);
        measure_place(&settings, &place, &everyone, &mut results)?;
        // Counts do not depend on the place, and are made once.
        if !args.no_counts && results.counts.is_empty() {
            count_all(&settings, &place, &everyone, &mut results)?;
        }
    }
    Ok(results)
}

/// The command that was named, or that beside this program.
pub(crate) fn find_fslab(named: Option<&Path>) -> Result<PathBuf, BenchError> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("fslab"));
    let program = named
        .map(Path::to_owned)
        .or_else(beside)
        .unwrap_or_default();
    program.canonicalize().map_err(|e| {
        BenchError::io(
            "find the command fslab, which `make build` makes:",
            &program,
            e,
        )
    })
}

fn make_place(
    kind: PlaceKind,
    args: &Args,
    settings: &Settings,
    scratch: &Path,
) -> Result<Place, BenchError> {
    demand_memory(kind, &settings.amounts)?;
    match kind {
        PlaceKind::Tmpfs => Place::directory("tmpfs", &args.tmpfs, scratch),
        PlaceKind::Here => Place::directory("here", Path::new("."), scratch),
        PlaceKind::Ext4 => Place::ext4(&args.tmpfs, &settings.amounts, scratch),
    }
}

/// Everything but the current directory lives in memory, the files of ext4 twice: in its image and
/// in the page cache.
fn demand_memory(kind: PlaceKind, amounts: &Amounts) -> Result<(), BenchError> {
    let files = amounts.data_bytes + 2 * amounts.stream_bytes;
    let needed = match kind {
        PlaceKind::Here => return Ok(()),
        PlaceKind::Tmpfs => files,
        PlaceKind::Ext4 => 2 * files,
    } + (1 << 30);
    match machine::available_bytes() {
        Some(available) if available < needed => Err(BenchError::Input(format!(
            "{kind:?} needs {} MiB of memory, and {} MiB are available: leave it out with --places, \
             or the row 'stream' with --rows",
            needed >> 20,
            available >> 20
        ))),
        _ => Ok(()),
    }
}

/// The programs of all contenders, wherever is measured.
struct Parties {
    fslab: PathBuf,
    programs: Programs,
    peers: Vec<PeerFile>,
}

/// Every contender in a place.
struct Everyone {
    fslab: Fslab,
    reference: Reference,
    peers: Vec<Box<dyn Contender>>,
}

impl Everyone {
    fn new(place: &Place, parties: &Parties) -> Self {
        Self {
            fslab: Fslab {
                program: parties.fslab.clone(),
            },
            reference: Reference(parties.programs.clone()),
            peers: peers(&parties.peers, place.name() == "tmpfs"),
        }
    }

    fn all(&self) -> Vec<&dyn Contender> {
        let pair: [&dyn Contender; 2] = [&self.reference, &self.fslab];
        let peers = self.peers.iter().map(AsRef::as_ref);
        pair.into_iter().chain(peers).collect()
    }
}

/// Asks every contender for its version, once, and notes who is not there.
fn ask_versions(everyone: &Everyone, results: &mut Results) {
    if !results.versions.is_empty() {
        return;
    }
    for contender in everyone.all() {
        let version = contender.version();
        if let Err(why) = &version {
            note(
                results,
                &format!("{} does not take part: {why}", contender.name()),
            );
        }
        results.versions.push((contender.name(), version));
    }
}

fn measure_place(
    settings: &Settings,
    place: &Place,
    everyone: &Everyone,
    results: &mut Results,
) -> Result<(), BenchError> {
    ask_versions(everyone, results);
    let present = |contender: &&dyn Contender| results.takes_part(contender.name());
    let peers: Vec<_> = everyone.all().into_iter().skip(2).filter(present).collect();
    let pair: [&dyn Contender; 2] = [&everyone.reference, &everyone.fslab];
    for work in results.works.clone() {
        let began = Instant::now();
        let row = measure_row(settings, place, work, pair, &peers)?;
        progress(place, work, "measured", began);
        results.series.extend(row.series);
        for failure in row.failures {
            note(
                results,
                &format!("{}, {}: {failure}", place.name(), work.name()),
            );
        }
        for contender in pair.iter().chain(&peers) {
            describe(settings, work, *contender, results);
        }
    }
    Ok(())
}

/// Notes the commands, the setting and the remarks of a contender, once.
fn describe(settings: &Settings, work: Work, contender: &dyn Contender, results: &mut Results) {
    let known = |it: &Commands| (it.contender, it.work) == (contender.name(), work);
    if results.commands.iter().any(known) {
        return;
    }
    let task = Task {
        work,
        amounts: settings.amounts,
        directory: Path::new("DIR"),
    };
    let lines: Vec<_> = contender
        .invocations(&task)
        .iter_mut()
        .map(|invocation| {
            // Where a program happens to stand on this machine is nothing to repeat.
            let name = invocation.program.file_name().unwrap_or_default();
            invocation.program = PathBuf::from(name);
            invocation.command_line()
        })
        .collect();
    if !lines.is_empty() {
        results.commands.push(Commands {
            contender: contender.name(),
            work,
            lines,
        });
    }
    if let Some(setting) = contender.setting(work) {
        results.settings.push(Setting {
            contender: contender.name(),
            work,
            options: setting,
        });
    }
    if let Some(remark) = contender.remark(work) {
        note(results, &format!("{}: {remark}", work.name()));
    }
}

fn count_all(
    settings: &Settings,
    place: &Place,
    everyone: &Everyone,
    results: &mut Results,
) -> Result<(), BenchError> {
    for counter in [Counter::Instructions, Counter::SystemCalls] {
        if !is_installed(counter.program()) {
            let program = counter.program();
            note(
                results,
                &format!("{program} is not installed: nothing was counted with it"),
            );
            continue;
        }
        for work in results.works.clone() {
            if !work.is_counted() {
                continue;
            }
            let began = Instant::now();
            for contender in everyone.all() {
                if contender.is_one_process() || !results.takes_part(contender.name()) {
                    continue;
                }
                if settings.stop.load(Ordering::Relaxed) {
                    return Err(BenchError::Interrupted);
                }
                match counting::count(contender, work, place, counter, results.quick) {
                    Ok(counts) => results.counts.extend(counts),
                    Err(error) => {
                        let (name, work) = (contender.name(), work.name());
                        note(results, &format!("{counter:?} of {name}, {work}: {error}"));
                    }
                }
            }
            progress(place, work, "counted", began);
        }
    }
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn progress(place: &Place, work: Work, what: &str, began: Instant) {
    let took_s = began.elapsed().as_secs_f64();
    eprintln!(
        "bench: {}: {} {what} in {took_s:.1} s",
        place.name(),
        work.name()
    );
}

fn note(results: &mut Results, text: &str) {
    let text = text.trim().to_owned();
    if !results.remarks.contains(&text) {
        eprintln!("bench: {text}");
        results.remarks.push(text);
    }
}
