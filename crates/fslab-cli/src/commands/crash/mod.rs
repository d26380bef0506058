//! `fslab crash` and `fslab faults`: power loss and failing disks.

mod command;
pub(crate) mod faults;
pub(crate) mod faults_table;
pub(crate) mod judge;
pub(crate) mod replay;
pub(crate) mod requests;
pub(crate) mod table;

pub(crate) use command::*;
