-- The store, version 6: repeats in virtual time are perturbed.
--
-- `trials.perturbation` is in what the trial's guest differs from that of another repeat, as JSON;
-- NULL where it does in nothing. Trials of earlier versions have none.

ALTER TABLE trials ADD COLUMN perturbation TEXT
    CHECK (perturbation IS NULL OR json_valid(perturbation));
