-- The store, version 7: what is measured of a phase may grow without a new version.
--
-- `phases.more` holds, as a JSON object, the fields of a phase's record that have no column; NULL
-- where there is none.

ALTER TABLE phases ADD COLUMN more TEXT CHECK (more IS NULL OR json_valid(more));
