"""The program under test, stores of it, and an environment without the user's configuration."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import fslab

ROOT = Path(__file__).resolve().parents[2]
STORES = ROOT / "tests" / "fixtures" / "stores"
OUTPUTS = ROOT / "tests" / "fixtures" / "exchange"


@pytest.fixture(scope="session", autouse=True)
def program(tmp_path_factory) -> str:
    """The program that FSLAB names, or the one in PATH, with nobody's defaults."""
    for name in [name for name in os.environ if name.startswith("FSLAB_")]:
        del os.environ[name]
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    found = shutil.which(os.environ.get("FSLAB") or "fslab")
    if found is None:
        pytest.skip("there is no program fslab")
    os.environ["FSLAB"] = found
    return found


@pytest.fixture
def call(program):
    """Runs the program and returns its standard output."""

    def run(*arguments: str) -> str:
        return subprocess.run(
            [program, *arguments], check=True, capture_output=True, text=True
        ).stdout

    return run


@pytest.fixture
def synthetic(tmp_path) -> fslab.Store:
    """A store with a value in every field; fslab's own fixture of the newest version."""
    newest = max(STORES.glob("v*.sqlite"), key=lambda path: int(path.stem[1:]))
    return fslab.open(shutil.copy(newest, tmp_path / "store.db"))


@pytest.fixture(scope="session")
def measured(program, tmp_path_factory) -> Path:
    """A store with a run of two directories that fslab has just measured."""
    desk = tmp_path_factory.mktemp("measured")
    places = [desk / "one", desk / "two"]
    for place in places:
        place.mkdir()
    store = desk / "fslab.db"
    command = [program, "compare", "--study", "quick", "--scale", "1/100", "--repeats", "3"]
    command += [word for place in places for word in ("--dir", str(place))]
    command += ["--store", str(store), "--out", str(desk), "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    return store


@pytest.fixture
def store(measured) -> fslab.Store:
    return fslab.open(measured)
