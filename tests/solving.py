"""An environment and an index of made-up wheels under a test's own directory, and steps that change the one from the other."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from gpuassist.context import Session
from gpuassist.install.preview import look_before
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.solve import DryRun
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.isolation import FilesWithoutSettings
from tests.values import knowledge
from tests.wheels import Wheel, index, unpack

Change = tuple[str, str, str]
_LIST = """import importlib.metadata, json
print(json.dumps({one.name.lower().replace("_", "-"): one.version for one in importlib.metadata.distributions()}))"""


class Place:
    """A virtual environment with the tests' own pip in it, a home, and an index, empty at first; nothing reaches a network."""

    def __init__(self, root: Path, variables: Mapping[str, str] | None = None) -> None:
        self.root, self.home = root, root / "home"
        self.prefix = root / "environment"
        self.python = str(self.prefix / "bin" / "python")
        self.site = site_of(self.prefix)
        self.index = (root / "index").as_uri()
        self.home.mkdir()
        (root / "index").mkdir()
        make_environment(self.prefix)
        offline = {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": self.index, "UV_NO_CONFIG": "1", "UV_DEFAULT_INDEX": self.index}
        caches = {"PIP_CACHE_DIR": str(root / "pip"), "UV_CACHE_DIR": str(root / "uv"), "UV_OFFLINE": "1"}
        binaries = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        self.variables = {"PATH": binaries, "HOME": str(self.home), "LANG": "C.UTF-8", **offline, **caches, **(variables or {})}

    def offers(self, *wheels: Wheel) -> None:
        """Puts them into the index."""
        index(self.root / "index", wheels)

    def has(self, *wheels: Wheel) -> None:
        """Puts them into the environment."""
        unpack(wheels, self.site)

    @property
    def session(self) -> Session:
        """A live one, at home here."""
        around = Surroundings(str(self.home), "you", os.geteuid(), self.variables, str(self.home))
        return Session(World(around, FilesWithoutSettings()), knowledge(), ENGLISH)

    def pip(self, *programs: str) -> Step:
        """A step of pip's programs, each its words after `pip`; a removal is not to ask."""
        split = (words.split() for words in programs)
        every = ((*words, "--yes") if words[0] == "uninstall" else tuple(words) for words in split)
        return self.step(*((self.python, "-m", "pip", *words) for words in every))

    def uv(self, *programs: str) -> Step:
        """A step of uv's programs, each its words after `uv pip`."""
        if shutil.which("uv", path=self.variables["PATH"]) is None:
            pytest.skip("NOT RUN: needs uv: pip install uv")
        made = []
        for words in programs:
            act, *rest = words.split()
            made.append(("uv", "pip", act, "--python", self.python, *rest))
        return self.step(*made, tool=Tool.UV)

    def step(self, *programs: tuple[str, ...], tool: Tool = Tool.PIP, torch: str = "") -> Step:
        """A step that changes this environment, so that it holds this torch."""
        run = StepRun(programs, tool, str(self.prefix), self.python)
        proof = StepProof(Proves.TORCH, self.python, torch) if torch else None
        return Step(StepKind.COMMAND, text("Change the environment"), run=run, proof=proof)

    def by(self, tool: str, *programs: str) -> Step:
        """A step of programs that pip and uv understand alike."""
        return self.pip(*programs) if tool == "pip" else self.uv(*programs)

    def look(self, step: Step, machine: Machine | None = None, *, earlier: tuple[Step, ...] = ()) -> DryRun:
        """The step looked at."""
        return look_before(self.session, machine or Machine(), step, earlier=earlier)

    def take(self, step: Step) -> subprocess.CompletedProcess[str]:
        """The step really taken; the last program's end."""
        assert step.run is not None
        done = None
        for program in step.run.programs:
            done = subprocess.run(
                program, env=self.variables, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL
            )
        assert done is not None
        return done

    def installed(self) -> dict[str, str]:
        """What lies there now, by what Python itself says."""
        done = subprocess.run(
            [self.python, "-c", _LIST], capture_output=True, text=True, timeout=100, check=True, env=self.variables
        )
        return dict(json.loads(done.stdout))


def changes(looked: DryRun) -> list[Change]:
    """Name, version before and after of each change."""
    assert isinstance(looked.solve, Known), looked
    return [(one.name, one.before, one.after) for one in looked.solve.value.changes]


def said(texts: Iterable[Text]) -> list[str]:
    """Texts in English."""
    return [ENGLISH(one) for one in texts]


def reason(looked: DryRun) -> str:
    """Why nobody can tell what would be done, which is a stop as well."""
    assert isinstance(looked.solve, Unknown), looked
    assert said(looked.stops) == [ENGLISH(looked.solve.reason)]
    return ENGLISH(looked.solve.reason)


def site_of(prefix: Path) -> Path:
    """Where a virtual environment of this Python has its packages."""
    return prefix / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def make_environment(prefix: Path) -> None:
    """A virtual environment as `python -m venv` makes it, in no time; its pip is the one that these tests run beside."""
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    site = site_of(prefix)
    site.mkdir(parents=True)
    (prefix / "bin").mkdir()
    for name in ("python", "python3"):
        (prefix / "bin" / name).symlink_to(base)
    version = ".".join(map(str, sys.version_info[:3]))
    settings = f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {version}\n"
    (prefix / "pyvenv.cfg").write_text(settings, "utf-8")
    _with_pip(site)


def _with_pip(site: Path) -> None:
    spec = importlib.util.find_spec("pip")
    if spec is None or spec.origin is None:
        pytest.skip("NOT RUN: needs pip in the environment of the tests: python -m ensurepip")
    package = Path(spec.origin).parent
    for one in (package, *package.parent.glob("pip-*.dist-info")):
        (site / one.name).symlink_to(one)
