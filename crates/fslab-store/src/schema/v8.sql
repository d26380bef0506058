-- The store, version 8: what is left of a subject's disk after a power loss.
--
-- `trials.survival` is the outcome of judging its states, as JSON; NULL where that was not asked for.

ALTER TABLE trials ADD COLUMN survival TEXT CHECK (survival IS NULL OR json_valid(survival));
