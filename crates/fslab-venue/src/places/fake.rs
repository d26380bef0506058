//! No device: the place of the `fake` file system.

use fslab_model::{DeviceSpec, Facts, Failure};

use super::place::{Place, Prepared, Preparing, Start};
use crate::leased_resources::LeasedResources;

pub(crate) struct Fake;

impl Place for Fake {
    fn resources(&self, _name: &str, _disks: usize) -> LeasedResources {
        LeasedResources::default()
    }

    fn prepare(&self, _preparing: &Preparing) -> Result<Prepared, Failure> {
        Ok(Prepared {
            device: DeviceSpec::Fake,
            facts: Facts::new(),
            holders: Vec::new(),
            start: Start::Here,
        })
    }
}
