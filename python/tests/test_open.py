"""What is opened, and that a file from anyone does no harm."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from conftest import OUTPUTS, ROOT, STORES

import fslab


def test_an_exported_run_and_the_output_of_another_tool_are_opened(store, tmp_path):
    file = tmp_path / "run.json"
    store.export("last", file, "json")
    with fslab.open(file) as exported:
        assert exported.phases(as_="rows") == store.phases(as_="rows")
        temporary = exported.path
    assert not temporary.exists() and store.path.exists()
    with fslab.open(OUTPUTS / "fio-3.33-plus.json", subject="ext4") as imported:
        rows = imported.phases(metric="throughput", as_="rows")
    assert {row["subject"] for row in rows} == {"ext4"}
    assert {row["venue"] for row in rows} == {"imported"}
    assert {(row["seed"], row["size_bytes"], row["disk"]) for row in rows} == {(None,) * 3}


def test_several_files_are_repeats_of_one_run_and_remarks_are_warnings(tmp_path):
    file = OUTPUTS / "fio-3.33-plus.json"
    copy = shutil.copy(file, tmp_path / "copy.json")
    with pytest.warns(fslab.FslabWarning, match="same"):
        imported = fslab.open([file, copy], subject="ext4")
    assert len(imported.runs(as_="rows")) == 1


def test_a_store_is_not_written_to(store):
    before = store.path.read_bytes()
    store.phases(as_="rows")
    store.compare("last", "last", as_="rows")
    assert store.path.read_bytes() == before


def test_what_is_no_file_and_what_has_no_figures_is_refused(tmp_path):
    with pytest.raises(fslab.FslabError, match="there is no file"):
        fslab.open(tmp_path / "gone.db")
    with pytest.raises(fslab.FslabError, match="there is no file"):
        fslab.open(tmp_path)
    with pytest.raises(fslab.FslabError, match="no file to open"):
        fslab.open([])
    with pytest.raises(fslab.FslabError, match="a bundle has a study, and no figures"):
        fslab.open(ROOT / "tests" / "fixtures" / "bundles" / "v1.bundle")
    with pytest.raises(fslab.FslabError, match="a store has its subjects"):
        fslab.open(STORES / "v8.sqlite", subject="ext4")
    text = tmp_path / "text"
    text.write_text("not a run\n")
    with pytest.raises(fslab.ProgramError, match="hint: known formats"):
        fslab.open(text)


def test_a_store_with_a_trigger_or_a_view_of_its_own_is_refused(tmp_path):
    for statement in (
        "CREATE VIEW mine AS SELECT load_extension('x')",
        "CREATE TRIGGER mine AFTER INSERT ON runs BEGIN SELECT 1; END",
    ):
        path = Path(shutil.copy(STORES / "v8.sqlite", tmp_path / "store.db"))
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        with pytest.raises(fslab.ProgramError, match="mine"):
            fslab.open(path).phases()


def test_a_damaged_store_is_an_error(tmp_path):
    path = Path(shutil.copy(STORES / "v8.sqlite", tmp_path / "store.db"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE phases SET bytes = bytes + 1")
    with pytest.raises(fslab.ProgramError, match="damaged"):
        fslab.open(path).phases()


@pytest.mark.parametrize("run", ["--purge", "-o", "$(touch harm)", "a;b", "../x", "=1+1"])
def test_the_name_of_a_run_is_never_an_option_or_a_command(store, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fslab.ProgramError) as refused:
        store.phases(run)
    assert refused.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_missing_program_is_named_with_a_hint(store, monkeypatch, tmp_path):
    monkeypatch.setenv("FSLAB", str(tmp_path / "gone"))
    with pytest.raises(fslab.ProgramNotFound, match="environment variable FSLAB names .*gone"):
        fslab.open(store.path)
    monkeypatch.delenv("FSLAB")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(fslab.ProgramNotFound, match="in PATH\nhint: install fslab"):
        fslab.open(store.path)
    with pytest.raises(fslab.ProgramNotFound, match="argument program"):
        fslab.open(store.path, program="gone")


def test_an_older_program_is_named_as_the_cause(store, tmp_path):
    older = tmp_path / "fslab"
    older.write_text("#!/bin/sh\necho run,subject,phase,metric,value,unit\n")
    older.chmod(0o755)
    with pytest.raises(fslab.FslabError, match="no column better.*\nhint: .*same version"):
        fslab.open(store.path, program=older).phases("last")


def test_the_code_evaluates_nothing_that_it_reads():
    for source in (ROOT / "python" / "src").rglob("*.py"):
        text = source.read_text()
        for word in ("eval(", "exec(", "pickle", "shell=True", "__import__", "yaml"):
            assert word not in text, f"{source.name}: {word}"
