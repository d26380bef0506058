//! What one phase does, and under which conditions.

use fslab_model::{PhaseSpec, Plan};

use super::phase_content::PhaseContent;
use super::{
    bonnie, diskspd, elbencho, fio, fs_mark, fslab, ior, iozone, mdtest, smallfile, sysbench,
};
use crate::Format;

/// What the phase `spec` of `plan` does: of another tool if its workload is named after one.
pub fn content(plan: &Plan, spec: &PhaseSpec) -> PhaseContent {
    match Format::of_workload(&spec.workload) {
        Some(Format::Bonnie) => bonnie::content(spec),
        Some(Format::Iozone) => iozone::content(spec),
        Some(Format::Fio) => fio::content(spec),
        Some(Format::Mdtest) => mdtest::content(spec),
        Some(Format::Ior) => ior::content(spec),
        Some(Format::Io500) => ior::content_of_io500(spec),
        Some(Format::Sysbench) => sysbench::content(spec),
        Some(Format::FsMark) => fs_mark::content(spec),
        Some(Format::Elbencho) => elbencho::content(spec),
        Some(Format::Diskspd) => diskspd::content(spec),
        Some(Format::Smallfile) => smallfile::content(spec),
        Some(
            Format::Dbench
            | Format::Pgbench
            | Format::Filebench
            | Format::Phoronix
            | Format::Csv
            | Format::Json,
        ) => PhaseContent::default(),
        None => fslab::content(plan, spec),
    }
}
