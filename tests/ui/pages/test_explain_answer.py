"""The explain page's answer: the first cause open, the others folded; what is not known says so and shows what was read."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuassist.diagnose.ranking import Rank
from gpuassist.model.account import Account
from gpuassist.model.finding import GuideLink, Severity
from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind
from gpuassist.model.paste import Paste
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.session.explain import Explanation
from gpuassist.ui.pages.explain.answer import AnswerBlock, AnswerView
from gpuassist.ui.pages.explain.remedies import RemedyCard
from gpuassist.ui.widgets.cards import EmptyState
from gpuassist.ui.widgets.facts import FactTable
from gpuassist.ui.widgets.finding_card import LinkButton
from gpuassist.ui.widgets.folds import Folds
from gpuassist.ui.widgets.marks import MarkIcon, StatusPill
from gpuassist.ui.widgets.memory_bar import MemoryBar
from tests.session.explained import ANSWER, CONTRADICTION, DOUBT, OPEN, READ, explained, remedy
from tests.ui.showing import Show, button_named, words_in

SECOND = replace(ANSWER, id="torch-lacks-sm", severity=Severity.WARNING, title="Another")
FULL = replace(explained(ANSWER, SECOND, doubts=(DOUBT,), machine=READ, contradictions=(CONTRADICTION,)), undetermined=(OPEN,))


class Views:
    """Makes views and waits until they stand."""

    def __init__(self, show: Show, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self.view = show(AnswerView(ENGLISH), 992, 900)

    def __call__(self, explanation: Explanation | None) -> AnswerView:
        self.view.show_explanation(explanation)
        self.settle()
        return self.view

    def settle(self) -> None:
        self._qtbot.waitUntil(lambda: not self.view.building)


@pytest.fixture
def view(show: Show, qtbot: QtBot) -> Views:
    return Views(show, qtbot)


def folds(view: AnswerView) -> Folds:
    return next(one for one in view.findChildren(Folds) if one.isVisibleTo(view))


def wait_open(block: AnswerBlock, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(block.findChildren(LinkButton)) == len(block.answer.links))


def test_the_verdict_and_what_it_rests_on_come_first(view: Views) -> None:
    said = words_in(view(explained(ANSWER)))
    assert said[:2] == ["1 problem found", "Missing details were read from this computer."]


def test_the_first_cause_is_open_and_the_others_closed(view: Views) -> None:
    assert [block.is_open for block in view(FULL).blocks()] == [True, False]


def test_the_first_shows_quote_facts_remedies_and_links(view: Views) -> None:
    block = view(FULL).blocks()[0]
    assert [one.quotation.line for one in block.quotes()] == [2]
    assert [row.value for row in block.findChildren(FactTable)[0].rows] == ["11.7.99"]
    assert len(block.findChildren(RemedyCard)) == 1
    assert len(block.findChildren(LinkButton)) == 1


@pytest.mark.parametrize(("rank", "word"), [(Rank.SAID, "certain"), (Rank.PROVED, "likely"), (Rank.POSSIBLE, "possible")])
def test_a_pill_says_how_sure_it_is(view: Views, rank: Rank, word: str) -> None:
    assert [pill.words for pill in view(explained(ANSWER, rank=rank)).findChildren(StatusPill)] == [word]


def test_a_block_is_read_aloud_with_its_severity(view: Views) -> None:
    assert [block.accessibleName() for block in view(FULL).blocks()] == [f"problem: {ANSWER.title}", "warning: Another"]


def test_a_closed_block_opens_and_closes(view: Views, qtbot: QtBot) -> None:
    block = view(FULL).blocks()[1]
    states = []
    for words in ("Show", "Less"):
        button_named(block, words).click()
        wait_open(block, qtbot)
        states.append(block.is_open)
    assert states == [True, False]
    assert not any(card.isVisibleTo(block) for card in block.findChildren(RemedyCard))


def test_a_block_that_was_opened_keeps_what_it_made(view: Views, qtbot: QtBot) -> None:
    block = view(FULL).blocks()[1]
    block.set_open(True)
    wait_open(block, qtbot)
    for is_open in (False, True):
        block.set_open(is_open)
    assert len(block.findChildren(RemedyCard)) == 1
    assert button_named(block, "Less").accessibleName() == "Less: Another"


PICTURE = MemoryPicture(24 << 30, (MemoryPart(PartKind.ALLOCATED, 20 << 30), MemoryPart(PartKind.FREE, 4 << 30)))


@pytest.mark.parametrize(("ids", "owner"), [(("oom-true",), 0), (("torch-lacks-sm", "oom-true"), 1), (("torch-lacks-sm",), 0)])
def test_the_memory_stands_with_the_answer_about_it(view: Views, ids: tuple[str, ...], owner: int, qtbot: QtBot) -> None:
    explanation = replace(explained(*(replace(ANSWER, id=one) for one in ids)), memory=PICTURE)
    blocks = view(explanation).blocks()
    for block in blocks:
        block.set_open(True)
        wait_open(block, qtbot)
    assert [len(block.findChildren(MemoryBar)) for block in blocks] == [int(place == owner) for place in range(len(ids))]


def test_what_a_text_is_stands_below_its_title(view: Views) -> None:
    told = Account(text("2 processes on GPU 0"), (text("process 7 (python)"), text("process 8 (Xorg)")))
    made = view(replace(explained(), known=True, accounts=(told,), memory=PICTURE))
    assert {"process 7 (python)", "process 8 (Xorg)"} <= set(words_in(made))
    assert len(made.findChildren(MemoryBar)) == 1


def test_beside_a_fault_it_is_folded(view: Views) -> None:
    told = Account(text("2 processes on GPU 0"), (text("process 7 (python)"),))
    made = folds(view(replace(explained(ANSWER), accounts=(told,))))
    made.button(0).click()
    assert "process 7 (python)" in words_in(made)


def test_several_remedies_are_numbered(view: Views) -> None:
    answer = replace(ANSWER, remedies=(remedy("one"), remedy("two"), remedy("three")))
    cards = view(explained(answer)).findChildren(RemedyCard)
    assert [words_in(card)[0] for card in cards] == ["1 · Do it.", "2 · Do it.", "3 · Do it."]


@pytest.mark.parametrize(("command", "columns"), [("nvidia-smi", 2), ("export A=" + "x" * 80, 1)])
def test_remedies_stand_side_by_side_where_their_commands_fit(view: Views, command: str, columns: int) -> None:
    cards = view(explained(replace(ANSWER, remedies=(remedy(command), remedy("ls"))))).findChildren(RemedyCard)
    assert len({card.x() for card in cards}) == columns


def test_a_quote_and_a_link_are_asked_for(view: Views) -> None:
    made = view(explained(ANSWER))
    quotes, links = QSignalSpy(made.quote_wanted), QSignalSpy(made.link_opened)
    button_named(made, "Line 2").click()
    made.findChildren(LinkButton)[0].click()
    assert quotes.at(0)[0].line == 2
    assert links.at(0)[0] == "https://docs.nvidia.com/cuda/"


def test_a_guide_is_asked_for_by_its_topic(view: Views) -> None:
    made = view(explained(replace(ANSWER, links=(), guides=(GuideLink("freeing-memory", "Freeing memory"),))))
    spy = QSignalSpy(made.guide_wanted)
    button = button_named(made, "Freeing memory")
    button.click()
    assert spy.at(0)[0] == "freeing-memory"
    assert button.accessibleName() == "Guide: Freeing memory"


def test_the_rest_is_folded(view: Views) -> None:
    made = folds(view(FULL))
    titles = [made.button(place).text() for place in range(4)]
    assert titles == [
        "1 fact was read in the text…",
        "The text contradicts itself in one thing…",
        "1 other cause is less likely…",
        "1 thing could not be determined…",
    ]
    assert made.findChildren(FactTable) == []


@pytest.mark.parametrize(
    ("place", "label", "value"),
    [
        (0, "version", "550.54.14"),
        (1, "driver", "550.54.14 / 535.104.05"),
        (2, "CUDA 13 dropped this GPU", "The message fits it as well"),
        (3, "driver", "not looked at"),
    ],
)
def test_each_fold_shows_its_rows(view: Views, place: int, label: str, value: str) -> None:
    made = folds(view(FULL))
    made.button(place).click()
    (table,) = made.findChildren(FactTable)
    assert [(row.label, row.value) for row in table.rows] == [(label, value)]


def test_without_anything_beside_there_are_no_folds(view: Views) -> None:
    assert view(explained(ANSWER)).findChildren(Folds) == []


def test_a_text_that_nobody_knows_shows_what_was_read(view: Views) -> None:
    made = view(explained(machine=READ))
    assert "I don't know this text" in words_in(made.findChildren(EmptyState)[0])
    assert made.blocks() == ()
    assert [row.value for row in made.findChildren(FactTable)[0].rows] == ["550.54.14"]


@pytest.mark.parametrize(
    ("explanation", "said"),
    [
        (explained(), "More of it may help"),
        (explained(machine=READ), "What could be read from it is shown below"),
        (replace(explained(), paste=Paste("", 4096)), "It is a program, an archive or a picture."),
    ],
)
def test_why_it_is_not_known_is_said(view: Views, explanation: Explanation, said: str) -> None:
    assert any(said in words for words in words_in(view(explanation)))


def test_what_was_left_out_is_said(view: Views) -> None:
    said = words_in(view(replace(explained(ANSWER), paste=Paste("x\ny\n", 9 << 20))))
    assert "9 MiB between them were left out" in said[1]


def test_a_sound_text_is_told_with_its_mark(view: Views) -> None:
    answer = replace(ANSWER, severity=Severity.INFO, title="No problems")
    block = view(explained(answer, rank=None)).blocks()[0]
    assert block.findChildren(StatusPill) == []
    assert [icon.mark for icon in block.findChildren(MarkIcon)] == [Mark.INFO]


def test_the_same_answer_again_is_left_as_it_stands(view: Views) -> None:
    before = view(FULL).blocks()
    longer = replace(FULL, paste=Paste(FULL.paste.words + "more"))
    assert view(longer).blocks() == before


def test_another_answer_takes_its_place(view: Views, qtbot: QtBot) -> None:
    view(FULL)
    made = view(explained(SECOND))
    assert [block.answer for block in made.blocks()] == [SECOND]
    assert not any(ANSWER.title in words for words in words_in(made))


def test_an_answer_that_comes_while_one_is_built_replaces_it(view: Views, qtbot: QtBot) -> None:
    view.view.show_explanation(FULL)
    made = view(explained(SECOND))
    qtbot.wait(100)
    assert [block.answer for block in made.blocks()] == [SECOND]


def test_no_answer_shows_nothing(view: Views) -> None:
    view(FULL)
    made = view(None)
    assert words_in(made) == []
    assert not [one for one in made.findChildren(QWidget) if one.isVisibleTo(made) and one.parentWidget() is made]
