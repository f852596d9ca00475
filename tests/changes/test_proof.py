"""The proof: what a new terminal finds, in words that say what still wins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuassist.changes.proof import Holds, prove_toolkit, with_bash
from gpuassist.model.fact import Unknown
from gpuassist.session.words import ENGLISH
from tests.changes.homes import make_toolkit, world_at


def _bashrc(home: Path, words: str) -> None:
    (home / ".bashrc").write_text(words)


def _paths(home: Path, *roots: Path) -> str:
    return f"export PATH={':'.join(f'{root}/bin' for root in roots)}:/usr/bin:/bin\nexport CUDA_HOME={roots[0]}\n"


def test_holds_where_the_wished_one_is_first(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    _bashrc(home, _paths(home, wished))
    proof = prove_toolkit(world_at(home), str(wished))
    assert proof.holds is Holds.YES
    assert ENGLISH(proof.words) == f"a new terminal finds {wished}/bin/nvcc (nvcc 12.4.131)"


def test_holds_through_a_symlink(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / "cuda").symlink_to("cuda-12.4")
    _bashrc(home, _paths(home, home / "cuda"))
    proof = prove_toolkit(world_at(home), str(wished))
    assert proof.holds is Holds.YES
    assert proof.winner is not None
    assert (proof.winner.path, proof.winner.real_path) == (f"{home}/cuda/bin/nvcc", f"{wished}/bin/nvcc")


def test_names_what_still_wins(home: Path) -> None:
    wished, other = make_toolkit(home / "cuda-12.4", "12.4.131"), make_toolkit(home / "cuda-11.7", "11.7.99")
    _bashrc(home, _paths(home, other, wished))
    proof = prove_toolkit(world_at(home), str(wished))
    assert proof.holds is Holds.NO
    assert ENGLISH(proof.words) == f"the wished toolkit does not win: a new terminal finds {other}/bin/nvcc (nvcc 11.7.99)"


def test_names_a_home_that_disagrees(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    _bashrc(home, _paths(home, wished) + "export CUDA_HOME=/elsewhere\n")
    proof = prove_toolkit(world_at(home), str(wished))
    assert proof.holds is Holds.NO
    assert "CUDA_HOME is /elsewhere" in ENGLISH(proof.words)


def test_names_a_path_that_leads_to_another_toolkit(home: Path) -> None:
    wished, other = make_toolkit(home / "cuda-12.4", "12.4.131"), make_toolkit(home / "cuda-11.8", "11.8.89")
    _bashrc(home, _paths(home, wished) + f"export CUDA_PATH={other}\n")
    proof = prove_toolkit(world_at(home), str(wished))
    assert proof.holds is Holds.NO
    assert f"CUDA_PATH is {other}" in ENGLISH(proof.words)


def test_path_that_leads_to_the_same_toolkit_is_no_matter(home: Path) -> None:
    wished = make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / "cuda").symlink_to("cuda-12.4")
    _bashrc(home, _paths(home, wished) + f"export CUDA_PATH={home}/cuda\n")
    assert prove_toolkit(world_at(home), str(wished)).holds is Holds.YES


def test_says_where_there_is_no_nvcc(home: Path) -> None:
    _bashrc(home, "export PATH=/nowhere\n")
    proof = prove_toolkit(world_at(home), "/usr/local/cuda-99")
    assert (proof.holds, proof.winner) == (Holds.NO, None)


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
    assert proof.holds is Holds.UNKNOWN
    assert "no new terminal could be asked" in ENGLISH(proof.words)


def test_bash_is_asked_whatever_the_login_shell(home: Path) -> None:
    world = world_at(home)
    fish = replace(world, surroundings=replace(world.surroundings, login_shell="/usr/bin/fish"))
    assert with_bash(fish).surroundings.login_shell in ("/bin/bash", "/usr/bin/bash")
    assert with_bash(world) is world
