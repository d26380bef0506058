//! Which subject of a run to take, by how much, and how sure that is.
//!
//! Owns the judgement; `fslab-report` words it, and the catalogue of `fslab-fs` has what speaks for
//! or against a file system beside its speed.
//!
//! ```text
//!     Analysis --> Ground...       which phases count, in which figure, with which weight
//!              --> Shortfall...    why a subject is no candidate: failed, in part not measured,
//!                                  or not durable
//!     both     --> Recommendation  Choice, with what takes part in it and what does not
//! ```
//!
//! Invariant: a subject with a [`Shortfall`] is never chosen.

mod judgement;
mod shortfall;

pub use judgement::{Choice, Lead, PassedOver, Recommendation, Undecided, WhyNone};
pub use shortfall::{Shortfall, shortfalls};
