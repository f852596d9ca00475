"""Planning again on what a plan made: nothing is left to do, and nothing that the first time gave is taken out again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuassist.changes.plan import ChangePlan
from gpuassist.model.fact import Fact, Known
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.changes.homes import TickingClock
from tests.fakes import put
from tests.shapes.evidence import INSTALLED, Evidence, Repeated, planned
from tests.shapes.homes import OwnFiles
from tools.shapes import lay_toolkit

OLD, NEW = "/usr/local/cuda-11.8", "/usr/local/cuda-13.0"


@pytest.fixture
def root(home: Path) -> Path:
    for release in INSTALLED:
        lay_toolkit(home / f"usr/local/cuda-{release}", release)
    return home


def terminal(nvcc: str = "", **variables: str) -> Fact[Terminal]:
    commands = (Command("nvcc", nvcc, nvcc),) if nvcc else ()
    return Known(Terminal("/bin/bash", tuple(Variable(*one) for one in variables.items()), commands), "bash -i")


def plan(root: Path, said: Fact[Terminal], **ways: Fact[Terminal]) -> ChangePlan:
    """The plan where terminals say this; `bare` and `login` where those say something else."""
    evidence = Evidence(said, {"bare terminal": ways.get("bare", said), "login": ways.get("login", said)})
    around = Surroundings("/home/you", "you", os.geteuid(), {"PATH": "/usr/bin:/bin"}, "/home/you", "/bin/bash")
    return planned(World(around, OwnFiles(root), Repeated(evidence), TickingClock(), Resources()), evidence)


def after(made: ChangePlan) -> dict[str, str]:
    return {edit.path.removeprefix("/home/you/"): edit.after.decode() for edit in made.edits if edit.after != edit.before}


def carry_out(root: Path, made: ChangePlan) -> None:
    for edit in made.edits:
        put(root, edit.path, edit.after)


def test_variables_that_the_block_sets_stay_in_it(root: Path) -> None:
    put(root, "/home/you/.profile", f"export CUDNN_PATH={OLD}\n", mode=0o444)
    first = plan(root, terminal(CUDNN_PATH=OLD, PATH="/usr/bin"), bare=terminal(PATH="/usr/bin"))
    assert f"export CUDNN_PATH={NEW}\n" in after(first)[".bashrc"]
    carry_out(root, first)
    now = terminal(f"{NEW}/bin/nvcc", CUDA_HOME=NEW, CUDNN_PATH=NEW, PATH=f"{NEW}/bin:/usr/bin")
    assert after(plan(root, now)) == {}


def test_a_list_that_a_file_keeps_at_the_old_toolkit_is_led_to_the_new_one_at_once(root: Path) -> None:
    put(root, "/home/you/.profile", f"export LD_LIBRARY_PATH={OLD}/lib64\n. ~/.bashrc\n", mode=0o444)
    put(root, "/home/you/.bashrc", f"export CUDA_HOME={OLD}\nexport PATH=$CUDA_HOME/bin:$PATH\n")
    held = {"CUDA_HOME": OLD, "LD_LIBRARY_PATH": f"{OLD}/lib64", "PATH": f"{OLD}/bin:/usr/bin"}
    first = plan(root, terminal(f"{OLD}/bin/nvcc", **held))
    assert f"LD_LIBRARY_PATH={NEW}/lib64" in after(first)[".bashrc"].replace('"$CUDA_HOME', NEW)


def test_lines_behind_what_hands_over_give_a_login_nothing(root: Path) -> None:
    handing = "if [[ $- == *i* ]]; then exec fish; fi\n"
    put(
        root,
        "/home/you/.bash_profile",
        f'{handing}export PATH="{OLD}/bin:$PATH"\nexport CUDA_HOME={OLD}\nexport PATH=/usr/bin:/bin\n',
    )
    bare = terminal(PATH="/usr/bin:/bin")
    made = after(plan(root, terminal(CUDA_HOME=OLD, PATH="/usr/bin:/bin"), bare=bare, login=bare))
    assert made[".bash_profile"].index("gpuassist") < made[".bash_profile"].index(handing)
