//! fslab's domain types: units, subjects, studies, plans, trials, events, records, metrics.
//!
//! Owns every format that crosses a process or version border. Does no I/O and reads no clock: all
//! types are values, the same on every machine.
//!
//! ```text
//!     Study --(resolve, fslab-run)--> Plan --> Cell --> TrialSpec --(fslab trial)--> Event...
//!                                                                                      |
//!     Metric <-- PhaseRecord <-- TrialRecord <--------------(RecordBuilder)------------+
//! ```

#![warn(missing_docs)]

mod answer;
mod brings;
mod capabilities;
mod cold_method;
mod condition;
mod counted_machine;
mod device_identity;
mod digest;
mod disturbance;
mod durability;
mod duration_text;
mod event;
mod exact;
mod facts;
mod failure;
mod figure;
mod histogram;
mod id;
mod imported_plan;
mod insight;
mod metric;
mod nearest;
mod network;
mod network_mount;
mod original;
mod percent;
mod perturbation;
mod phase;
mod picture;
mod plan;
mod question;
mod record;
mod repetition;
mod reservation;
mod run;
mod scale;
mod score;
mod serde_message;
mod simulated_disk;
mod size;
mod skipped;
mod spec;
mod stage;
mod study;
mod subject;
mod survival;
mod sweep;
mod text_type;
mod toml_text;
mod trial_task;
mod units;
mod workload;

pub use answer::{AnswerSpec, Measure, WEIGHT_MAX};
pub use brings::{Brings, INPUTS_FOLDER, InputPlace, ProgramNeed, input_path};
pub use capabilities::{Capabilities, CaseRule, CrashSafety, Need};
pub use cold_method::ColdMethod;
pub use condition::{Condition, FactorLevel};
pub use counted_machine::CountedMachine;
pub use device_identity::DeviceIdentity;
pub use digest::{hexadecimal, sha256, sha256_of};
pub use disturbance::{Disturbance, DisturbanceKind, KernelMessage};
pub use duration_text::{ParseDurationError, parse_duration, parse_duration_in, parse_seconds};
pub use event::{Event, EventBody, StepRecord};
pub use exact::{
    CONFINEMENT_FACT, GUEST_CONFINED_FACT, LAB_FACT, MEMORY_MEDIUM_FACT, START_STATE_FACT,
};
pub use facts::{Facts, MachineFacts};
pub use failure::{Failure, FailureKind};
pub use figure::{FigureLayout, FigureSpec, ValueList};
pub use histogram::{HistogramError, LatencyCounts, LatencyHistogram};
pub use id::{CellId, ParsePlanHashError, ParseRunIdError, PlanHash, RunId, TrialId};
pub use insight::{
    Depth, DeviceInsight, HostCost, KindInsight, PowerCounts, PowerCountsError, Seeks,
    ServiceTimes, TimeParts, Traffic, Window,
};
pub use metric::{
    Better, METRICS, Metric, MetricDefinition, Unit, definitions, phase_metrics, trial_metrics,
};
pub use nearest::{did_you_mean, nearest_name, suggestion};
pub use network::{Network, Protocol};
pub use network_mount::NetworkMount;
pub use original::{DataToMemory, OriginalSetup};
pub use percent::{ParsePercentError, Percent};
pub use perturbation::Perturbation;
pub use phase::{
    CacheVerdict, CpuUse, DeviceUse, Headline, OperationLatency, PhaseKind, PhaseOutcome,
    PhaseRecord, Settled, ThreadRecord, TimeSeries,
};
pub use picture::{
    PICTURE_COLUMNS, PICTURE_LEVEL_MAX, PICTURE_ROWS, Picture, PictureError, PictureLayer,
};
pub use plan::{Cell, Directories, LabPlan, LayerPlan, Plan, SubjectPlan, VenueKind, VenuePlan};
pub use question::StudyQuestion;
pub use record::{RecordBuilder, TrialOutcome, TrialRecord, TrialReport, TrialRun};
pub use repetition::{Adaptive, Round, Rounds};
pub use reservation::{Reservation, ReservationKind};
pub use run::{RunHeader, RunRecord};
pub use scale::{ParseScaleError, Scale, ScaleRules};
pub use score::{ScorePart, ScorePhase, ScoreSpec, ScoreUnit};
pub use simulated_disk::{BufferEmptying, DiskQueue, SimulatedDisk};
pub use size::Size;
pub use skipped::is_default;
pub use spec::{DeviceSpec, PhaseSpec, RankSpec, TrialSpec};
pub use stage::{AGE_PROFILES, AGED_DIRECTORY, AgeProfile, Ageing, ParseStageError, Stage};
pub use study::{CachePolicy, PhaseEntry, Study};
pub use subject::{ParseSubjectError, Subject};
pub use survival::{
    BrokenState, FaultCount, FaultKind, KindCount, PromiseId, PropertyCount, PublishedProperty,
    StateKind, Survival, SurvivalOutcome, SurvivalPlan,
};
pub use sweep::{Point, PointValue, Range, Sweep, SweepError, Swept, Values, Written};
pub use toml_text::{TextPosition, TomlError, check_format, from_toml};
pub use trial_task::{Placement, TrialTask};
pub use units::{Bytes, ParseBytesError, Rate, Share, format_ns};
pub use workload::WorkloadDefinition;

/// Version of every JSON document of this crate: trial specifications, events, plans.
///
/// A reader refuses versions above its own.
pub const FORMAT_VERSION: u32 = 1;

/// A map of parameters, in the order of declaration.
pub type Parameters = serde_json::Map<String, serde_json::Value>;
