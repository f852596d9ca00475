"""The packages that an environment holds, by the records in its directories."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.install.freeze import EnvironmentPackages, held_by
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import StepRun, Tool
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from tests.fakes import link, put
from tests.wheels import Wheel, unpack

PREFIX = "/home/you/train"
SITE = f"{PREFIX}/lib/python3.12/site-packages"
RUN = StepRun((), Tool.PIP, PREFIX, f"{PREFIX}/bin/python")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, f"{PREFIX}/bin/python", "", mode=0o755)
    return tmp_path


def held(root: Path, machine: Machine | None = None, run: StepRun = RUN) -> EnvironmentPackages:
    return held_by(Files(str(root)), machine or Machine(), run)


def versions(found: EnvironmentPackages) -> dict[str, str]:
    return {name: one.version for name, one in found.packages.items()}


def machine(*sites: str) -> Machine:
    environment = PythonEnvironment(
        PREFIX, "train", python_version=Known(Version.parse("3.12.3"), "pyvenv.cfg"), sites=Known(sites, PREFIX)
    )
    return Machine(environments=Known((environment,), "/home/you"))


def test_packages_with_what_they_ask_for(root: Path) -> None:
    unpack((Wheel("Flash-Attn", "2.8.3", ("torch", "einops")), Wheel("torch", "2.9.1+cu128")), root / SITE[1:])
    found = held(root)
    assert versions(found) == {"flash-attn": "2.8.3", "torch": "2.9.1+cu128"}
    assert found.packages["flash-attn"].requires == ("torch", "einops")
    assert found.records["torch"] == f"{SITE}/torch-2.9.1+cu128.dist-info"
    assert (found.there, found.python) == (True, Version((3, 12)))


def test_egg_of_an_older_time_is_read(root: Path) -> None:
    put(root, f"{SITE}/old-1.0.egg-info/PKG-INFO", "Name: old\nVersion: 1.0\n")
    assert versions(held(root)) == {"old": "1.0"}


@pytest.mark.parametrize(
    "record", ["half-1.0.dist-info/RECORD", "empty-1.0.dist-info/METADATA", "~orch-2.9.1.dist-info/x", "torch/version.py"]
)
def test_record_that_is_none_is_passed_over(root: Path, record: str) -> None:
    put(root, f"{SITE}/{record}")
    assert versions(held(root)) == {}


def test_first_directory_counts_as_for_python(root: Path) -> None:
    unpack((Wheel("torch", "2.9.1"),), root / SITE[1:])
    unpack((Wheel("torch", "2.5.1"), Wheel("numpy", "2.3.0")), root / "usr/lib/python3/dist-packages")
    found = held(root, machine(SITE, "/usr/lib/python3/dist-packages"))
    assert versions(found) == {"torch": "2.9.1", "numpy": "2.3.0"}
    assert found.python == Version.parse("3.12.3")


def test_directory_by_two_names_is_read_once(root: Path) -> None:
    unpack((Wheel("torch", "2.9.1"),), root / SITE[1:])
    link(root, f"{PREFIX}/lib64", "lib")
    assert list(held(root).records.values()) == [f"{SITE}/torch-2.9.1.dist-info"]


def test_environment_that_was_made_since_is_found(root: Path) -> None:
    unpack((Wheel("six", "1.17.0"),), root / SITE[1:])
    assert versions(held(root, machine())) == {"six": "1.17.0"}


def test_environment_of_its_interpreter_alone(root: Path) -> None:
    unpack((Wheel("six", "1.17.0"),), root / SITE[1:])
    assert versions(held(root, run=replace(RUN, environment=""))) == {"six": "1.17.0"}


def test_environment_that_is_not_there_holds_nothing(root: Path) -> None:
    found = held(root, run=StepRun((), Tool.PIP, "/home/you/new", "/home/you/new/bin/python"))
    assert (found.there, versions(found), found.python) == (False, {}, None)


def test_metadata_that_is_no_text_is_passed_over(root: Path) -> None:
    put(root, f"{SITE}/binary-1.0.dist-info/METADATA", b"\xff\x00" * 5000)
    assert versions(held(root)) == {}
