"""Cleaning and choosing GPUs on the page, in a real home: planned when first shown, made, proved, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.gpu import Gpu
from gpuassist.shellfiles.lines import Choice
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.page import CLEAN, DEVICES, TOOLKIT
from tests.ui.made import known
from tests.ui.pages.repairing import Shown, choose, machine_of, two_toolkits

GPUS = tuple(Gpu(name=known("RTX 4090"), index=known(index)) for index in (0, 1))


@pytest.fixture
def session(home: Path) -> Session:
    made = two_toolkits(home)
    (home / ".bashrc").write_text("export PATH=/not/there/cuda-9.0/bin:$PATH\nexport CUDA_VISIBLE_DEVICES=0,1\n")
    return made


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot, session: Session) -> Shown:
    """The page of a machine with two GPUs on which nothing needs repair."""
    made = Shown(desk, qtbot)
    made.open(machine_of(session, *GPUS), "")
    return made


def open_part(shown: Shown, place: int) -> None:
    shown.page.segments.choose(place)
    shown.settle()


def untick(shown: Shown, place: int) -> None:
    shown.page.devices.devices_card.ticks[place].tick.setChecked(False)
    shown.settle()


def test_nothing_is_planned_before_it_is_shown(shown: Shown) -> None:
    assert shown.page.clean.repair is None
    assert shown.page.devices.repair is None


def test_cleaning_shows_its_lines_and_its_diff(shown: Shown) -> None:
    open_part(shown, CLEAN)
    assert [row.line_choice.choice for row in shown.page.clean.card.lines] == [Choice.COMMENT_OUT]
    assert "/not/there/cuda-9.0/bin" in shown.page.clean.panel.diff.diff


def test_a_line_can_be_left_as_it_is(shown: Shown) -> None:
    open_part(shown, CLEAN)
    choose(shown.page.clean.card.lines[0], Choice.KEEP)
    shown.settle()
    assert shown.page.clean.panel.diff.diff == ""
    assert shown.page.bar().primary is None


def test_cleaning_is_made_and_proved(shown: Shown, home: Path) -> None:
    open_part(shown, CLEAN)
    shown.page.clean.apply.trigger()
    shown.settle()
    assert "Done and tested: a new terminal no longer searches PATH: /not/there/cuda-9.0/bin" in shown.notice()
    assert (home / ".bashrc").read_text().startswith("# gpuassist retired ")
    assert len(shown.page.history.records) == 1


def test_cleaning_is_undone_and_offered_again(shown: Shown, home: Path) -> None:
    before = (home / ".bashrc").read_text()
    open_part(shown, CLEAN)
    shown.page.clean.apply.trigger()
    shown.settle()
    shown.page.clean.undo.trigger()
    shown.settle()
    assert (home / ".bashrc").read_text() == before
    assert shown.page.clean.panel.diff.diff


def test_clean_files_say_so(shown: Shown, home: Path) -> None:
    (home / ".bashrc").write_text("alias ll='ls -l'\n")
    open_part(shown, CLEAN)
    assert "Nothing to clean up" in shown.words()
    assert not shown.page.clean.card.isVisibleTo(shown.page)


def test_every_gpu_is_seen_at_first(shown: Shown) -> None:
    open_part(shown, DEVICES)
    assert [row.tick.isChecked() for row in shown.page.devices.devices_card.ticks] == [True, True]
    # A line of the user's own says otherwise: it is offered to be commented out, and nothing is done unasked.
    words = " ".join(label.text() for label in shown.page.devices.findChildren(QLabel))
    assert "is your own and chooses GPUs" in words
    assert "+# gpuassist retired " in shown.page.devices.panel.diff.diff
    assert shown.page.bar().primary is not None


def test_hiding_a_gpu_says_what_is_hidden(shown: Shown) -> None:
    open_part(shown, DEVICES)
    untick(shown, 0)
    words = " ".join(label.text() for label in shown.page.devices.findChildren(QLabel))
    assert "0: RTX 4090 is hidden from all of them" in words
    assert "loses to the block" in words
    assert "CUDA_VISIBLE_DEVICES=" in shown.page.devices.panel.diff.diff


def test_gpus_are_chosen_and_proved(shown: Shown, home: Path) -> None:
    open_part(shown, DEVICES)
    untick(shown, 0)
    shown.page.devices.apply.trigger()
    shown.settle()
    assert "new terminals have CUDA_VISIBLE_DEVICES=1" in shown.notice()
    assert "export CUDA_VISIBLE_DEVICES=1" in (home / ".bashrc").read_text()


def test_without_a_tick_there_is_nothing_to_plan(shown: Shown) -> None:
    open_part(shown, DEVICES)
    untick(shown, 0)
    untick(shown, 1)
    assert "No GPU is chosen" in shown.words()
    assert shown.page.devices.repair is None


def test_gpus_of_one_project_alone(shown: Shown, home: Path) -> None:
    (home / "project").mkdir()
    open_part(shown, DEVICES)
    shown.page._open_project(str(home / "project"))
    shown.settle()
    untick(shown, 1)
    shown.page.devices.apply.trigger()
    shown.settle()
    assert "CUDA_VISIBLE_DEVICES" in (home / "project/.envrc").read_text()
    assert shown.page.toolkit.scope == "shell"


def test_going_back_keeps_what_was_chosen(shown: Shown) -> None:
    open_part(shown, DEVICES)
    untick(shown, 0)
    open_part(shown, TOOLKIT)
    open_part(shown, DEVICES)
    assert [row.tick.isChecked() for row in shown.page.devices.devices_card.ticks] == [False, True]


def test_what_cannot_be_planned_says_why(shown: Shown, home: Path) -> None:
    (home / ".bashrc").unlink()
    (home / ".bashrc").mkdir()
    open_part(shown, DEVICES)
    untick(shown, 0)
    assert shown.notice()
    assert not shown.page.devices.apply.isEnabled()


def test_after_a_change_it_can_be_planned_again(shown: Shown) -> None:
    open_part(shown, DEVICES)
    untick(shown, 0)
    shown.page.devices.apply.trigger()
    shown.settle()
    assert shown.page.devices.anew in shown.page.bar().left
    shown.page.devices.anew.trigger()
    shown.settle()
    shown.page.devices.devices_card.ticks[0].tick.setChecked(True)
    shown.settle()
    assert "-export CUDA_VISIBLE_DEVICES=1" in shown.page.devices.panel.diff.diff
    assert shown.page.bar().primary is shown.page.devices.apply


def test_what_could_not_be_made_can_be_planned_again(shown: Shown, home: Path) -> None:
    open_part(shown, CLEAN)
    (home / ".bashrc").write_text((home / ".bashrc").read_text() + "# somebody else was here\n")
    shown.page.clean.apply.trigger()
    shown.settle()
    assert "changed" in shown.notice()
    assert shown.page.bar().primary is None
    shown.page.clean.anew.trigger()
    shown.settle()
    assert shown.page.bar().primary is shown.page.clean.apply
    assert shown.page.clean.apply.isEnabled()
