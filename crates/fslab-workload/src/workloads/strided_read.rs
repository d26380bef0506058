//! Records are read a stride apart, in as many passes as it takes to have read every record once:
//! sequential for the disk's arm, without being so for the kernel's readahead.

use fslab_engine::{Access, DataJob, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

/// Iozone's default: a record is read, sixteen are left out.
const STRIDE_DEFAULT: u64 = 17;

pub(crate) struct StridedRead;

impl Definition for StridedRead {
    type Parameters = BigFile;
    const NAME: &'static str = "strided-read";
    const TITLE: &'static str = "read of every Nth record, in passes over the whole file";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes(Takes {
            stride: true,
            ..Takes::READS
        });
        if parameters.stride == 0 {
            parameters.stride = STRIDE_DEFAULT;
        }
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            access: Access::Strided {
                stride_records: parameters.stride,
            },
            ..parameters.read_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
