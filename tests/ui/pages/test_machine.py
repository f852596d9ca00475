"""The first page: what was read, with its sources; other machines; and the full list behind it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.model.fact import Unknown
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.session.inspect import Inspection
from gpuassist.ui.page import Desk, OpenExample, OpenRecording, ReadAgain
from gpuassist.ui.pages.machine.page import MachinePage
from gpuassist.ui.widgets.cards import Card, Notice
from gpuassist.ui.widgets.everything import Everything
from gpuassist.ui.widgets.facts import FactTable
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.table import Table
from tests.ui.made import Answers, inspection
from tests.ui.showing import Show, words_in
from tests.values import GTX_1080_TI, RTX_5090, Env, machine

MakePage = Callable[[Machine], MachinePage]


@pytest.fixture
def page(desk: Desk, show: Show) -> MachinePage:
    """The page before anything was read."""
    return show(MachinePage(desk), 1056, 700)


@pytest.fixture
def make(page: MachinePage, qtbot: QtBot) -> MakePage:
    """The page of a machine, with its examples loaded."""

    def made(of: Machine) -> MachinePage:
        page.show_inspection(inspection(of))
        qtbot.waitUntil(lambda: bool(page.examples()) and page.is_complete)
        return page

    return made


def asked(page: MachinePage) -> list[object]:
    """What the page asks the frame for from now on."""
    heard: list[object] = []
    page.asked.connect(heard.append)
    return heard


def title(page: MachinePage) -> str:
    """The answer at the top."""
    return words_in(page)[0]


def cards(page: MachinePage) -> list[str]:
    """The headings of the cards."""
    return [card.title.text() for card in page.findChildren(Card) if card.title is not None]


def all_of(page: QWidget, kind: type[FactTable]) -> dict[str, str]:
    """Every row of every table of facts."""
    return {row.label: row.value for table in page.findChildren(kind) for row in table.rows}


def test_before_reading_nothing_is_claimed(page: MachinePage) -> None:
    assert title(page) == "Your machine"
    assert cards(page) == []


def test_reading_says_what_is_read_once_it_takes_longer(page: MachinePage, qtbot: QtBot) -> None:
    strip = page.findChildren(ProgressStrip)[0]
    page.show_reading("Reading your machine…")
    assert not strip.isVisible()
    qtbot.waitUntil(strip.isVisible)
    page.show_progress("toolkits")
    assert strip.accessibleName() == "toolkits"


def test_the_title_is_the_machine(make: MakePage) -> None:
    assert title(make(machine())) == "RTX 4090, driver 550, one toolkit"


def test_every_gpu_has_a_card(make: MakePage) -> None:
    made = make(machine(gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05", dead=(GTX_1080_TI,)))
    assert cards(made)[:2] == ["NVIDIA GeForce GTX 1080 Ti", "NVIDIA GeForce RTX 5090"]
    assert [pill.mark for pill in made.findChildren(StatusPill)] == [Mark.PROBLEM, Mark.RIGHT]


def test_facts_stand_with_their_source(make: MakePage) -> None:
    made = make(machine())
    assert all_of(made, FactTable)["Toolkit 12.4"] == "first on PATH"
    assert "/usr/local/cuda-12.4" in [label.words for label in made.findChildren(ElidedLabel)]


def test_environments_are_a_table_with_verdicts(make: MakePage) -> None:
    made = make(machine(environments=(Env("train", "2.5.1+cu124"), Env("plain"))))
    table = made.findChildren(Table)[0]
    assert [str(table.model().index(row, 0).data()) for row in range(2)] == ["train", "plain"]
    assert table.model().index(0, 3).data() == "this GPU"


def test_no_environment_is_said_in_words(make: MakePage) -> None:
    assert "None was found." in words_in(make(machine(environments=())))


def test_the_host_stands_in_one_line(make: MakePage) -> None:
    assert "Ubuntu 22.04.4 LTS" in words_in(make(machine()))


def test_unknown_gpus_leave_the_other_cards(make: MakePage) -> None:
    made = make(replace(machine(), gpus=Unknown(text("/sys is not there"))))
    assert title(made).startswith("The GPUs could not be read")
    assert cards(made) == ["Driver and toolkits", "Python environments"]


def test_a_machine_of_unknowns_is_shown_all_the_same(make: MakePage) -> None:
    assert all_of(make(Machine()), FactTable)["Driver"] == "not looked at"


def test_reading_again_replaces_the_cards(make: MakePage, qtbot: QtBot) -> None:
    made = make(machine(gpus=(RTX_5090,) * 4))
    made.show_inspection(inspection(machine()))
    qtbot.waitUntil(lambda: sum(card.isVisible() and card.title is not None for card in made.findChildren(Card)) == 3)


def test_a_failure_is_told_and_keeps_what_was_read(make: MakePage) -> None:
    made = make(machine())
    made.show_failure("machine.json is not a JSON document")
    notice = made.findChildren(Notice)[0]
    assert (notice.isVisible(), notice.words) == (True, "machine.json is not a JSON document")
    assert title(made).startswith("RTX 4090")


def test_a_first_failure_is_the_title(page: MachinePage) -> None:
    page.show_failure("machine.json is not a JSON document")
    assert title(page) == "Nothing could be read"


def test_reading_again_takes_the_failure_away(page: MachinePage) -> None:
    page.show_failure("no JSON")
    page.show_reading("Reading your machine…")
    assert not page.findChildren(Notice)[0].isVisible()


def test_reading_again_is_asked_of_the_frame(page: MachinePage) -> None:
    heard = asked(page)
    page.bar().left[0].trigger()
    assert heard == [ReadAgain()]


def test_a_recording_is_asked_for_by_a_dialog(page: MachinePage, answers: Answers) -> None:
    heard = asked(page)
    answers.opened = "/home/you/machine.json"
    page.bar().left[1].trigger()
    assert heard == [OpenRecording("/home/you/machine.json")]


def test_a_closed_dialog_asks_for_nothing(page: MachinePage, answers: Answers) -> None:
    heard = asked(page)
    page.bar().left[1].trigger()
    assert (heard, answers.asked) == ([], ["Open a recorded machine"])


def test_examples_are_named_by_what_they_show(make: MakePage) -> None:
    titles = [action.text() for action in make(machine()).examples()]
    assert len(titles) >= 8
    assert all(title and not title[0].isdigit() for title in titles)


def test_an_example_is_asked_for_by_its_name(make: MakePage) -> None:
    made = make(machine())
    heard = asked(made)
    made.examples()[0].trigger()
    assert heard == [OpenExample(str(made.examples()[0].data()))]


def test_the_way_on_is_named(page: MachinePage) -> None:
    assert page.bar().next_title == "Show diagnosis"


@pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to every dialog
def test_everything_that_was_read_can_be_saved(make: MakePage, answers: Answers, tmp_path: Path) -> None:
    made = make(machine())
    made.show_everything()
    (dialog,) = made.findChildren(Everything)
    answers.saved = str(tmp_path / "machine.json")
    next(button for button in dialog.findChildren(QPushButton) if button.text() == "Save…").click()
    assert json.loads((tmp_path / "machine.json").read_text()) == encode_machine(machine(), ENGLISH)
    dialog.accept()


def test_the_same_machine_read_again_leaves_its_cards_as_they_stand(make: MakePage, qtbot: QtBot) -> None:
    made = make(machine())
    cards = made.findChildren(Card)
    made.show_inspection(inspection(machine()))
    assert made.is_complete
    assert made.findChildren(Card) == cards
    made.show_inspection(inspection(machine(gpus=(RTX_5090,) * 2)))
    qtbot.waitUntil(lambda: made.is_complete and not set(made.findChildren(Card)) & set(cards))


def test_everything_before_reading_is_nothing(page: MachinePage) -> None:
    page.show_everything()
    assert page.findChildren(Everything) == []


def test_recorded_machines_say_so(page: MachinePage, qtbot: QtBot) -> None:
    made: Inspection = inspection(machine(), recorded=True)
    page.show_inspection(made)
    qtbot.waitUntil(lambda: bool(page.examples()) and page.is_complete)
    assert words_in(page)[1] == "Recorded machine: made up"


@pytest.mark.parametrize("width", [560, 720, 1056, 1600])
def test_no_card_is_wider_than_the_page(make: MakePage, width: int, qtbot: QtBot) -> None:
    made = make(machine(gpus=(RTX_5090,) * 3))
    made.resize(width, 700)
    qtbot.waitUntil(lambda: all(card.width() <= width - 64 for card in made.findChildren(Card) if card.isVisible()))
