"""Starts the program fslab: where it is found, its arguments, its errors.

No argument passes through a shell, and nothing that the program prints is evaluated.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from typing import Union

StrPath = Union[str, "os.PathLike[str]"]


class FslabError(Exception):
    """What went wrong, with a hint where one is known."""


class ProgramNotFound(FslabError):
    """There is no program fslab."""


class ProgramError(FslabError):
    """The program ended with an error; the message is its own.

    ``exit_code`` is one of those that ``fslab --help`` lists.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class FslabWarning(UserWarning):
    """What the program says about a result that it gave."""


class Program:
    """The program fslab."""

    def __init__(self, path: StrPath | None = None) -> None:
        self.path = _find(path)

    def output(self, command: str, options: Sequence[str], operands: Sequence[str] = ()) -> bytes:
        """Standard output of ``fslab COMMAND OPTIONS -- OPERANDS``.

        Raises ProgramError if the exit code is not 0. Each line of standard error is a
        FslabWarning otherwise.
        """
        arguments = [self.path, "--color=never", "--quiet", command, *options, "--", *operands]
        try:
            done = subprocess.run(
                arguments, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except (OSError, ValueError) as error:
            raise FslabError(f"cannot start {self.path}: {error}") from error
        said = done.stderr.decode("utf-8", "replace").strip()
        if done.returncode != 0:
            raise ProgramError(said or f"fslab {command} failed", done.returncode)
        for line in filter(None, said.splitlines()):
            warnings.warn(line, FslabWarning, stacklevel=4)
        return done.stdout


def _find(path: StrPath | None) -> str:
    asked = os.fspath(path) if path is not None else os.environ.get("FSLAB", "")
    if not asked:
        found = shutil.which("fslab")
        if found is not None:
            return found
        raise ProgramNotFound(
            "there is no program fslab in PATH\n"
            "hint: install fslab, or name its file in the environment variable FSLAB"
        )
    found = shutil.which(asked)
    if found is None:
        where = "the environment variable FSLAB" if path is None else "the argument program"
        raise ProgramNotFound(f"{where} names {asked}, which is no program")
    return found
