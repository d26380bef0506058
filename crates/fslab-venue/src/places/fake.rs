//! No device at all, for the `fake` file system.

use fslab_model::{DeviceSpec, Facts, Failure};

use super::place::{Place, Prepared, Preparing, Start};
use crate::lease::Belongings;

pub(crate) struct Fake;

impl Place for Fake {
    fn belongings(&self, _name: &str) -> Belongings {
        Belongings::default()
    }

    fn prepare(&self, _preparing: &Preparing) -> Result<Prepared, Failure> {
        Ok(Prepared {
            device: DeviceSpec::Fake,
            facts: Facts::new(),
            holder: None,
            start: Start::Here,
        })
    }
}
