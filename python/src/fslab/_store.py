"""A store of fslab: its runs, figures, histograms and comparisons as data frames."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Union

from . import _export
from ._documents import BUCKETS, CONTRASTS, RUNS, buckets, contrast, left_out, listed
from ._frames import TEXT, Columns, Frame, Rows, frame
from ._program import FslabError, FslabWarning, Program, StrPath

_SQLITE = b"SQLite format 3\0"
# The first file of a bundle's tar.
_BUNDLE = b"bundle.json\0"

Names = Union[str, Sequence[str]]


def open_store(
    path: StrPath | Sequence[StrPath],
    *,
    subject: Names | None = None,
    program: StrPath | None = None,
) -> Store:
    """Opens a store, or files that ``fslab import`` reads: exported runs, outputs of other tools.

    A store is read in place and never written to. Files are imported into a temporary store,
    which ``close()`` or the end of the program removes; several files are repeats or parts of one
    run. ``subject`` names what they measured, as the option ``--subject`` of ``fslab import``.

    ``program`` is the program fslab; default: the one that the environment variable ``FSLAB``
    names, else ``fslab`` in ``PATH``.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise FslabError("there is no file to open")
    for each in paths:
        if not Path(each).is_file():
            raise FslabError(f"there is no file {os.fspath(each)}")
        if _begins(each, _BUNDLE):
            raise FslabError(
                f"{os.fspath(each)}: a bundle has a study, and no figures\n"
                "hint: `fslab run FILE.bundle` measures; open its store, or its file of --results"
            )
    found = Program(program)
    if len(paths) == 1 and _begins(paths[0], _SQLITE):
        if subject is not None:
            raise FslabError("a store has its subjects: subject is for outputs of other tools")
        return Store(Path(paths[0]), found)
    return _imported([os.fspath(each) for each in paths], _several(subject), found)


def _begins(path: StrPath, start: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(start)) == start


def _imported(files: list[str], subjects: list[str], program: Program) -> Store:
    directory = tempfile.mkdtemp(prefix="fslab-")
    file = Path(directory, "fslab.db")
    try:
        options = [f"--store={file}", *(f"--subject={name}" for name in subjects)]
        program.output("import", options, files)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return Store(file, program, directory)


def _several(names: Names | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


class Store:
    """An open store; ``fslab.open`` makes one.

    In every method, ``run`` is a name, a unique prefix of one, ``"last"``, ``"last~1"``, or a list
    of those; None is every run. ``as_`` is ``"pandas"``, ``"polars"`` or ``"rows"`` (a list of
    dictionaries); None is the first of them that is installed.
    """

    def __init__(self, path: Path, program: Program, directory: str | None = None) -> None:
        self.path = path
        """The SQLite file."""
        self._program = program
        self._finalizer = weakref.finalize(self, _remove, directory)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"fslab.open({str(self.path)!r})"

    def close(self) -> None:
        """Removes the temporary store of imported files; a store that was opened stays."""
        self._finalizer()

    def runs(self, *, as_: str | None = None) -> Frame:
        """A row for each run, the newest first: name, study, venue, trials, start.

        ``started`` is a time with the zone UTC. Source: ``fslab list --json``.
        """
        return frame(RUNS, [listed(row) for row in self._listed()], as_)

    def phases(
        self,
        run: Names | None = None,
        *,
        metric: Names | None = None,
        wide: bool = False,
        as_: str | None = None,
    ) -> Frame:
        """A row for each trial, round, phase and metric, with everything it was measured under.

        - ``value`` is in ``unit`` ("B/s", "op/s", "ns", "B", "1"); missing if not measured, never
          0. ``better`` is "higher", "lower" or "neither". docs/figures.md of fslab defines each
          metric with its bias.
        - ``headline`` is the metric that the phase is compared in; ``metric="headline"`` selects
          it. ``metric`` can be one name or several.
        - ``disk`` is the profile of a simulated disk, otherwise the device or the directory in
          its place; ``lab`` the digest of guest kernel and root image; ``kernel`` the kernel that
          the trial ran on, ``host_kernel`` the one around a guest; ``memory_bytes`` the memory of
          a guest; ``scale`` the share of the original's sizes, as "1/20".
        - ``mkfs_command`` and ``mount_command`` are the plan's, with DEVICE and MOUNTPOINT;
          ``started`` is the start of the trial, with the zone UTC.

        With ``wide`` a row is a trial, round and phase, and each metric is a column in its unit;
        ``metrics()``, and ``attrs["units"]`` of a frame of pandas, have the units.

        Source: ``fslab export --format csv``.
        """
        return self._figures(run, metric, wide, as_, lambda row: row["phase"] is not None)

    def trials(
        self,
        run: Names | None = None,
        *,
        metric: Names | None = None,
        wide: bool = False,
        as_: str | None = None,
    ) -> Frame:
        """The figures of trials outside their phases: durations of mkfs, mount, unmount, check.

        Columns as those of ``phases``.
        """
        return self._figures(run, metric, wide, as_, lambda row: row["phase"] is None)

    def metrics(self, run: Names | None = None, *, as_: str | None = None) -> Frame:
        """Every metric of the runs with its unit, and whether more or less of it is better."""
        _, rows = self._rows(run)
        found = [
            {"metric": name, "unit": unit, "better": better}
            for name, (unit, better) in _export.units(rows).items()
        ]
        return frame({"metric": TEXT, "unit": TEXT, "better": TEXT}, found, as_)

    def histogram(
        self,
        run: Names | None = None,
        *,
        subject: Names | None = None,
        phase: Names | None = None,
        operation: Names | None = None,
        as_: str | None = None,
    ) -> Frame:
        """The latencies: a row for each bucket of each histogram in which operations were counted.

        ``lowest_ns`` and ``highest_ns`` are the ends of a bucket in nanoseconds, equal within
        three significant digits; ``operations`` were that long. A phase has a histogram for each
        kind of operation of each trial and round. To merge histograms, add the operations of
        equal buckets; percentiles cannot be averaged. ``phases`` has fslab's percentiles.

        Source: ``fslab export --format json``.
        """
        wanted = {
            "subject": _several(subject),
            "phase": _several(phase),
            "operation": _several(operation),
        }
        rows: Rows = []
        for record in self._records(run):
            rows.extend(buckets(record, {key: names for key, names in wanted.items() if names}))
        return frame(BUCKETS, rows, as_)

    def compare(
        self,
        base: Names,
        new: Names | None = None,
        *,
        pair: Mapping[str, Names] | None = None,
        metric: Names | None = None,
        across: Names | None = None,
        map: Mapping[str, str] | None = None,  # noqa: A002  (the option's name)
        tolerance: str | None = None,
        as_: str | None = None,
    ) -> Frame:
        """What became faster or slower from ``base`` to ``new``: a row for each figure.

        ``base`` and ``new`` are runs, or several runs of one plan as a list; without ``new`` the
        runs of ``base`` are compared with themselves, for subjects that ``pair`` names:
        ``compare("last", pair={"ext4": ["xfs", "btrfs"]})`` says how fast XFS and Btrfs are
        relative to ext4.

        - ``speed`` is new over base; above 1 is better, also for metrics of which less is better.
          ``speed_low`` and ``speed_high`` are the ends of its 95 % interval, ``p_corrected`` is
          corrected over all rows, and ``verdict`` is fslab's. Missing is "not to be had", for
          example the interval of a single repeat.
        - ``base_geometric_mean`` and ``new_geometric_mean`` are in ``unit``; ``base_values`` and
          ``new_values`` have the value of each repeat.

        ``metric``, ``across``, ``map`` and ``tolerance`` are the options of ``fslab diff``.
        ``as_="json"`` returns its complete document, which ``fslab schema diff`` describes, with
        ``overall``, each subject over all its phases. What is not compared is a FslabWarning.

        Source: ``fslab diff --json``; every number is the program's.
        """
        options = [f"--store={self.path}", "--json"]
        for old, others in (pair or {}).items():
            options += [f"--pair={old}={other}" for other in _several(others)]
        options += [f"--map={theirs}={ours}" for theirs, ours in (map or {}).items()]
        options += [f"--metric={name}" for name in _several(metric)]
        if across is not None:
            options.append(f"--across={','.join(_several(across))}")
        if tolerance is not None:
            options.append(f"--tolerance={tolerance}")
        runs = [",".join(_several(side)) for side in (base, base if new is None else new)]
        document = _json(self._program.output("diff", options, runs))
        if as_ == "json":
            return document
        for remark in left_out(document):
            warnings.warn(remark, FslabWarning, stacklevel=2)
        return frame(CONTRASTS, [contrast(row) for row in document["contrasts"]], as_)

    def export(self, run: str, file: StrPath, format: str = "parquet") -> None:  # noqa: A002
        """Writes a run to a file in a format of ``fslab export``, for example for R."""
        options = [f"--store={self.path}", f"--format={format}", f"--output={os.fspath(file)}"]
        self._program.output("export", options, [run])

    def _listed(self) -> Rows:
        rows: Rows = _json(self._program.output("list", [f"--store={self.path}", "--json"]))
        return rows

    def _names(self, run: Names | None) -> list[str]:
        if run is not None:
            return _several(run)
        return [row["run"] for row in reversed(self._listed())]

    def _rows(self, run: Names | None) -> tuple[Columns, Rows]:
        options = [f"--store={self.path}", "--format=csv", "--verbatim-cells"]
        types: Columns = {}
        rows: Rows = []
        for name in self._names(run):
            types, found = _export.read(self._program.output("export", options, [name]))
            rows.extend(found)
        return types, rows

    def _figures(
        self,
        run: Names | None,
        metric: Names | None,
        wide: bool,
        as_: str | None,
        is_wanted: Callable[[dict[str, Any]], bool],
    ) -> Frame:
        types, rows = self._rows(run)
        units = _export.units(rows)
        metrics = set(_several(metric))
        unknown = sorted(metrics.difference(units, ["headline"]))
        if unknown and rows:
            names = ", ".join(unknown)
            raise FslabError(f"there is no metric {names}\nhint: metrics() lists them")

        def is_asked(row: dict[str, Any]) -> bool:
            is_headline = "headline" in metrics and row["metric"] == row["headline"]
            return not metrics or is_headline or row["metric"] in metrics

        rows = [row for row in rows if is_wanted(row) and is_asked(row)]
        if wide:
            types, rows = _export.wide(types, rows)
        shown = {name: unit for name, (unit, _) in units.items()}
        return frame(types, rows, as_, {"units": shown})

    def _records(self, run: Names | None) -> Iterator[Any]:
        options = [f"--store={self.path}", "--format=json"]
        for name in self._names(run):
            yield _json(self._program.output("export", options, [name]))


def _json(text: bytes) -> Any:
    return json.loads(text.decode("utf-8"))


def _remove(directory: str | None) -> None:
    if directory is not None:
        shutil.rmtree(directory, ignore_errors=True)
