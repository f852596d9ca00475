"""The whole repair on a real disk with a real bash: plan, apply, prove in a new terminal, take back."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.session import fix
from gpuassist.session.context import Session
from gpuassist.session.words import ENGLISH
from gpuassist.system.disk import Disk
from tests.changes.homes import FaultyDisk, make_toolkit, world_at

GUARD = b"case $- in\n    *i*) ;;\n      *) return;;\nesac\n"


def _session(home: Path, disk: Disk | None = None) -> Session:
    return Session(world_at(home, disk=disk), Knowledge(lambda name: b"[]"), ENGLISH)


@pytest.fixture
def session(home: Path) -> Session:
    """A user with the toolkits 11.7 and 12.4 in their home."""
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    return _session(home)


def _old(home: Path) -> bytes:
    return f"# mine\nexport CUDA_HOME={home}/cuda-11.7\nexport PATH=$CUDA_HOME/bin:$PATH\n".encode()


def _write(home: Path, content: bytes) -> Path:
    (home / ".bashrc").write_bytes(content)
    return home / ".bashrc"


def _plan(session: Session, version: str = "12.4", **wishes: object) -> fix.CudaPlan:
    wish = replace(fix.UseCuda(version), **wishes)  # type: ignore[arg-type]
    return fix.plan_use_cuda(session, fix.look(session), wish)


def _use(session: Session, version: str = "12.4") -> fix.Applied:
    return fix.apply(session, _plan(session, version))


def _nvcc_of_bash(home: Path, *, interactive: bool = True) -> str:
    """Asked without any of our own code: which nvcc a bash of this home finds."""
    command = ["bash", "-ic" if interactive else "-c", "command -v nvcc; :"]
    clean = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run(command, capture_output=True, timeout=100, env=clean, start_new_session=True)
    return done.stdout.decode().strip()


def test_the_whole_way(session: Session, home: Path) -> None:
    path = _write(home, _old(home))
    assert _nvcc_of_bash(home) == f"{home}/cuda-11.7/bin/nvcc"
    applied = _use(session)
    assert applied.result is Result.MODIFIED
    assert _nvcc_of_bash(home) == f"{home}/cuda-12.4/bin/nvcc"
    fix.undo(session)
    assert path.read_bytes() == _old(home)
    assert _nvcc_of_bash(home) == f"{home}/cuda-11.7/bin/nvcc"


def test_proves_which_nvcc_wins(session: Session, home: Path) -> None:
    _write(home, _old(home))
    proof = _use(session).proof
    assert proof is not None
    assert proof.winner is not None
    assert proof.holds is fix.Holds.YES
    assert (proof.winner.path, proof.winner.real_path) == (f"{home}/cuda-12.4/bin/nvcc", f"{home}/cuda-12.4/bin/nvcc")
    assert "nvcc 12.4.131" in ENGLISH(proof.words)


def test_shows_before_and_after(session: Session, home: Path) -> None:
    _write(home, _old(home))
    applied = _use(session)
    assert isinstance(applied.before, Known)
    assert isinstance(applied.after, Known)
    assert applied.before.value.variable("CUDA_HOME") == f"{home}/cuda-11.7"
    assert applied.after.value.variable("CUDA_HOME") == f"{home}/cuda-12.4"


BANNER = b"echo banner; echo banner >&2\n"


@pytest.mark.parametrize("before", [b"", b"\n", GUARD, BANNER, b"shopt -s nocasematch\n", b"no newline", b"# caf\xe9\n"])
def test_wins_below_whatever_stands_above(session: Session, home: Path, before: bytes) -> None:
    path = _write(home, before)
    proof = _use(session).proof
    assert proof is not None
    assert proof.holds is fix.Holds.YES
    fix.undo(session)
    assert path.read_bytes() == before


def test_wins_where_it_was_further_back_already(session: Session, home: Path) -> None:
    _write(home, f"export PATH={home}/cuda-11.7/bin:{home}/bin:{home}/cuda-12.4/bin:$PATH\n".encode())
    applied = _use(session)
    assert isinstance(applied.after, Known)
    path = applied.after.value.variable("PATH").split(":")
    assert path[0] == f"{home}/cuda-12.4/bin"
    assert path.count(f"{home}/cuda-12.4/bin") == 1
    assert f"{home}/bin" in path


def test_makes_and_removes_a_missing_file(session: Session, home: Path) -> None:
    assert _use(session).result is Result.MODIFIED
    assert (home / ".bashrc").exists()
    fix.undo(session)
    assert not (home / ".bashrc").exists()


def test_twice_is_unchanged_and_still_proved(session: Session, home: Path) -> None:
    _write(home, _old(home))
    _use(session)
    content = (home / ".bashrc").read_bytes()
    again = _use(session)
    assert again.result is Result.UNCHANGED
    assert again.proof is not None
    assert again.proof.holds is fix.Holds.YES
    assert (home / ".bashrc").read_bytes() == content
    assert len(fix.history(session)) == 1


def test_changes_over_and_back(session: Session, home: Path) -> None:
    path = _write(home, b"# mine\n")
    _use(session, "12.4")
    _use(session, "11.7")
    assert _nvcc_of_bash(home) == f"{home}/cuda-11.7/bin/nvcc"
    assert path.read_bytes().count(b"# >>> gpuassist") == 1
    fix.undo(session)
    assert _nvcc_of_bash(home) == f"{home}/cuda-12.4/bin/nvcc"
    fix.undo(session)
    assert path.read_bytes() == b"# mine\n"


def test_a_strange_home_is_inert(tmp_path: Path) -> None:
    home = tmp_path / 'it\'s a $(touch hacked) `x` "home"'
    home.mkdir()
    make_toolkit(home / "cuda-12.4", "12.4.131")
    session = _session(home)
    proof = _use(session).proof
    assert proof is not None
    assert proof.holds is fix.Holds.YES
    assert not list(tmp_path.rglob("hacked"))


@pytest.mark.parametrize("name", ["cuda\n12.4", "cuda:12.4"])
def test_a_path_that_no_line_can_hold_is_refused(session: Session, home: Path, name: str) -> None:
    root = make_toolkit(home / name, "12.4.131")
    toolkit = Toolkit(str(root), version=Known(Version.parse("12.4.131"), "x"))
    with pytest.raises(fix.RepairError):
        fix.plan_use_cuda(session, Machine(toolkits=Known((toolkit,), "x")), fix.UseCuda("12.4"))
    assert not (home / ".bashrc").exists()


def test_says_what_wins_where_the_block_is_not_reached(session: Session, home: Path) -> None:
    _write(home, _old(home) + b"return\n")
    applied = _use(session)
    assert applied.proof is not None
    assert applied.proof.holds is fix.Holds.NO
    assert applied.receipt is not None
    fix.undo(session, applied.receipt.id)
    assert (home / ".bashrc").read_bytes() == _old(home) + b"return\n"


def test_a_file_that_never_opens_a_terminal_is_said(session: Session, home: Path) -> None:
    _write(home, b"exit 3\n")
    applied = _use(session)
    assert applied.proof is not None
    assert applied.proof.holds is fix.Holds.UNKNOWN
    assert isinstance(applied.after, Unknown)
    assert applied.result is Result.MODIFIED


def test_changed_between_preview_and_apply(session: Session, home: Path) -> None:
    path = _write(home, _old(home))
    plan = _plan(session)
    path.write_bytes(b"somebody else\n")
    applied = fix.apply(session, plan)
    assert applied.result is Result.REFUSED
    assert applied.proof is None
    assert path.read_bytes() == b"somebody else\n"


def test_only_the_ticked_lines_are_retired(session: Session, home: Path) -> None:
    path = _write(home, _old(home))
    fix.apply(session, _plan(session, retire=(3,)))
    assert b"\nexport CUDA_HOME=" in path.read_bytes()
    assert b": export PATH=$CUDA_HOME/bin:$PATH\n" in path.read_bytes()


def test_no_line_is_retired_where_none_is_ticked(session: Session, home: Path) -> None:
    path = _write(home, _old(home))
    fix.apply(session, _plan(session, retire=()))
    assert path.read_bytes().startswith(_old(home) + b"# >>> gpuassist")
    assert _nvcc_of_bash(home) == f"{home}/cuda-12.4/bin/nvcc"


def test_a_ticked_line_in_a_branch_keeps_the_file_valid(session: Session, home: Path) -> None:
    path = _write(home, f"if true; then\n  export CUDA_HOME={home}/cuda-11.7\nfi\n".encode())
    applied = fix.apply(session, _plan(session, retire=(2,)))
    assert applied.result is Result.MODIFIED
    assert subprocess.run(["bash", "-n", str(path)], timeout=100).returncode == 0


@pytest.mark.parametrize(("wish", "expected"), [("on", True), ("off", False), ("auto", False)])
def test_the_loader_path_is_as_wished(session: Session, home: Path, wish: str, expected: bool) -> None:
    applied = fix.apply(session, _plan(session, ld_library_path=fix.LdLibraryPath(wish)))
    assert isinstance(applied.after, Known)
    assert applied.after.value.variable("LD_LIBRARY_PATH") == (f"{home}/cuda-12.4/lib64" if expected else "")


def test_another_start_up_file_can_be_named(session: Session, home: Path) -> None:
    _write(home, b". ~/.bash_cuda\n")
    (home / ".bash_cuda").write_bytes(b"# here\n")
    applied = fix.apply(session, _plan(session, rc=str(home / ".bash_cuda")))
    assert applied.proof is not None
    assert applied.proof.holds is fix.Holds.YES
    assert (home / ".bashrc").read_bytes() == b". ~/.bash_cuda\n"


def test_a_git_checkout_is_written_with_a_note(session: Session, home: Path) -> None:
    (home / "dotfiles/.git").mkdir(parents=True)
    (home / "dotfiles/bashrc").write_bytes(_old(home))
    (home / ".bashrc").symlink_to("dotfiles/bashrc")
    plan = _plan(session)
    assert any("git checkout" in ENGLISH(note) for note in plan.plan.notes)
    assert fix.apply(session, plan).result is Result.MODIFIED
    assert (home / ".bashrc").is_symlink()
    fix.undo(session)
    assert (home / "dotfiles/bashrc").read_bytes() == _old(home)


def test_an_obstacle_leaves_the_text_to_paste(session: Session, home: Path) -> None:
    (home / ".bashrc").mkdir()
    plan = _plan(session)
    assert plan.obstacle is not None
    assert f"export CUDA_HOME='{home}/cuda-12.4'" in plan.block
    applied = fix.apply(session, plan)
    assert applied.result is Result.REFUSED
    assert "is a directory" in ENGLISH(applied.outcomes[0].text)


def test_a_full_disk_is_said_and_nothing_lost(home: Path) -> None:
    make_toolkit(home / "cuda-12.4", "12.4.131")
    path = _write(home, b"# mine\n")
    session = _session(home, FaultyDisk(only="write", half=True))
    applied = _use(session)
    assert applied.result is Result.FAILED
    assert "disk is full" in ENGLISH(applied.outcomes[0].text)
    assert path.read_bytes() == b"# mine\n"


def test_unbalanced_markers_stop_the_plan(session: Session, home: Path) -> None:
    _write(home, b"# >>> gpuassist version=1 change=x added=0 >>>\n")
    with pytest.raises(fix.RepairError) as raised:
        _plan(session)
    assert "do not pair up" in ENGLISH(raised.value.reason)


def test_a_broken_file_is_named_beforehand(session: Session, home: Path) -> None:
    _write(home, b"if true; then\n")
    notes = " ".join(ENGLISH(note) for note in _plan(session).plan.notes)
    assert "bash cannot parse this file as it is now" in notes


def test_a_heredoc_is_left_alone(session: Session, home: Path) -> None:
    content = f"cat > /dev/null <<EOF\nexport CUDA_HOME={home}/cuda-11.7\nEOF\n".encode()
    path = _write(home, content)
    assert _plan(session).lines == ()
    _use(session)
    assert path.read_bytes().startswith(content)


def test_crlf_is_kept_and_said(session: Session, home: Path) -> None:
    path = _write(home, b"# mine\r\nexport EDITOR=vi\r\n")
    plan = _plan(session)
    assert any("Windows line ends" in ENGLISH(note) for note in plan.plan.notes)
    applied = fix.apply(session, plan)
    assert applied.proof is not None
    assert applied.proof.holds is fix.Holds.YES
    assert path.read_bytes().startswith(b"# mine\r\nexport EDITOR=vi\r\n# >>> gpuassist")


@pytest.mark.slow
def test_two_mebibytes_are_changed_and_restored(session: Session, home: Path) -> None:
    content = _old(home) + b"# a long tail\n" * 150_000
    path = _write(home, content)
    assert _use(session).result is Result.MODIFIED
    fix.undo(session)
    assert path.read_bytes() == content


def test_every_change_is_listed(session: Session, home: Path) -> None:
    _use(session, "12.4")
    _use(session, "11.7")
    fix.undo(session)
    changes = fix.history(session)
    assert [(change.goal, bool(change.undone_at)) for change in changes] == [("use cuda 11.7", True), ("use cuda 12.4", False)]
    assert Path(fix.backup_of(session, changes[1])).read_bytes() == b""


def test_looks_at_an_undo_first(session: Session, home: Path) -> None:
    _write(home, _old(home))
    _use(session)
    taking = fix.plan_undo(session)
    assert taking.edit is not None
    assert taking.edit.after == _old(home)


REAL = Path("/usr/local/cuda-13.0")


@pytest.mark.skipif(not (REAL / "bin/nvcc").exists(), reason="NOT RUN: needs a real CUDA toolkit in /usr/local/cuda-13.0")
def test_the_real_toolkit_wins_in_a_real_bash(home: Path) -> None:
    path = _write(home, GUARD + b"export PATH=/usr/local/cuda-11.7/bin:$PATH\n")
    before = path.read_bytes()
    session = _session(home)
    applied = _use(session, "13.0")
    assert applied.proof is not None
    assert applied.proof.winner is not None
    assert os.path.samefile(applied.proof.winner.real_path, REAL / "bin/nvcc")
    assert os.path.samefile(_nvcc_of_bash(home), REAL / "bin/nvcc")
    fix.undo(session)
    assert path.read_bytes() == before
