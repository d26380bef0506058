-- The store, version 1. Long form: one row for each metric of each phase of each trial.
--
--     runs --< trials --< phases --< phase_metrics >-- metrics
--                |           |-----< latencies
--                |           '------ series
--                |--< steps
--                |--< facts
--                '--< trial_metrics >-- metrics
--
-- NULL, or a row that is absent, is "not measured"; 0 is a measured zero. Times of day are seconds
-- since 1970, durations are nanoseconds, sizes are bytes. Who queries by hand begins with the views
-- `results` and `failures` at the end. This file never changes once it is released: the next version
-- is a file of its own, which begins where this one ends.

CREATE TABLE migrations (
    version         INTEGER PRIMARY KEY,
    applied_unix_s  INTEGER NOT NULL,
    fslab           TEXT NOT NULL            -- the version of fslab that applied it
) STRICT;

-- What stands in `plan` and `machine` (JSON) is whole; the columns beside them repeat what queries
-- and lists need. `trials_done` and `trials_failed` are kept by triggers, so that a list of runs
-- never counts trials.
CREATE TABLE runs (
    key             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    study           TEXT NOT NULL,
    title           TEXT NOT NULL,
    plan            TEXT NOT NULL CHECK (json_valid(plan)),
    plan_hash       TEXT NOT NULL,
    seed            TEXT NOT NULL,           -- decimal: SQLite's integers end at 2^63
    venue           TEXT NOT NULL,
    size_bytes      INTEGER NOT NULL,
    engine          TEXT NOT NULL,
    cold            TEXT NOT NULL,
    subjects        TEXT NOT NULL CHECK (json_valid(subjects)),
    repeats         INTEGER NOT NULL,
    fslab           TEXT NOT NULL,
    machine         TEXT NOT NULL CHECK (json_valid(machine)),
    kernel          TEXT GENERATED ALWAYS AS (json_extract(machine, '$.kernel')) VIRTUAL,
    host            TEXT GENERATED ALWAYS AS (json_extract(machine, '$.host')) VIRTUAL,
    command         TEXT NOT NULL CHECK (json_valid(command)),
    started_unix_s  INTEGER NOT NULL,
    trials_done     INTEGER NOT NULL DEFAULT 0,
    trials_failed   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_start ON runs (started_unix_s, id);
CREATE INDEX runs_by_plan ON runs (plan_hash, started_unix_s, id);

CREATE TABLE trials (
    key              INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    cell             INTEGER NOT NULL,
    repeat           INTEGER NOT NULL,
    subject          TEXT NOT NULL,
    position         INTEGER NOT NULL,
    started_unix_s   INTEGER NOT NULL,
    elapsed_ns       INTEGER NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('done', 'failed')),
    failure          TEXT CHECK (json_valid(failure)),
    failure_kind     TEXT GENERATED ALWAYS AS (json_extract(failure, '$.kind')) VIRTUAL,
    failure_message  TEXT GENERATED ALWAYS AS (json_extract(failure, '$.message')) VIRTUAL,
    console          TEXT NOT NULL,
    UNIQUE (run, cell, repeat),
    CHECK ((outcome = 'failed') = (failure IS NOT NULL))
) STRICT;

CREATE TRIGGER trial_added AFTER INSERT ON trials BEGIN
    UPDATE runs SET trials_done = trials_done + (new.outcome = 'done'),
                    trials_failed = trials_failed + (new.outcome = 'failed')
    WHERE key = new.run;
END;
CREATE TRIGGER trial_removed AFTER DELETE ON trials BEGIN
    UPDATE runs SET trials_done = trials_done - (old.outcome = 'done'),
                    trials_failed = trials_failed - (old.outcome = 'failed')
    WHERE key = old.run;
END;
CREATE TRIGGER trial_unchanging AFTER UPDATE OF run, outcome ON trials BEGIN
    SELECT RAISE(ABORT, 'a trial is replaced, never changed');
END;

-- mkfs, mount, unmount and check, as executed.
CREATE TABLE steps (
    trial       INTEGER NOT NULL REFERENCES trials (key) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    step        TEXT NOT NULL,
    command     TEXT NOT NULL CHECK (json_valid(command)),
    elapsed_ns  INTEGER NOT NULL,
    exit_code   INTEGER,                     -- NULL for a system call
    output      TEXT NOT NULL,
    PRIMARY KEY (trial, ordinal)
) STRICT;

CREATE TABLE facts (
    trial  INTEGER NOT NULL REFERENCES trials (key) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (trial, name)
) STRICT, WITHOUT ROWID;

-- The counters as they were read. Those of one source are all there or all NULL, except where the
-- kernel does not count them.
CREATE TABLE phases (
    key                       INTEGER PRIMARY KEY,
    trial                     INTEGER NOT NULL REFERENCES trials (key) ON DELETE CASCADE,
    ordinal                   INTEGER NOT NULL,
    name                      TEXT NOT NULL,
    workload                  TEXT NOT NULL,
    kind                      TEXT NOT NULL,
    headline                  TEXT NOT NULL,
    cache                     TEXT NOT NULL,
    parameters                TEXT NOT NULL CHECK (json_valid(parameters)),
    outcome                   TEXT NOT NULL CHECK (outcome IN ('done', 'skipped', 'failed')),
    skip_reason               TEXT,
    failure                   TEXT CHECK (json_valid(failure)),
    failure_kind              TEXT GENERATED ALWAYS AS (json_extract(failure, '$.kind')) VIRTUAL,
    failure_message           TEXT GENERATED ALWAYS AS (json_extract(failure, '$.message')) VIRTUAL,
    elapsed_ns                INTEGER,
    operations                INTEGER,
    bytes                     INTEGER,
    cpu_user_ns               INTEGER,
    cpu_system_ns             INTEGER,
    cpu_voluntary_switches    INTEGER,
    cpu_involuntary_switches  INTEGER,
    device_reads              INTEGER,
    device_read_bytes         INTEGER,
    device_writes             INTEGER,
    device_write_bytes        INTEGER,
    device_discards           INTEGER,
    device_discard_bytes      INTEGER,
    device_flushes            INTEGER,
    device_busy_ns            INTEGER,
    settle_sync_ns            INTEGER,
    settle_unmount_ns         INTEGER,
    threads                   TEXT CHECK (json_valid(threads)),
    first_done_ns             INTEGER,
    harness_share             REAL,
    notes                     TEXT NOT NULL CHECK (json_valid(notes)),
    UNIQUE (trial, ordinal),
    CHECK ((outcome = 'skipped') = (skip_reason IS NOT NULL)),
    CHECK ((outcome = 'failed') = (failure IS NOT NULL)),
    CHECK ((cpu_user_ns IS NULL) = (cpu_system_ns IS NULL)),
    CHECK ((device_reads IS NULL) = (device_busy_ns IS NULL)),
    CHECK ((settle_sync_ns IS NULL) = (settle_unmount_ns IS NULL))
) STRICT;

-- Every metric that a record in this store has had, as docs/figures.md defines it.
CREATE TABLE metrics (
    key     INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,
    unit    TEXT NOT NULL,
    better  TEXT NOT NULL CHECK (better IN ('higher', 'lower', 'neither')),
    title   TEXT NOT NULL
) STRICT;

-- What the fslab that stored the trial made of its counters and latencies.
CREATE TABLE phase_metrics (
    phase   INTEGER NOT NULL REFERENCES phases (key) ON DELETE CASCADE,
    metric  INTEGER NOT NULL REFERENCES metrics (key),
    value   REAL NOT NULL,
    PRIMARY KEY (phase, metric)
) STRICT, WITHOUT ROWID;
CREATE TABLE trial_metrics (
    trial   INTEGER NOT NULL REFERENCES trials (key) ON DELETE CASCADE,
    metric  INTEGER NOT NULL REFERENCES metrics (key),
    value   REAL NOT NULL,
    PRIMARY KEY (trial, metric)
) STRICT, WITHOUT ROWID;

-- One histogram for each kind of operation: the HDR "V2" encoding, nanoseconds, three digits.
CREATE TABLE latencies (
    phase      INTEGER NOT NULL REFERENCES phases (key) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    operation  TEXT NOT NULL,
    histogram  BLOB NOT NULL,
    PRIMARY KEY (phase, ordinal)
) STRICT;

-- Progress: entry i of the JSON arrays counts [i * interval_ns, (i + 1) * interval_ns).
CREATE TABLE series (
    phase        INTEGER PRIMARY KEY REFERENCES phases (key) ON DELETE CASCADE,
    interval_ns  INTEGER NOT NULL,
    operations   TEXT NOT NULL CHECK (json_valid(operations)),
    bytes        TEXT NOT NULL CHECK (json_valid(bytes))
) STRICT;

-- Every trial with its dimensions: two figures compare where all of them but the one studied agree.
CREATE VIEW trial_dimensions AS
    SELECT trials.key AS trial, runs.id AS run, runs.study, trials.subject, trials.cell,
           trials.repeat, trials.position, trials.outcome AS trial_outcome, trials.started_unix_s,
           runs.venue, runs.size_bytes, runs.engine, runs.cold, runs.seed, runs.plan_hash,
           runs.fslab, runs.kernel, runs.host
    FROM runs JOIN trials ON trials.run = runs.key;

-- Every figure with its dimensions. `phase` is NULL for a figure of the whole trial.
CREATE VIEW results AS
    SELECT trial_dimensions.*, phases.name AS phase, phases.workload, phases.kind, phases.cache,
           phases.parameters, metrics.name AS metric, phase_metrics.value, metrics.unit,
           metrics.better
    FROM trial_dimensions
    JOIN phases ON phases.trial = trial_dimensions.trial
    JOIN phase_metrics ON phase_metrics.phase = phases.key
    JOIN metrics ON metrics.key = phase_metrics.metric
    UNION ALL
    SELECT trial_dimensions.*, NULL, NULL, NULL, NULL, NULL, metrics.name, trial_metrics.value,
           metrics.unit, metrics.better
    FROM trial_dimensions
    JOIN trial_metrics ON trial_metrics.trial = trial_dimensions.trial
    JOIN metrics ON metrics.key = trial_metrics.metric;

-- Whatever failed or was skipped, with the reason. `phase` is NULL for the whole trial.
CREATE VIEW failures AS
    SELECT runs.id AS run, runs.study, trials.subject, NULL AS phase, trials.cell, trials.repeat,
           trials.outcome, trials.failure_kind AS kind, trials.failure_message AS reason,
           json_extract(trials.failure, '$.hint') AS hint
    FROM runs JOIN trials ON trials.run = runs.key
    WHERE trials.outcome = 'failed'
    UNION ALL
    SELECT runs.id, runs.study, trials.subject, phases.name, trials.cell, trials.repeat,
           phases.outcome, phases.failure_kind, coalesce(phases.failure_message, phases.skip_reason),
           json_extract(phases.failure, '$.hint')
    FROM runs JOIN trials ON trials.run = runs.key JOIN phases ON phases.trial = trials.key
    WHERE phases.outcome <> 'done';
