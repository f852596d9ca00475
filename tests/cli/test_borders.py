"""Whatever comes from outside leaves for a terminal so that it is seen, and for programs so that it is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuassist.cli import main as cli
from gpuassist.cli.context import Exit, UsageError
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.codec import decode_machine, encode_machine
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.session.context import Session
from gpuassist.session.words import ENGLISH
from gpuassist.system.resources import Resources
from gpuassist.system.world import World
from tests.hostile import HOSTILE, IN_A_NAME, KINDLY, obeyed, poisoned, strings_in
from tests.repair.homes import make_toolkit, world_at

RESOURCES = Resources()
KNOWLEDGE = Knowledge(RESOURCES.read)


@dataclass(frozen=True)
class Printed:
    """What a command line printed."""

    status: int
    out: str
    err: str

    @property
    def lines_obeyed(self) -> list[str]:
        """Lines on either stream that a terminal would not only show."""
        return [*obeyed(self.out), *obeyed(self.err)]


Main = Callable[..., Printed]


@pytest.fixture
def main(home: Path, capsys: pytest.CaptureFixture[str]) -> Main:
    """Runs a command line in a home of the test's own."""

    def run(*arguments: str, world: World | None = None) -> Printed:
        session = Session(world or world_at(home), KNOWLEDGE, ENGLISH)
        status = cli.main(arguments, compose=lambda language: session, open_window=_no_window)
        printed = capsys.readouterr()
        return Printed(status, printed.out, printed.err)

    return run


def _no_window(session: Session, machine_file: str, page: str) -> Exit:
    raise UsageError(text("no window for {file} {page}", file=machine_file, page=page))


def _example(name: str) -> Machine:
    return decode_machine(json.loads(RESOURCES.read(f"machines/{name}.json")))


def _recorded(machine: Machine, folder: Path) -> str:
    place = folder / "machine.json"
    place.write_text(json.dumps(encode_machine(machine, ENGLISH)))
    return str(place)


ON_A_RECORDING = (
    ("detect",),
    ("doctor",),
    ("shell",),
    ("holders",),
    ("plan", "torch"),
    ("plan", "cuda==12.8", "driver"),
    ("explain", "{paste}"),
)


MACHINES = tuple(name.removesuffix(".json") for name in RESOURCES.names("machines", ".json"))


@pytest.mark.parametrize("names_alone", [False, True], ids=["every-string", "names"])
@pytest.mark.parametrize("name", MACHINES)
def test_a_recording_of_a_stranger_is_only_shown(main: Main, tmp_path: Path, name: str, *, names_alone: bool) -> None:
    file = _recorded(poisoned(_example(name), names_alone=names_alone), tmp_path)
    paste = tmp_path / "paste.txt"
    paste.write_text("RuntimeError: CUDA error: no kernel image is available for execution on the device\n")
    for words in ON_A_RECORDING:
        arguments = ("--machine", file, *(word.format(paste=paste) for word in words))
        for printed in (main(*arguments), main(*arguments, "--json")):
            assert (words, printed.lines_obeyed) == (words, [])
            assert printed.status not in {Exit.OUR_FAULT, Exit.USAGE}


@pytest.mark.parametrize("name", MACHINES[:3])
def test_programs_get_every_string_of_a_recording_as_it_is(main: Main, tmp_path: Path, name: str) -> None:
    machine = poisoned(_example(name))
    file = _recorded(machine, tmp_path)
    assert decode_machine(json.loads(main("--machine", file, "detect", "--json").out)) == machine
    found = strings_in(main("--machine", file, "doctor", "--json").out)
    assert any(HOSTILE in one for one in found)
    assert not any("<U+" in one for one in found)


def test_what_people_read_says_what_is_there(main: Main, tmp_path: Path) -> None:
    file = _recorded(poisoned(_example(MACHINES[0]), poison=HOSTILE), tmp_path)
    out = main("--machine", file, "detect").out
    assert "<U+001B>]0;PWN<U+0007><U+001B>[2J<U+009B>31m<U+202E><U+2066><U+200F><U+2028><U+007F><U+0000><U+000D>✓ fine" in out
    assert "✓ fine<U+000A>FEIGNED" in out


def test_words_of_people_stay(main: Main, tmp_path: Path) -> None:
    file = _recorded(poisoned(_example(MACHINES[0]), names_alone=True, poison=KINDLY), tmp_path)
    assert KINDLY in main("--machine", file, "detect").out
    assert KINDLY in main("--machine", file, "detect", "--json").out


ON_A_LINE = IN_A_NAME.replace("\n", "").replace("\r", "")
START_UP = f"""export PATH={{home}}/cuda-11.7/bin:$PATH # {ON_A_LINE}
export CUDA_HOME="{{home}}/cuda-11.7{IN_A_NAME}"
export LD_LIBRARY_PATH={{home}}/cuda-11.7/lib64:"/{IN_A_NAME}"::$LD_LIBRARY_PATH
source "/no/such{IN_A_NAME}"
# caf\udce9
"""


@pytest.fixture
def hostile_home(home: Path) -> Path:
    """A home whose start-up files, toolkits and environments are named by somebody who means ill."""
    for name, version in (("cuda-11.7", "11.7.99"), ("cuda-12.4", "12.4.131"), (f"cuda-12.5{IN_A_NAME}", "12.5.40")):
        make_toolkit(home / name, version)
    (home / ".bashrc").write_bytes(START_UP.format(home=home).encode("utf-8", "surrogateescape"))
    (home / ".profile").write_text(". ~/.bashrc\n")
    return home


@pytest.mark.parametrize(
    "arguments",
    [
        ("shell",),
        ("shell", "--clean", "--dry-run"),
        ("use", "cuda", "12.4", "--dry-run"),
        ("use", "cuda", "12.5", "--dry-run"),
        ("use", "devices", "all", "--dry-run"),
        ("use", "cuda", "12.4", "--scope", "envrc:{home}", "--dry-run"),
        ("use", "--scopes", "{home}"),
    ],
    ids=" ".join,
)
def test_start_up_files_are_only_shown(main: Main, hostile_home: Path, arguments: tuple[str, ...]) -> None:
    written = [word.format(home=hostile_home) for word in arguments]
    for printed in (main(*written), main(*written, "--json")):
        assert printed.lines_obeyed == []
        assert printed.status is not Exit.OUR_FAULT
