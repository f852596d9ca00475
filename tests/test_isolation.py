"""What the machine's owner has set up reaches no test, and a test that skips for a new reason is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist.detect.package_settings import probe
from gpuassist.model.fact import Unknown
from gpuassist.model.text import text
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests import skips
from tests.isolation import FilesWithoutSettings, isolate

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "name",
    [
        "PIP_INDEX_URL",
        "UV_OFFLINE",
        "CONDA_CHANNELS",
        "CONDARC",
        "_CONDA_ROOT",
        "XDG_CONFIG_HOME",
        "FONTCONFIG_FILE",
        "VIRTUAL_ENV",
        "ENV",
    ],
)
def test_the_owners_variables_are_taken_out(name: str) -> None:
    variables = {name: "/somewhere", "PATH": "/bin"}
    isolate(variables)
    assert (variables.get(name), variables["PATH"]) == (None, "/bin")


@pytest.mark.parametrize("name", ["PATH", "PIPX", "UVICORN", "ENVIRONMENT", "GPUASSIST_GPU"])
def test_others_stay(name: str) -> None:
    variables = {name: "1"}
    isolate(variables)
    assert variables[name] == "1"


def test_pip_that_a_test_starts_is_told_nothing() -> None:
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if not line.startswith(":env:.config-file")] == []


def test_settings_for_all_users_are_not_read() -> None:
    files = FilesWithoutSettings()
    assert not any(map(files.exists, ("/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/uv/uv.toml", "/etc/conda/.condarc")))
    assert files.exists("/etc/passwd")
    found = probe(World(Surroundings.current(), files), Unknown(text("no terminal here")))
    assert "/etc/" not in str(found)


def test_every_reason_of_the_list_is_one_of_a_test() -> None:
    source = "".join(one.read_text("utf-8") for one in HERE.rglob("*.py") if one != Path(__file__))
    for reason in skips.reasons():
        program = reason.removeprefix("NOT RUN: needs ")
        assert reason in source or f'"{program}"' in source, reason


@pytest.mark.parametrize(
    ("asked", "reason", "status"), [("listed", "new", 1), ("listed", "NOT RUN: needs nvcc", 0), ("", "new", 0)]
)
def test_a_skip_that_nobody_listed_fails_where_that_is_asked_for(tmp_path: Path, asked: str, reason: str, status: int) -> None:
    (tmp_path / "test_it.py").write_text(f"import pytest\ndef test_it():\n    pytest.skip({reason!r})\n", "utf-8")
    (tmp_path / "conftest.py").write_text("from tests.skips import hold_to_the_list as pytest_configure\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)]
    variables = {**os.environ, "GPUASSIST_SKIPS": asked, "PYTHONPATH": str(HERE.parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("SKIPPED FOR NO REASON" in done.stdout) is bool(status)
