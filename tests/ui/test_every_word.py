"""Every word of the window is a message that can be translated: all pages in a language of which each sentence is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.words import Words
from gpuassist.session.navigation import Destination, GoTo, SideTool, ToExplainText, ToInstall, WizardStep
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.shortcuts import SHORTCUTS
from gpuassist.ui.widgets.help import Help
from tests.pseudo import Pseudo, strangers, unmarked
from tests.translations import RESOURCES
from tests.ui.frames import TOO_OLD, Frames
from tests.ui.showing import Show

OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which "
    "1.32 GiB is free. Including non-PyTorch memory, this process has 22.30 GiB memory in use."
)
# Each place as it is opened, the tools for something.
OPENED: tuple[Destination, ...] = (
    *(GoTo(one) for one in (*WizardStep, *SideTool)),
    ToExplainText(OUT_OF_MEMORY),
    ToInstall(InstallWish(torch="2.6")),
    ToInstall(InstallWish(driver=ANY, toolkit="12.8")),
)
# What is called so in every language, and the one word that is there for whoever is lost.
_NAMES = frozenset({"gpuassist", "Language", "Ubuntu", "Fedora", "Debian", "Arch", "Linux", "openSUSE", "Tumbleweed"})
_KEYS = frozenset({"Esc", *(word for one in SHORTCUTS for word in re.findall("[A-Za-z]+", one.shown))})
_PASTED = frozenset(re.findall("[A-Za-z]+", OUT_OF_MEMORY))
_COMMANDS = re.compile(r"^(?:sudo|python|pip|conda|export|journalctl|gpuassist|nvidia-smi)\b")


@pytest.fixture
def translations() -> Pseudo:
    return Pseudo()


@pytest.fixture
def session(session: Session, translations: Pseudo) -> Session:
    return replace(session, words=Words("xx", translations))


@cache
def known_words(machine: str) -> frozenset[str]:
    """Names of this machine, and what guides are called: a language without guides has the English ones."""
    files = (RESOURCES / "machines" / f"{machine}.json", RESOURCES / "knowledge" / "gpus.json")
    guides = (one.read_text("utf-8").partition("\n")[0] for one in (RESOURCES / "guides").glob("*.en.md"))
    topics = (one.stem for one in (RESOURCES / "guides").glob("*.en.md"))
    return frozenset(re.findall(r"[A-Za-z]+", " ".join((*(one.read_text("utf-8") for one in files), *guides, *topics))))


def strings(widget: QWidget) -> Iterator[str]:
    """Whatever a widget shows or tells."""
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.windowTitle())
    if isinstance(widget, (QLabel, QAbstractButton)):
        yield widget.text()
    if isinstance(widget, (QLineEdit, QPlainTextEdit)):
        yield widget.placeholderText()
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(place) for place in range(widget.count()))
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from cells(widget.model())
    if not isinstance(widget, Frame):  # the names of its actions are places, which nobody reads
        yield from (action.text() for action in widget.actions())


def cells(model: QAbstractItemModel) -> Iterator[str]:
    """Every cell's words, and the heads of the columns."""
    for column in range(model.columnCount() if isinstance(model, QAbstractTableModel) else 1):
        yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        for row in range(model.rowCount(QModelIndex())):
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
                yield str(model.index(row, column).data(role) or "")


def english_in(said: str, known: frozenset[str]) -> list[str]:
    """Plain words of it that come from no message and are no names; in paths, versions and code every word has other signs."""
    told = re.sub(r"<[^<>]*>", " ", unmarked(said)).strip()
    words = () if _COMMANDS.match(told) else (one.strip("().,:;!?'\"·…«»") for one in told.split())
    return [one for one in words if re.fullmatch(r"[A-Za-z][a-z]+", one) and one not in known]


def untranslated(widget: QWidget, known: frozenset[str]) -> set[tuple[str, str]]:
    """Each string of the widget, and of those in it, that has such words, with the class that has it."""
    return {
        (type(one).__name__, said)
        for one in (widget, *widget.findChildren(QWidget))
        for said in strings(one)
        if english_in(said, known)
    }


@pytest.mark.parametrize("machine", [TOO_OLD, "05-gtx-1080-ti-and-rtx-5090"])
def test_every_word_of_every_page_is_a_message(desk: Desk, show: Show, qtbot: QtBot, translations: Pseudo, machine: str) -> None:
    frame = Frames(desk, show, qtbot)(str(RESOURCES / "machines" / f"{machine}.json"))
    known, found = known_words(machine) | _NAMES | _KEYS | _PASTED, {}
    for place in OPENED:
        frame.go(place)
        page = frame.pages.page(frame.flow.current)
        qtbot.waitUntil(lambda page=page: not getattr(page, "busy", False))  # type: ignore[misc]
        found[str(place)] = untranslated(frame, known)
    frame.close_down()
    assert {place: said for place, said in found.items() if said} == {}
    assert strangers(translations.seen) == set()


def test_every_word_of_help_is_a_message(desk: Desk, show: Show) -> None:
    assert untranslated(show(Help(desk.words)), _NAMES | _KEYS) == set()


@pytest.mark.parametrize("said", ["No translation", "«Mááŕķéd» nót, but this", "a /path and a word", "«{0}» Copy"])
def test_words_that_escaped_are_found(said: str) -> None:
    assert english_in(said, _NAMES)


@pytest.mark.parametrize(
    "said", ["", "«Ķéý ŕíñğ: nvidia-smi 12.4 «ñéśţéd» /a/b~~»", "/usr/bin/nvcc 12.4", "pip install torch", "gpuassist"]
)
def test_names_and_code_are_in_no_language(said: str) -> None:
    assert not english_in(said, _NAMES)
