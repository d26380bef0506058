-- The store, version 3: sweeps, and what only some workloads measure.
--
-- All of them JSON. `swept` is where a phase stands in a sweep: its name in the study and the value
-- of each dimension; NULL for a phase that runs once. `figures` are metrics that only its workload
-- has (they stand in `phase_metrics`, too), `lists` those that have many values.

ALTER TABLE phases ADD COLUMN swept TEXT CHECK (json_valid(swept));
ALTER TABLE phases ADD COLUMN figures TEXT CHECK (json_valid(figures));
ALTER TABLE phases ADD COLUMN lists TEXT CHECK (json_valid(lists));
