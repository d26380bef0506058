"""Rows of the JSON documents that fslab prints: runs, contrasts, latencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from ._frames import INTEGER, NUMBER, NUMBERS, TEXT, TEXTS, TIME, TRUTH, Columns
from ._histogram import decode_histogram

Row = dict[str, Any]

RUNS: Columns = {
    "run": TEXT,
    "study": TEXT,
    "title": TEXT,
    "subjects": TEXTS,
    "venue": TEXT,
    "plan_hash": TEXT,
    "fslab": TEXT,
    "started": TIME,
    "repeats": INTEGER,
    "repeats_max": INTEGER,
    "trials_planned": INTEGER,
    "trials_done": INTEGER,
    "trials_failed": INTEGER,
    "damaged": TEXT,
}

CONTRASTS: Columns = {
    "subject": TEXT,
    "phase": TEXT,
    "metric": TEXT,
    "unit": TEXT,
    "better": TEXT,
    "base_geometric_mean": NUMBER,
    "new_geometric_mean": NUMBER,
    "base_values": NUMBERS,
    "new_values": NUMBERS,
    "base_disturbed": INTEGER,
    "new_disturbed": INTEGER,
    "base_absence": TEXT,
    "new_absence": TEXT,
    "exact": TRUTH,
    "speed": NUMBER,
    "speed_low": NUMBER,
    "speed_high": NUMBER,
    "test": TEXT,
    "p": NUMBER,
    "p_corrected": NUMBER,
    "verdict": TEXT,
}

BUCKETS: Columns = {
    "run": TEXT,
    "subject": TEXT,
    "cell": INTEGER,
    "repeat": INTEGER,
    "phase": TEXT,
    "mount": INTEGER,
    "iteration": INTEGER,
    "operation": TEXT,
    "lowest_ns": INTEGER,
    "highest_ns": INTEGER,
    "operations": INTEGER,
}


def listed(run: Row) -> Row:
    """A run of `fslab list --json`; a damaged one has only its name and the damage."""
    started = run.get("started_unix_s")
    if started is not None:
        started = datetime.fromtimestamp(started, timezone.utc)
    return {**run, "started": started}


def contrast(document: Row) -> Row:
    """A contrast of `fslab diff --json`: both sides and the ends of the interval as columns."""
    sides = {
        f"{side}_{name}": value
        for side in ("base", "new")
        for name, value in document[side].items()
    }
    low, high = document["speed_interval"] or (None, None)
    return {**document, **sides, "speed_low": low, "speed_high": high}


def left_out(document: Row) -> list[str]:
    """What a diff says that no row has."""
    remarks = [f"not compared: {it['phase']} ({it['differs']})" for it in document["not_compared"]]
    remarks += [f"only one side has {subject}" for subject in document["unpaired"]]
    remarks += [f"not measured: {metric}" for metric in document["not_measured"]]
    return remarks


def buckets(run: Row, wanted: Mapping[str, list[str]]) -> Iterator[Row]:
    """The buckets of a run's histograms, of the names in `wanted` by column."""
    for trial in run["trials"]:
        for phase in trial["phases"]:
            rounds = phase.get("round") or {}
            for latency in phase.get("latencies", []):
                of = {
                    "run": run["run"],
                    "subject": trial["subject"],
                    "cell": trial["trial"]["cell"],
                    "repeat": trial["trial"]["repeat"],
                    "phase": phase["name"],
                    "mount": rounds.get("mount"),
                    "iteration": rounds.get("iteration"),
                    "operation": latency["operation"],
                }
                if all(of[column] in names for column, names in wanted.items()):
                    for bucket in decode_histogram(latency["histogram"]):
                        yield {**of, **bucket._asdict()}
