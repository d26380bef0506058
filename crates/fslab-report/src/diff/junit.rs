//! A gate as JUnit XML: a suite per subject, a case per phase. Undecided checks are skipped with
//! the reason, because they were not shown to pass.

use std::collections::BTreeMap;

use crate::wording::{figure, ratio, ratio_interval};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::tables::ruling_word;
use crate::{ReportError, xml};
use fslab_compare::named;
use fslab_compare::{Check, Gate, Ruling};
use fslab_compare::{Contrast, Side};

/// The gate as one document.
///
/// # Errors
/// [`ReportError::Xml`] if the document cannot be written.
pub fn junit(gate: &Gate) -> Result<String, ReportError> {
    let mut report = Report::new("fslab gate");
    let mut suites: BTreeMap<&str, Vec<&Check>> = BTreeMap::new();
    for check in &gate.checks {
        suites
            .entry(&check.contrast.subject)
            .or_default()
            .push(check);
    }
    for (subject, checks) in suites {
        let mut suite = TestSuite::new(subject);
        suite.add_property(("base", gate.base.join(",").as_str()));
        suite.add_property(("new", gate.new.join(",").as_str()));
        suite.add_property(("max-slowdown", gate.rule.max_slowdown.to_string().as_str()));
        let disturbed: usize = checks.iter().map(|check| check.contrast.disturbed()).sum();
        if disturbed > 0 {
            suite.add_property(("disturbed", disturbed.to_string().as_str()));
        }
        for check in checks {
            suite.add_test_case(case(gate, check));
        }
        report.add_test_suite(suite);
    }
    let text = report.to_string();
    text.map(xml::document)
        .map_err(|error| ReportError::Xml(error.to_string()))
}

fn case(gate: &Gate, check: &Check) -> TestCase {
    let text = message(gate, check);
    let status = match check.ruling {
        _ if gate.fails(check) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_message(text.clone())
                .set_type(ruling_word(check.ruling));
            status
        }
        Ruling::Slower | Ruling::Passed => TestCaseStatus::success(),
        Ruling::Undecided | Ruling::TooFew | Ruling::NoRatio | Ruling::Lost | Ruling::NotJudged => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(text.clone());
            status
        }
    };
    let contrast = &check.contrast;
    let name = format!("{} {}", contrast.phase, contrast.metric.name);
    let mut case = TestCase::new(name, status);
    case.set_classname(contrast.subject.clone());
    case.set_system_out(text);
    case
}

/// A check as a message: figures, interval and limit.
pub(crate) fn message(gate: &Gate, check: &Check) -> String {
    let contrast = &check.contrast;
    let title = contrast.title();
    let limit = ratio(gate.rule.limit());
    let Some(speed) = contrast.speed else {
        return match check.ruling {
            Ruling::Lost if contrast.is_total_loss() => {
                format!("{title} dropped to zero: {}", figures(contrast))
            }
            Ruling::Lost => format!("{title} no longer has a figure{}", why(&contrast.new)),
            Ruling::NoRatio => format!("{title} is not judged: {}", contrast.why_no_ratio()),
            _ => format!(
                "{title} is not judged: there is no figure in {}",
                named(&gate.base)
            ),
        };
    };
    let interval = match check.interval {
        Some(interval) => format!(" (interval {})", ratio_interval(interval)),
        None if contrast.exact => " (exact)".to_owned(),
        None => String::new(),
    };
    let figures = figures(contrast);
    let disturbed = match (contrast.base.disturbed, contrast.new.disturbed) {
        (0, 0) => String::new(),
        (base, new) => format!(
            "; it rests on disturbed measurements: {base} of {} in the base, {new} of {} in the \
             new run",
            contrast.base.values().count(),
            contrast.new.values().count()
        ),
    };
    format!(
        "{title} is {}: {} times as fast as before{interval}, {figures}; the limit is \
         {limit}{disturbed}",
        ruling_word(check.ruling),
        ratio(speed.value)
    )
}

fn figures(contrast: &Contrast) -> String {
    let of = |value: Option<f64>| match value {
        Some(value) => figure(contrast.metric, value),
        None => "none".to_owned(),
    };
    let [base, new] = contrast.figures();
    format!("{} against {}", of(new), of(base))
}

fn why(side: &Side) -> String {
    let reason = side.absence.as_ref();
    reason
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default()
}
