"""Whatever comes from outside leaves for a terminal so that it is seen, and for programs so that it is kept."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli import main as cli
from gpuassist.cli import streams
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.formats.visible import on_one_line
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session.navigation import Destination
from gpuassist.system.resources import Resources
from gpuassist.system.world import World
from tests.changes.homes import make_toolkit, world_at
from tests.hostile import HOSTILE, IN_A_NAME, KINDLY, OBEYED, obeyed, poisoned, strings_in
from tests.torch_environment import interpreter_that_runs
from tests.verify.lines import BEGIN, DONE, END, FAIL, REFUSAL, START
from tests.verify.test_runner import says

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
        try:
            status = cli.main(arguments, compose=lambda language: session, open_window=_no_window)
        except SystemExit as ended:  # of the parser
            status = int(ended.code or 0)
        printed = capsys.readouterr()
        return Printed(status, printed.out, printed.err)

    return run


def _no_window(session: Session, machine_file: str, wanted: Destination | None) -> Exit:
    raise UsageError(text("no window for {file}", file=machine_file))


def _example(name: str) -> Machine:
    return decode_machine(json.loads(RESOURCES.read(f"machines/{name}.json")))


def _recorded(machine: Machine, folder: Path) -> str:
    place = folder / "machine.json"
    place.write_text(json.dumps(encode_machine(machine, ENGLISH)))
    return str(place)


ON_A_RECORDING = (
    ("detect",),
    ("doctor",),
    ("setup",),
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


@pytest.mark.parametrize("name", MACHINES[:2])
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


NAMED = "\x1b[2J\u202e"  # what every shell takes as any other name
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
    for name, version in (
        ("cuda-11.7", "11.7.99"),
        ("cuda-12.4", "12.4.131"),
        (f"cuda-12.5{IN_A_NAME}", "12.5.40"),
        (f"cuda-12.6{NAMED}", "12.6.20"),
    ):
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
        ("use", "cuda", "12.6", "--dry-run"),
        ("detect",),
        ("doctor",),
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


def test_a_change_and_the_way_back_are_only_shown(main: Main, hostile_home: Path) -> None:
    before = (hostile_home / ".bashrc").read_bytes().replace(b"CUDA_HOME=", b"NO_HOME=")  # it is no toolkit's: no proof would hold
    (hostile_home / ".bashrc").write_bytes(before)
    made = main("use", "cuda", "12.6", "--yes", "--no-kernel")
    assert (made.status, made.lines_obeyed) == (Exit.HEALTHY, [])
    assert "    This command is left out: it would hold <U+001B>, <U+202E>, which a terminal obeys" in made.out
    assert NAMED.encode() in (hostile_home / ".bashrc").read_bytes().replace(before, b"")
    (hostile_home / ".bashrc").write_bytes((hostile_home / ".bashrc").read_bytes() + f"alias x='{ON_A_LINE}'\n".encode())
    for arguments in (("undo", "--list"), ("undo", "--dry-run"), ("undo", "--yes")):
        printed = main(*arguments)
        assert (arguments, printed.status, printed.lines_obeyed) == (arguments, Exit.HEALTHY, [])


@pytest.mark.parametrize(
    "arguments",
    [
        ("{bad}",),
        ("--machine", "/no/{bad}", "detect"),
        ("--machine", "{bad}", "doctor", "--json"),
        ("--lang", "{bad}", "doctor"),
        ("detect", "--{bad}"),
        ("doctor", "{bad}"),
        ("explain", "/no/{bad}"),
        ("explain", "--topic", "{bad}"),
        ("use", "{bad}", "12.4"),
        ("use", "cuda", "{bad}"),
        ("use", "cuda", "12.4", "--rc", "/no/{bad}", "--dry-run"),
        ("use", "cuda", "12.4", "--retire", "{bad}:1", "--dry-run"),
        ("use", "cuda", "12.4", "--rewrite", "/no/{bad}:1", "--dry-run"),
        ("use", "cuda", "12.4", "--scope", "conda:{bad}"),
        ("use", "cuda", "12.4", "--scope", "{bad}:x"),
        ("use", "cuda", "12.4", "--scope", "envrc:/no/{bad}", "--dry-run"),
        ("use", "devices", "{bad}"),
        ("use", "--scopes", "/no/{bad}"),
        ("undo", "{bad}"),
        ("verify", "--python", "/no/{bad}"),
        ("verify", "--device", "{bad}"),
        ("verify", "--level", "{bad}"),
        ("monitor", "--hz", "{bad}"),
        ("monitor", "--headless", "--count", "{bad}"),
        ("know", "{bad}", "x"),
        ("know", "gpu", "{on_a_line}"),  # it reads a name word by word, so a line end in it is a blank
        ("know", "gpu", "{bad}", "--json"),
        ("plan", "{bad}"),
        ("plan", "torch=={bad}"),
        ("plan", 'gpu="{bad}"'),
        ("plan", "torch", "--as", "{bad}"),
        ("plan", "--back", "{bad}"),
        ("holders", "--stop", "{bad}"),
        ("shell", "--clean", "--lines", "{bad}:2"),
        ("shell", "--seconds", "{bad}"),
    ],
    ids=" ".join,
)
def test_arguments_are_only_shown(main: Main, arguments: tuple[str, ...]) -> None:
    printed = main(*(word.format(bad=IN_A_NAME, on_a_line=ON_A_LINE) for word in arguments))
    assert printed.out + printed.err
    assert printed.lines_obeyed == []
    assert printed.status != Exit.OUR_FAULT


def test_a_directory_and_variables_are_only_shown(main: Main, home: Path) -> None:
    within = home / IN_A_NAME
    within.mkdir()
    make_toolkit(within / "cuda", "12.4.131")
    names = (
        "CUDA_HOME",
        "CUDA_VISIBLE_DEVICES",
        "LD_LIBRARY_PATH",
        "CONDA_PREFIX",
        "VIRTUAL_ENV",
        "CUDA_PATH",
        "TORCH_CUDA_ARCH_LIST",
    )
    variables = {**dict.fromkeys(names, f"{within}/cuda"), "PATH": f"{within}/cuda/bin:/usr/bin:/bin", "LANG": f"C{IN_A_NAME}"}
    world = world_at(within)
    around = replace(world.surroundings, variables=variables)
    for arguments in (("detect",), ("doctor",), ("doctor", "--json"), ("shell",), ("use", "cuda", "12.4", "--dry-run")):
        printed = main(*arguments, world=replace(world, surroundings=around))
        assert (arguments, printed.lines_obeyed) == (arguments, [])
        assert printed.status not in {Exit.OUR_FAULT, Exit.USAGE}


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["people", "programs"])
def test_what_a_verification_prints_is_only_shown(main: Main, tmp_path: Path, options: tuple[str, ...]) -> None:
    device = {"device": f"cuda:0{HOSTILE}"}
    start = {**START, "torch": HOSTILE, "devices": [{**START["devices"][0], **device, "name": HOSTILE}], "no_accelerator": HOSTILE}
    checks = ({**BEGIN, **device}, {**FAIL, **device, "error": HOSTILE, "dtype": "fp32"}, {**DONE, **device})
    for documents in ((start, *checks, END), ({**REFUSAL, "error": f"OSError: {HOSTILE}"},), (start, {**BEGIN, **device})):
        folder = tmp_path / str(len(documents))
        folder.mkdir()
        code = f"print({HOSTILE!r}); sys.stderr.write({HOSTILE!r})\n" + says(*documents)
        printed = main("verify", "--python", interpreter_that_runs(folder, sys.executable, code), *options)
        assert printed.lines_obeyed == []
        assert printed.status in {Exit.PROBLEMS, Exit.UNDETERMINED}
        if options:
            assert any(HOSTILE.strip() in one for one in strings_in(printed.out))


def test_what_is_piped_in_is_only_shown(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    paste = f"nvcc fatal   : Unsupported gpu architecture 'compute_89'{HOSTILE}\nOSError: libcudart.so.12{HOSTILE}: cannot open\n"
    for options in ((), ("--json",)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(paste.encode())))
        assert main("explain", *options).lines_obeyed == []


def test_our_own_fault_and_the_log_are_only_shown(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Exit:
        logging.getLogger("gpuassist.made-up").info("looked at %s", IN_A_NAME)
        raise RuntimeError(IN_A_NAME)

    monkeypatch.setattr("gpuassist.cli.know.run", fails)
    monkeypatch.setattr(logging.root, "handlers", [])
    printed = main("--verbose", "know", "gpu")
    assert printed.status == Exit.OUR_FAULT
    assert OBEYED.search(printed.err) is None
    assert [line for line in printed.err.split("\n") if "looked at" in line] == [
        f"INFO:gpuassist.made-up:looked at {on_one_line(IN_A_NAME)}"
    ]


def test_a_library_that_writes_by_itself_is_only_shown(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    def warns(*_: object) -> Exit:
        sys.stderr.write(IN_A_NAME)
        sys.stdout.writelines([IN_A_NAME])
        return Exit.HEALTHY

    monkeypatch.setattr("gpuassist.cli.know.run", warns)
    printed = main("know", "gpu")
    assert OBEYED.search(printed.out + printed.err) is None


def test_no_command_writes_past_the_border() -> None:
    # Anything that is written to a stream of the terminal goes through `streams`, where the border is.
    written = re.compile(r"\.(?:out|err|stdout)\.write\(|\bprint\(|\\x1b|\\033")
    sources = {place: place.read_text() for place in Path(streams.__file__).parent.glob("*.py") if place.name != "streams.py"}
    assert [place.name for place, source in sources.items() if written.search(source)] == []
