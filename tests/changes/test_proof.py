"""The proof: what a new terminal finds, in words that say what still wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.library_path import LoaderChoice
from gpuassist.changes.plan import Expected, Proof, ToolkitChoice
from gpuassist.changes.proof import judge_shells, prove_toolkit, with_shell
from gpuassist.changes.shells import ShellSeen
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Command, Shadow, ShadowKind, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.system.terminal import Opening
from tests.changes.homes import make_toolkit, world_at


def _bashrc(home: Path, words: str) -> None:
    (home / ".bashrc").write_text(words)


def _holds(proof: Proof) -> bool:
    assert isinstance(proof.holds, Known)
    return proof.holds.value


def _paths(home: Path, *roots: Path) -> str:
    return f"export PATH={':'.join(f'{root}/bin' for root in roots)}:/usr/bin:/bin\nexport CUDA_HOME={roots[0]}\n"


def test_holds_where_the_wished_one_is_first(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    _bashrc(home, _paths(home, wished))
    proof = prove_toolkit(world_at(home), str(wished))
    assert _holds(proof)
    assert ENGLISH(proof.words) == f"a new terminal finds {wished}/bin/nvcc (nvcc 12.4.131)"


def test_holds_through_a_symlink(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / "cuda").symlink_to("cuda-12.4")
    _bashrc(home, _paths(home, home / "cuda"))
    proof = prove_toolkit(world_at(home), str(wished))
    assert _holds(proof)
    assert proof.winner is not None
    assert (proof.winner.path, proof.winner.real_path) == (f"{home}/cuda/bin/nvcc", f"{wished}/bin/nvcc")


def test_names_what_still_wins(home: Path) -> None:
    wished, other = make_toolkit(home / "cuda-12.4", "12.4.131"), make_toolkit(home / "cuda-11.7", "11.7.99")
    _bashrc(home, _paths(home, other, wished))
    proof = prove_toolkit(world_at(home), str(wished))
    assert not _holds(proof)
    assert ENGLISH(proof.words) == f"the wished toolkit does not win: a new terminal finds {other}/bin/nvcc (nvcc 11.7.99)"


def test_names_a_home_that_disagrees(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    _bashrc(home, _paths(home, wished) + "export CUDA_HOME=/elsewhere\n")
    proof = prove_toolkit(world_at(home), str(wished))
    assert not _holds(proof)
    assert "CUDA_HOME is /elsewhere" in ENGLISH(proof.words)


def test_names_a_path_that_leads_to_another_toolkit(home: Path) -> None:
    wished, other = make_toolkit(home / "cuda-12.4", "12.4.131"), make_toolkit(home / "cuda-11.8", "11.8.89")
    _bashrc(home, _paths(home, wished) + f"export CUDA_PATH={other}\n")
    proof = prove_toolkit(world_at(home), str(wished))
    assert not _holds(proof)
    assert f"CUDA_PATH is {other}" in ENGLISH(proof.words)


def test_path_that_leads_to_the_same_toolkit_is_no_matter(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / "cuda").symlink_to("cuda-12.4")
    _bashrc(home, _paths(home, wished) + f"export CUDA_PATH={home}/cuda\n")
    assert _holds(prove_toolkit(world_at(home), str(wished)))


def test_says_where_there_is_no_nvcc(home: Path) -> None:
    _bashrc(home, "export PATH=/nowhere\n")
    proof = prove_toolkit(world_at(home), "/usr/local/cuda-99")
    assert not _holds(proof)
    assert proof.winner is None


@pytest.mark.parametrize("nvcc", ["#!/bin/sh\necho junk\n", "#!/bin/sh\nexit 1\n", "#!/nonexistent\n"])
def test_an_nvcc_that_prints_junk_is_said(home: Path, nvcc: str) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    (wished / "bin/nvcc").write_text(nvcc)
    _bashrc(home, _paths(home, wished))
    proof = prove_toolkit(world_at(home), str(wished))
    assert proof.winner is not None
    assert isinstance(proof.winner.version, Unknown)
    assert "does not answer" in ENGLISH(proof.words)


@pytest.mark.parametrize("line", ["exec sleep 60\n", "exec cat\n", "sleep 60\n", "while :; do :; done\n"])
def test_a_shell_that_never_answers_is_given_up(home: Path, line: str) -> None:
    _bashrc(home, line)
    proof = prove_toolkit(world_at(home), "/usr/local/cuda-12.4", seconds=0.4)
    assert isinstance(proof.holds, Unknown)
    assert "no new terminal could be asked" in ENGLISH(proof.words)


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_file_that_was_named_is_proved_by_the_shell_that_reads_it(home: Path, shell: str) -> None:
    world = world_at(home)
    assert with_shell(world, shell).surroundings.login_shell.endswith(f"/{shell}")
    assert with_shell(world, "bash") is world


OLD, NEW = "/usr/local/cuda-11.7", "/usr/local/cuda-12.4"
CHOICE = ToolkitChoice(
    UseCuda("12.4"), Toolkit(NEW), LoaderChoice(on=False, reason=text("x")), Expected("", "", ""), Dialect.BASH, (Toolkit(OLD),)
)


def _held(nvcc: str = "", shadow: Shadow | None = None, **variables: str) -> Fact[Terminal]:
    commands = (Command("nvcc", f"{nvcc}/bin/nvcc", f"{nvcc}/bin/nvcc"),) if nvcc else ()
    held = tuple(Variable(*one) for one in ({"PATH": f"{nvcc}/bin:/usr/bin"} | variables).items())
    return Known(Terminal("/bin/bash", held, commands, (shadow,) if shadow else ()), "x")


def _seen(terminal: Fact[Terminal], way: Opening = Opening.TERMINAL, complaints: tuple[str, ...] = ()) -> ShellSeen:
    return ShellSeen(way, terminal, 0.1, complaints)


def _judged(home: Path, before: tuple[ShellSeen, ...], after: tuple[ShellSeen, ...]) -> tuple[bool | None, str, str]:
    """Whether it holds (none: not known), what is said, and what got worse."""
    judged = judge_shells(world_at(home), CHOICE, before, after)
    holds = judged.holds.value if isinstance(judged.holds, Known) else None
    return holds, ENGLISH(judged.words), ENGLISH(judged.worse) if judged.worse is not None else ""


RIGHT = _seen(_held(NEW))
WAS_OLD = _seen(_held(OLD))
SILENT: Fact[Terminal] = Unknown(text("it hangs"))
ALIAS = Shadow("nvcc", ShadowKind.ALIAS, f"nvcc='{OLD}/bin/nvcc'")


@pytest.mark.parametrize(
    ("after", "holds", "says"),
    [
        (RIGHT, True, f"a new terminal finds {NEW}/bin/nvcc"),
        (WAS_OLD, False, f"the wished toolkit does not win: a new terminal finds {OLD}/bin/nvcc"),
        (_seen(_held(NEW, ALIAS)), False, f"nvcc is an alias there, which comes before PATH: nvcc='{OLD}/bin/nvcc'"),
        (_seen(_held(NEW, Shadow("nvcc", ShadowKind.ALIAS, f"nvcc='{NEW}/bin/nvcc -O3'"))), True, "a new terminal finds"),
        (_seen(_held(NEW, CUDACXX=f"{OLD}/bin/nvcc")), False, f"CUDACXX is still {OLD}/bin/nvcc"),
        (_seen(_held(NEW, XLA_FLAGS=f"--xla_gpu_cuda_data_dir={OLD}")), False, "XLA_FLAGS is still"),
        (_seen(_held(NEW, LDFLAGS=f"-L{OLD}/lib64")), False, "LDFLAGS is still"),
        (_seen(_held(NEW, CUDNN_PATH=OLD)), False, "CUDNN_PATH is still"),
        (
            _seen(_held(NEW, LD_LIBRARY_PATH=f"{OLD}/lib64:{NEW}/lib64")),
            False,
            "LD_LIBRARY_PATH still has another toolkit in front",
        ),
        (_seen(_held(NEW, LD_LIBRARY_PATH=f"{NEW}/lib64:{OLD}/lib64")), True, "a new terminal finds"),
        (_seen(_held(NEW, CUDA_VISIBLE_DEVICES="0")), True, "a new terminal finds"),
        (_seen(_held(""), complaints=("~/.bashrc:11: no matches found",)), False, "The shell said: ~/.bashrc:11: no matches found"),
    ],
)
def test_a_new_terminal_is_judged_by_all_that_chooses_a_toolkit(home: Path, after: ShellSeen, holds: bool, says: str) -> None:
    found, words, _ = _judged(home, (WAS_OLD,), (after,))
    assert found is holds
    assert says in words


@pytest.mark.parametrize("way", [way for way in Opening if way not in {Opening.TERMINAL, Opening.BARE_TERMINAL}])
def test_each_way_that_had_a_toolkit_has_to_have_the_chosen_one(home: Path, way: Opening) -> None:
    before = (WAS_OLD, _seen(_held(OLD), way))
    assert _judged(home, before, (RIGHT, _seen(_held(NEW), way)))[0] is True
    still_old = _judged(home, before, (RIGHT, _seen(_held(OLD), way)))
    assert (still_old[0], still_old[2]) == (False, "")
    lost, _, worse = _judged(home, before, (RIGHT, _seen(_held(""), way)))
    assert lost is False
    assert f"it found {OLD}/bin/nvcc before, and finds no nvcc since" in worse


def test_a_way_that_had_none_needs_none(home: Path) -> None:
    none = _seen(_held(""), Opening.COMMAND)
    assert _judged(home, (WAS_OLD, none), (RIGHT, none))[0] is True


def test_a_new_terminal_without_a_session_needs_it_as_well(home: Path) -> None:
    bare = _seen(_held(""), Opening.BARE_TERMINAL)
    assert _judged(home, (WAS_OLD, bare), (RIGHT, bare))[0] is False


def test_what_was_of_one_toolkit_and_is_mixed_since_is_worse(home: Path) -> None:
    before, after = _held(OLD, CUDACXX=f"{OLD}/bin/nvcc"), _held(NEW, CUDACXX=f"{OLD}/bin/nvcc")
    assert f"CUDACXX is still {OLD}/bin/nvcc" in _judged(home, (_seen(before),), (_seen(after),))[2]


@pytest.mark.parametrize("nvcc", [OLD, "/usr"])
def test_what_was_mixed_before_and_is_since_is_no_worse(home: Path, nvcc: str) -> None:
    before, after = (_held(root, CUDACXX="/usr/local/cuda-10.2/bin/nvcc") for root in (nvcc, NEW))
    holds, words, worse = _judged(home, (_seen(before),), (_seen(after),))
    assert (holds, worse) == (False, "")
    assert "CUDACXX is still" in words


def test_one_that_falls_silent_is_worse_and_one_that_was_silent_is_not_known(home: Path) -> None:
    holds, words, worse = _judged(home, (WAS_OLD,), (_seen(SILENT),))
    assert holds is None
    assert "no new terminal could be asked: it hangs" in words
    assert "could be asked before, and not since: it hangs" in worse
    assert _judged(home, (_seen(SILENT),), (_seen(SILENT),))[2] == ""
