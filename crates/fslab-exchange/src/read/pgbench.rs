//! pgbench's text: each execution is a phase, named by its script.
//!
//! Its rate is without the time to connect, unless pgbench prints only the other one. The mean
//! latency is a note: fslab has no such metric. Results of each script, each statement and each
//! second are left out.

use fslab_model::definitions::OPERATION_RATE;
use fslab_model::{Headline, Parameters, PhaseKind, PhaseRecord};

use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, plain_name, push_new};

/// The first line of the results.
const TYPE: &str = "transaction type: ";
const PROCESSED: &str = "number of transactions actually processed: ";
/// The built-in scripts, by the names of the option `-b`.
const BUILT_IN: [(&str, &str); 3] = [
    ("<builtin: TPC-B (sort of)>", "tpcb-like"),
    ("<builtin: simple update>", "simple-update"),
    ("<builtin: select only>", "select-only"),
];
/// Settings that are counts, with their parameters.
const COUNTS: [(&str, &str); 5] = [
    ("scaling factor: ", "scale"),
    ("number of clients: ", "clients"),
    ("number of threads: ", "threads"),
    ("number of transactions per client: ", "transactions"),
    ("maximum number of tries: ", "tries"),
];
/// Rates by what follows them, the better first. The words of versions before 14 are the last two.
const RATES: [&str; 5] = [
    "(without initial connection time)",
    "(excluding connections establishing)",
    "(without connections establishing)",
    "(including reconnection times)",
    "(including connections establishing)",
];
/// The rates in `RATES` that have the time to connect.
const WITH_CONNECTING: usize = 3;
/// Lines that are kept as notes.
const NOTES: [&str; 6] = [
    "latency average ",
    "latency stddev ",
    "number of failed transactions: ",
    "number of transactions skipped: ",
    "number of transactions above ",
    "rate limit schedule lag: ",
];
const HINT: &str = "import the output of pgbench to its line 'tps = ...'";

/// True for lines that only pgbench prints.
pub(crate) fn is_mark(line: &str) -> bool {
    version(line).is_some() || line.starts_with(PROCESSED)
}

/// `pgbench (15.18 (Debian 15.18-0+deb12u1))`, which versions before 14 do not print.
fn version(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pgbench (")?;
    let version = rest.split([' ', ')']).next()?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    (is_version && line.ends_with(')')).then_some(version)
}

/// Reads every execution.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let mut tools: Vec<String> = Vec::new();
    let mut executions: Vec<Execution> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(version) = version(line) {
            let tool = format!("pgbench {version}");
            push_new(&mut tools, tool);
        } else if let Some(script) = line.strip_prefix(TYPE) {
            executions.push(Execution {
                line: number,
                script,
                lines: Vec::new(),
            });
        } else if let Some(execution) = executions.last_mut() {
            execution.lines.push((number, line));
        }
    }
    for execution in &executions {
        reading.trials.push(Measured {
            phases: vec![execution.phase()?],
            ..Measured::default()
        });
    }
    if executions.is_empty() {
        let reason = "no line is 'transaction type: ...', with which pgbench begins its results";
        return Err(Fault::no_figure(reason).hint(HINT));
    }
    reading.tool = match tools.is_empty() {
        true => "pgbench".to_owned(),
        false => tools.join(", "),
    };
    Ok(reading)
}

/// What pgbench printed of one execution.
struct Execution<'t> {
    line: usize,
    script: &'t str,
    lines: Vec<(usize, &'t str)>,
}

impl Execution<'_> {
    fn phase(&self) -> Result<PhaseRecord, Fault> {
        if let Some((number, line)) = self.find("Run was aborted") {
            let place = format!("line {number}");
            return Err(Fault::new(place, format!("pgbench says: {line}"))
                .hint("import the output of an execution that was completed"));
        }
        let built_in = BUILT_IN.iter().find(|(title, _)| *title == self.script);
        let name = match built_in {
            Some((_, name)) => (*name).to_owned(),
            None => plain_name(self.script.rsplit('/').next().unwrap_or_default()),
        };
        let mut record = Draft {
            name: format!("pgbench-{name}"),
            workload: crate::Format::Pgbench.name().to_owned(),
            kind: PhaseKind::Mixed,
            headline: Headline::OperationRate,
            parameters: self.parameters(&name)?,
            swept: None,
        }
        .record();
        record.operations = Some(self.processed()?);
        let rate = self.rate(&mut record)?;
        if rate > 0.0 {
            record.figures.insert(OPERATION_RATE.name.to_owned(), rate);
        }
        for begin in NOTES {
            if let Some((_, line)) = self.find(begin)
                && !line.contains(": 0 (0.000%)")
            {
                record.notes.push(format!("pgbench: {line}."));
            }
        }
        Ok(record)
    }

    /// The first line that begins so.
    fn find(&self, begin: &str) -> Option<(usize, &str)> {
        let mut lines = self.lines.iter();
        lines.find(|(_, line)| line.starts_with(begin)).copied()
    }

    fn parameters(&self, script: &str) -> Result<Parameters, Fault> {
        let mut parameters = Parameters::from_iter([("script".to_owned(), script.into())]);
        for (begin, name) in COUNTS {
            if let Some((at, line)) = self.find(begin) {
                let value = &line[begin.len()..];
                let wrong = || Fault::value(format!("line {at}"), value, "a count").hint(HINT);
                let count: u32 = value.parse().map_err(|_| wrong())?;
                parameters.insert(name.to_owned(), count.into());
            }
        }
        for (begin, name) in [("query mode: ", "query_mode"), ("duration: ", "duration")] {
            if let Some((_, line)) = self.find(begin) {
                parameters.insert(name.to_owned(), line[begin.len()..].into());
            }
        }
        Ok(parameters)
    }

    /// `1544`, or with a number of transactions `500/500`.
    fn processed(&self) -> Result<u64, Fault> {
        let (at, line) = self
            .find(PROCESSED)
            .ok_or_else(|| self.missing(PROCESSED))?;
        let value = &line[PROCESSED.len()..];
        let done = value.split('/').next().unwrap_or_default();
        let count: Option<u32> = done.parse().ok();
        let wrong = || Fault::value(format!("line {at}"), value, "a count").hint(HINT);
        count.map(u64::from).ok_or_else(wrong)
    }

    fn rate(&self, record: &mut PhaseRecord) -> Result<f64, Fault> {
        const BEGIN: &str = "tps = ";
        let rates = self.lines.iter().filter_map(|(at, line)| {
            let (rate, what) = line.strip_prefix(BEGIN)?.split_once(' ')?;
            let place = RATES.iter().position(|known| *known == what)?;
            Some((place, *at, rate))
        });
        let best = rates.min_by_key(|(place, ..)| *place);
        let (place, at, rate) = best.ok_or_else(|| self.missing(BEGIN))?;
        if place >= WITH_CONNECTING {
            let note = "The rate includes the time to connect.";
            record.notes.push(note.to_owned());
        }
        let wrong = || Fault::value(format!("line {at}"), rate, "a rate from 0").hint(HINT);
        number(rate).ok_or_else(wrong)
    }

    fn missing(&self, begin: &str) -> Fault {
        let place = format!("execution at line {}", self.line);
        let missing = format!("there is no line '{}'", begin.trim_end());
        Fault::truncated(place, missing).hint(HINT)
    }
}
