"""What is told from inside a program, with a torch that is made up: real interpreters, and nothing of a GPU."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuassist.model.sample import TorchMemory
from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.monitor.rings import Ring
from gpuassist.monitor.run_place import SNAPSHOTS
from tests.monitor.made_torch import SOURCES, Program
from tests.rows import for_each

ALLOCATES = "import torch; torch.cuda.allocate(3000); torch.cuda.free(1000)\n"
TELLS = "import gpuassist_memory as told; told.mark('now')\n"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def only(program: Program) -> Ring:
    (ring,) = program.rings()
    return ring


def _pythons() -> Iterator[str]:
    """The oldest that is served and the newest, as far as they are here."""
    yield sys.executable
    for name in ("3.8", "3.9", "3.13", "3.14"):
        places = [f"{os.environ.get('PYENV_ROOT', os.path.expanduser('~/.pyenv'))}/versions", "/usr/bin"]
        found = [str(one) for place in places for one in Path(place).glob(f"{name}*/bin/python")]
        yield from found[:1] or filter(None, [shutil.which(f"python{name}")])


def test_figures_are_told_to_every_python(tmp_path: Path) -> None:
    for number, python in enumerate(_pythons()):
        program = Program(tmp_path / str(number))
        program.run(ALLOCATES + TELLS, python=python)
        ring = only(program)
        assert ring.state is not None
        (device,) = ring.state.devices
        assert (device.ordinal, device.memory) == (1, TorchMemory(2000, 3000, 3000, 3000, 2000, 0))
        assert ring.state.ended


def test_the_last_figures_are_those_at_the_end(program: Program) -> None:
    program.run(ALLOCATES + TELLS + "torch.cuda.allocate(5000)")
    state = only(program).state
    assert state is not None
    assert state.devices[0].memory.allocated_peak_bytes == 7000


def test_records_are_what_changed(program: Program) -> None:
    program.run(
        "import torch\nimport gpuassist_memory as told\n" + "torch.cuda.allocate(10); told.mark('x')\n" * 3 + "told.mark('y')"
    )
    ring = only(program)
    assert [one.memory.allocated_bytes for one in ring.records()] == [10, 20, 30]
    assert [(one.number, one.words) for one in ring.notes(2)] == [(2, "x"), (3, "y")]


def test_an_out_of_memory_error_is_told_also_where_it_is_caught(program: Program) -> None:
    failing = "try: torch.cuda.allocate(1 << 31)\nexcept RuntimeError as error: last = error\n"
    program.run(ALLOCATES + failing + "try: raise type(last)(str(last))\nexcept RuntimeError: pass\n")
    ring = only(program)
    (note,) = ring.notes(0)  # the same words again are the same error, sent on by another thread
    assert (note.is_out_of_memory, note.ordinal) == (True, 1)
    assert note.words == "CUDA out of memory. Tried to allocate 2147483648 bytes."
    assert ring.state is not None
    assert (ring.state.devices[0].memory.ooms, ring.state.devices[0].memory.retries) == (1, 1)


FAILS = "import torch\nfor _ in range(5):\n    try: torch.cuda.allocate(1 << 31)\n    except RuntimeError: pass\n"


def test_snapshots_of_the_first_errors_are_kept(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    program.run(FAILS, variables=program.variables(**{SNAPSHOTS: str(folder)}))
    notes = only(program).notes(0)
    paths = [note.words for note in notes if note.is_snapshot]
    assert len(paths) == 3
    assert sorted(paths) == sorted(map(str, folder.iterdir()))
    recorded = pickle.loads(Path(paths[0]).read_bytes())["recorded"]
    assert recorded["max_entries"] > 0
    assert [note.is_out_of_memory for note in notes][:4] == [True, False, True, False]


def test_a_snapshot_that_cannot_be_kept_is_told_of(program: Program, tmp_path: Path) -> None:
    program.run(FAILS, variables=program.variables(**{SNAPSHOTS: str(tmp_path / "missing")}))
    (first, *_) = (note.words for note in only(program).notes(0) if note.is_snapshot)
    assert not first.startswith("/")


def test_nobody_who_does_not_ask_gets_one(program: Program) -> None:
    assert program.run(FAILS + "import sys; print('gpuassist_snapshot' in sys.modules, torch.cuda.memory.recorded)") == "False None"
    assert not any(note.is_snapshot for note in only(program).notes(0))


def test_the_program_sees_nothing_of_it(program: Program) -> None:
    sees = "import sys, threading; print([one for one in sys.path if one.endswith('run/python')], len(threading.enumerate()))"
    assert program.run(f"{ALLOCATES}{sees}\nprint(torch._C.resets, torch.__spec__.loader.__class__.__name__)") == (
        "[] 1\n0 SourceFileLoader"
    )


def test_without_cuda_nothing_is_written(program: Program) -> None:
    program.run("import torch, gpuassist_memory as told; told.mark('now')")
    assert program.rings() == ()


@for_each("text, says", [("print('own')", "own"), ("", ""), (None, "")])
def test_the_users_own_sitecustomize_runs(tmp_path: Path, text: str | None, says: str) -> None:
    program = Program(tmp_path / str(len(os.listdir(tmp_path))))
    own = program.folder / "site" / "sitecustomize.py"
    if text is not None:
        own.write_text(text, "utf-8")
    sees = "import sys; one = sys.modules.get('sitecustomize'); print(one and one.__file__)"
    assert program.run(ALLOCATES + sees).split("\n") == [*filter(None, [says]), str(own) if text is not None else "None"]
    assert len(program.rings()) == 1


@for_each("options", [("-I",), ("-E",), ("-S",), ("-ISE",)])
def test_an_isolated_python_runs_untouched(tmp_path: Path, options: tuple[str, ...]) -> None:
    program = Program(tmp_path / options[0])
    code = f"import sys; sys.path.append({str(program.folder / 'site')!r}); {ALLOCATES}print('gpuassist_memory' in sys.modules)"
    assert program.run(code, *options) == "False"
    assert program.rings() == ()


def test_a_forked_child_leaves_its_parents_figures_alone(program: Program) -> None:
    child = "import os\npid = os.fork()\nif not pid: told.mark('child'); sys.exit(0)\nos.waitpid(pid, 0)\ntold.mark('parent')\n"
    program.run("import sys\n" + ALLOCATES + TELLS + child)
    assert [note.words for note in only(program).notes(0)] == ["now", "parent"]


def test_a_child_forked_before_cuda_tells_its_own(program: Program) -> None:
    program.run(f"import os, sys, torch\npid = os.fork()\n{ALLOCATES}\nif pid: os.waitpid(pid, 0)\n")
    assert len({ring.pid for ring in program.rings()}) == 2


def test_no_other_file_is_hit(program: Program) -> None:
    """A program that closes what it does not know and opens files of its own; then its file is cut, and taken away."""
    code = (
        f"{ALLOCATES}{TELLS}import os\nos.closerange(3, 64)\n"
        "mine = open('mine', 'wb')\ntold.mark('x')\nprint(os.stat('mine').st_size)\n"
        "os.truncate(told._watch._path, 100); told.mark('y'); os.unlink(told._watch._path); told.mark('z')"
    )
    variables = program.variables()
    assert program.run(f"import os; os.chdir({str(program.folder)!r})\n{code}", variables=variables) == "0"
    assert program.rings() == ()


def test_two_lines_do_the_same_and_leave_nothing(program: Program) -> None:
    variables = {**program.variables(), "PYTHONPATH": str(program.folder / "site"), "XDG_RUNTIME_DIR": str(program.folder)}
    del variables[inside.RUN]
    lines = f"import sys; sys.path.append({str(SOURCES)!r})\nimport gpuassist_memory\n"
    sees = "import os; print([one.endswith('.ring') for one in os.listdir(os.path.dirname(gpuassist_memory._watch._path))])\n"
    for code in (lines + ALLOCATES + sees, ALLOCATES + lines + sees):  # also where CUDA has been started already
        assert program.run(code, variables=variables) == "[True]"
    assert not (program.folder / "gpuassist").exists()


def test_a_directory_that_others_may_write_is_not_used(tmp_path: Path) -> None:
    for name, mode in (("open", 0o777), ("group", 0o770), ("read", 0o755)):
        place = tmp_path / name
        place.mkdir()
        place.chmod(mode)
        assert not inside.own_directory(str(place))
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "own")
    assert inside.own_directory(str(tmp_path / "own"))
    assert not inside.own_directory(str(tmp_path / "link"))
    assert inside.own_directory(str(tmp_path / "new"))
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@for_each(
    "variables, places",
    [
        ({"XDG_RUNTIME_DIR": "/run/user/7"}, ["/run/user/7/gpuassist", "/tmp/gpuassist-7"]),
        ({}, ["/tmp/gpuassist-7"]),
        ({"XDG_RUNTIME_DIR": "here", "TMPDIR": "/scratch/"}, ["/tmp/gpuassist-7", "/scratch/gpuassist-7"]),
    ],
)
def test_where_files_may_lie(variables: dict[str, str], places: list[str]) -> None:
    assert inside.base_directories(variables, 7) == places
