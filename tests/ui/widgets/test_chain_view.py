"""The picture of the chain: painted in the colours of its states, read aloud and copied as sentences, whole in its tool tips."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QClipboard, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gpuassist.diagnose.chain import chains
from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.text import Text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.chain import PART_WORDS
from gpuassist.present.marks import Mark
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.chain_view import ChainView
from tests.ui.showing import Show, ink_in, stroke_in
from tests.values import GTX_1080_TI, RTX_5090, knowledge, machine

NAMES = {Part.GPU: "RTX 5090", Part.DRIVER: "550.54", Part.TORCH: "2.5.1+cu124", Part.TOOLKIT: "12.4", Part.COMPILER: "gcc 14"}
ARC = Joint(Part.GPU, Part.TORCH, Status.PROBLEM, verbatim("this torch has no kernels for 12.0"))
DROP = Joint(Part.TOOLKIT, Part.COMPILER, Status.WARNING, verbatim("nvcc 12.4 takes gcc up to 13"))
FINE = Joint(Part.GPU, Part.DRIVER, Status.RIGHT, Text(""))


def chain(*joints: Joint, **statuses: Status) -> Chain:
    nodes = (Node(part, verbatim(NAMES[part]), verbatim("of 2026"), statuses.get(part.value, Status.RIGHT)) for part in Part)
    return Chain(tuple(nodes), joints)


@pytest.fixture
def view(show: Show) -> ChainView:
    made = ChainView(ENGLISH)
    made.show_chain(chain(FINE, ARC, DROP, torch=Status.PROBLEM))
    return show(made, 900, made.heightForWidth(900))


def test_it_reads_as_sentences(view: ChainView) -> None:
    assert view.plain_text().splitlines() == [
        "GPU: RTX 5090, of 2026 (right)",
        "Driver: 550.54, of 2026 (right)",
        "torch: 2.5.1+cu124, of 2026 (problem)",
        "Toolkit: 12.4, of 2026 (right)",
        "Compiler: gcc 14, of 2026 (right)",
        "GPU – Driver: right",
        "GPU – torch: problem, this torch has no kernels for 12.0",
        "Toolkit – Compiler: warning, nvcc 12.4 takes gcc up to 13",
    ]


def test_it_is_read_aloud(view: ChainView) -> None:
    assert view.accessibleName() == "Compatibility chain"
    assert view.accessibleDescription() == view.plain_text()


def test_the_keyboard_copies_it(view: ChainView, clipboard: QClipboard) -> None:
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == view.plain_text()


def test_another_key_copies_nothing(view: ChainView, clipboard: QClipboard) -> None:
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_C)
    assert clipboard.text() == "left by somebody else"


def test_focus_can_be_seen(theme: Theme, view: ChainView) -> None:
    before = view.grab().toImage()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert view.grab().toImage() != before


@pytest.mark.parametrize("place", range(5))
def test_a_box_tells_all_of_itself(view: ChainView, place: int) -> None:
    part = list(Part)[place]
    words = view.words_at(view._drawing.nodes[place].center())
    assert words == f"{ENGLISH(PART_WORDS[part])}: {NAMES[part]}\nof 2026"


def test_a_reason_tells_all_of_itself(view: ChainView) -> None:
    told = {view.words_at(lane.words.center()) for lane in view._drawing.lanes}
    assert told == {"this torch has no kernels for 12.0", "nvcc 12.4 takes gcc up to 13"}


def test_a_joint_tells_its_reason_or_its_state(view: ChainView) -> None:
    assert [view.words_at(one.mark.center()) for one in view._drawing.joints] == ["right", "nvcc 12.4 takes gcc up to 13"]


def test_beside_everything_nothing_is_told(view: ChainView) -> None:
    assert view.words_at(QPointF(-5, -5)) == ""


@pytest.mark.qt_log_ignore("This plugin does not support")  # popups, offscreen
def test_hovering_shows_the_tool_tip(view: ChainView) -> None:
    at = view._drawing.nodes[0].center().toPoint()
    QApplication.sendEvent(view, QHelpEvent(QEvent.Type.ToolTip, at, view.mapToGlobal(at)))
    assert QToolTip.text() == "GPU: RTX 5090\nof 2026"
    QApplication.sendEvent(view, QHelpEvent(QEvent.Type.ToolTip, QPoint(-5, -5), view.mapToGlobal(QPoint(-5, -5))))


@pytest.mark.parametrize("status", [Status.RIGHT, Status.WARNING, Status.PROBLEM])
def test_a_joint_is_painted_in_its_colour(each_look: Theme, show: Show, status: Status) -> None:
    made = ChainView(ENGLISH)
    made.show_chain(chain(replace(FINE, status=status)))
    show(made, 900, 100)
    palette = each_look.palette()
    assert stroke_in(made, palette.ink(Mark(status.value))) > 10
    assert ink_in(made, palette.tint(Mark(status.value))) > 40


@pytest.mark.parametrize("status", list(Status))
def test_every_state_of_a_box_looks_different_from_right(theme: Theme, show: Show, status: Status) -> None:
    made = show(ChainView(ENGLISH), 900, 100)
    made.show_chain(chain())
    right = made.grab().toImage()
    made.show_chain(chain(gpu=status))
    assert (made.grab().toImage() != right) is (status is not Status.RIGHT)


@pytest.mark.parametrize("width", [520, 600, 900, 1600])
def test_its_height_follows_its_width(view: ChainView, width: int) -> None:
    view.resize(width, view.heightForWidth(width))
    assert view.height() == round(view._drawing.height)


def test_reasons_make_it_higher(qtbot: QtBot) -> None:
    view = ChainView(ENGLISH)
    qtbot.addWidget(view)
    view.resize(1000, 200)
    view.show_chain(chain(FINE))
    before = view.sizeHint().height()
    view.show_chain(chain(FINE, ARC, DROP))
    assert view.sizeHint().height() > before + 40


def test_an_empty_chain_can_be_painted(show: Show) -> None:
    view = show(ChainView(ENGLISH), 600, 80)
    assert view.grab().width() == 600
    assert view.plain_text() == ""


def test_another_chain_replaces_the_first(view: ChainView) -> None:
    other = chain(FINE)
    view.show_chain(other)
    assert view.chain is other
    assert "no kernels" not in view.accessibleDescription()


def test_two_equal_joints_are_no_trouble(show: Show) -> None:
    view = ChainView(ENGLISH)
    view.show_chain(chain(ARC, ARC))
    assert len(show(view, 900, 160)._drawing.lanes) == 2


@pytest.mark.parametrize(
    "made_up", [machine(), machine(gpus=(GTX_1080_TI, RTX_5090)), machine(driver=""), machine(nvcc="", toolkits=(), gcc=())]
)
def test_chains_of_whole_machines_fit_the_window(show: Show, made_up: object) -> None:
    for one in chains(made_up, knowledge()):  # type: ignore[arg-type]  # parametrized
        view = ChainView(ENGLISH)
        view.show_chain(one)
        show(view, 776, view.heightForWidth(776))
        assert all(0 <= box.left() < box.right() <= 776 for box in view._drawing.nodes)


def named(detail: str) -> Chain:
    return Chain(tuple(Node(part, verbatim(NAMES[part]), verbatim(detail), Status.RIGHT) for part in Part), ())


def beside(show: Show, detail: str, width: int) -> ChainView:
    view = ChainView(ENGLISH)
    view.show_chain(named(detail))
    return show(view, width, view.heightForWidth(width))


@pytest.mark.parametrize("detail", ["Ada Lovelace · compute 8.9", "/usr/local/cuda-11.7.1-a", "runs CUDA up to 12.x or so"])
def test_a_detail_that_one_line_is_too_short_for_stands_on_two(show: Show, detail: str) -> None:
    wide, narrow = beside(show, detail, 1100), beside(show, detail, 720)
    assert narrow._drawing.nodes[0].top() == narrow._drawing.nodes[-1].top()  # side by side still
    assert narrow._drawing.nodes[0].height() > wide._drawing.nodes[0].height()
    assert narrow.cut_words() == wide.cut_words() == ()
    assert ink_below(narrow)
    assert not ink_below(wide)


def ink_below(view: ChainView) -> bool:
    """Whether the first box has words on its fourth line."""
    box = view._drawing.nodes[0].toRect()
    below = view.grab().toImage().copy(box.adjusted(8, 66, -8, -6))
    return len({below.pixel(x, y) for x in range(below.width()) for y in range(below.height())}) > 1


def test_a_detail_without_a_place_to_end_a_line_is_cut(show: Show) -> None:
    view = beside(show, "a" * 60, 720)
    assert view._drawing.nodes[0].height() == beside(show, "a", 720)._drawing.nodes[0].height()
    assert len(view.cut_words()) == len(Part)
