//! Progress of a lab build on standard error: a bar, or lines if it is not a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use fslab_lab::{BuildStage, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::heartbeat::minutes;
use crate::terminal::screen;

/// Interval of lines within a stage.
const LINE_INTERVAL: Duration = Duration::from_secs(15);

/// Shows a build.
pub(crate) struct BuildProgress {
    /// Hidden without a terminal.
    bar: ProgressBar,
    /// Stage and time of the last line.
    last_line: Option<(BuildStage, Duration)>,
}

impl BuildProgress {
    pub(crate) fn new() -> Self {
        let target = if std::io::stderr().is_terminal() && !screen::is_quiet() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
            bar.set_style(style.progress_chars("━╸ "));
        }
        Self {
            bar,
            last_line: None,
        }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        if !self.bar.is_hidden() {
            // The expected count is an estimate, which may be exceeded.
            let expected = progress.objects.expected.max(progress.objects.done);
            self.bar.set_length(expected.max(1).into());
            self.bar.set_position(progress.objects.done.into());
            self.bar.set_message(line(progress));
        } else if !screen::is_quiet() && is_due(self.last_line, progress) {
            self.last_line = Some((progress.stage, progress.elapsed));
            screen::say(&line(progress));
        }
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Whether to print a line after the last one: at every new stage and interval.
fn is_due(last_line: Option<(BuildStage, Duration)>, progress: Progress) -> bool {
    last_line.is_none_or(|(stage, elapsed)| {
        stage != progress.stage || progress.elapsed.saturating_sub(elapsed) >= LINE_INTERVAL
    })
}

fn line(progress: Progress) -> String {
    let elapsed = minutes(progress.elapsed);
    let objects = progress.objects;
    if progress.stage == BuildStage::Compiling && objects.done > 0 {
        let (done, expected) = (objects.done, objects.expected.max(objects.done));
        return format!("{elapsed}: compiling, {done} of about {expected} files");
    }
    format!("{elapsed}: {}", progress.stage)
}

#[cfg(test)]
mod tests {
    use fslab_lab::Objects;

    use super::*;

    fn at(stage: BuildStage, seconds: u64, done: u32) -> Progress {
        Progress {
            stage,
            elapsed: Duration::from_secs(seconds),
            objects: Objects {
                done,
                expected: 1800,
            },
        }
    }

    #[test]
    fn a_line_has_the_time_and_the_stage() {
        assert_eq!(
            line(at(BuildStage::Unpacking, 9, 0)),
            "9 s: unpacking the source"
        );
        assert_eq!(
            line(at(BuildStage::Compiling, 125, 700)),
            "2 min 05 s: compiling, 700 of about 1800 files"
        );
        assert!(line(at(BuildStage::Compiling, 300, 1900)).ends_with("1900 of about 1900 files"));
    }

    #[test]
    fn lines_come_at_every_stage_and_every_15_seconds() {
        let last_line = Some((BuildStage::Compiling, Duration::from_secs(10)));
        assert!(is_due(None, at(BuildStage::Looking, 0, 0)));
        assert!(!is_due(last_line, at(BuildStage::Compiling, 24, 5)));
        assert!(is_due(last_line, at(BuildStage::Compiling, 25, 5)));
        assert!(is_due(last_line, at(BuildStage::Linking, 11, 5)));
    }
}
