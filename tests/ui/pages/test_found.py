"""The second page: the answer, the chain, the findings with their evidence, what is fine and what could not be told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.finding import Severity, Undetermined
from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.session.inspect import Inspection, examples, open_example
from gpuassist.session.navigation import Errand, ToFinding, ToGuide, ToHolders, ToInstall, ToRepair
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.page import Desk, ReadAgain
from gpuassist.ui.pages.found import ChainCard, FoundPage, Remainder
from gpuassist.ui.widgets.buttons import DropDown, is_primary
from gpuassist.ui.widgets.cards import Card, EmptyState
from gpuassist.ui.widgets.chain_view import ChainView
from gpuassist.ui.widgets.finding_card import GuideButton, LinkButton
from gpuassist.ui.widgets.marks import StatusPill
from tests.ui.made import Answers
from tests.ui.showing import Show, words_in

TOO_OLD, HEALTHY, TWO_GPUS, NOUVEAU = (
    "02-rtx-4090-cuda-11-7-first",
    "08-healthy",
    "05-gtx-1080-ti-and-rtx-5090",
    "01-new-rtx-5090-nouveau",
)
MakePage = Callable[[str], FoundPage]


@pytest.fixture
def make(desk: Desk, show: Show, qtbot: QtBot) -> MakePage:
    """The page of an example."""

    def made(name: str) -> FoundPage:
        page = show(FoundPage(desk), 1056, 700)
        return shown(page, open_example(desk.session, name), qtbot)

    return made


def shown(page: FoundPage, inspection: Inspection, qtbot: QtBot) -> FoundPage:
    """The page once its cards can be seen: a layout shows new ones on the next turn of the event loop."""
    page.show_inspection(inspection)
    qtbot.waitUntil(lambda: all(card.isVisible() for card in page.cards()))
    return page


def asked(page: FoundPage) -> list[object]:
    """What the page asks the frame for from now on."""
    heard: list[object] = []
    page.asked.connect(heard.append)
    return heard


def button(page: FoundPage, words: str) -> QPushButton:
    """The button with these words that can be seen."""
    return next(one for one in page.findChildren(QPushButton) if one.text() == words and one.isVisible())


def test_the_title_is_the_answer(make: MakePage) -> None:
    assert words_in(make(TOO_OLD))[0] == "One thing stands between you and your RTX 4090"


def test_the_first_finding_is_open_and_the_others_closed(make: MakePage) -> None:
    cards = make(TOO_OLD).cards()
    assert [card.is_open for card in cards] == [True] + [False] * (len(cards) - 1)


def test_findings_stand_worst_first(make: MakePage) -> None:
    order = list(Severity)
    severities = [order.index(card.answer.severity) for card in make(TOO_OLD).cards()]
    assert severities == sorted(severities)


def test_a_closed_finding_opens_and_closes(make: MakePage) -> None:
    card = make(TOO_OLD).cards()[-1]
    card.set_open(True)
    assert card.is_open
    card.set_open(False)
    assert not card.is_open


def test_switching_toolkits_leads_to_repair(make: MakePage) -> None:
    page = make(TOO_OLD)
    heard = asked(page)
    QTest.mouseClick(button(page, "Switch to CUDA 12.4…"), Qt.MouseButton.LeftButton)
    assert heard == [ToRepair("12.4")]


def test_a_finding_that_needs_root_offers_no_button_for_it(make: MakePage) -> None:
    page = make(NOUVEAU)
    assert not [one.text() for one in page.findChildren(QPushButton) if one.text().startswith("Switch")]
    assert any("never runs them" in words for words in words_in(page))


def test_checking_again_is_asked_of_the_frame(make: MakePage) -> None:
    page = make(HEALTHY)
    heard = asked(page)
    page.bar().left[0].trigger()
    assert heard == [ReadAgain()]


def test_a_sound_machine_says_that_nothing_is_wrong(make: MakePage) -> None:
    page = make(HEALTHY)
    assert page.cards() == ()
    assert "No problems" in words_in(page.findChildren(EmptyState)[0])


def test_a_machine_with_findings_says_no_such_thing(make: MakePage) -> None:
    assert make(TOO_OLD).findChildren(EmptyState) == []


def test_what_is_fine_stands_as_pills(make: MakePage) -> None:
    pills = [pill for pill in make(HEALTHY).findChildren(StatusPill) if pill.mark is Mark.RIGHT]
    assert len(pills) >= 8
    assert all(pill.words for pill in pills)


def test_the_chain_is_shown_for_the_first_gpu(make: MakePage) -> None:
    view = make(TWO_GPUS).findChildren(ChainView)[0]
    assert "GTX 1080 Ti" in view.plain_text()


def test_another_gpu_shows_its_own_chain(make: MakePage) -> None:
    page = make(TWO_GPUS)
    choice = page.findChildren(DropDown)[0]
    assert [choice.itemText(place) for place in range(choice.count())] == ["GTX 1080 Ti · GPU 0000:01:00.0", "RTX 5090 · GPU 0"]
    choice.setCurrentIndex(1)
    assert "RTX 5090" in page.findChildren(ChainView)[0].plain_text()


def test_one_gpu_offers_no_choice(make: MakePage) -> None:
    assert not make(HEALTHY).findChildren(DropDown)[0].isVisible()


def test_a_new_machine_replaces_everything(make: MakePage, session: Session) -> None:
    page = make(TOO_OLD)
    page.show_inspection(open_example(session, HEALTHY))
    assert page.cards() == ()
    assert words_in(page)[0] == "Your RTX 4090 is ready"


def test_without_a_chain_its_card_is_hidden(make: MakePage) -> None:
    card = make(HEALTHY).findChildren(ChainCard)[0]
    card.show_chains(())
    assert not card.isVisible()


def test_what_could_not_be_told_waits_behind_its_button(make: MakePage, session: Session, qtbot: QtBot) -> None:
    sound = open_example(session, HEALTHY)
    open_ends = (Undetermined("no-driver", text("the loaded module"), text("permission denied")),)
    page = shown(make(HEALTHY), replace(sound, diagnosis=replace(sound.diagnosis, undetermined=open_ends)), qtbot)
    assert words_in(page)[0] == "No problem found, but not everything could be checked"
    rest = page.findChildren(Remainder)[0]
    toggle = next(one for one in rest.findChildren(QPushButton) if "could not be determined" in one.text())
    assert not rest.open_card.isVisible()
    toggle.click()
    assert rest.open_card.isVisible()
    assert [(row.label, row.value, row.source) for row in rest.table.rows] == [
        ("the loaded module", "permission denied", "no-driver"),
    ]


def test_a_sound_machine_has_nothing_undetermined(make: MakePage) -> None:
    rest = make(HEALTHY).findChildren(Remainder)[0]
    assert not [one for one in rest.findChildren(QPushButton) if one.isVisible()]


def test_links_open_only_when_pressed(make: MakePage, answers: Answers) -> None:
    page = make(TWO_GPUS)
    link = page.cards()[0].findChildren(LinkButton)[0]
    assert answers.visited == []
    link.click()
    assert answers.visited == [link.address]


def fits(page: FoundPage, width: int) -> bool:
    """Whether no card is wider than the page without its margins."""
    return all(card.width() <= width - 64 for card in page.findChildren(Card) if card.isVisible())


@pytest.mark.parametrize("width", [736, 1056])  # the first is what the page of the smallest window has
@pytest.mark.usefixtures("theme")
def test_every_example_fits_its_page(make: MakePage, session: Session, width: int, qtbot: QtBot) -> None:
    for example in examples(session):
        page = make(example.name)
        page.resize(width, 700)
        for card in page.cards():
            card.set_open(True)
        qtbot.waitUntil(partial(fits, page, width))
        page.hide()


def test_guide_of_a_finding_is_opened(make: MakePage) -> None:
    page = make(TOO_OLD)
    heard = asked(page)
    guide = page.findChild(GuideButton)
    assert isinstance(guide, GuideButton)
    guide.click()
    assert heard == [ToGuide(guide.topic)]


@pytest.mark.parametrize("errand", [ToHolders(39021), ToInstall(InstallWish(torch=ANY))])
def test_where_a_card_leads_is_asked_of_the_frame(make: MakePage, errand: Errand) -> None:
    page = make(TOO_OLD)
    heard = asked(page)
    page.cards()[0].asked.emit(errand)
    assert heard == [errand]


def test_opened_for_a_finding_it_shows_what_to_do_about_it(make: MakePage, qtbot: QtBot) -> None:
    page = make(TWO_GPUS)
    page.resize(800, 400)
    card = page.cards()[0]
    card.set_open(False)
    page.arrive(ToFinding(card.answer.id))
    what = card.what_to_do()
    assert card.is_open
    qtbot.waitUntil(lambda: any(one.hasFocus() for one in what.findChildren(QLabel)))
    top = what.mapTo(page, QPoint(0, 0)).y()
    assert 0 <= top < page.height() // 2
    page.arrive(ToFinding("no-such-problem"))


def test_no_card_has_a_blue_button_beside_that_of_the_bar(make: MakePage) -> None:
    page = make(TOO_OLD)
    leads = [one for one in page.cards()[0].findChildren(QPushButton) if one.text().startswith("Switch")]
    assert leads
    assert not any(map(is_primary, page.findChildren(QPushButton)))


def test_the_same_machine_read_again_leaves_everything_as_it_stands(make: MakePage, desk: Desk, qtbot: QtBot) -> None:
    for name in (TOO_OLD, HEALTHY, TWO_GPUS):
        page = make(name)
        cards = page.cards()
        for card in cards:
            card.set_open(not card.is_open)
        are_open = [card.is_open for card in cards]
        inside = set(page.findChildren(QLabel))
        shown(page, replace(open_example(desk.session, name), seconds=9.0), qtbot)
        assert page.cards() == cards, name
        assert [card.is_open for card in cards] == are_open, name
        assert set(page.findChildren(QLabel)) == inside, name


def test_another_machine_gets_cards_of_its_own(make: MakePage, desk: Desk, qtbot: QtBot) -> None:
    page = make(TOO_OLD)
    before = page.cards()
    shown(page, open_example(desk.session, HEALTHY), qtbot)
    assert not set(page.cards()) & set(before)
    shown(page, open_example(desk.session, TOO_OLD), qtbot)
    assert [card.answer.id for card in page.cards()] == [card.answer.id for card in before]
