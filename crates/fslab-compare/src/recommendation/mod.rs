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
//!              --> Dependence      the phases and weights that it hangs on
//! ```
//!
//! Invariant: a subject with a [`Shortfall`] is never chosen.

mod dependence;
mod judgement;
mod shortfall;

pub use dependence::{Dependence, Lead, Threshold, Turn};
pub use judgement::{
    Choice, DISTURBED_MAX, PassedOver, Recommendation, Undecided, WhyNone, answer_in_words,
};
pub use shortfall::{Shortfall, shortfalls};
