//! The progress of a kernel's build on standard error: a bar, or lines where that is no terminal.

use std::io::IsTerminal;
use std::time::Duration;

use fslab_lab::{Progress, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::progress::minutes;
use crate::screen;

/// How often a line tells that the build goes on.
const LINE_INTERVAL: Duration = Duration::from_secs(15);

/// Shows a build.
pub(super) struct BuildProgress {
    /// Hidden where there is no terminal.
    bar: ProgressBar,
    told: Option<(Stage, Duration)>,
}

impl BuildProgress {
    pub(super) fn new() -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
            bar.set_style(style.progress_chars("━╸ "));
        }
        Self { bar, told: None }
    }

    pub(super) fn show(&mut self, progress: Progress) {
        if !self.bar.is_hidden() {
            // The count is a guess: more than all would look like an end.
            let expected = progress.objects.expected.max(progress.objects.done);
            self.bar.set_length(expected.max(1).into());
            self.bar.set_position(progress.objects.done.into());
            self.bar.set_message(line(progress));
        } else if is_due(self.told, progress) {
            self.told = Some((progress.stage, progress.elapsed));
            screen::say(&line(progress));
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Whether a line is to be told after the one `told`: at every stage, and now and then.
fn is_due(told: Option<(Stage, Duration)>, progress: Progress) -> bool {
    told.is_none_or(|(stage, elapsed)| {
        stage != progress.stage || progress.elapsed.saturating_sub(elapsed) >= LINE_INTERVAL
    })
}

fn line(progress: Progress) -> String {
    let elapsed = minutes(progress.elapsed);
    let objects = progress.objects;
    if progress.stage == Stage::Compiling && objects.done > 0 {
        let (done, expected) = (objects.done, objects.expected.max(objects.done));
        return format!("{elapsed}: compiling, {done} of about {expected} files");
    }
    format!("{elapsed}: {}", progress.stage)
}

#[cfg(test)]
mod tests {
    use fslab_lab::Objects;

    use super::*;

    fn at(stage: Stage, seconds: u64, done: u32) -> Progress {
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
    fn a_line_says_what_is_going_on_and_for_how_long() {
        assert_eq!(
            line(at(Stage::Unpacking, 9, 0)),
            "9 s: unpacking the source"
        );
        assert_eq!(
            line(at(Stage::Compiling, 125, 700)),
            "2 min 05 s: compiling, 700 of about 1800 files"
        );
        assert!(line(at(Stage::Compiling, 300, 1900)).ends_with("1900 of about 1900 files"));
    }

    #[test]
    fn lines_come_at_every_stage_and_every_15_seconds() {
        let told = Some((Stage::Compiling, Duration::from_secs(10)));
        assert!(is_due(None, at(Stage::Looking, 0, 0)));
        assert!(!is_due(told, at(Stage::Compiling, 24, 5)));
        assert!(is_due(told, at(Stage::Compiling, 25, 5)));
        assert!(is_due(told, at(Stage::Linking, 11, 5)));
    }
}
