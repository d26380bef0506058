//! What a profile's disk does by itself: its own curves, drawn by the model in virtual time.
//!
//! No file system, no kernel and no clock is in it, and all chance is seeded: the same profile
//! gives the same figures on every machine. Each point has a disk of its own, fresh from the maker.
//!
//! ```text
//!     Profile --> Load --(closed loop over the model)--> Measured --> Curve, SheetFigure --> Bench
//! ```

mod burst;
mod curve;
mod depth;
mod distance;
mod load;
mod position;
mod request_size;
mod sheet;
mod test;

pub use curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
pub use sheet::{SheetFigure, data_sheet};
pub use test::{Bench, SEED, run};
