//! Reports of runs with a known story, through the crate's public interface.

mod ageing;
mod answers;
mod big_story;
mod disk;
mod disk_story;
mod disturbed;
mod escaping;
mod exact;
mod exhibits;
mod exports;
mod figures;
mod fixture;
mod flushing;
mod merging;
mod page;
mod part_files;
mod perturbed;
mod ratios;
mod scaling;
mod scores;
mod statistics;
mod summary;
mod sweep_story;
mod sweeps;
mod tables;
mod then_and_now;
