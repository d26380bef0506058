//! The places of a run: one for all subjects, or one for each.

use fslab_model::{CellId, DeviceIdentity, Failure, FailureKind};

use super::Place;

/// One place for all subjects, or one for each in the order of the plan.
pub(crate) struct Places(Vec<Box<dyn Place>>);

impl Places {
    /// One for all subjects.
    pub(crate) fn one(place: impl Place + 'static) -> Self {
        Self(vec![Box::new(place)])
    }

    /// One for each of `all`, or for all subjects if that is a single one.
    pub(crate) fn each<T, P: Place + 'static>(
        all: &[T],
        open: impl Fn(&T) -> Result<P, Failure>,
    ) -> Result<Self, Failure> {
        let open = |one: &T| Ok(Box::new(open(one)?) as Box<dyn Place>);
        all.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// The place of a subject.
    pub(crate) fn of(&self, cell: CellId) -> Result<&dyn Place, Failure> {
        let found = match self.0.as_slice() {
            [all] => Some(all),
            each => each.get(cell.0 as usize),
        };
        found.map(Box::as_ref).ok_or_else(|| {
            let number = cell.0 + 1;
            let text = format!("there is no directory or device for subject number {number}");
            let failure = Failure::new(FailureKind::BadInput, text);
            failure.hint("name one for each subject, or one for all")
        })
    }

    /// Identity of the device that all subjects share; empty if there are several.
    pub(crate) fn identity(&self) -> DeviceIdentity {
        match self.0.as_slice() {
            [all] => all.identity(),
            _ => DeviceIdentity::default(),
        }
    }
}
