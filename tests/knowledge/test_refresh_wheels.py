"""The script that looks into wheels finds what a row does not say, shows it, and can only look."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path("tools/refresh_wheels.py").resolve()
KNOWLEDGE = Path("resources/knowledge").resolve()
CUFILE = ("nvidia/cu13/lib/libcufile.so.0", "nvidia/cu13/lib/libcufile_rdma.so.1", "nvidia/cu13/include/cufile.h")


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "resources/knowledge").mkdir(parents=True)
    shutil.copy(KNOWLEDGE / "wheels.json", tmp_path / "resources/knowledge")
    return tmp_path


def wheel(directory: Path, *files: str, name: str = "nvidia_cufile-1.20.0.107-py3-none-manylinux_2_27_x86_64.whl") -> str:
    with zipfile.ZipFile(directory / name, "w") as archive:
        for file in files:
            archive.writestr(file, "")
    return str(directory / name)


def refresh(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], cwd=directory, capture_output=True, text=True, check=False)


def row(directory: Path, distribution: str = "nvidia-cufile") -> dict[str, Any]:
    rows: list[dict[str, Any]] = json.loads((directory / "resources/knowledge/wheels.json").read_text("utf-8"))
    return next(one for one in rows if one.get("distribution") == distribution)


def test_wheel_as_the_table_knows_it_is_no_difference(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", wheel(workplace, *CUFILE))
    assert (outcome.returncode, outcome.stdout) == (0, "nvidia-cufile 1.20.0.107: no difference\n")


def test_new_library_is_shown_and_written(workplace: Path) -> None:
    outcome = refresh(workplace, "--checked", "2026-12-01", wheel(workplace, *CUFILE, "nvidia/cu13/lib/libcufile.so.1"))
    assert "libraries +libcufile.so.1" in outcome.stdout
    assert row(workplace)["libraries"] == ["libcufile.so.0", "libcufile_rdma.so.1", "libcufile.so.1"]
    assert row(workplace)["checked"] == "2026-12-01"


def test_library_of_other_versions_stays(workplace: Path) -> None:
    before = row(workplace)
    assert refresh(workplace, "--checked", "2026-12-01", wheel(workplace, CUFILE[0])).returncode == 0
    assert row(workplace) == before


def test_libraries_without_a_version_do_not_count(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", wheel(workplace, *CUFILE, "nvidia/cu13/lib/libcufile.so"))
    assert outcome.returncode == 0


def test_new_compiler_is_shown(workplace: Path) -> None:
    name = "nvidia_cuda_nvcc_cu12-12.9.99-py3-none-any.whl"
    outcome = refresh(workplace, "--check", wheel(workplace, "nvidia/cuda_nvcc/bin/nvcc", "nvidia/cuda_nvcc/bin/ptxas", name=name))
    assert outcome.stdout == "nvidia-cuda-nvcc-cu12 12.9.99: compilers +nvcc\n"


def test_moved_directory_is_shown(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", wheel(workplace, "nvidia/cu14/lib/libcufile.so.0"))
    assert "directory nvidia/cu13/lib -> nvidia/cu14/lib" in outcome.stdout


def test_check_writes_nothing_and_fails_on_a_difference(workplace: Path) -> None:
    before = row(workplace)
    assert refresh(workplace, "--check", wheel(workplace, "nvidia/cu13/lib/libnew.so.1")).returncode == 1
    assert row(workplace) == before


def test_unknown_package_needs_a_person(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", wheel(workplace, name="nvidia_new_thing-1.0-py3-none-any.whl"))
    assert outcome.returncode == 1
    assert "nvidia-new-thing 1.0: not in the table" in outcome.stdout


def test_file_that_is_no_wheel_is_refused(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", str(workplace / "words.txt"))
    assert outcome.returncode == 1
    assert "not the name of a wheel" in outcome.stderr


def test_writing_needs_the_day(workplace: Path) -> None:
    assert refresh(workplace, wheel(workplace, *CUFILE)).returncode == 2
