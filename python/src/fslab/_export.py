"""Reads `fslab export --format csv`: a row for each trial, round, phase and metric."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from ._frames import INTEGER, NUMBER, TEXT, TIME, Columns, Rows
from ._program import FslabError

_INTEGERS = {
    "memory_bytes",
    "size_bytes",
    "cell",
    "repeat",
    "position",
    "mount",
    "iteration",
}
_FLOATS = {"value", "sensitivity"}
# Columns of the metric; the others are those of its trial and phase.
FIGURE = ("metric", "value", "unit", "better")
_NEEDED = {"run", "subject", "phase", "kernel", "lab", "disk", "started_unix_s", *FIGURE}

Units = dict[str, tuple[str, str]]


def read(text: bytes) -> tuple[Columns, Rows]:
    """The columns with their types, and the rows; an empty cell is None.

    ``started_unix_s`` becomes ``started``, a time with the zone UTC.
    """
    reader = csv.reader(io.StringIO(text.decode("utf-8"), newline=""), strict=True)
    head = next(reader, [])
    lacking = sorted(_NEEDED.difference(head))
    if lacking:
        raise FslabError(
            f"the export of this fslab has no column {', '.join(lacking)}\n"
            "hint: the program and this package must have the same version"
        )
    names = ["started" if name == "started_unix_s" else name for name in head]
    types = {name: _type(name) for name in names}
    kinds = list(types.items())
    # Most cells repeat those of the row before.
    known: dict[tuple[str, str], Any] = {}
    rows = []
    for cells in reader:
        row = {}
        for (name, kind), cell in zip(kinds, cells):
            key = (kind, cell)
            if key not in known:
                known[key] = _value(kind, cell)
            row[name] = known[key]
        rows.append(row)
    return types, rows


def _type(name: str) -> str:
    if name in _INTEGERS:
        return INTEGER
    if name in _FLOATS:
        return NUMBER
    return TIME if name == "started" else TEXT


def _value(kind: str, cell: str) -> Any:
    if not cell:
        return None
    if kind == INTEGER:
        return int(cell)
    if kind == NUMBER:
        return float(cell)
    return cell if kind == TEXT else datetime.fromtimestamp(int(cell), timezone.utc)


def units(rows: Rows) -> Units:
    """The unit of each metric, and whether more ("higher") or less ("lower") is better."""
    return {row["metric"]: (row["unit"], row["better"]) for row in rows}


def wide(types: Columns, rows: Rows) -> tuple[Columns, Rows]:
    """A row for each trial, round and phase, and a column for each metric."""
    others = {name: kind for name, kind in types.items() if name not in FIGURE}
    columns = {**others, **{row["metric"]: NUMBER for row in rows}}
    return columns, list(_joined(others, rows))


def _joined(others: Columns, rows: Rows) -> Iterator[dict[str, Any]]:
    place: list[Any] = []
    row: dict[str, Any] = {}
    for figure in rows:
        at = [figure[name] for name in others]
        if at != place:
            if row:
                yield row
            place, row = at, {name: figure[name] for name in others}
        row[figure["metric"]] = figure["value"]
    if row:
        yield row
