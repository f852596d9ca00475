"""A step of the way back shows exactly what is run."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.install.rollback import BackStep
from gpuassist.model.plan import StepRun, Tool
from gpuassist.model.text import text

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)


def back(*programs: tuple[str, ...], removes: str = "") -> BackStep:
    return BackStep(0, text("take it back"), removes, StepRun(programs, Tool.PIP) if programs else None)


@pytest.mark.parametrize(
    ("step", "commands"),
    [
        (back(), ()),
        (back(removes="/home/you/torch-gpu"), ("rm -r /home/you/torch-gpu",)),
        (back(removes="/home/you/my torch"), ("rm -r '/home/you/my torch'",)),
        (back(("pip", "uninstall", "x")), ("pip uninstall x",)),
        (back(("pip", "uninstall", "x"), ("pip", "install", "numpy<2")), ("pip uninstall x", "pip install 'numpy<2'")),
        (back(("pip", "uninstall", "x"), removes="/e"), ("rm -r /e",)),
    ],
)
def test_lines_of_a_step_of_the_way_back(step: BackStep, commands: tuple[str, ...]) -> None:
    assert step.commands == commands


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_each_word_of_a_program_stays_one(words: list[str]) -> None:
    (line,) = back(tuple(words)).commands
    assert shlex.split(line) == words


@given(WORDS)
def test_a_directory_is_one_word_whatever_it_is_called(name: str) -> None:
    (line,) = back(removes=f"/home/you/{name}").commands
    assert shlex.split(line) == ["rm", "-r", f"/home/you/{name}"]


def test_an_obstacle_leaves_nothing_to_do() -> None:
    step = BackStep(1, text("take it back"), obstacle=text("it cannot be asked"))
    assert (step.commands, step.left) == ((), ())
