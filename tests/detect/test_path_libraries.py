"""The cuDNN that LD_LIBRARY_PATH leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import libraries
from gpuassist.model.driver import Library
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.fakes import link, put, world_under


def _found(root: Path, value: str) -> tuple[Library, ...]:
    terminal = Known(Terminal("/bin/bash", (Variable("LD_LIBRARY_PATH", value),), ()), "a test")
    fact = libraries.cudnn_on_path(world_under(root), terminal)
    assert isinstance(fact, Known)
    return fact.value


def test_name_of_the_file_behind_tells_the_version(tmp_path: Path) -> None:
    put(tmp_path, "/opt/cudnn/lib/libcudnn.so.9.1.0")
    link(tmp_path, "/opt/cudnn/lib/libcudnn.so.9", "libcudnn.so.9.1.0")
    version = Known(Version.parse("9.1.0"), "/opt/cudnn/lib/libcudnn.so.9.1.0")
    assert _found(tmp_path, "/gone:/opt/cudnn/lib/:/opt/cudnn/lib") == (Library("/opt/cudnn/lib/libcudnn.so.9", version),)


def test_file_without_a_version_in_its_name_leaves_it_unknown(tmp_path: Path) -> None:
    put(tmp_path, "/opt/lib/libcudnn.so.8")
    (found,) = _found(tmp_path, "/opt/lib")
    assert isinstance(found.version, Unknown)
    assert "no full version" in ENGLISH(found.version.reason)


@pytest.mark.parametrize("name", ["libcudnn_cnn.so.9", "libcudnn.so", "libcudnn.so.9.1.0", "libcudart.so.12"])
def test_other_files_do_not_count(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"/opt/lib/{name}")
    assert _found(tmp_path, "/opt/lib:relative:") == ()


def test_unknown_terminal_leaves_it_unknown(tmp_path: Path) -> None:
    unknown = Unknown(text("no terminal"))
    assert libraries.cudnn_on_path(world_under(tmp_path), unknown) == unknown
