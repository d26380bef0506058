//! What is recorded: events, phases, trials, runs, what they were measured on, and metrics of them.

mod disturbance;
mod durability;
mod event;
mod exact;
mod facts;
mod failure;
mod histogram;
mod insight;
mod metric;
mod phase;
mod picture;
mod record;
mod run;
mod survival;

pub use disturbance::{Disturbance, DisturbanceKind, KernelMessage};
pub use event::{Event, EventBody, StepRecord};
pub use exact::{
    CONFINEMENT_FACT, GUEST_CONFINED_FACT, LAB_FACT, MEMORY_MEDIUM_FACT, START_STATE_FACT,
};
pub use facts::{
    ALLOCATION_UNIT_FACT, DAMAGED_DATA_FACT, DISK_BYTES_FACT, DRIVER_FACT, DRIVER_OWNER_FACT,
    FAILED_DISK_FACT, FEATURES_FACT, FILE_SYSTEM_FACT, FILE_SYSTEM_FACTS, FactDefinition, Facts,
    MachineFacts, STACK_BYTES_FACT,
};
pub use failure::{Failure, FailureKind};
pub use histogram::{HistogramError, LatencyCounts, LatencyHistogram};
pub use insight::{
    Depth, DeviceInsight, HostCost, KindInsight, PowerCounts, PowerCountsError, Seeks,
    ServiceTimes, TimeParts, Traffic, Window,
};
pub use metric::{
    Better, METRICS, Metric, MetricDefinition, Unit, definitions, phase_metrics, trial_metrics,
};
pub use phase::{
    CacheVerdict, CpuUse, DISK_WORK_LEAST, DeviceUse, Headline, OperationLatency, PhaseKind,
    PhaseOutcome, PhaseRecord, Settled, ThreadRecord, TimeSeries,
};
pub use picture::{
    PICTURE_COLUMNS, PICTURE_LEVEL_MAX, PICTURE_ROWS, Picture, PictureError, PictureLayer,
};
pub use record::{RecordBuilder, TrialOutcome, TrialRecord, TrialReport, TrialRun};
pub use run::{RunHeader, RunRecord};
pub use survival::{
    BrokenState, FaultCount, FaultKind, KindCount, PromiseId, PropertyCount, PublishedProperty,
    StateKind, Survival, SurvivalOutcome, SurvivalPlan,
};
