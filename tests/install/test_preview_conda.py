"""A real conda, mamba or micromamba, where one is installed, looks into a channel of made-up packages on this disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuassist.context import Session
from gpuassist.install.preview import look_before
from gpuassist.model.plan import Step, StepKind, StepRun, Tool
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.solving import changes, reason, said
from tests.values import Recipe, knowledge, machine

TOOLS = [pytest.param(one, marks=pytest.mark.needs(one)) for one in ("conda", "mamba", "micromamba")]


def package(name: str, version: str, build: str) -> dict[str, object]:
    """As a channel's repodata describes it."""
    hashes = {"md5": "0" * 32, "sha256": "0" * 64}
    return {
        "name": name,
        "version": version,
        "build": build,
        "build_number": 0,
        "depends": [],
        "size": 1000,
        "subdir": "linux-64",
        **hashes,
    }


def channel(root: Path, *packages: dict[str, object]) -> str:
    for subdir in ("linux-64", "noarch"):
        named = {f"{one['name']}-{one['version']}-{one['build']}.conda": one for one in packages if one["subdir"] == subdir}
        repodata = {"info": {"subdir": subdir}, "packages": {}, "packages.conda": named, "repodata_version": 1}
        (root / subdir).mkdir(parents=True)
        (root / subdir / "repodata.json").write_text(json.dumps(repodata), "utf-8")
    return root.as_uri()


def step(tool: str, root: Path, *specs: str) -> Step:
    mine = channel(root / "channel", package("pytorch", "2.9.1", "cpu_generic_py312_h0000000_0"))
    prefix = str(root / "new")
    program = (tool, "create", "--yes", "--prefix", prefix, "--override-channels", "-c", mine, *specs)
    return Step(StepKind.COMMAND, text("Make it"), run=StepRun((program,), Tool.CONDA, prefix, f"{prefix}/bin/python", prefix))


def session(root: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """At home under the test's own directory, with the caches there."""
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("CONDA_PKGS_DIRS", str(root / "packages"))
    monkeypatch.setenv("MAMBA_ROOT_PREFIX", str(root / "mamba"))
    variables = Surroundings.current().variables
    return Session(World(Surroundings(str(root), "you", 1000, variables, str(root))), knowledge(), ENGLISH)


@pytest.mark.parametrize("tool", TOOLS)
def test_build_for_the_processor_stops_the_step(tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = look_before(session(tmp_path, monkeypatch), machine(Recipe()), step(tool, tmp_path, "pytorch"))
    assert changes(looked) == [("pytorch", "", "2.9.1")]
    assert "a build for the processor alone" in said(looked.stops)[0]
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("tool", TOOLS)
def test_package_that_no_channel_has_is_explained(tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = look_before(session(tmp_path, monkeypatch), machine(Recipe()), step(tool, tmp_path, "pytorch=99"))
    assert "pytorch" in reason(looked)
