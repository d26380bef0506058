//! A job file becomes a study.

use super::groups::groups;
use super::job::FioJob;
use super::metadata::names_phases;
use super::parameters::Translator;
use super::sections::sections;
use super::settings::FioEngine;
use crate::draft::{Draft, PHASES_MAX, TranslatedStudy};
use crate::problem::{Findings, JobFileError, JobFileProblem};
use crate::reading::JobFileReader;

/// The study of the job file `text`.
pub(crate) fn read(
    reader: &JobFileReader<'_>,
    text: &str,
) -> Result<TranslatedStudy, JobFileError> {
    let mut findings = Findings::default();
    let sections = sections(reader, text, &mut findings);
    let jobs = sections
        .iter()
        .map(|section| FioJob::new(section, &mut findings));
    let jobs: Vec<_> = jobs.collect();
    let groups = groups(jobs, &mut findings);
    let mut translator = Translator::new(&groups);
    for group in &groups {
        let is_names = |job: &FioJob| matches!(job.settings.engine, FioEngine::Names(_));
        if group.jobs.iter().any(is_names) {
            names_phases(&mut translator, &group.jobs, &mut findings);
        } else {
            translator.data_phases(&group.jobs, &mut findings);
        }
    }
    if translator.phases.len() > PHASES_MAX {
        let cause = format!("{} phases, more than {PHASES_MAX}", translator.phases.len());
        findings.refuse(JobFileProblem::new(reader.file, cause));
    }
    let draft = Draft {
        file: reader.file,
        tool: reader.kind.tool(),
        phases: translator.phases,
        space: translator.space,
    };
    draft.finish(findings)
}
