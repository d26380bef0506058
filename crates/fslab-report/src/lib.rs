//! Tables, charts, HTML, CSV and JSON from stored records.
