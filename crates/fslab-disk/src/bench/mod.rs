//! Benchmarks of a profile's disk: curves and data sheet figures, computed by the model in virtual
//! time.
//!
//! Without a file system, a kernel or a clock, and with seeded random numbers, so that a profile
//! has the same figures on every machine. Each point is measured on a new disk.
//!
//! ```text
//!     Profile --> Load --(closed loop over the model)--> Measured --> Curve, SheetFigure --> Bench
//! ```

mod burst;
mod curve;
mod depth;
mod distance;
mod fit;
mod load;
mod position;
mod request_size;
mod setting;
mod sheet;
mod test;

pub use curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
pub use fit::{
    FitAlternative, FitResidual, FitTargets, FittedDisk, FittedParameter, fit, rate_of_disk,
};
pub use setting::SEED;
pub use sheet::{SheetFigure, data_sheet};
pub use test::{Bench, run};
