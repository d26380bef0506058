"""Figures, units, conditions and histograms are the program's."""

from __future__ import annotations

import csv
import io
import json
import os
from datetime import datetime, timezone

import pytest

import fslab


def test_each_figure_stands_with_its_unit_direction_and_conditions(store):
    rows = store.phases(metric="throughput", as_="rows")
    row = next(row for row in rows if row["phase"] == "write")
    assert (row["unit"], row["better"], row["headline"]) == ("B/s", "higher", "throughput")
    assert row["value"] > 0
    assert row["venue"] == "dir"
    assert os.path.isdir(row["disk"])
    assert row["scale"] == "1/100"
    assert row["kernel"] == row["host_kernel"]
    assert row["lab"] is None and row["memory_bytes"] is None and row["mkfs_command"] is None
    age = datetime.now(timezone.utc) - row["started"]
    assert 0 <= age.total_seconds() < 3600


def test_a_trial_of_a_formatted_file_system_has_its_commands(synthetic):
    row = synthetic.phases(as_="rows")[0]
    assert row["mkfs_command"] == "mkfs DEVICE"
    assert row["mount_command"] == "mount DEVICE MOUNTPOINT"
    assert row["disk"] == "/var/tmp"
    assert row["scale"] == "1/20"
    assert row["started"] == datetime.fromtimestamp(1_795_000_000, timezone.utc)


def test_every_value_is_the_one_that_the_program_exports(store, call):
    options = ["--store", str(store.path), "--format", "csv", "--verbatim-cells"]
    exported = list(csv.DictReader(io.StringIO(call("export", *options, "last"))))
    rows = store.phases(as_="rows") + store.trials(as_="rows")
    assert len(rows) == len(exported)
    key = ("subject", "repeat", "phase", "metric")
    values = {tuple(str(row[name] or "") for name in key): row["value"] for row in rows}
    for line in exported:
        value = values[tuple("" if line[name] == "0" else line[name] for name in key)]
        assert value == (float(line["value"]) if line["value"] else None)


def test_what_was_not_measured_is_missing_and_never_zero(synthetic):
    rows = synthetic.phases(as_="rows")
    assert any(row["value"] is None for row in rows)
    failed = [row for row in rows if row["outcome"] != "done"]
    assert failed and all(row["value"] is None for row in failed)


def test_the_headline_of_a_phase_is_one_of_its_metrics(store):
    everything = store.phases(as_="rows")
    assert {row["headline"] for row in everything} <= {row["metric"] for row in everything}
    headlines = store.phases(metric="headline", as_="rows")
    phases = {(row["subject"], row["repeat"], row["phase"]) for row in everything}
    assert len(headlines) == len(phases)


def test_a_wide_row_has_every_metric_of_a_phase(store):
    long, wide = store.phases(as_="rows"), store.phases(wide=True, as_="rows")
    assert len(wide) == len({(row["cell"], row["repeat"], row["phase"]) for row in long})
    for row in long:
        [match] = [
            other
            for other in wide
            if all(other[name] == row[name] for name in ("cell", "repeat", "phase"))
        ]
        assert match[row["metric"]] == row["value"]
        assert "metric" not in match


def test_units_and_directions_come_from_the_program(store):
    metrics = {row["metric"]: row for row in store.metrics(as_="rows")}
    assert metrics["latency_ns_p99"]["unit"] == "ns"
    assert metrics["latency_ns_p99"]["better"] == "lower"
    assert metrics["bytes"]["better"] == "neither"
    assert "mkfs_ns" in metrics


def test_an_unknown_metric_is_named(store):
    with pytest.raises(fslab.FslabError, match="no metric thruput\nhint: metrics"):
        store.phases(metric="thruput")


def test_runs_are_listed_with_their_start(store):
    [run] = store.runs(as_="rows")
    assert run["study"] == "quick"
    assert run["trials_done"] == 6
    assert run["started"].tzinfo is timezone.utc
    assert run["damaged"] is None


def test_a_histogram_has_the_percentiles_of_fslab(store):
    figures = store.phases(wide=True, as_="rows")
    # Reading has one kind of operation, so that its histogram is the phase's.
    row = next(row for row in figures if row["phase"] == "read" and row["latency_ns_max"])
    buckets = [
        bucket
        for bucket in store.histogram(subject=row["subject"], phase="read", as_="rows")
        if bucket["repeat"] == row["repeat"]
    ]
    assert {bucket["operation"] for bucket in buckets} == {"read"}
    assert sum(bucket["operations"] for bucket in buckets) == row["operations"]
    assert buckets[-1]["highest_ns"] == row["latency_ns_max"]
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        left = row["operations"] * share
        for bucket in buckets:
            left -= bucket["operations"]
            if left <= 1e-9:
                break
        assert bucket["highest_ns"] == row[f"latency_ns_{name}"]


def test_histograms_are_selected_by_subject_phase_and_operation(synthetic):
    every = synthetic.histogram(as_="rows")
    assert {row["operation"] for row in every} >= {"write", "fsync"}
    only = synthetic.histogram(operation="fsync", phase="write", as_="rows")
    assert only == [row for row in every if row["operation"] == "fsync"]
    assert synthetic.histogram(subject="jfs", as_="rows") == []


def test_a_run_is_exported_for_other_programs(store, tmp_path):
    file = tmp_path / "run.json"
    store.export("last", file, "json")
    assert json.loads(file.read_text())["run"] == store.runs(as_="rows")[0]["run"]
    table = tmp_path / "run.parquet"
    store.export("last", table)
    assert table.read_bytes().startswith(b"PAR1")
