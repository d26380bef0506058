//! No device at all, for the `fake` file system.

use fslab_model::{DeviceSpec, Facts, Failure};

use super::place::{Place, Prepared, Start};
use crate::lease::Belongings;

pub(crate) struct Fake;

impl Place for Fake {
    fn belongings(&self, _name: &str) -> Belongings {
        Belongings::default()
    }

    fn prepare(
        &self,
        _belongings: &Belongings,
        _go_on: &dyn Fn() -> bool,
    ) -> Result<Prepared, Failure> {
        Ok(Prepared {
            device: DeviceSpec::Fake,
            facts: Facts::new(),
            holder: None,
            start: Start::Here,
        })
    }
}
