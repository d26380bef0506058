//! Deviations: operations with another outcome than recorded.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fslab_engine::EngineError;
use fslab_model::FailureKind;
use fslab_sys::errno_name;

/// Kinds of deviations in a note.
const LISTED_MAX: usize = 4;

/// Number of deviations by kind. Shared by threads; deviations are rare.
#[derive(Debug, Default)]
pub(super) struct Deviations(Mutex<BTreeMap<String, u64>>);

impl Deviations {
    /// Counts a deviation of the operation `name`.
    pub(super) fn add(&self, name: &str, expected: &Expected, found: &io::Result<u64>) {
        let found = match found {
            Ok(number) => expected.of_number(*number),
            Err(error) => error
                .raw_os_error()
                .map_or_else(|| error.to_string(), errno_name),
        };
        let kind = format!("{name}: {} then, {found} here", expected.as_text());
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *kinds.entry(kind).or_default() += 1;
    }

    fn kinds(&self) -> BTreeMap<String, u64> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Number of deviations.
    pub(super) fn count(&self) -> u64 {
        self.kinds().values().sum()
    }

    /// The note on deviations among `operations`.
    pub(super) fn note(&self, operations: u64) -> Option<String> {
        let mut kinds: Vec<_> = self.kinds().into_iter().collect();
        if kinds.is_empty() {
            return None;
        }
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let listed: Vec<_> = kinds
            .iter()
            .take(LISTED_MAX)
            .map(|(kind, count)| format!("{kind} ({count})"))
            .collect();
        let more = if kinds.len() > LISTED_MAX {
            ", and others"
        } else {
            ""
        };
        Some(format!(
            "{} of {operations} operations ended otherwise than recorded: {}{more}",
            self.count(),
            listed.join(", ")
        ))
    }

    /// Fails if there are more than `percent_max` percent.
    pub(super) fn demand(
        &self,
        operations: u64,
        percent_max: f64,
        base: &Path,
    ) -> Result<(), EngineError> {
        let percent = self.count() as f64 * 100.0 / operations.max(1) as f64;
        if percent <= percent_max {
            return Ok(());
        }
        let text = self.note(operations).unwrap_or_default();
        Err(
            EngineError::corrupt(base, format!("not become what the trace says: {text}"))
                .of_kind(FailureKind::Check)
                .hint(
                    "the file system lacks what the program used; deviations_percent_max allows it",
                ),
        )
    }
}

/// Recorded outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Success.
    Done,
    /// Success with this number of bytes.
    Moved(u64),
    /// Failure.
    Errno(i32),
}

impl Expected {
    /// True if `found` is the recorded outcome.
    #[inline]
    pub(super) fn is(self, found: &io::Result<u64>) -> bool {
        match (self, found) {
            (Self::Done, Ok(_)) => true,
            (Self::Moved(expected), Ok(found)) => expected == *found,
            (Self::Errno(expected), Err(error)) => error.raw_os_error() == Some(expected),
            _ => false,
        }
    }

    /// True for a recorded failure.
    #[inline]
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Errno(_))
    }

    fn as_text(self) -> String {
        match self {
            Self::Done => "done".into(),
            // Byte counts differ from call to call, and a note lists kinds.
            Self::Moved(_) => "all its bytes".into(),
            Self::Errno(number) => errno_name(number),
        }
    }

    fn of_number(self, found: u64) -> String {
        match self {
            Self::Moved(expected) if found < expected => "fewer".into(),
            Self::Moved(_) => "more".into(),
            _ => "done".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_counted_by_kind_and_more_than_the_share_is_a_failure() {
        let deviations = Deviations::default();
        assert_eq!(deviations.note(10), None);
        let refused = Err(io::Error::from_raw_os_error(1));
        for _ in 0..3 {
            deviations.add("chmod", &Expected::Done, &refused);
        }
        deviations.add("read", &Expected::Moved(10), &Ok(4));
        let note = deviations.note(100).expect("there are some");
        assert!(note.starts_with("4 of 100 operations"), "{note}");
        assert!(note.contains("chmod: done then, EPERM here (3)"), "{note}");
        assert!(
            note.contains("read: all its bytes then, fewer here (1)"),
            "{note}"
        );
        let base = Path::new("/base");
        deviations
            .demand(100, 4.0, base)
            .expect("as many as allowed");
        let error = deviations.demand(100, 3.9, base).expect_err("too many");
        assert_eq!(error.kind(), FailureKind::Check);
    }

    #[test]
    fn a_failure_must_fail_again_in_the_same_way() {
        let missing = || Err(io::Error::from_raw_os_error(2));
        assert!(Expected::Errno(2).is(&missing()));
        assert!(!Expected::Errno(13).is(&missing()));
        assert!(!Expected::Errno(2).is(&Ok(0)));
        assert!(!Expected::Done.is(&missing()));
        assert!(Expected::Moved(5).is(&Ok(5)) && !Expected::Moved(5).is(&Ok(4)));
    }
}
