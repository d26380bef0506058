"""The package agrees with the workspace that it belongs to."""

from __future__ import annotations

import re

from conftest import ROOT

import fslab


def field(file: str, name: str, quote: str = '"') -> str:
    text = (ROOT / file).read_text()
    found = re.search(rf"^{name}(?: =|:) {quote}?([^{quote}\n]+){quote}?$", text, re.MULTILINE)
    assert found, f"{file} has no {name}"
    return found[1]


def test_the_version_is_the_workspaces():
    version = field("Cargo.toml", "version")
    assert field("python/pyproject.toml", "version") == version
    assert fslab.__version__ == version
    assert field("CITATION.cff", "version") == version


def test_the_licence_is_the_workspaces():
    assert field("python/pyproject.toml", "license") == field("Cargo.toml", "license")
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (ROOT / "python" / name).read_bytes() == (ROOT / name).read_bytes()


def test_everything_that_is_named_is_there():
    for name in fslab.__all__:
        assert getattr(fslab, name).__doc__ or name == "Frame"
