"""Comparisons: every number is the one of `fslab diff`."""

from __future__ import annotations

import json

import pytest

import fslab


def pair_of(store) -> dict[str, str]:
    [run] = store.runs(as_="rows")
    one, two = run["subjects"]
    return {one: two}


def test_intervals_are_those_of_fslab_diff(store, call):
    pair = pair_of(store)
    [(one, two)] = pair.items()
    options = ["--store", str(store.path), "--json", "--pair", f"{one}={two}"]
    expected = json.loads(call("diff", *options, "last", "last"))
    found = store.compare("last", pair=pair, as_="rows")
    assert len(found) == len(expected["contrasts"]) > 5
    for row, contrast in zip(found, expected["contrasts"]):
        for name in ("phase", "metric", "unit", "better", "speed", "p", "p_corrected", "verdict"):
            assert row[name] == contrast[name]
        interval = contrast["speed_interval"] or [None, None]
        assert [row["speed_low"], row["speed_high"]] == interval
        assert row["base_values"] == contrast["base"]["values"]
        assert row["new_geometric_mean"] == contrast["new"]["geometric_mean"]
    assert store.compare("last", pair=pair, as_="json") == expected
    assert store.compare("last", pair={one: [two]}, as_="json") == expected


def test_a_metric_a_tolerance_and_two_runs_are_passed_on(store, call):
    options = ["--store", str(store.path), "--json", "--metric", "elapsed_ns", "--tolerance", "1%"]
    run = store.runs(as_="rows")[0]["run"]
    expected = json.loads(call("diff", *options, run, "last"))
    document = store.compare(run, "last", metric="elapsed_ns", tolerance="1%", as_="json")
    assert document == expected
    assert {row["metric"] for row in document["contrasts"]} == {"elapsed_ns"}


def test_what_is_not_compared_is_a_warning(store):
    with pytest.warns(fslab.FslabWarning, match="not measured: inline_read_gain"):
        store.compare("last", "last", metric=["elapsed_ns", "inline_read_gain"], as_="rows")


def test_a_refusal_is_the_programs_with_its_exit_code(store):
    with pytest.raises(fslab.ProgramError, match="no-such-run") as refused:
        store.compare("no-such-run", "last")
    assert refused.value.exit_code == 2
