//! Which jobs run at the same time: fio starts all at once, but a job with `stonewall` waits for
//! all before it, and one with `wait_for` for the job that it names.

use super::job::FioJob;
use crate::problem::Findings;

/// Jobs that run at the same time.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) jobs: Vec<FioJob>,
    /// The job whose end begins it, if not all before it must have ended.
    waits_for: Option<String>,
}

/// The groups of `jobs`, in their order.
pub(crate) fn groups(jobs: Vec<FioJob>, findings: &mut Findings) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for job in jobs {
        let waits_for = job.settings.wait_for.clone();
        let begins = match groups.last() {
            None => true,
            Some(_) if job.settings.stonewall => true,
            Some(group) => match &waits_for {
                None => {
                    if group.waits_for.is_some() {
                        let cause = "it would start before the group of a wait_for before it";
                        let problem = job.problem("wait_for", cause);
                        findings.refuse(problem.hint("give it stonewall, or its own wait_for"));
                    }
                    false
                }
                Some(_) if group.waits_for == waits_for => false,
                Some(name) => {
                    if !(group.jobs.iter().all(|other| other.name == *name)) {
                        let cause = "other jobs still run when that job has ended, or it is not \
                                     the one before";
                        findings.refuse(job.problem("wait_for", cause));
                    }
                    true
                }
            },
        };
        if begins {
            let is_first = groups.is_empty() || job.settings.stonewall;
            groups.push(Group {
                jobs: Vec::new(),
                waits_for: waits_for.filter(|_| !is_first),
            });
        }
        if let Some(group) = groups.last_mut() {
            group.jobs.push(job);
        }
    }
    for group in &groups {
        let jobs: u64 = group.jobs.iter().map(|job| job.settings.copies).sum();
        for job in group
            .jobs
            .iter()
            .filter(|job| job.settings.exitall && jobs > 1)
        {
            let cause = "the end of one job would end the others; fslab's run to their ends";
            findings.refuse(job.problem("exitall", cause));
        }
    }
    groups
}
