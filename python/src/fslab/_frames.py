"""Tables as data frames of pandas or polars, or as lists of dictionaries."""

from __future__ import annotations

import importlib
from typing import Any, Union

from ._program import FslabError

Rows = list[dict[str, Any]]
# A data frame of pandas or polars, or rows: neither library is needed to read this.
Frame = Union[Any, Rows]

# What a column holds. In each, None is "not measured", "not known" or "does not apply".
TEXT = "text"
INTEGER = "integer"
NUMBER = "number"
TRUTH = "truth"
TIME = "time"
TEXTS = "texts"
NUMBERS = "numbers"
# Names of columns, in their order, with what they hold.
Columns = dict[str, str]

KINDS = ("pandas", "polars", "rows")


def frame(
    columns: Columns,
    rows: Rows,
    as_: str | None = None,
    attributes: dict[str, Any] | None = None,
) -> Frame:
    """Rows as the frame that ``as_`` names; None: pandas if installed, else polars, else rows.

    A frame of pandas has ``attributes`` as its ``attrs``.
    """
    if as_ not in (None, *KINDS):
        raise FslabError(f"as_ is {as_!r}; use one of {', '.join(KINDS)}")
    content = {name: [row.get(name) for row in rows] for name in columns}
    for kind in KINDS if as_ is None else (as_,):
        if kind == "rows":
            return [dict(zip(content, values)) for values in zip(*content.values())]
        library = _library(kind)
        if library is not None and kind == "pandas":
            return _pandas(library, columns, content, attributes or {})
        if library is not None:
            return _polars(library, columns, content)
    raise FslabError(f"{as_} is not installed\nhint: pip install 'fslab[{as_}]', or as_=\"rows\"")


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _pandas(
    pandas: Any, columns: Columns, content: dict[str, list[Any]], attributes: dict[str, Any]
) -> Any:
    # "Int64" and "boolean" have missing values, without which integers would become floats.
    types = {INTEGER: "Int64", NUMBER: "float64", TRUTH: "boolean"}
    series = {}
    for name, kind in columns.items():
        made = pandas.Series(content[name], dtype=types.get(kind, "object"))
        series[name] = pandas.to_datetime(made, utc=True) if kind == TIME else made
    table = pandas.DataFrame(series)
    table.attrs.update(attributes)
    return table


def _polars(polars: Any, columns: Columns, content: dict[str, list[Any]]) -> Any:
    types = {
        TEXT: polars.String,
        INTEGER: polars.Int64,
        NUMBER: polars.Float64,
        TRUTH: polars.Boolean,
        TIME: polars.Datetime("us", "UTC"),
        TEXTS: polars.List(polars.String),
        NUMBERS: polars.List(polars.Float64),
    }
    return polars.DataFrame(content, schema={name: types[kind] for name, kind in columns.items()})
