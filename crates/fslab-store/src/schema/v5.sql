-- The store, version 5: what is damaged is noticed, and what is deleted comes back.
--
-- `trials.digest` is a SHA-256 over every column of the trial's rows, those of its steps, facts,
-- phases, latencies and series included; `trials.metrics_digest` one over its rows of
-- `phase_metrics` and `trial_metrics`. `runs.plan_digest` is over what is large in the run's row
-- (plan, machine, command), `runs.digest` over the other columns and `plan_digest`. NULL is "not
-- computed yet": the next fslab that opens the store for writing does. src/digest.rs defines them.
--
-- The counts of trials change with each trial, by triggers: `trials_check` counts the same three
-- with the weights 3, 5 and 7, and a count that was damaged no longer agrees with it. `totals.runs`
-- counts the runs that are not deleted, as their indexes must.
--
-- `deleted_unix_s` is when the run was deleted; it is in no list until that is undone.
--
-- `trials.kernel_log` are messages of the kernel that concern the trial's device;
-- `phases.disturbances` is what else took place on the machine while a phase was measured. Both are
-- JSON, NULL where there was nothing.

-- json_valid(NULL) is 0 in SQLite before 3.45, by which NULL would break the constraint. A
-- constraint is no content: it is changed where it stands (SQLite, "ALTER TABLE", section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql =
    replace(replace(replace(replace(replace(replace(replace(sql,
        'CHECK (json_valid(failure))', 'CHECK (failure IS NULL OR json_valid(failure))'),
        'CHECK (json_valid(threads))', 'CHECK (threads IS NULL OR json_valid(threads))'),
        'CHECK (json_valid(insight))', 'CHECK (insight IS NULL OR json_valid(insight))'),
        'CHECK (json_valid(settle_insight))',
        'CHECK (settle_insight IS NULL OR json_valid(settle_insight))'),
        'CHECK (json_valid(swept))', 'CHECK (swept IS NULL OR json_valid(swept))'),
        'CHECK (json_valid(figures))', 'CHECK (figures IS NULL OR json_valid(figures))'),
        'CHECK (json_valid(lists))', 'CHECK (lists IS NULL OR json_valid(lists))')
    WHERE type = 'table' AND name IN ('trials', 'phases');
PRAGMA writable_schema = RESET;

ALTER TABLE trials ADD COLUMN digest BLOB;
ALTER TABLE trials ADD COLUMN metrics_digest BLOB;
ALTER TABLE trials ADD COLUMN kernel_log TEXT CHECK (kernel_log IS NULL OR json_valid(kernel_log));
ALTER TABLE phases ADD COLUMN disturbances TEXT
    CHECK (disturbances IS NULL OR json_valid(disturbances));
ALTER TABLE runs ADD COLUMN deleted_unix_s INTEGER;
ALTER TABLE runs ADD COLUMN plan_digest BLOB;
ALTER TABLE runs ADD COLUMN digest BLOB;
ALTER TABLE runs ADD COLUMN trials_check INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET trials_check = 3 * trials_done + 5 * trials_failed + 7 * trials_beyond;
CREATE INDEX trials_without_digest ON trials (key) WHERE digest IS NULL;
CREATE INDEX runs_without_digest ON runs (key) WHERE digest IS NULL;

DROP TRIGGER trial_added;
CREATE TRIGGER trial_added AFTER INSERT ON trials BEGIN
    UPDATE runs SET trials_done = trials_done + (new.outcome = 'done'),
                    trials_failed = trials_failed + (new.outcome = 'failed'),
                    trials_beyond = trials_beyond + (new.repeat >= repeats),
                    trials_check = trials_check + 3 * (new.outcome = 'done')
                        + 5 * (new.outcome = 'failed') + 7 * (new.repeat >= repeats)
    WHERE key = new.run;
END;
DROP TRIGGER trial_removed;
CREATE TRIGGER trial_removed AFTER DELETE ON trials BEGIN
    UPDATE runs SET trials_done = trials_done - (old.outcome = 'done'),
                    trials_failed = trials_failed - (old.outcome = 'failed'),
                    trials_beyond = trials_beyond - (old.repeat >= repeats),
                    trials_check = trials_check - 3 * (old.outcome = 'done')
                        - 5 * (old.outcome = 'failed') - 7 * (old.repeat >= repeats)
    WHERE key = old.run;
END;
DROP TRIGGER repeats_changed;
CREATE TRIGGER repeats_changed AFTER UPDATE OF repeats ON runs BEGIN
    UPDATE runs SET trials_check = trials_check - 7 * trials_beyond
                        + 7 * (SELECT count(*) FROM trials
                               WHERE run = new.key AND repeat >= new.repeats),
                    trials_beyond =
                        (SELECT count(*) FROM trials WHERE run = new.key AND repeat >= new.repeats)
    WHERE key = new.key;
END;

-- The name of a run names files, too. A store of an earlier version may have others.
CREATE TRIGGER run_named BEFORE INSERT ON runs
    WHEN new.id GLOB '*[^a-z0-9-]*' OR length(new.id) NOT BETWEEN 1 AND 128
BEGIN
    SELECT RAISE(ABORT, 'a run is named by at most 128 lower-case letters, digits and hyphens');
END;

CREATE TABLE totals (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    runs  INTEGER NOT NULL
) STRICT;
INSERT INTO totals VALUES (1, (SELECT count(*) FROM runs));
CREATE TRIGGER run_added AFTER INSERT ON runs WHEN new.deleted_unix_s IS NULL BEGIN
    UPDATE totals SET runs = runs + 1;
END;
CREATE TRIGGER run_removed AFTER DELETE ON runs WHEN old.deleted_unix_s IS NULL BEGIN
    UPDATE totals SET runs = runs - 1;
END;
CREATE TRIGGER run_deleted AFTER UPDATE OF deleted_unix_s ON runs BEGIN
    UPDATE totals SET runs = runs + (new.deleted_unix_s IS NULL) - (old.deleted_unix_s IS NULL);
END;

-- Lists and histories are of the runs that are not deleted.
DROP INDEX runs_by_start;
CREATE INDEX runs_by_start ON runs (started_unix_s, id, study, subjects)
    WHERE deleted_unix_s IS NULL;
DROP INDEX runs_by_plan;
CREATE INDEX runs_by_plan ON runs (plan_hash, started_unix_s, id) WHERE deleted_unix_s IS NULL;

DROP VIEW results;
DROP VIEW failures;
DROP VIEW trial_dimensions;
CREATE VIEW trial_dimensions AS
    SELECT trials.key AS trial, runs.id AS run, runs.study, trials.subject, trials.cell,
           trials.repeat, trials.position, trials.outcome AS trial_outcome, trials.started_unix_s,
           runs.venue, runs.size_bytes, runs.engine, runs.cold, runs.seed, runs.plan_hash,
           runs.fslab, runs.kernel, runs.host
    FROM runs JOIN trials ON trials.run = runs.key
    WHERE runs.deleted_unix_s IS NULL;
CREATE VIEW results AS
    SELECT trial_dimensions.*, phases.name AS phase, phases.workload, phases.kind, phases.cache,
           phases.parameters, phases.mount, phases.iteration, metrics.name AS metric,
           phase_metrics.value, metrics.unit, metrics.better
    FROM trial_dimensions
    JOIN phases ON phases.trial = trial_dimensions.trial
    JOIN phase_metrics ON phase_metrics.phase = phases.key
    JOIN metrics ON metrics.key = phase_metrics.metric
    UNION ALL
    SELECT trial_dimensions.*, NULL, NULL, NULL, NULL, NULL, NULL, NULL, metrics.name,
           trial_metrics.value, metrics.unit, metrics.better
    FROM trial_dimensions
    JOIN trial_metrics ON trial_metrics.trial = trial_dimensions.trial
    JOIN metrics ON metrics.key = trial_metrics.metric;
CREATE VIEW failures AS
    SELECT runs.id AS run, runs.study, trials.subject, NULL AS phase, trials.cell, trials.repeat,
           NULL AS mount, NULL AS iteration, trials.outcome, trials.failure_kind AS kind,
           trials.failure_message AS reason, json_extract(trials.failure, '$.hint') AS hint
    FROM runs JOIN trials ON trials.run = runs.key
    WHERE trials.outcome = 'failed' AND runs.deleted_unix_s IS NULL
    UNION ALL
    SELECT runs.id, runs.study, trials.subject, phases.name, trials.cell, trials.repeat,
           phases.mount, phases.iteration, phases.outcome, phases.failure_kind,
           coalesce(phases.failure_message, phases.skip_reason),
           json_extract(phases.failure, '$.hint')
    FROM runs JOIN trials ON trials.run = runs.key JOIN phases ON phases.trial = trials.key
    WHERE phases.outcome <> 'done' AND runs.deleted_unix_s IS NULL;
