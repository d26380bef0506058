//! For tests: the parameters of a job as a plan has them.

use fslab_job::Job;
use fslab_model::Bytes;
use serde_json::Value;

/// The job `given` for a file system of 1 GiB, or why it is refused.
pub(crate) fn resolved<J: Job>(given: &Value) -> Result<J, String> {
    let given = given.as_object().expect("a map");
    fslab_job::resolved(given, Bytes::gib(1)).map_err(|error| error.to_string())
}
