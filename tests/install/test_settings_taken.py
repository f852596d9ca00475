"""What a plan says of the user's settings is what pip and uv really make of them, with indexes of made-up wheels."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect.package_settings import probe
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.plan import Tool
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.isolation import keep_pip_from_settings, shared_settings
from tests.solving import Place
from tests.values import Env, Recipe, knowledge, machine
from tests.wheels import Wheel, index, torch

VISION = Wheel("torchvision", "0.29.1", ("torch>=2.14.0",))
OLDER = Wheel("torchvision", "0.16.0", ("torch==2.1.0",))


class Desk:
    """An environment without torch on a machine whose driver runs CUDA 13, and the settings of its user."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = Place(root)
        for name in ("PIP_INDEX_URL", "PIP_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_NO_CONFIG"):
            del self.place.variables[name]
        self.place.variables |= {"UV_LINK_MODE": "copy", "XDG_CONFIG_DIRS": shared_settings(root)}
        keep_pip_from_settings(self.place.site)

    def index(self, name: str, *wheels: Wheel) -> str:
        """An index of its own under that path."""
        return index(self.root / name, wheels)

    def pip_conf(self, words: str) -> None:
        """The user's own configuration of pip."""
        self._write(".config/pip/pip.conf", words)

    def uv_toml(self, words: str) -> None:
        """The user's own configuration of uv."""
        self._write(".config/uv/uv.toml", words)

    def plan(self, goal: str = "torch==2.14", tool: Tool = Tool.PIP) -> Outlook:
        """What is planned with these settings."""
        return plan_goals(self.place.session, self.machine, (parse_goal(goal, knowledge()),), tool)

    @property
    def machine(self) -> Machine:
        """The machine with what is read of the settings."""
        empty = Env("train", "", active=True)
        made = machine(Recipe(toolkits=(), nvcc="", driver="580.95.05", cuda="13.0", environments=(empty,)))
        (environment,) = value_or(made.environments, ())
        own = replace(environment, prefix=str(self.place.prefix), interpreter=Known(self.place.python, "test"))
        return replace(made, environments=Known((own,), "test"), package_settings=self.settings)

    @property
    def settings(self) -> Known[PackageSettings]:
        """What is read of the settings."""
        found = probe(self.place.session.world, Unknown(text("no terminal here")))
        assert isinstance(found, Known)
        return found

    def take(self, outlook: Outlook) -> subprocess.CompletedProcess[str]:
        """The last program of the plan, really run."""
        run = outlook.steps[-1].run
        assert run is not None
        return self.run(*run.programs[-1])

    def run(self, *program: str) -> subprocess.CompletedProcess[str]:
        """A program with the user's settings."""
        variables = self.place.variables
        return subprocess.run(
            program, env=variables, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, check=False
        )

    def _write(self, name: str, words: str) -> None:
        place = self.place.home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(words, "utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk whose settings say nothing yet."""
    return Desk(tmp_path)


def notes(outlook: Outlook) -> str:
    return " / ".join(ENGLISH(note) for note in outlook.notes)


def needs_uv(desk: Desk) -> None:
    if shutil.which("uv", path=desk.place.variables["PATH"]) is None:
        pytest.skip("NOT RUN: needs uv: pip install uv")


def test_a_mirror_of_pypi_serves_the_build_that_pypi_has(desk: Desk) -> None:
    desk.pip_conf(f"[global]\nindex-url = {desk.index('simple', torch('2.14.1', 'numpy'), VISION, Wheel('numpy', '2.2.0'))}\n")
    outlook = desk.plan()
    assert "is kept" in notes(outlook)
    assert desk.take(outlook).returncode == 0
    assert desk.place.installed()["torch"] == "2.14.1"


def test_a_mirror_of_pytorch_in_uvs_own_file(desk: Desk) -> None:
    needs_uv(desk)
    address = desk.index("whl/cu126", torch("2.14.1+cu126", "numpy"), torch("2.14.1+cpu", "numpy"), VISION, Wheel("numpy", "2.2.0"))
    desk.uv_toml(f'[[index]]\nurl = "{address}"\ndefault = true\n')
    outlook = desk.plan("torch==2.14.1+cu126", Tool.UV)
    assert "it is kept" in notes(outlook)
    assert desk.take(outlook).returncode == 0
    assert desk.place.installed()["torch"] == "2.14.1+cu126"


def test_an_index_of_cpu_builds_beside_would_really_win(desk: Desk) -> None:
    mirror = desk.index("simple", torch("2.14.1", "numpy"), VISION, Wheel("numpy", "2.2.0"))
    beside = desk.index("whl/cpu", torch("2.14.1+cpu", "numpy"))
    desk.pip_conf(f"[global]\nindex-url = {mirror}\nextra-index-url = {beside}\n")
    outlook = desk.plan()
    assert "torch==2.14.1+cu130 " in outlook.steps[-1].commands[-1]
    assert "has builds of cpu, not of cu130" in notes(outlook)
    assert desk.run(desk.place.python, "-m", "pip", "install", "torch==2.14.1").returncode == 0
    assert desk.place.installed()["torch"] == "2.14.1+cpu"


def test_a_pin_is_really_refused(desk: Desk) -> None:
    constraints = desk.root / "constraints.txt"
    constraints.write_text("torch==2.1.0\n", "utf-8")
    mirror = desk.index("simple", torch("2.14.1", "numpy"), torch("2.1.0", "numpy"), VISION, OLDER, Wheel("numpy", "2.2.0"))
    desk.pip_conf(f"[global]\nindex-url = {mirror}\nconstraint = {constraints}\n")
    outlook = desk.plan()
    assert f"{constraints} allows torch ==2.1.0 alone: torch 2.14.1 is refused" in notes(outlook)
    done = desk.take(outlook)
    assert done.returncode != 0
    assert "torch" not in desk.place.installed()


def test_forbidden_indexes_take_the_wheels_of_a_directory(desk: Desk) -> None:
    for one in (torch("2.14.1+cu130", "numpy"), VISION, Wheel("numpy", "2.2.0")):
        one.write(desk.root / "wheels")
    desk.pip_conf(f"[global]\nno-index = true\nfind-links = {desk.root}/wheels\n")
    outlook = desk.plan()
    assert f"have to be in {desk.root}/wheels" in notes(outlook)
    assert desk.take(outlook).returncode == 0
    assert desk.place.installed()["torch"] == "2.14.1+cu130"


def test_forbidden_indexes_without_wheels_leave_nothing_behind(desk: Desk) -> None:
    desk.pip_conf("[install]\nno-index = true\n")
    outlook = desk.plan()
    assert "a directory that find-links names" in notes(outlook)
    assert desk.take(outlook).returncode != 0
    assert "torch" not in desk.place.installed()


def test_pips_settings_do_not_reach_uv(desk: Desk) -> None:
    needs_uv(desk)
    mirror = desk.index("simple", torch("2.14.1", "numpy"), VISION, Wheel("numpy", "2.2.0"))
    desk.pip_conf(f"[global]\nindex-url = {mirror}\n")
    assert mirror not in notes(desk.plan(tool=Tool.UV))
    done = desk.run("uv", "pip", "install", "--python", desk.place.python, "torch==2.14.1")
    assert done.returncode != 0  # uv asks PyPI, which it may not reach here


def test_no_settings_are_no_word(desk: Desk) -> None:
    assert desk.settings.value == PackageSettings(uv=desk.settings.value.uv)
    assert notes(desk.plan()) == ""
