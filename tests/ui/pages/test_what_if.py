"""What if: chosen, asked off the GUI thread, answered; as it is, imagined, blocked, mistaken; from every example machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.install.what_if import NONE, Wish
from gpuassist.model.outlook import Outlook
from gpuassist.session.inspect import examples, open_example
from gpuassist.session.navigation import ToInstall, ToRepair, ToWhatIf
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.what_if.answer import ChainsCard, StepsCard
from gpuassist.ui.pages.what_if.page import WhatIfPage
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.scroll_page import PageHeader
from tests.ui.frames import HEALTHY, TOO_OLD, Frames
from tests.ui.showing import Show, words_in
from tests.values import RTX_4090

EXAMPLES = [
    "01-new-rtx-5090-nouveau",
    TOO_OLD,
    "03-torch-cpu-only",
    "04-driver-too-old",
    "05-gtx-1080-ti-and-rtx-5090",
    "06-driver-library-mismatch",
    "07-wsl2",
    HEALTHY,
    "09-healthy-without-nvcc",
    "10-laptop-asleep",
]


class Shown:
    """The page with what a test does to it."""

    def __init__(self, desk: Desk, show: Show, qtbot: QtBot) -> None:
        self.desk = desk
        self.qtbot = qtbot
        self.page = show(WhatIfPage(desk), 1056, 700)

    def read(self, example: str) -> Shown:
        self.page.show_inspection(open_example(self.desk.session, example))
        return self.settle()

    def wish(self, wish: Wish) -> Shown:
        self.page.arrive(ToWhatIf(wish))
        return self.settle()

    def settle(self) -> Shown:
        self.qtbot.waitUntil(lambda: not self.page.busy)
        return self

    @property
    def header(self) -> PageHeader:
        found = self.page.findChild(PageHeader)
        assert isinstance(found, PageHeader)
        return found

    @property
    def outlook(self) -> Outlook:
        assert self.page.outlook is not None
        return self.page.outlook


@pytest.fixture
def shown(desk: Desk, show: Show, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(desk, show, qtbot)
    yield made
    made.page.close_down()


def pictures(page: QWidget) -> int:
    return sum(len(card.views) for card in page.findChildren(ChainsCard) if card.isVisibleTo(page))


def test_every_example_is_tried(desk: Desk) -> None:
    assert sorted(one.name for one in examples(desk.session)) == EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_answered_as_it_is(shown: Shown, example: str) -> None:
    shown.read(example)
    assert len(shown.outlook.before) == len(shown.page.wishes.chips())
    assert shown.header.subtitle == "The recorded machine as it is"
    assert pictures(shown.page) >= 1


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_may_have_another_card(shown: Shown, example: str) -> None:
    shown.read(example)
    before = len(shown.page.wishes.chips())
    shown.page.wishes.search.taken.emit("RTX 5090")
    shown.settle()
    assert len(shown.outlook.before) == before + 1
    assert (
        shown.outlook.steps
        or shown.outlook.blocked_by
        or "works together" in shown.header.title
        or "No conflict" in shown.header.title
    )


@pytest.mark.parametrize("width", [656, 800, 1400])
@pytest.mark.parametrize("example", EXAMPLES)
def test_no_example_is_wider_than_the_page(shown: Shown, show: Show, example: str, width: int) -> None:
    show(shown.page, width, 500)
    shown.read(example)
    for card in (*shown.page.findChildren(ChainsCard), *shown.page.findChildren(StepsCard)):
        assert card.mapTo(shown.page, card.rect().topRight()).x() <= width


def test_before_a_machine_was_read_it_asks_for_a_gpu(shown: Shown) -> None:
    shown.settle()
    assert shown.header.title == "Compatibility check"
    assert "No GPU is chosen" in words_in(shown.page)


def test_an_imagined_machine_is_answered(shown: Shown) -> None:
    shown.settle().page.wishes.search.taken.emit("RTX 5090")
    shown.settle()
    assert shown.header.title.startswith("Works after")
    assert shown.header.subtitle == "An imagined machine with RTX 5090"


def test_a_new_card_tells_the_steps_with_their_commands(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(("10de:2684", "RTX 5090")))
    blocks = [block.content for block in shown.page.findChildren(CodeBlock)]
    assert shown.header.title == f"Works after {len(shown.outlook.steps)} changes"
    assert any("nvidia-driver-" in content for content in blocks)


def test_what_cannot_fit_says_what_stands_in_the_way(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(("GTX 680", "RTX 5090")))
    assert shown.header.title == "This cannot be made to work"
    assert "What prevents it" in words_in(shown.page)


def test_a_mistaken_wish_is_told_in_words(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(("voodoo 5",)))
    assert shown.header.title == "This cannot be checked"
    assert any("Voodoo 5 is no GPU" in words for words in words_in(shown.page))
    assert shown.page.outlook is None


def test_a_mistake_goes_with_the_next_choice(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(driver="new"))
    shown.page.wishes.reset()
    shown.settle()
    assert shown.header.title == "Everything works together"


def test_the_last_choice_counts(shown: Shown) -> None:
    shown.read(HEALTHY)
    for driver in ("470", "535", "595"):
        shown.page.wishes.open_for(Wish(driver=driver))
    shown.settle()
    assert shown.header.subtitle == "The recorded machine with driver 595"


def test_reset_shows_the_machine_as_it_is(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(driver="470"))
    reset = shown.page.bar().left[0]
    reset.trigger()
    shown.settle()
    assert (shown.header.subtitle, reset.isEnabled()) == ("The recorded machine as it is", False)


def test_the_answer_can_be_copied(shown: Shown, clipboard: QClipboard) -> None:
    shown.read(HEALTHY).wish(Wish(("RTX 5090",)))
    shown.page.bar().left[1].trigger()
    assert clipboard.text().startswith("The recorded machine with RTX 5090\n")
    assert "sudo apt install" in clipboard.text()


def test_nothing_is_copied_without_an_answer(shown: Shown, clipboard: QClipboard) -> None:
    shown.settle()
    assert not shown.page.bar().left[1].isEnabled()


def test_a_machine_read_again_keeps_the_wish(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(driver="595")).read(TOO_OLD)
    assert shown.page.wishes.wish == Wish(driver="595")


def test_coming_back_keeps_the_wish(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(driver="595"))
    shown.page.leave()
    shown.page.arrive(None)
    shown.settle()
    assert shown.header.subtitle == "The recorded machine with driver 595"


def test_the_search_has_a_key_of_its_own(shown: Shown) -> None:
    shown.read(HEALTHY)
    QTest.keyClick(shown.page, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert shown.page.wishes.search.hasFocus()


def test_everything_is_reached_by_tab_in_reading_order(shown: Shown) -> None:
    shown.read(HEALTHY)
    card = shown.page.wishes
    wanted: list[QWidget] = [card.base, card.search, *card.chips(), *(card.box(part) for part in ("driver", "torch", "python"))]
    card.base.setFocus()
    reached: list[QWidget] = [card.base]
    for _ in range(len(wanted) - 1):
        QTest.keyClick(reached[-1], Qt.Key.Key_Tab)
        focused = shown.page.window().focusWidget()
        assert focused is not None
        reached.append(focused)
    assert reached == wanted


def test_tab_goes_on_from_the_choices_to_the_answer(shown: Shown) -> None:
    shown.read(HEALTHY).wish(Wish(("10de:2684", "RTX 5090")))
    card, box = shown.page.findChildren(ChainsCard)[0], shown.page.wishes.box("gcc")
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Tab)
    assert card.views[0].hasFocus()


def test_closing_down_wants_no_answer_any_more(shown: Shown) -> None:
    shown.page.arrive(ToWhatIf(Wish(("RTX 5090",))))
    shown.page.close_down()
    assert not shown.page.busy


def test_a_finding_may_open_it_with_a_wish(desk: Desk, show: Show, qtbot: QtBot) -> None:
    frames = Frames(desk, show, qtbot)
    frame = frames.opened("/none")
    frame.go(ToWhatIf(Wish((RTX_4090,), driver="570")))
    page = frame.pages.currentWidget()
    assert isinstance(page, WhatIfPage)
    assert page.wishes.wish == Wish((RTX_4090,), driver="570")
    qtbot.waitUntil(lambda: not page.busy and frame.pages.warm_up.is_done)
    assert [button.text() for button in frame.bar.findChildren(QPushButton) if button.isVisible()][-1] == "Back"
    frame.close_down()


def test_a_wish_leads_to_its_install(shown: Shown) -> None:
    heard: list[object] = []
    shown.page.asked.connect(heard.append)
    shown.read(HEALTHY).wish(Wish(driver="595", torch="2.9.1+cu128"))
    primary = shown.page.bar().primary
    assert primary is not None
    primary.trigger()
    assert heard == [ToInstall(InstallWish(driver="595", torch="2.9.1+cu128"))]


@pytest.mark.parametrize(
    "wish", [Wish(), Wish(python="3.13"), Wish(("RTX 5090",), driver="595"), Wish(driver=NONE), Wish(toolkit=NONE)]
)
def test_what_nobody_can_install_here_leads_nowhere(shown: Shown, wish: Wish) -> None:
    shown.read(HEALTHY).wish(wish)
    assert shown.page.bar().primary is None


def test_a_machine_as_it_is_leads_to_what_its_worst_finding_asks_for(shown: Shown) -> None:
    heard: list[object] = []
    shown.page.asked.connect(heard.append)
    for example in ("02-rtx-4090-cuda-11-7-first", "01-new-rtx-5090-nouveau"):
        shown.read(example)
        primary = shown.page.bar().primary
        assert primary is not None
        primary.trigger()
    assert heard == [ToRepair("12.4"), ToInstall(InstallWish(driver=ANY))]


def test_for_an_imagined_machine_nothing_is_installed(shown: Shown) -> None:
    shown.settle().wish(Wish(("RTX 5090",), driver="595"))
    assert shown.page.bar().primary is None
