"""fish's own list of universal variables, as fish 3 writes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.detect.startup.fish_universal import UniversalVariable, read

WRITTEN = """# This file contains fish universal variable definitions.
# VERSION: 3.0
SETUVAR --export CUDA_HOME:/opt/\\u00e9
SETUVAR --path LD_LIBRARY_PATH:/q\\x1e/r
SETUVAR fish_user_paths:/home/you/\\x2elocal/bin\\x1e/a\\x20b\\x1e/c\\x3ad
SETUVAR fish_greeting:
SETUVAR __fish_initialized:3400
"""


def test_reads_the_variables_that_matter() -> None:
    cuda, loader, paths = read(WRITTEN)
    assert (cuda.variable, cuda.elements, cuda.exported) == ("CUDA_HOME", ("/opt/é",), True)
    assert (loader.variable, loader.elements, loader.exported) == ("LD_LIBRARY_PATH", ("/q", "/r"), False)
    assert (paths.variable, paths.elements, paths.exported) == ("PATH", ("/home/you/.local/bin", "/a b", "/c:d"), True)
    assert (paths.name, paths.line) == ("fish_user_paths", 5)


@pytest.mark.parametrize("row", ["", "# SETUVAR CUDA_HOME:/c", "SETUVAR", "SETUVAR CUDA_HOME", "SET CUDA_HOME:/c", "SETUVAR x:/c"])
def test_other_lines_say_nothing(row: str) -> None:
    assert read(row + "\n") == ()


@pytest.mark.parametrize(
    ("written", "element"),
    [("/a\\x2db", "/a-b"), ("/\\U0001F600", "/😀"), ("/a\\\\b", "/a\\b"), ("/\\ud800", "/\ufffd"), ("/\\UFFFFFFFF", "/\ufffd")],
)
def test_reads_escaped_characters(written: str, element: str) -> None:
    (found,) = read(f"SETUVAR CUDA_HOME:{written}\n")
    assert found.elements == (element,)


@pytest.mark.needs("fish")
def test_reads_what_a_real_fish_writes(tmp_path: Path) -> None:
    lines = "set -U fish_user_paths /a.b '/c d'; set -Ux CUDA_HOME /opt/cuda-12.4"
    around = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    subprocess.run(["fish", "-c", lines], env=around, check=True, timeout=100)
    found = {one.name: one.elements for one in read((tmp_path / "fish" / "fish_variables").read_text())}
    assert found == {"fish_user_paths": ("/a.b", "/c d"), "CUDA_HOME": ("/opt/cuda-12.4",)}


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_reads_any_text(content: str) -> None:
    assert all(isinstance(one, UniversalVariable) for one in read(f"SETUVAR PATH:{content}"))
