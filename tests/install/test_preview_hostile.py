"""Tools that say too much, too little, nothing in time, or nothing that can be read: each is a value with its reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpuassist.context import Session
from gpuassist.install.preview import look_before
from gpuassist.model.plan import Step, StepKind, StepRun, Tool
from gpuassist.model.solve import DryRun
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.system.groups import under_way
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.solving import changes, reason
from tests.values import Recipe, knowledge, machine

RIG = machine(Recipe())
CASES = Path(__file__).parent.parent / "cases" / "solves"


@dataclass
class Says:
    """A tool that ends so; `report` is what it writes where pip is asked to."""

    outcome: ProcessResult
    report: bytes | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        self.asked.append(tuple(command))
        if self.report is not None:
            Path(command[command.index("--report") + 1]).write_bytes(self.report)
        return self.outcome


def ended(stdout: str | bytes = b"", stderr: str | bytes = b"", status: int = 0) -> ProcessResult:
    out, err = (one.encode() if isinstance(one, str) else one for one in (stdout, stderr))
    return ProcessResult(Ending.EXITED, status, out, err, 1.0)


@dataclass
class Place:
    """An empty environment, and a step that a tool takes there."""

    root: Path

    def look(self, says: Says, tool: str = "pip") -> DryRun:
        home = self.root / "home"
        (self.root / "e" / "bin").mkdir(parents=True)
        (self.root / "e" / "bin" / "python").touch()
        (self.root / "e" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
        session = Session(World(Surroundings(str(home), "you", 1000, {}, str(home)), processes=says), knowledge(), ENGLISH)
        python = str(self.root / "e" / "bin" / "python")
        programs = {"pip": (python, "-m", "pip", "install", "torch"), "uv": ("uv", "pip", "install", "torch")}
        program = programs.get(tool, (tool, "install", "-p", str(self.root / "e"), "pytorch"))
        run = StepRun((program,), Tool(tool) if tool in programs else Tool.CONDA, str(self.root / "e"), python)
        return look_before(session, RIG, Step(StepKind.COMMAND, text("Do it"), run=run))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


GARBAGE = (
    b"",
    b"\x00\xff\xfe" * 3000,
    b"y\n" * 2_000_000,
    b'{"version": "1", "install": [{"metadata": {"name"',
    "完了しました\n".encode(),
    b"\x1b[31m{}\x1b[0m",
)


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
@pytest.mark.parametrize("tool", ["pip", "uv", "conda", "micromamba"])
def test_success_without_a_description_stops_the_step(place: Place, tool: str, garbage: bytes) -> None:
    says = Says(ended(garbage, garbage), garbage if tool == "pip" else None)
    assert reason(place.look(says, tool)).endswith("what it printed is no description of it, or not all of one")


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
@pytest.mark.parametrize("tool", ["pip", "uv", "conda"])
def test_failure_is_told_in_few_words(place: Place, tool: str, garbage: bytes) -> None:
    words = reason(place.look(Says(ended(garbage, garbage, 1)), tool))
    assert len(words) < 750
    assert "\x1b" not in words


def test_pip_that_writes_no_report_stops_the_step(place: Place) -> None:
    assert "no description" in reason(place.look(Says(ended("Would install torch-2.9.1\n"))))


def test_report_counts_whatever_is_printed_around_it(place: Place) -> None:
    report = b'{"install": [{"metadata": {"name": "six", "version": "1.17.0"}}]}'
    assert changes(place.look(Says(ended(GARBAGE[2], GARBAGE[1]), report))) == [("six", "", "1.17.0")]


def test_colours_of_uv_are_read_past(place: Place) -> None:
    said = "\x1b[2mWould install \x1b[1m1 package\x1b[0m\n \x1b[32m+\x1b[39m \x1b[1msix\x1b[0m\x1b[2m==1.17.0\x1b[0m\n"
    assert changes(place.look(Says(ended("", said)), "uv")) == [("six", "", "1.17.0")]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "no such option: --report\n",
            "this pip is too old to say what it would do (that takes 22.2); `{python} -m pip install --upgrade pip` brings",
        ),
        ("{python}: No module named pip\n", "{python} has no pip; `{python} -m ensurepip --upgrade` brings it"),
        ("error: externally-managed-environment\n", "the distribution keeps this Python for itself"),
        ("ERROR: [Errno 28] No space left on device\n", "pip would do nothing. It says: [Errno 28] No space left on device"),
        (
            "ERROR: HTTPSConnectionPool: NewConnectionError: https://me:secret@mirror.example.org\n",
            "pip could not reach where it gets packages",
        ),
    ],
)
def test_known_failure_comes_with_its_remedy(place: Place, said: str, expected: str) -> None:
    python = str(place.root / "e" / "bin" / "python")
    words = reason(place.look(Says(ended("", said.format(python=python), 2))))
    assert words.startswith(expected.format(python=python))
    assert "secret" not in words


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (ProcessResult(Ending.NOT_FOUND, 0, b"", b"", 0.0, "not found: uv"), "uv could not be started: not found: uv"),
        (
            ProcessResult(Ending.TIMED_OUT, 9, b"", b"", 600.0),
            "uv did not say what it would do within 600 seconds; nothing was changed",
        ),
        (ProcessResult(Ending.CANCELLED, 9, b"", b"", 1.0), "Looking was cancelled; nothing was changed"),
        (ProcessResult(Ending.KILLED, 9, b"", b"", 1.0), "uv was ended by another before it could say what it would do"),
        (ProcessResult(Ending.EXITED, 2, b"", b"", 1.0), "uv ended with status 2 and did not say why"),
    ],
)
def test_ending_that_was_not_its_own(place: Place, outcome: ProcessResult, words: str) -> None:
    assert reason(place.look(Says(outcome), "uv")) == words


@pytest.mark.parametrize("tool", ["conda", "mamba", "micromamba"])
@pytest.mark.parametrize(
    "name", ["conda-4.13-not-found", "micromamba-1.4-unsolvable", "micromamba-2.8-unsolvable", "conda-2015-unsatisfiable"]
)
def test_conda_that_finds_nothing_is_quoted(place: Place, tool: str, name: str) -> None:
    words = reason(place.look(Says(ended((CASES / f"{name}.txt").read_bytes(), b"", 1)), tool))
    assert words.startswith("conda finds no set of packages that fits together, so nothing would be installed. It says: ")


def test_older_mamba_that_finds_nothing_is_quoted(place: Place) -> None:
    words = reason(place.look(Says(ended((CASES / "mamba-0.24-not-found.txt").read_bytes(), b"", 1)), "mamba"))
    assert words.endswith("It says: Encountered problems while solving: - nothing provides requested xyz")


@pytest.mark.parametrize(
    ("name", "torch", "stops"),
    [
        ("conda-24.9", ("2.4.1", "2.5.1"), []),
        ("micromamba-2.3", ("2.7.1", "2.8.0"), []),
        (
            "conda-26.7-cpu",
            ("", "2.7.0"),
            [
                "torch would come as 2.7.0, a build for the processor alone, from "
                "https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.7.0-cpu_mkl_py313_h71c3b9c_100.conda"
            ],
        ),
    ],
)
def test_build_of_conda_is_judged_by_its_name(place: Place, name: str, torch: tuple[str, str], stops: list[str]) -> None:
    looked = place.look(Says(ended((CASES / f"{name}.txt").read_bytes())), "conda")
    assert ("pytorch", *torch) in changes(looked)
    assert [ENGLISH(one) for one in looked.stops] == stops


@pytest.mark.parametrize("line", ["sleep 300", "sleep 300 & wait", "yes", "trap '' INT TERM; sleep 300"])
def test_real_tool_that_is_called_off_is_ended_with_its_children(tmp_path: Path, line: str) -> None:
    tool = tmp_path / "uv"
    tool.write_text(f"#!/bin/sh\n{line}\n")
    tool.chmod(0o755)
    (tmp_path / "e").mkdir()
    session = Session(
        World(Surroundings(str(tmp_path), "you", 1000, {"PATH": "/usr/bin:/bin"}, str(tmp_path))), knowledge(), ENGLISH
    )
    run = StepRun(((str(tool), "pip", "install", "torch"),), Tool.UV, str(tmp_path / "e"))
    began = time.monotonic()
    looked = look_before(
        session, RIG, Step(StepKind.COMMAND, text("Do it"), run=run), cancelled=lambda: time.monotonic() - began > 0.2
    )
    assert reason(looked) == "Looking was cancelled; nothing was changed"
    assert not under_way
