-- The store, version 2: simulated disks in virtual time.
--
-- Windows are on the CLOCK_MONOTONIC of the trial's system. `insight` and `settle_insight` (JSON)
-- are what the simulated disk did in them, `trials.insight` what it did in the whole trial. The host
-- columns are what the phase cost the host, processor and real time. All are NULL where time is
-- real.

ALTER TABLE phases ADD COLUMN window_begin_ns INTEGER;
ALTER TABLE phases ADD COLUMN window_end_ns INTEGER
    CHECK ((window_begin_ns IS NULL) = (window_end_ns IS NULL));
ALTER TABLE phases ADD COLUMN insight TEXT CHECK (json_valid(insight));
ALTER TABLE phases ADD COLUMN settle_window_begin_ns INTEGER;
ALTER TABLE phases ADD COLUMN settle_window_end_ns INTEGER
    CHECK ((settle_window_begin_ns IS NULL) = (settle_window_end_ns IS NULL));
ALTER TABLE phases ADD COLUMN settle_insight TEXT CHECK (json_valid(settle_insight));
ALTER TABLE phases ADD COLUMN host_cpu_ns INTEGER;
ALTER TABLE phases ADD COLUMN host_real_ns INTEGER
    CHECK ((host_cpu_ns IS NULL) = (host_real_ns IS NULL));
ALTER TABLE trials ADD COLUMN insight TEXT CHECK (json_valid(insight));
