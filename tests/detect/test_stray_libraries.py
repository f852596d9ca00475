"""CUDA libraries in a project's directory, where wheels make the loader look."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import libraries
from gpuassist.detect.prefixes import Prefix
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Fact, Known
from gpuassist.system.files import Files
from tests.fakes import put
from tests.formats.made_elf import shared_object

SITE = "/home/you/p/.venv/lib/python3.12/site-packages"
WHEEL = f"{SITE}/nvidia/cusparselt/lib/libcusparseLt.so.0"


def _found(root: Path, manager: Manager = Manager.VENV) -> Fact[tuple[str, ...]]:
    return libraries.stray(Files(str(root)), Prefix("/home/you/p/.venv", manager), (SITE,))


@pytest.mark.parametrize(
    "name", ["libcuda.so.1", "libcudart.so.12", "libcudnn_cnn.so.9", "libnvJitLink.so.12", "libcusparseLt.so.0"]
)
def test_library_where_a_wheel_looks_is_found(tmp_path: Path, name: str) -> None:
    put(tmp_path, WHEEL, shared_object(runpath="$ORIGIN:"))
    put(tmp_path, f"/home/you/p/{name}")
    assert _found(tmp_path) == Known((f"/home/you/p/{name}",), f"/home/you/p, RUNPATH of {WHEEL}")


@pytest.mark.parametrize(
    ("content", "name", "manager"),
    [
        (shared_object(runpath="$ORIGIN:/x"), "libcuda.so.1", Manager.VENV),
        (shared_object(), "libcuda.so.1", Manager.VENV),
        (b"no library", "libcuda.so.1", Manager.VENV),
        (shared_object(runpath="$ORIGIN:"), "libmine.so", Manager.VENV),
        (shared_object(runpath="$ORIGIN:"), "libcuda.so.1", Manager.CONDA),
    ],
    ids=["all named", "none", "no ELF", "other name", "conda"],
)
def test_nothing_is_told_where_nothing_is_taken(tmp_path: Path, content: bytes, name: str, manager: Manager) -> None:
    put(tmp_path, WHEEL, content)
    put(tmp_path, f"/home/you/p/{name}")
    found = _found(tmp_path, manager)
    assert isinstance(found, Known)
    assert found.value == ()
