//! What is issued: one file per workload, and their registry.
