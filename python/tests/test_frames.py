"""Frames of pandas, of polars, and rows."""

from __future__ import annotations

import pytest

import fslab
from fslab import _frames


def test_pandas_is_first_with_types_that_know_missing_values(store):
    pandas = pytest.importorskip("pandas")
    phases = store.phases()
    assert isinstance(phases, pandas.DataFrame)
    assert str(phases["memory_bytes"].dtype) == "Int64" and phases["memory_bytes"].isna().all()
    assert phases["value"].dtype == "float64"
    assert str(phases["started"].dt.tz) == "UTC"
    assert phases.attrs["units"]["throughput"] == "B/s"
    assert len(phases) == len(store.phases(as_="rows"))
    wide = store.phases(wide=True)
    assert wide["throughput"].dtype == "float64"


def test_polars_is_asked_for(store):
    polars = pytest.importorskip("polars")
    for frame in (
        store.phases(as_="polars"),
        store.trials(wide=True, as_="polars"),
        store.runs(as_="polars"),
        store.metrics(as_="polars"),
        store.histogram(as_="polars"),
        store.compare("last", "last", as_="polars"),
    ):
        assert isinstance(frame, polars.DataFrame) and len(frame) > 0
    assert store.phases(as_="polars")["value"].dtype == polars.Float64


def test_every_frame_has_the_same_rows(store):
    pandas = pytest.importorskip("pandas")
    for of in (store.runs, store.metrics, store.histogram):
        rows = of(as_="rows")
        frame = of(as_="pandas")
        assert list(frame.columns) == list(rows[0]) and len(frame) == len(rows)
        cells = frame.astype(object).where(frame.notna(), None).to_dict("records")
        assert [row[name] for row in cells for name in ("run", "metric") if name in row] == [
            row[name] for row in rows for name in ("run", "metric") if name in row
        ]
    assert pandas.isna(store.runs(as_="pandas")["repeats_max"][0])


def test_without_a_library_there_are_rows(store, monkeypatch):
    monkeypatch.setattr(_frames, "_library", lambda name: None)
    rows = store.phases()
    assert isinstance(rows, list) and isinstance(rows[0], dict)
    with pytest.raises(fslab.FslabError, match=r"pandas is not installed\nhint: pip install"):
        store.phases(as_="pandas")


def test_an_unknown_frame_is_refused(store):
    with pytest.raises(fslab.FslabError, match="use one of pandas, polars, rows"):
        store.phases(as_="arrow")


def test_an_empty_selection_keeps_its_columns(store):
    assert store.histogram(phase="none", as_="rows") == []
    pytest.importorskip("pandas")
    assert "highest_ns" in store.histogram(phase="none").columns
