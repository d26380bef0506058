//! Studies as they are written: phases, figures, sweeps, scores, and what they ask of a machine.

mod answer;
mod brings;
mod figure;
mod original;
mod question;
mod repetition;
mod scale;
mod score;
mod study;
mod sweep;
mod workload;

pub use answer::{AnswerMeasure, AnswerSpec, WEIGHT_MAX};
pub use brings::{Brings, INPUTS_FOLDER, InputPlace, ProgramNeed, input_path};
pub use figure::{FigureLayout, FigureSpec, ValueList};
pub use original::{DataToMemory, OriginalSetup};
pub use question::StudyQuestion;
pub use repetition::{Adaptive, Round, Rounds};
pub use scale::{ParseScaleError, Scale, ScaleRules};
pub use score::{ScorePart, ScorePhase, ScoreSpec, ScoreUnit};
pub use study::{CachePolicy, PhaseEntry, Study};
pub use sweep::{Point, PointValue, Range, Sweep, SweepError, Swept, Values, Written};
pub use workload::WorkloadDefinition;
