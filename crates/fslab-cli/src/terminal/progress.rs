//! Progress of a run on standard error: a bar with the time left, or lines if it is not a terminal:
//! one for each trial, and one each [`INTERVAL`] while a trial is running.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use fslab_model::{
    Event, EventBody, FailureKind, SubjectPlan, TrialId, TrialOutcome, TrialRecord, format_ns,
};
use fslab_run::{CellPrecision, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::heartbeat::minutes;
use crate::commands::describe_precision;
use crate::terminal::heartbeat::{Heartbeat, INTERVAL};
use crate::terminal::screen;

const TEMPLATE: &str = "{bar:24} {pos}/{len} trials, {prefix}  {msg}";

/// Shows a run on standard error.
pub(crate) struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
    began: Instant,
    ended: u32,
    to_run: usize,
    /// Running trials, with their labels and steps.
    running: BTreeMap<TrialId, (String, String)>,
    /// Lines between those of trials, without a terminal.
    heartbeat: Option<Heartbeat>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let is_quiet = screen::is_quiet();
        let target = if is_terminal && !is_quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            bar: ProgressBar::with_draw_target(None, target),
            is_terminal,
            began: Instant::now(),
            ended: 0,
            to_run: 0,
            running: BTreeMap::new(),
            heartbeat: (!is_terminal && !is_quiet).then(|| {
                Heartbeat::start(INTERVAL, |line| {
                    screen::say(line);
                })
            }),
        }
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Writes a line about the progress.
    fn inform(&self, line: &str) {
        if !screen::is_quiet() {
            self.say(line);
        }
    }

    fn say(&self, line: &str) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.line_written();
        }
        if !self.bar.suspend(|| screen::say(line)) {
            self.bar.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    fn show_running(&self) {
        let running: Vec<_> = self
            .running
            .values()
            .map(|(label, step)| format!("{label}{step}"))
            .collect();
        let running = running.join(", ");
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.set(&running);
        }
        self.bar.set_message(screen::plain(&running).into_owned());
    }

    /// An estimate from the mean time of the trials so far.
    fn time_left(&self) -> String {
        let left = self.to_run.saturating_sub(self.ended as usize);
        if self.ended == 0 {
            return "time left unknown".into();
        }
        let seconds = self.began.elapsed().as_secs_f64() / f64::from(self.ended) * left as f64;
        format!("about {} left", minutes(Duration::from_secs_f64(seconds)))
    }
}

impl Observer for Progress {
    fn begins(&mut self, to_run: usize, of: usize) {
        self.to_run = to_run;
        self.began = Instant::now();
        self.bar.set_length(to_run as u64);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            self.bar.set_style(style.progress_chars("━╸ "));
        }
        self.bar.set_prefix("time left unknown");
        self.bar.enable_steady_tick(Duration::from_millis(200));
        if to_run < of {
            let done = of - to_run;
            self.inform(&if of == 1 {
                "the only trial is done already".to_owned()
            } else {
                format!("{done} of {of} trials are done already")
            });
        }
    }

    fn block_begins(&mut self, cells: &[CellPrecision], to_run: usize) {
        let (open, closed): (Vec<_>, Vec<_>) =
            cells.iter().partition(|cell| cell.precision.is_open());
        for cell in closed {
            self.inform(&format!("no more repeats of {}", describe_precision(cell)));
        }
        let open: Vec<_> = open.into_iter().map(describe_precision).collect();
        if to_run > 0 {
            self.inform(&format!("next repeat: {}", open.join("; ")));
        }
        self.to_run += to_run;
        self.bar.inc_length(to_run as u64);
    }

    fn budget_ends(&mut self) {
        self.inform("no further repeat: it would exceed --budget");
    }

    fn trial_begins(&mut self, trial: TrialId, subject: &SubjectPlan) {
        let label = format!("{} #{}", subject.subject, trial.repeat + 1);
        self.running.insert(trial, (label, String::new()));
        self.show_running();
    }

    fn event(&mut self, trial: TrialId, event: &Event) {
        let running = self.running.get_mut(&trial);
        if let (EventBody::StepStarted { step }, Some((_, shown))) = (&event.body, running) {
            *shown = format!(": {step}");
            self.show_running();
        }
    }

    fn trial_ends(&mut self, record: &TrialRecord) {
        let label = self.running.remove(&record.trial);
        let label = label.map_or_else(|| record.subject.to_string(), |(label, _)| label);
        self.ended += 1;
        self.bar.inc(1);
        self.bar.set_prefix(self.time_left());
        self.show_running();
        match &record.outcome {
            TrialOutcome::Failed { failure } => {
                self.say(&format!("{label} failed: {failure}"));
                // It is not stored, so that no report has the hint.
                if let (FailureKind::Host, Some(hint)) = (failure.kind, &failure.hint) {
                    self.say(&format!("hint: {hint}"));
                }
            }
            TrialOutcome::Done if !self.is_terminal => {
                let took = format_ns(record.elapsed_ns as f64);
                self.inform(&format!(
                    "{}/{} {label} done in {took}, {}",
                    self.ended,
                    self.to_run,
                    self.time_left()
                ));
            }
            TrialOutcome::Done => {}
        }
    }
}
