"""Which ways of starting a shell count for the proof of a toolkit."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.library_path import LoaderChoice
from gpuassist.changes.plan import Expected, ToolkitChoice
from gpuassist.changes.proof import judge_shells
from gpuassist.changes.shells import ShellSeen
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.shell import Command, Terminal
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.system.terminal import Opening
from tests.changes.homes import make_toolkit, world_at


def _shell(opening: Opening, nvcc: str) -> ShellSeen:
    return ShellSeen(opening, Known(Terminal("/bin/bash", (), (Command("nvcc", nvcc, nvcc),)), "a shell"), 0.1)


def _chosen(root: Path) -> ToolkitChoice:
    loader = LoaderChoice(on=False, reason=text("not needed"))
    return ToolkitChoice(UseCuda("12.4"), Toolkit(str(root)), loader, Expected(f"{root}/bin/nvcc", "", ""), Dialect.BASH)


@pytest.mark.parametrize(
    ("others", "holds"), [("/usr/bin/nvcc", True), ("/usr/local/bin/nvcc", True), ("{home}/old/bin/nvcc", False)]
)
def test_a_script_that_finds_the_distributions_nvcc_does_so_whatever_start_up_files_say(
    home: Path, others: str, holds: bool
) -> None:
    root = make_toolkit(home / "cuda-12.4", "12.4.131")
    make_toolkit(home / "old", "11.7.99")
    script = _shell(Opening.COMMAND, others.format(home=home))
    before = (_shell(Opening.TERMINAL, f"{home}/old/bin/nvcc"), script)
    judged = judge_shells(world_at(home), _chosen(root), before, (_shell(Opening.TERMINAL, f"{root}/bin/nvcc"), script))
    assert judged.holds == Known(holds, "a shell")
