//! `fslab crash` and `fslab faults`: power loss and failing disks.

mod command;
pub(crate) mod faults;
pub(crate) mod faults_table;
pub(crate) mod judge;
pub(crate) mod logs;
pub(crate) mod replay;
pub(crate) mod requests;
pub(crate) mod state_choice;

pub(crate) use command::*;
