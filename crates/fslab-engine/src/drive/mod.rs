//! The measuring loops: the code between two clock readings.
//!
//! Loops are generic over target and clock, and compiled once per pair. They neither allocate nor
//! lock.

mod budget;
mod data_array;
mod data_files;
mod data_loop;
mod data_segments;
mod data_worker;
mod names_array;
mod names_loop;
mod names_worker;
mod pacer;
mod paths;
mod processes;
mod queue_loop;
mod removal;
mod stonewall;
mod target;
mod threads;
mod turnover;
mod worker_config;
mod worker_group;
mod workers;

pub(crate) use data_files::{lengthen_file, open_data_file, prepare_files};
pub(crate) use data_loop::run_data_loop;
pub(crate) use data_segments::{ReadyWorker, ready_worker};
pub(crate) use data_worker::{DataThread, DataWorker, even_share};
pub(crate) use names_loop::run_names_loop;
pub(crate) use names_worker::NamesWorker;
pub(crate) use paths::Naming;
pub(crate) use queue_loop::run_queue_loop;
pub(crate) use stonewall::Stonewall;
pub(crate) use target::{DataTarget, NamesTarget, PutTask, Task, Transfer};
pub(crate) use worker_config::WorkerConfig;
pub(crate) use worker_group::WorkerGroup;
pub(crate) use workers::run_workers;
