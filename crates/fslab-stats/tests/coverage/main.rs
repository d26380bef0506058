//! Simulations: 95 % intervals cover 95 %, tests and detectors alarm no more often than stated, and
//! they find real differences. The tables of docs/statistics.md are printed by `cargo test -p
//! fslab-stats --test coverage -- --nocapture`.

mod chance;
mod clusters;
mod deciding;
mod detectors;
mod families;
mod further_run;
mod intervals;
mod phases;
mod stopping;
mod tests_of_difference;
