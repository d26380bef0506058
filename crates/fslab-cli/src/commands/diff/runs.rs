//! Loads the runs to compare: from the store, from another one, or from files.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use clap::Args;
use fslab_compare::{Diff, Dimension, Question};
use fslab_exchange::{Imported, Labels, Meet, PhaseMap};
use fslab_model::{
    METRICS, MetricDefinition, Percent, RunId, RunRecord, Subject, did_you_mean, nearest_name,
};
use fslab_store::Store;

use crate::commands::diff::history::History;
use crate::commands::store::args::{StoreArgs, load_metrics, load_range};
use crate::commands::store::import::read_file;
use crate::exit::CommandError;
use crate::terminal::screen;

/// The first bytes of an SQLite database.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// The runs to compare, and how.
#[derive(Debug, Args)]
pub(crate) struct ComparedArgs {
    /// Base: a run in the store, STORE:RUN in another store, or a file (a store, for its last run;
    /// an exported run; another tool's output, where FILE,FILE,... are repeats). To account for the
    /// spread between runs, name several of one plan: RUN,RUN,... or last~5..last~1; `history` and
    /// `history~8` are the 5 or 8 runs of NEW's plan before NEW
    #[arg(value_name = "BASE")]
    base: String,
    /// Run or runs to compare with BASE, in the same form
    #[arg(value_name = "NEW")]
    new: String,
    /// Compare two different subjects, for example ext4=xfs; may be repeated
    #[arg(long, value_name = "BASE=NEW", value_parser = parse_pair)]
    pair: Vec<(Subject, Subject)>,
    /// Metric to compare, instead of each phase's headline; may be repeated
    #[arg(long, value_name = "METRIC", value_parser = parse_metric)]
    metric: Vec<&'static MetricDefinition>,
    /// Further dimensions that may differ, for example machine,kernel, or `all`
    #[arg(long, value_name = "DIMENSION", value_delimiter = ',', value_parser = parse_waiver)]
    across: Vec<Waiver>,
    /// Compare a phase of another tool's output with a phase of fslab's, even if they measure
    /// different things; BASE=NEW for two runs of one kind; may be repeated
    #[arg(long, value_name = "THEIRS=OURS")]
    map: Vec<PhaseMap>,
    #[command(flatten)]
    store: StoreArgs,
}

/// A dimension that may differ, or all of them.
#[derive(Clone, Copy, Debug)]
enum Waiver {
    One(Dimension),
    All,
}

fn parse_waiver(text: &str) -> Result<Waiver, String> {
    match text {
        "all" => Ok(Waiver::All),
        text => text.parse().map(Waiver::One),
    }
}

fn parse_pair(text: &str) -> Result<(Subject, Subject), String> {
    // Options of a subject have = signs, too: each is tried as the separator.
    let separators = text.match_indices('=').map(|(at, _)| at);
    let read = |at: usize| {
        let (base, new) = (&text[..at], &text[at + 1..]);
        Some((base.parse().ok()?, new.parse().ok()?))
    };
    let pairs: Vec<(Subject, Subject)> = separators.filter_map(read).collect();
    match pairs.as_slice() {
        [pair] => Ok(pair.clone()),
        [] => Err(format!("'{text}' is not BASE=NEW, for example ext4=xfs")),
        _ => Err(format!(
            "'{text}' is ambiguous: it can be split into two subjects in several ways"
        )),
    }
}

fn parse_metric(text: &str) -> Result<&'static MetricDefinition, String> {
    let found = METRICS.iter().find(|metric| metric.name == text);
    found.ok_or_else(|| {
        let names = METRICS.iter().map(|metric| metric.name);
        let hint = nearest_name(text, names).map(did_you_mean);
        let hint = hint.unwrap_or_else(|| "see docs/figures.md for all metrics".to_owned());
        format!("there is no metric '{text}'; {hint}")
    })
}

impl ComparedArgs {
    /// The comparison of the two sides, with the default tolerance if none is given.
    pub(crate) fn diff(&self, tolerance: Option<Percent>) -> Result<Diff, CommandError> {
        let meet = self.meet()?;
        let question = Question {
            pairs: self.pair.clone(),
            waived: self.waived(),
            metrics: self.metric.clone(),
            tolerance: tolerance.unwrap_or(Question::default().tolerance),
            meetings: Some(meet.meetings).filter(|_| meet.is_mapped),
            across_tools: meet.is_across_tools,
        };
        Ok(Diff::of_runs(&meet.base, &meet.new, &question)?)
    }

    /// The two sides with phases that meet under one name.
    pub(crate) fn meet(&self) -> Result<Meet, CommandError> {
        let new = self.load(&self.new)?;
        let base = self.base(&new)?;
        ensure_disjoint(&base, &new)?;
        Ok(fslab_exchange::meet(&base, &new, &self.map)?)
    }

    fn waived(&self) -> Vec<Dimension> {
        let each = self.across.iter().flat_map(|waiver| match waiver {
            Waiver::One(dimension) => vec![*dimension],
            Waiver::All => Dimension::ALL.to_vec(),
        });
        each.collect()
    }

    /// The base: the named runs, or the history of the plan.
    fn base(&self, new: &[RunRecord]) -> Result<Vec<RunRecord>, CommandError> {
        let (store, runs) = split_store(&self.base);
        let is_file = Path::new(&self.base).is_file();
        match History::read(runs).filter(|_| !is_file) {
            Some(history) => history?.of(new, &self.open(store)?, &self.waived()),
            None => self.load(&self.base),
        }
    }

    /// The runs of one side, at least one.
    fn load(&self, text: &str) -> Result<Vec<RunRecord>, CommandError> {
        // A file name may have a comma.
        let names: Vec<&str> = match Path::new(text).is_file() {
            true => vec![text],
            false => text.split(',').collect(),
        };
        let is_store = |name: &&str| {
            let path = Path::new(name);
            Ok::<_, CommandError>(!path.is_file() || is_database(path)?)
        };
        let stored = names.iter().map(is_store).collect::<Result<Vec<_>, _>>()?;
        let of = |wanted: bool| {
            names
                .iter()
                .zip(&stored)
                .filter(move |(_, is)| **is == wanted)
        };
        let mut runs = Vec::new();
        for (name, _) in of(true) {
            runs.extend(self.load_stored(name)?);
        }
        let files: Vec<&str> = of(false).map(|(name, _)| *name).collect();
        if !files.is_empty() {
            runs.extend(read_runs(&files)?);
        }
        match duplicate(&runs) {
            Some(name) => Err(CommandError::bad_input(format!(
                "{text} names the run {name} twice"
            ))),
            None => Ok(runs),
        }
    }

    /// Runs of the store of --store, or of the one named before the colon.
    fn load_stored(&self, name: &str) -> Result<Vec<RunRecord>, CommandError> {
        let path = Path::new(name);
        if path.is_file() {
            return Ok(vec![load_metrics(&Store::open_read_only(path)?, "last")?]);
        }
        let (store, runs) = split_store(name);
        load_range(&self.open(store)?, runs)
    }

    /// The named store, or else that of --store.
    fn open(&self, named: Option<&Path>) -> Result<Store, CommandError> {
        match named {
            Some(store) => Ok(Store::open_read_only(store)?),
            None => self.store.open_read_only(),
        }
    }
}

/// Splits `STORE:RUNS`; no store if the text before the colon is not a file.
fn split_store(name: &str) -> (Option<&Path>, &str) {
    match name.rsplit_once(':') {
        Some((store, runs)) if Path::new(store).is_file() => (Some(Path::new(store)), runs),
        _ => (None, name),
    }
}

/// Refuses a run on both sides, unless each side is that one run: its subjects may be compared with
/// each other, and a comparison with itself must find nothing.
fn ensure_disjoint(base: &[RunRecord], new: &[RunRecord]) -> Result<(), CommandError> {
    let on_both = |run: &&RunRecord| new.iter().any(|it| it.header.run == run.header.run);
    match base.iter().find(on_both) {
        Some(run) if base.len() + new.len() > 2 => Err(CommandError::bad_input(format!(
            "the run {} is on both sides",
            run.header.run
        ))),
        _ => Ok(()),
    }
}

/// A run that occurs twice; copies would narrow intervals without more data.
fn duplicate(runs: &[RunRecord]) -> Option<&RunId> {
    let mut seen = BTreeSet::new();
    let names = runs.iter().map(|run| &run.header.run);
    names.into_iter().find(|name| !seen.insert(*name))
}

fn is_database(path: &Path) -> Result<bool, CommandError> {
    let mut head = Vec::new();
    fslab_sys::open_named(path)
        .and_then(|file| file.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut head))
        .map_err(|error| CommandError::io(format!("cannot read {}", path.display()), &error))?;
    Ok(head == SQLITE_MAGIC)
}

/// The runs in `files`: exported ones, or one whose repeats are outputs of another tool.
fn read_runs(files: &[&str]) -> Result<Vec<RunRecord>, CommandError> {
    let read = |file: &&str| read_file(file, None);
    let sources = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let labels = Labels {
        run: name_of(files[0]),
        subject: None,
        fslab: env!("CARGO_PKG_VERSION").to_owned(),
        command: Vec::new(),
        now_unix_s: 0,
    };
    let Imported { runs, notes } = fslab_exchange::import(&sources, None, &labels)?;
    notes.iter().for_each(|note| screen::warn(note));
    Ok(runs)
}

/// A run name derived from a file name.
fn name_of(file: &str) -> RunId {
    let stem = Path::new(file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    stem.parse()
        .or_else(|_| "file".parse())
        .expect("'file' is a valid name")
}
