"""The whole repair on a real disk with a real bash: plan, apply, prove in a new terminal, take back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import ChangeOutcome, ChangePlan
from gpuassist.changes.undo import history, undo
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import LdLibraryPath, UseCuda
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.shell import Terminal
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.use import look
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.disk import Disk
from gpuassist.system.world import World
from tests.changes.homes import FaultyDisk, made, make_toolkit, world_at

GUARD = b"case $- in\n    *i*) ;;\n      *) return;;\nesac\n"


def _world(home: Path, disk: Disk | None = None, shell: str = "/bin/bash") -> World:
    world = world_at(home, disk=disk)
    return replace(world, surroundings=replace(world.surroundings, login_shell=shell))


@pytest.fixture
def world(home: Path) -> World:
    """A user with the toolkits 11.7 and 12.4 in their home, whose login shells read .bashrc as those of every distribution do."""
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".profile").write_text('[ -f "$HOME/.bashrc" ] && . "$HOME/.bashrc"\n')
    return _world(home)


def _old(home: Path) -> bytes:
    return f"# mine\nexport CUDA_HOME={home}/cuda-11.7\nexport PATH=$CUDA_HOME/bin:$PATH\n".encode()


def _write(home: Path, content: bytes | str) -> Path:
    (home / ".bashrc").write_bytes(content.encode() if isinstance(content, str) else content)
    return home / ".bashrc"


def _plan(world: World, version: str = "12.4", *, ld_library_path: LdLibraryPath = LdLibraryPath.AUTO, rc: str = "") -> ChangePlan:
    machine = look(Session(world, Knowledge(lambda name: b"[]"), ENGLISH))
    return plan_use_cuda(world, machine, UseCuda(version, rc, ld_library_path))


def _use(world: World, version: str = "12.4") -> ChangeOutcome:
    return carry_out(world, _plan(world, version))


def _holds(outcome: ChangeOutcome) -> bool | None:
    assert outcome.proof is not None
    return outcome.proof.holds.value if isinstance(outcome.proof.holds, Known) else None


def _now(outcome: ChangeOutcome) -> Terminal:
    assert outcome.proof is not None
    assert isinstance(outcome.proof.terminal, Known)
    return outcome.proof.terminal.value


def _loader_path(outcome: ChangeOutcome) -> list[str]:
    """Each element once: a window of a session has read the file a second time."""
    return list(dict.fromkeys(_now(outcome).variable("LD_LIBRARY_PATH").split(":")))


def _nvcc_of(home: Path, *command: str) -> str:
    """Asked without any of our own code: which nvcc a shell of this home finds."""
    clean = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run([*command, "command -v nvcc; :"], capture_output=True, timeout=100, env=clean, start_new_session=True)
    return done.stdout.decode().strip()


def _nvcc_of_bash(home: Path) -> str:
    return _nvcc_of(home, "bash", "-ic")


def test_the_whole_way(world: World, home: Path) -> None:
    path = _write(home, _old(home))
    assert _nvcc_of_bash(home) == f"{home}/cuda-11.7/bin/nvcc"
    outcome = _use(world)
    assert (outcome.outcome.result, _holds(outcome)) == (Result.MODIFIED, True)
    assert path.read_bytes() == _old(home).replace(b"cuda-11.7", b"cuda-12.4")
    assert _nvcc_of_bash(home) == f"{home}/cuda-12.4/bin/nvcc"
    assert outcome.proof is not None
    assert outcome.proof.winner is not None
    assert outcome.proof.winner.real_path == f"{home}/cuda-12.4/bin/nvcc"
    assert "nvcc 12.4.131" in ENGLISH(outcome.proof.words)
    assert _now(outcome).variable("CUDA_HOME") == f"{home}/cuda-12.4"
    undo(world, "")
    assert path.read_bytes() == _old(home)
    assert _nvcc_of_bash(home) == f"{home}/cuda-11.7/bin/nvcc"


BANNER = b"echo banner; echo banner >&2\n"


@pytest.mark.parametrize("before", [b"", GUARD, BANNER, b"no newline", b"# caf\xe9\nreturn\nalias x=y\n"])
def test_a_block_wins_whatever_stands_around_it(world: World, home: Path, before: bytes) -> None:
    path = _write(home, before)
    assert _holds(_use(world)) is True
    assert path.read_bytes().count(b"# >>> gpuassist") == 1
    undo(world, "")
    assert path.read_bytes() == before


def test_makes_and_removes_a_missing_file(world: World, home: Path) -> None:
    assert made(world, _plan(world)).result is Result.MODIFIED
    assert (home / ".bashrc").exists()
    undo(world, "")
    assert not (home / ".bashrc").exists()


def test_twice_is_unchanged_and_still_proved(world: World, home: Path) -> None:
    _write(home, _old(home))
    made(world, _plan(world))
    content = (home / ".bashrc").read_bytes()
    again = _use(world)
    assert (again.outcome.result, _holds(again)) == (Result.UNCHANGED, True)
    assert (home / ".bashrc").read_bytes() == content
    assert len(history(world)) == 1


def test_changes_over_and_back(world: World, home: Path) -> None:
    path = _write(home, b"# mine\n")
    for version in ("12.4", "11.7"):
        made(world, _plan(world, version))
    assert _nvcc_of_bash(home) == f"{home}/cuda-11.7/bin/nvcc"
    assert path.read_bytes().count(b"# >>> gpuassist") == 1
    undo(world, "")
    assert _nvcc_of_bash(home) == f"{home}/cuda-12.4/bin/nvcc"
    undo(world, "")
    assert path.read_bytes() == b"# mine\n"


@pytest.mark.parametrize("name", ["cuda\n12.4", "cuda:12.4"])
def test_a_path_that_no_line_can_hold_is_refused(world: World, home: Path, name: str) -> None:
    root = make_toolkit(home / name, "12.4.131")
    toolkit = Toolkit(str(root), version=Known(Version.parse("12.4.131"), "x"))
    with pytest.raises(RepairError):
        plan_use_cuda(world, Machine(toolkits=Known((toolkit,), "x")), UseCuda("12.4"))
    assert not (home / ".bashrc").exists()


def test_a_strange_home_is_inert(tmp_path: Path) -> None:
    home = tmp_path / 'it\'s a $(touch hacked) `x` "home"'
    home.mkdir()
    make_toolkit(home / "cuda-12.4", "12.4.131")
    assert _holds(_use(_world(home))) is True
    assert not list(tmp_path.rglob("hacked"))


def test_a_file_that_never_opens_a_terminal_is_said(world: World, home: Path) -> None:
    _write(home, b"exit 3\n")
    outcome = _use(world)
    assert outcome.proof is not None
    assert not outcome.proof.holds.value if isinstance(outcome.proof.holds, Known) else isinstance(outcome.proof.holds, Unknown)


def test_changed_between_preview_and_writing(world: World, home: Path) -> None:
    path = _write(home, _old(home))
    plan = _plan(world)
    path.write_bytes(b"somebody else\n")
    outcome = carry_out(world, plan)
    assert (outcome.outcome.result, outcome.proof) == (Result.REFUSED, None)
    assert path.read_bytes() == b"somebody else\n"


@pytest.mark.parametrize(("wish", "expected"), [("on", True), ("auto", False)])
def test_the_loader_path_is_as_wished(world: World, home: Path, wish: str, expected: bool) -> None:
    outcome = carry_out(world, _plan(world, ld_library_path=LdLibraryPath(wish)))
    assert _loader_path(outcome) == ([f"{home}/cuda-12.4/lib64"] if expected else [""])


@pytest.mark.parametrize(("wish", "left"), [("auto", "{home}/cuda-12.4/lib64:/opt/x"), ("off", "/opt/x")])
def test_what_stands_on_the_loader_path_follows_or_goes(world: World, home: Path, wish: str, left: str) -> None:
    _write(
        home,
        _old(home) + b"export LD_LIBRARY_PATH=$CUDA_HOME/lib64:$LD_LIBRARY_PATH\nexport LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/x\n",
    )
    outcome = carry_out(world, _plan(world, ld_library_path=LdLibraryPath(wish)))
    assert [one for one in _loader_path(outcome) if one] == left.format(home=home).split(":")  # an empty one is the owner's own


def test_another_start_up_file_can_be_named(world: World, home: Path) -> None:
    _write(home, b". ~/.bash_cuda\n")
    (home / ".bash_cuda").write_bytes(b"# here\n")
    assert _holds(carry_out(world, _plan(world, rc=str(home / ".bash_cuda")))) is True
    assert (home / ".bashrc").read_bytes() == b". ~/.bash_cuda\n"


def test_a_git_checkout_is_written_with_a_note(world: World, home: Path) -> None:
    (home / "dotfiles/.git").mkdir(parents=True)
    (home / "dotfiles/bashrc").write_bytes(_old(home))
    (home / ".bashrc").symlink_to("dotfiles/bashrc")
    plan = _plan(world)
    assert any("git checkout" in ENGLISH(note) for note in plan.plan.notes)
    assert made(world, plan).result is Result.MODIFIED
    assert (home / ".bashrc").is_symlink()
    undo(world, "")
    assert (home / "dotfiles/bashrc").read_bytes() == _old(home)


def test_an_obstacle_leaves_the_text_to_paste(world: World, home: Path) -> None:
    (home / ".bashrc").mkdir()
    plan = _plan(world)
    assert plan.obstacle is not None
    assert f"export CUDA_HOME={home}/cuda-12.4" in plan.block
    outcome = carry_out(world, plan)
    assert outcome.outcome.result is Result.REFUSED
    assert "is a directory" in ENGLISH(outcome.outcome.text)


def test_a_full_disk_is_said_and_nothing_lost(home: Path) -> None:
    make_toolkit(home / "cuda-12.4", "12.4.131")
    path = _write(home, b"# mine\n")
    outcome = _use(_world(home, FaultyDisk(only="write", half=True)))
    assert outcome.outcome.result is Result.FAILED
    assert "disk is full" in ENGLISH(outcome.outcome.text)
    assert path.read_bytes() == b"# mine\n"


def test_unbalanced_markers_stop_the_plan(world: World, home: Path) -> None:
    _write(home, b"# >>> gpuassist version=1 change=x added=0 >>>\n")
    with pytest.raises(RepairError) as raised:
        _plan(world)
    assert "do not pair up" in ENGLISH(raised.value.reason)


def test_crlf_is_kept_and_said(world: World, home: Path) -> None:
    path = _write(home, b"# mine\r\nexport EDITOR=vi\r\n")
    plan = _plan(world)
    assert any("Windows line ends" in ENGLISH(note) for note in plan.plan.notes)
    assert _holds(carry_out(world, plan)) is True
    assert path.read_bytes().startswith(b"# mine\r\nexport EDITOR=vi\r\n# >>> gpuassist")


@pytest.mark.slow
def test_two_mebibytes_are_changed_and_restored(world: World, home: Path) -> None:
    content = _old(home) + b"# a long tail\n" * 150_000
    path = _write(home, content)
    assert _use(world).outcome.result is Result.MODIFIED
    undo(world, "")
    assert path.read_bytes() == content


def test_every_change_is_listed(world: World) -> None:
    for version in ("12.4", "11.7"):
        made(world, _plan(world, version))
    undo(world, "")
    changes = history(world)
    assert [(change.goal, bool(change.undone_at)) for change in changes] == [("use cuda 11.7", True), ("use cuda 12.4", False)]


REAL = Path("/usr/local/cuda-13.0")


@pytest.mark.skipif(not (REAL / "bin/nvcc").exists(), reason="NOT RUN: needs a real CUDA toolkit in /usr/local/cuda-13.0")
def test_the_real_toolkit_wins_in_a_real_bash(home: Path) -> None:
    path = _write(home, GUARD + b"export PATH=/usr/local/cuda-11.7/bin:$PATH\n")
    before = path.read_bytes()
    world = _world(home)
    outcome = _use(world, "13.0")
    assert outcome.proof is not None
    assert outcome.proof.winner is not None
    assert os.path.samefile(outcome.proof.winner.real_path, REAL / "bin/nvcc")
    assert os.path.samefile(_nvcc_of_bash(home), REAL / "bin/nvcc")
    undo(world, "")
    assert path.read_bytes() == before
