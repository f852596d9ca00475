"""`gpuassist run` as its users type it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuassist.app import compose, open_window
from gpuassist.cli.main import _divided, main
from gpuassist.model.sample import EventKind
from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.monitor.sample_file import SampleReader
from gpuassist.present.marks import Exit
from tests.fakes import put
from tests.monitor.made_torch import Program
from tests.nvml_fixture import FakeNvml
from tests.rows import for_each

COMMAND = (sys.executable, "-m", "gpuassist", "run")
TWO = "[gpu]\nname = A\nused = 0\n[gpu]\nname = B\nused = 0\n"
Load = Callable[..., FakeNvml]


@dataclass(frozen=True)
class Typed:
    """What came of a command line."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Desk:
    """A user's runtime directory, and command lines typed with it."""

    folder: Path

    def types(self, *words: str, variables: Mapping[str, str] | None = None) -> Typed:
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder), **(variables or {})}
        done = subprocess.run([*COMMAND, *words], env=environment, capture_output=True, text=True, timeout=100, check=False)
        return Typed(done.returncode, done.stdout, done.stderr)

    @property
    def left_behind(self) -> list[str]:
        return sorted(os.listdir(self.folder))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    return Desk(folder)


def test_the_commands_own_words_are_its_own(desk: Desk) -> None:
    typed = desk.types("--", "sh", "-c", 'printf %s "$*"; echo oops >&2; exit 7', "sh", "--lang", "de", "--", "-h", "--machine", "")
    assert (typed.status, typed.out) == (7, "--lang de -- -h --machine ")
    first, last = typed.err.splitlines()
    assert first == "oops"
    assert last.startswith("gpuassist: ")
    assert desk.left_behind == []


@for_each(
    "arguments, ours, theirs",
    [
        (("run", "--", "a", "--", "b"), ("run",), ("a", "--", "b")),
        (("--lang", "en", "run", "--wait", "--", "a"), ("--lang", "en", "run", "--wait"), ("a",)),
        (("explain", "--", "file"), ("explain", "--", "file"), ()),
        (("explain", "--", "run"), ("explain", "--", "run"), ()),
        (("run",), ("run",), ()),
    ],
)
def test_where_the_command_begins(arguments: tuple[str, ...], ours: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    assert _divided(arguments) == (ours, theirs)


@for_each(
    "words",
    [
        (),
        ("--",),
        ("--wait", "--", "true"),
        ("--devices", "x", "--", "true"),
        ("--devices", "0", "--free", "x", "--", "true"),
        ("--idle-minutes", "5", "--", "true"),
        ("--idle-minutes", "0", "--notify", "--", "true"),
        ("--demo", "allocator", "--", "true"),
        ("--machine", "x", "--", "true"),
        ("true",),
        ("python", "train.py", "--lr", "3"),
        ("--wait", "python", "--", "true"),
        ("--devices", "", "--", "true"),
        ("--devices", "0", "--free", "", "--", "true"),
        ("--python", "x", "--", "true"),
        ("--record", "/dev/null/x", "--", "true"),
    ],
)
def test_what_cannot_be_meant(words: tuple[str, ...]) -> None:
    err = io.StringIO()
    with redirect_stderr(err):
        assert main(("run", *words), compose=compose, open_window=open_window) == Exit.USAGE
    assert err.getvalue().startswith("gpuassist: ")


def test_what_cannot_be_run_has_a_shells_status(desk: Desk) -> None:
    for program, status in (("/no/such/program", 127), ("/etc/passwd", 126)):
        typed = desk.types("--", program)
        assert (typed.status, typed.out) == (status, "")
        assert program in typed.err
    assert desk.left_behind == []


def test_torch_is_told_of_and_the_line_at_the_end_has_it(desk: Desk, tmp_path: Path) -> None:
    program = Program(tmp_path / "program")
    allocates = (
        "import torch\ntorch.cuda.allocate(3 << 20)\ntry: torch.cuda.allocate(1 << 31)\nexcept RuntimeError: print('caught')"
    )
    typed = desk.types("--", sys.executable, "-c", allocates, variables={"PYTHONPATH": f"{os.getcwd()}:{program.folder}/site"})
    assert (typed.status, typed.out) == (0, "caught\n")
    assert "1 out-of-memory error, 1 retry" in typed.err
    assert desk.left_behind == []


def test_where_a_snapshot_lies_is_said(desk: Desk, tmp_path: Path) -> None:
    program = Program(tmp_path / "program")
    folder = tmp_path / "made" / "for it"
    fails = (sys.executable, "-c", "import torch; torch.cuda.allocate(1 << 31)")
    variables = {"PYTHONPATH": f"{os.getcwd()}:{program.folder}/site"}
    typed = desk.types("--snapshots", str(folder), "--", *fails, variables=variables)
    (kept,) = folder.iterdir()
    assert str(kept) in typed.err
    assert desk.types("--snapshots", "/dev/null/x", "--", *fails).status == Exit.USAGE


def test_one_command_runs_and_keeps_the_samples_with_the_words_of_its_failure(desk: Desk, tmp_path: Path, load_nvml: Load) -> None:
    load_nvml(TWO)
    program, path = Program(tmp_path / "program"), tmp_path / "run.db"
    fails = "import torch\ntry: torch.cuda.allocate(1 << 31)\nexcept RuntimeError: raise SystemExit(3)"
    variables = {"PYTHONPATH": f"{os.getcwd()}:{program.folder}/site"}
    typed = desk.types("--record", str(path), "--", sys.executable, "-c", fails, variables=variables)
    assert (typed.status, len(typed.err.splitlines())) == (3, 1)
    samples = list(SampleReader(str(path)).samples())
    assert [len(one.gpus) for one in samples] == [2] * len(samples)
    # The program was gone long before another second was over.
    assert EventKind.OUT_OF_MEMORY in {event.kind for one in samples for event in one.events}


def test_a_run_that_cannot_be_recorded_is_not_started(desk: Desk, tmp_path: Path) -> None:
    typed = desk.types("--record", str(tmp_path / "no" / "run.db"), "--", "touch", str(tmp_path / "started"))
    assert (typed.status, typed.err.count("\n")) == (Exit.USAGE, 1)
    assert not (tmp_path / "started").exists()


def test_devices_are_chosen_and_shown(desk: Desk, load_nvml: Load) -> None:
    load_nvml(TWO)
    shows = ("--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER")
    assert desk.types("--devices", "1", *shows).out == "1 PCI_BUS_ID\n"
    assert desk.types("--devices", "free:2", "--wait", "--free", "20GiB", *shows).out == "0,1 PCI_BUS_ID\n"
    assert desk.types("--devices", "free:1", "--free", "90GiB", *shows).status == Exit.PROBLEMS


def test_the_end_is_told(desk: Desk, tmp_path: Path) -> None:
    tells = f'echo "$GPUASSIST_OUTCOME $GPUASSIST_STATUS $GPUASSIST_SUMMARY" > {tmp_path}/told'
    typed = desk.types("--on-end", tells, "--notify", "--", "sh", "-c", "exit 3", variables={"DBUS_SESSION_BUS_ADDRESS": ""})
    assert typed.status == 3
    assert (tmp_path / "told").read_text("utf-8").startswith("failed 3 failed with status 3: ")
    assert len(typed.err.splitlines()) == 2  # that nobody can be notified, and the line at the end


def test_what_is_run_at_the_end_keeps_off_the_commands_output(desk: Desk) -> None:
    typed = desk.types("--on-end", "echo told; exit 9", "--", "sh", "-c", "echo own; exit 3")
    assert (typed.status, typed.out) == (3, "own\n")
    assert typed.err.splitlines()[1] == "told"
    assert "9" in typed.err.splitlines()[2]


def test_a_command_keeps_its_status_where_the_place_of_its_run_has_gone(desk: Desk) -> None:
    for spoils in ('rm -r "$GPUASSIST_RUN"', 'mkdir "$GPUASSIST_RUN/1-1.ring"'):
        assert desk.types("--", "sh", "-c", f"{spoils}; exit 4").status == 4


def test_a_run_is_recorded_to_its_last_words(desk: Desk, load_nvml: Load, tmp_path: Path) -> None:
    load_nvml(TWO)
    program = Program(tmp_path / "program")
    variables = {"PYTHONPATH": f"{os.getcwd()}:{program.folder}/site"}
    file = str(tmp_path / "run.db")
    for code in ("pass", "import torch; torch.cuda.allocate(1 << 31)"):
        desk.types("--record", file, "--", sys.executable, "-c", code, variables=variables)
    reader = SampleReader(file)
    found = [[event.kind for one in reader.samples(run) for event in one.events] for run in reader.runs()]
    assert [EventKind.OUT_OF_MEMORY in events for events in found] == [False, True]


def test_a_notice_goes_where_the_desktop_takes_it(desk: Desk, tmp_path: Path) -> None:
    put(tmp_path, "/bin/notify-send", f'#!/bin/sh\nprintf "%s|" "$@" > {tmp_path}/shown\n', mode=0o755)
    variables = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    desk.types("--notify", "--", "sh", "-c", "exit 3", variables=variables)
    shown = (tmp_path / "shown").read_text("utf-8").split("|")
    assert shown[1:5] == ["--urgency=critical", "--", "sh -c exit 3", shown[4]]
    assert shown[4].startswith("failed with status 3: ")


def test_the_two_lines_are_python_that_begins(desk: Desk, tmp_path: Path) -> None:
    typed = desk.types("--print-lines")
    assert len(typed.out.splitlines()) == 2
    program = Program(tmp_path / "program")
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{program.folder}/site", "XDG_RUNTIME_DIR": str(desk.folder)}
    sees = "import torch; torch.cuda.allocate(1); print(gpuassist_memory._watch._path)"
    assert program.run(f"{typed.out}{sees}", variables=variables).startswith(f"{desk.folder}/gpuassist/")
    assert desk.left_behind == []


def test_a_program_that_is_left_behind_keeps_telling(desk: Desk, tmp_path: Path) -> None:
    program = Program(tmp_path / "program")
    variables = {"PYTHONPATH": f"{os.getcwd()}:{program.folder}/site"}
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    daemon = (
        "import os, torch\nr, w = os.pipe()\nif os.fork(): os.read(r, 1); os._exit(0)\nos.setsid()\n"
        f"torch.cuda.allocate(7); os.write(w, b'x'); os.close(1); os.close(2); open({str(fifo)!r}).read()"
    )
    typed = desk.types("--", sys.executable, "-c", daemon, variables=variables)
    assert typed.status == 0
    (run,) = (desk.folder / "gpuassist").iterdir()
    (ring,) = run.glob(f"*{inside.SUFFIX}")
    assert ring.stat().st_size == inside.SIZE
    fifo.open("w").close()  # and it ends
