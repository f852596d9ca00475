"""The card of the process that is chosen."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QWidget

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import holding_of
from gpuassist.model.fact import Unknown
from gpuassist.model.gpu import Holder
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.holders.detail import HolderCard
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.table import ShareBar
from tests.ui.holders import ADA, card, holder, machine
from tests.ui.showing import Show, words_in


def shown(show: Show, session: Session, one: Holder, **gibibytes: float) -> HolderCard:
    """The card of a process that has this much on the first GPU."""
    made = show(HolderCard(ENGLISH), 900, 500)
    _fill(made, session, one, **gibibytes)
    return made


def _fill(made: HolderCard, session: Session, one: Holder, **gibibytes: float) -> None:
    found = holding_of(session, machine(one, gpus=(card(0, **gibibytes), card(1))), live=True)
    made.show_held(found, found.held[0], stopping=False)


def test_it_is_named_by_program_and_number(show: Show, session: Session) -> None:
    made = shown(show, session, holder(command="/opt/conda/bin/python train.py"))
    assert made.accessibleName() == "python · process 42"
    assert [pill.words for pill in made.findChildren(StatusPill)] == ["your program"]


def test_each_card_has_its_bar(show: Show, session: Session) -> None:
    made = shown(show, session, holder(), p42=6)
    assert [bar.share for bar in made.findChildren(ShareBar)] == [0.25]
    assert made.memory.lines == ("GPU 0 · RTX 4090: 6.0 GiB of 24.0 GiB",)


def test_a_card_that_does_not_say_has_the_reason(show: Show, session: Session) -> None:
    made = show(HolderCard(ENGLISH), 900, 500)
    found = holding_of(session, machine(holder(), gpus=(card(p42=6),)), live=True)
    silent = replace(found.held[0], memory_by_gpu=((0, Unknown(text("NVML does not say"))),))
    made.show_held(found, silent, stopping=False)
    assert made.memory.lines == ("GPU 0 · RTX 4090: NVML does not say",)
    assert made.findChildren(ShareBar) == []


def test_a_process_without_memory_says_what_it_holds(show: Show, session: Session) -> None:
    made = shown(show, session, holder())
    assert ("Uses", "GPU 0") in [(row.label, row.value) for row in made.facts]
    assert made.memory.isHidden()


def test_the_same_process_changes_in_place(show: Show, session: Session) -> None:
    made = shown(show, session, holder(), p42=6)
    before = set(made.findChildren(QWidget))
    _fill(made, session, holder(), p42=6)
    assert set(made.findChildren(QWidget)) == before


def test_the_stop_button_tells_of_the_wish(show: Show, session: Session) -> None:
    made = shown(show, session, holder())
    wanted = QSignalSpy(made.stop_wanted)
    made.stop.click()
    assert (wanted.count(), made.stop.accessibleName()) == (1, "Stop process… python · process 42")


@pytest.mark.parametrize("one", [holder(uid=ADA), holder(state="Z")], ids=["another user's", "ended"])
def test_what_may_not_be_stopped_has_no_button(show: Show, session: Session, one: Holder) -> None:
    made = shown(show, session, one)
    assert made.stop.isHidden()
    assert made.why in words_in(made)


def test_a_process_that_cannot_be_seen_has_no_command(show: Show, session: Session) -> None:
    made = show(HolderCard(ENGLISH), 900, 500)
    found = holding_of(session, machine(gpus=(card(p999999=1),)), live=True)
    made.show_held(found, found.held[0], stopping=False)
    assert made.command == ""
    assert made.why.startswith("Not visible from here")


def test_a_very_long_command_is_not_wider_than_the_card(show: Show, session: Session) -> None:
    made = shown(show, session, holder(command="python train.py " + "--option=1 " * 3000))
    assert all(widget.geometry().right() <= made.width() for widget in made.findChildren(QWidget) if widget.parentWidget() is made)
