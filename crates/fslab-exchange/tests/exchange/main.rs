//! The exchange with other tools, over real outputs.

mod arbitrary;
mod bonnie_tables;
mod dbench;
mod fio_logs;
mod fio_terse;
mod fio_text;
mod fixture;
mod fixtures;
mod io500_export;
mod meeting;
mod own;
mod parallel_round_trips;
mod pgbench;
mod rare;
mod rare_fio;
mod recognition;
mod refusals;
mod round_trips;
mod subjects;
mod summaries;
mod sysbench;
