//! Open MPI's `--enable-recovery`: its mpirun goes on when ranks die, and exits with 0 whatever the
//! exit code of a rank, even after `MPI_Abort`.

use std::fs;

use rustix::process::{Signal, getppid, kill_process};

/// The names of Open MPI's launchers: a rank's parent is mpirun on its machine, or a daemon.
const LAUNCHERS: [&str; 4] = ["mpirun", "mpiexec", "orterun", "orted"];

/// Lets mpirun exit with an error if it would hide that of rank 0: asks it to end the job. Called
/// by rank 0, after all others have ended their trials.
pub(crate) fn fail_job() {
    let is_set = |value: String| !matches!(value.as_str(), "" | "0" | "false");
    if !std::env::var("OMPI_MCA_orte_enable_recovery").is_ok_and(is_set) {
        return;
    }
    let Some(parent) = getppid() else { return };
    let path = format!("/proc/{}/comm", parent.as_raw_nonzero());
    let name = fs::read_to_string(path).unwrap_or_default();
    // Debian's names end with the implementation: `mpirun.openmpi`.
    let name = name.trim().split('.').next().unwrap_or_default();
    if LAUNCHERS.contains(&name) {
        // An error: it has ended.
        let _ = kill_process(parent, Signal::TERM);
    }
}
