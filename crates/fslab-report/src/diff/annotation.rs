//! A gate as workflow commands for GitHub Actions and compatible systems.
//!
//! `::error title=TITLE::MESSAGE`, percent-encoded where the syntax requires it (GitHub, "Workflow
//! commands", and its toolkit's `command.ts`).

use super::junit::message;
use fslab_compare::{Check, Gate, GateOutcome, Ruling};

/// A line for each check that fails or is undecided, and a summary line.
pub fn annotations(gate: &Gate) -> String {
    let mut lines = String::new();
    for check in &gate.checks {
        let level = match check.ruling {
            _ if gate.fails(check) => "error",
            Ruling::Undecided | Ruling::TooFew | Ruling::NoRatio | Ruling::Lost => "warning",
            Ruling::Slower | Ruling::Passed | Ruling::NotJudged => continue,
        };
        lines.push_str(&line(level, &title(check), &message(gate, check)));
    }
    let level = match gate.outcome() {
        GateOutcome::Passed => "notice",
        GateOutcome::Undecided => "warning",
        GateOutcome::Failed | GateOutcome::CannotJudge => "error",
    };
    let title = format!("fslab gate {}", gate.outcome());
    lines.push_str(&line(level, &title, &gate.summary()));
    lines
}

fn title(check: &Check) -> String {
    check.contrast.title()
}

fn line(level: &str, title: &str, message: &str) -> String {
    let title = escape(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} title={title}::{}\n", escape(message))
}

fn escape(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_syntax_needs_is_encoded() {
        assert_eq!(
            line("error", "a:b,c", "5 %\nx"),
            "::error title=a%3Ab%2Cc::5 %25%0Ax\n"
        );
    }
}
