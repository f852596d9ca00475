"""The second environment, with a real torch, that `make test` makes; and ways to doctor that torch for one test."""

from __future__ import annotations

import os
import stat
import textwrap
from pathlib import Path

import pytest

from gpuassist.verify.runner import CHILD

PLACE = Path(__file__).resolve().parent.parent / ".venv-torch" / "bin" / "python"
NO_TORCH = "NOT RUN: needs torch in .venv-torch, which `make test` installs"


def torch_file(name: str) -> Path | None:
    """A file of its torch, none where that is not installed."""
    return next(PLACE.parent.parent.glob(f"lib/python3*/site-packages/torch/{name}"), None)


def torch_python() -> str:
    """Its interpreter; skips the test where it is not there."""
    if torch_file("version.py") is None:
        pytest.skip(NO_TORCH)
    return str(PLACE)


def program(place: Path, lines: str) -> str:
    """An executable shell script that stands in for an interpreter: it is started with the child script and its arguments."""
    place.write_text(f"#!/bin/sh\n{lines}\n", "utf-8")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)


def interpreter_that_runs(folder: Path, python: str, code: str) -> str:
    """An interpreter that runs `code` instead of the child script; `sys.argv` is [child, descriptor, devices, level], and
    `say(line)` writes to the descriptor.
    """
    script = folder / "instead.py"
    head = """\
        import json, os, sys, time
        sys.argv = sys.argv[1:]
        def say(line):
            os.write(int(sys.argv[1]), line if isinstance(line, bytes) else json.dumps(line).encode() + b"\\n")
        """
    script.write_text(textwrap.dedent(head) + textwrap.dedent(code), "utf-8")
    return program(folder / "python", f'exec "{python}" -I "{script}" "$@"')


def doctored_torch(folder: Path, code: str) -> str:
    """The real torch with `code` run after its import and before the child script."""
    doctored = f"import torch\n{textwrap.dedent(code)}\nimport runpy\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    return interpreter_that_runs(folder, torch_python(), doctored)


def surroundings() -> dict[str, str]:
    """The variables of this process, with one thread for torch, so that tests beside this one are not slowed."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


__all__ = ["CHILD", "NO_TORCH", "doctored_torch", "interpreter_that_runs", "program", "surroundings", "torch_file", "torch_python"]
