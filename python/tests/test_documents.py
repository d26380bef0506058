"""The documentation shows what its code prints: the notebook, and the lines of R."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
CHAPTER = ROOT / "docs" / "notebooks.md"
# Set, the committed notebook gets the outputs of its execution.
UPDATE = "UPDATE_DOCS"


def shown(notebook) -> list[tuple[str, str]]:
    """Each code cell with the text that it shows, and the kinds of what else it shows."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts = []
            for output in cell.outputs:
                assert output.output_type != "error", output
                data = output.get("data", {"text/plain": output.get("text", "")})
                # A figure has another address each time, and other bytes with another library.
                is_figure = "image/png" in data
                texts.append("image/png" if is_figure else data["text/plain"].rstrip())
            cells.append((cell.source, "\n".join(texts)))
    return cells


def test_the_notebook_shows_what_it_prints(program, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for library in ("pandas", "matplotlib", "ipykernel"):
        pytest.importorskip(library)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python" / "src"))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    committed = nbformat.read(NOTEBOOK, as_version=4)
    executed = nbformat.from_dict(committed)
    nbclient.NotebookClient(
        executed,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
    ).execute()
    if os.environ.get(UPDATE):
        # Nothing of the machine that executed it.
        executed.metadata.pop("language_info", None)
        nbformat.write(executed, NOTEBOOK)
        committed = nbformat.read(NOTEBOOK, as_version=4)
    assert shown(executed) == shown(committed)


def test_the_notebook_names_no_place_of_one_machine():
    text = NOTEBOOK.read_text()
    assert str(ROOT) not in text
    assert not re.search(r"/(home|root|tmp|Users)/", text)


def lines_of_r() -> list[str]:
    return re.findall(r"^```r\n(.*?)^```", CHAPTER.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("lines", lines_of_r())
def test_the_lines_of_r_run(lines, store, tmp_path):
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed")
    for package in re.findall(r"(\w+)::", lines):
        has = [rscript, "-e", f"quit(status = !requireNamespace('{package}', quietly = TRUE))"]
        if subprocess.run(has, capture_output=True, check=False).returncode != 0:
            pytest.skip(f"R has no package {package}")
    store.export("last", tmp_path / "run.parquet")
    store.export("last", tmp_path / "run.csv", "csv")
    script = tmp_path / "lines.R"
    script.write_text(lines)
    done = subprocess.run(
        [rscript, "--vanilla", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "throughput" in done.stdout


def test_the_parquet_file_has_the_rows_of_phases(store, tmp_path):
    polars = pytest.importorskip("polars")
    file = tmp_path / "run.parquet"
    store.export("last", file)
    try:
        table = polars.read_parquet(file)
    except polars.exceptions.ComputeError as error:
        if "thrift" not in str(error):
            raise
        pytest.skip("this polars does not know IEEE 754 as the order of a column of Parquet")
    rows = store.phases(as_="rows")
    of_phases = table.filter(polars.col("phase") != "")
    assert of_phases["value"].to_list() == [row["value"] for row in rows]
    assert of_phases["metric"].to_list() == [row["metric"] for row in rows]
    assert table["started_unix_s"].dtype == polars.Int64
