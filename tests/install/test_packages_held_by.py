"""What an environment that a step is about holds, as its own records say."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.install.freeze import EnvironmentPackages, held_by
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import StepRun, Tool
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from tests.fakes import link, put

SITE = "/v/lib/python3.12/site-packages"
UNSEEN = Machine()
RUN = StepRun((("pip",),), Tool.PIP, environment="/v", interpreter="/v/bin/python")


def record(root: Path, name: str, version: str, *, site: str = SITE, kind: str = "dist-info", requires: str = "") -> None:
    file = "METADATA" if kind == "dist-info" else "PKG-INFO"
    words = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}\nA description.\n"
    put(root, f"{site}/{name}-{version}.{kind}/{file}", words)


def held(root: Path, machine: Machine = UNSEEN, run: StepRun = RUN) -> EnvironmentPackages:
    return held_by(Files(str(root)), machine, run)


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    put(tmp_path, "/v/bin/python", mode=0o755)
    (tmp_path / SITE.lstrip("/")).mkdir(parents=True)
    return tmp_path


def test_environment_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert held(tmp_path) == EnvironmentPackages(there=False)


def test_environment_without_packages_is_there(venv: Path) -> None:
    assert held(venv) == EnvironmentPackages(sites=(SITE,), python=Version.parse("3.12"))


@pytest.mark.parametrize("kind", ["dist-info", "egg-info"])
def test_package_is_read_from_its_record(venv: Path, kind: str) -> None:
    record(venv, "torch", "2.7.1", kind=kind)
    found = held(venv)
    assert found.packages["torch"].version == "2.7.1"
    assert found.records == {"torch": f"{SITE}/torch-2.7.1.{kind}"}


def test_what_a_package_asks_for_is_kept(venv: Path) -> None:
    record(venv, "torchvision", "0.22.1", requires="Requires-Dist: torch==2.7.1\n")
    assert tuple(held(venv).packages["torchvision"].requires) == ("torch==2.7.1",)


def test_name_is_the_one_that_indexes_compare(venv: Path) -> None:
    record(venv, "Flash_Attn", "2.7.4")
    assert list(held(venv).packages) == ["flash-attn"]


def test_record_that_was_left_half_removed_is_none(venv: Path) -> None:
    (venv / f"{SITE[1:]}/torch-2.7.1.dist-info").mkdir()
    put(venv, f"{SITE}/easy-install.pth")
    assert held(venv).packages == {}


def test_of_two_sites_the_first_counts(venv: Path) -> None:
    record(venv, "torch", "2.7.1")
    record(venv, "torch", "2.5.1", site="/v/lib64/python3.12/site-packages")
    assert held(venv).packages["torch"].version == "2.7.1"


def test_lib64_that_is_lib_is_read_once(venv: Path) -> None:
    link(venv, "/v/lib64", "lib")
    record(venv, "torch", "2.7.1")
    assert held(venv).records == {"torch": f"{SITE}/torch-2.7.1.dist-info"}


def test_environment_that_was_looked_at_says_where_its_packages_are(venv: Path) -> None:
    elsewhere = "/usr/lib/python3/dist-packages"
    record(venv, "numpy", "2.1.3", site=elsewhere)
    known = PythonEnvironment(
        "/v", "v", python_version=Known(Version.parse("3.11.9"), "pyvenv.cfg"), sites=Known((elsewhere,), "sys.path")
    )
    found = held(venv, Machine(environments=Known((known,), "test")))
    assert (found.sites, list(found.packages), found.python) == ((elsewhere,), ["numpy"], Version.parse("3.11.9"))


def test_environment_is_found_by_its_interpreter_too(venv: Path) -> None:
    known = PythonEnvironment(
        "/other", "v", interpreter=Known("/v/bin/python", "x"), python_version=Known(Version.parse("3.13"), "x")
    )
    assert held(venv, Machine(environments=Known((known,), "test"))).python == Version.parse("3.13")


def test_prefix_follows_from_the_interpreter(venv: Path) -> None:
    record(venv, "torch", "2.7.1")
    assert "torch" in held(venv, run=StepRun((("pip",),), Tool.PIP, interpreter="/v/bin/python")).packages


def test_python_without_lock_is_the_same_release(tmp_path: Path) -> None:
    put(tmp_path, "/v/bin/python", mode=0o755)
    record(tmp_path, "torch", "2.9.1", site="/v/lib/python3.13t/site-packages")
    assert held(tmp_path).python == Version.parse("3.13")


def test_environment_whose_python_nobody_knows_says_so(tmp_path: Path) -> None:
    put(tmp_path, "/v/bin/python", mode=0o755)
    assert held(tmp_path).python is None
