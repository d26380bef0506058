//! Trials in other processes, on this machine or others.
//!
//! ```text
//!     Conductor --> TrialWorkers (an Executor) --socket--> a transport --> serve --> Venue
//!                   one connection per slot           fslab-mpi       `fslab worker`
//! ```
//! A connection carries lines of JSON: see [`protocol`]. Any transport that joins a connection with
//! standard input and output of `fslab worker` will do. What a worker sends is checked: see
//! [`admission`].

mod admission;
mod link;
mod protocol;
mod remote;
mod serve;

pub use protocol::Assignment;
pub use remote::TrialWorkers;
pub use serve::serve;
