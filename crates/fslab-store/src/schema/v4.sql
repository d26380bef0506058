-- The store, version 4: rounds in a trial, repeats until a cell is known, and lists of many runs.
--
-- `phases.mount` and `phases.iteration`, from 0, are the round of its trial that a phase belongs to;
-- NULL where the phases run once. `runs.repeats` is the least number of repeats of a cell;
-- `repeats_max` the most, where cells are repeated until they are known well enough, else NULL.
-- `trials_beyond` counts the trials that have a record beyond the least: those planned are the least
-- for each subject, and they. Kept by triggers, as the other counts are.

ALTER TABLE phases ADD COLUMN mount INTEGER;
ALTER TABLE phases ADD COLUMN iteration INTEGER
    CHECK ((mount IS NULL) = (iteration IS NULL));
ALTER TABLE runs ADD COLUMN repeats_max INTEGER CHECK (repeats_max >= repeats);
ALTER TABLE runs ADD COLUMN trials_beyond INTEGER NOT NULL DEFAULT 0;

UPDATE runs SET trials_beyond =
    (SELECT count(*) FROM trials WHERE run = runs.key AND repeat >= runs.repeats);

DROP TRIGGER trial_added;
CREATE TRIGGER trial_added AFTER INSERT ON trials BEGIN
    UPDATE runs SET trials_done = trials_done + (new.outcome = 'done'),
                    trials_failed = trials_failed + (new.outcome = 'failed'),
                    trials_beyond = trials_beyond + (new.repeat >= repeats)
    WHERE key = new.run;
END;
DROP TRIGGER trial_removed;
CREATE TRIGGER trial_removed AFTER DELETE ON trials BEGIN
    UPDATE runs SET trials_done = trials_done - (old.outcome = 'done'),
                    trials_failed = trials_failed - (old.outcome = 'failed'),
                    trials_beyond = trials_beyond - (old.repeat >= repeats)
    WHERE key = old.run;
END;
CREATE TRIGGER repeats_changed AFTER UPDATE OF repeats ON runs BEGIN
    UPDATE runs SET trials_beyond =
        (SELECT count(*) FROM trials WHERE run = new.key AND repeat >= new.repeats)
    WHERE key = new.key;
END;

-- A list reads the row of a run only where it shows it: with its plan, a row has many pages.
DROP INDEX runs_by_start;
CREATE INDEX runs_by_start ON runs (started_unix_s, id, study, subjects);

DROP VIEW results;
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

DROP VIEW failures;
CREATE VIEW failures AS
    SELECT runs.id AS run, runs.study, trials.subject, NULL AS phase, trials.cell, trials.repeat,
           NULL AS mount, NULL AS iteration, trials.outcome, trials.failure_kind AS kind,
           trials.failure_message AS reason, json_extract(trials.failure, '$.hint') AS hint
    FROM runs JOIN trials ON trials.run = runs.key
    WHERE trials.outcome = 'failed'
    UNION ALL
    SELECT runs.id, runs.study, trials.subject, phases.name, trials.cell, trials.repeat,
           phases.mount, phases.iteration, phases.outcome, phases.failure_kind,
           coalesce(phases.failure_message, phases.skip_reason),
           json_extract(phases.failure, '$.hint')
    FROM runs JOIN trials ON trials.run = runs.key JOIN phases ON phases.trial = trials.key
    WHERE phases.outcome <> 'done';
