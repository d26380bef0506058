//! schemas/*.json: the output of `fslab schema`, for editors.

use super::expect_file;
use crate::commands::FORMATS;

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for format in FORMATS {
        let text = serde_json::to_string_pretty(&(format.schema)()).expect("serialises");
        expect_file(&format!("schemas/{}.json", format.name), &(text + "\n"));
    }
}
