//! The SQLite store of runs, trials and metrics: the only place with SQL.
