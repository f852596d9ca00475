"""What the frame and its pages owe each other: the desk a page works at, its bottom bar, and what it may ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.session.navigation import Destination, Errand, Place
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.scroll_page import PageHeader, ScrollPage

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.model.text import Text
    from gpuassist.model.words import Words
    from gpuassist.session.inspect import Inspection
    from gpuassist.session.other_machine import OtherMachine
    from gpuassist.ui.dialogs import Asking
    from gpuassist.ui.jobs import Jobs


class Desk(Struct, frozen=True):
    """What every page is handed: the session, the pool for its work, and the dialogs that ask the user; `other` is the machine that
    the window is about, none where that is this one.
    """

    session: Session
    jobs: Jobs
    asking: Asking
    other: OtherMachine | None = None

    @property
    def words(self) -> Words:
        """Sentences as labels show them; those of `session` keep every character, for commands and documents."""
        return self.session.words.with_strings(on_one_line)


class Bar(Struct, frozen=True):
    """A page's part of the bottom bar: secondary actions at the left, a quiet note, and its own primary action.

    Without a primary one the frame offers the way on, under the words `next_title` if there are any; not in blue where the
    page's own blue button stands `inside` it. Where it shows what is `elsewhere`, nothing leads to a repair of this machine.
    """

    left: tuple[QAction, ...] = ()
    note: str = ""
    primary: QAction | None = None
    next_title: str = ""
    inside: bool = False
    elsewhere: bool = False


class ReadAgain(Struct, frozen=True):
    """A page asks for the machine to be read anew."""


class Wrote(Struct, frozen=True):
    """A page changed this machine, or tried to: whatever is shown of it anywhere is read again."""


class Leave(Struct, frozen=True):
    """A page deleted all that gpuassist keeps: the window closes, and keeps nothing more."""


class OpenRecording(Struct, frozen=True):
    """A page asks for a recorded machine to be shown instead."""

    path: str


class OpenExample(Struct, frozen=True):
    """A page asks for a machine that ships with gpuassist."""

    name: str


class Page(QWidget):
    """One step of the wizard, or a tool beside the steps. A page asks the frame through `asked` and never reaches for another page.

    `asked` carries a `Destination`, `Marked` (how this step stands), `ReadAgain`, `Wrote`, `Leave`, `OpenRecording` or
    `OpenExample`.
    """

    STEP: ClassVar[Place]
    MARKS: ClassVar[bool] = False  # whether it tells how its step stands when a machine was read

    asked = Signal(object)
    bar_changed = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self._scrolled: ScrollPage | None = None
        self._rereading: ProgressStrip | None = None
        self.setObjectName(self.STEP.value)

    def bar(self) -> Bar:
        """What the bottom bar holds while this page is shown; emit `bar_changed` when that changes."""
        return Bar()

    def show_inspection(self, inspection: Inspection) -> None:
        """A machine was read: for every page that exists, and on making one later. What is shown already is not made anew."""

    def show_reading(self, words: str) -> None:
        """Something was written, and the machine is being read again: what is shown is of before. Empty once that has ended."""
        if self._scrolled is None or (self._rereading is None and not (words and self.isVisible())):
            return
        if self._rereading is None:
            self._rereading = ProgressStrip(self)
            self._scrolled.header.put_beside(self._rereading)
        if words:
            self._rereading.begin(words)
        else:
            self._rereading.end()

    def arrive(self, errand: Errand | None) -> None:
        """The page is shown now; `errand` is what it was opened for, none for nothing in particular."""

    def shows(self, destination: Destination) -> bool:
        """Whether it shows now all that it would if it was opened for that: then no button leads there."""
        return destination.place is self.STEP

    def take_focus(self) -> None:
        """Has the heading take the focus, as what a reader goes on from; a page with keys of its own takes it itself."""
        header = self.findChild(PageHeader)
        if header is None or self.focusPolicy() is Qt.FocusPolicy.StrongFocus:
            self.setFocus()
        else:
            header.take_focus()

    def leave(self) -> None:
        """The page is hidden now."""

    def close_down(self) -> None:
        """The window closes, or is made anew in another language: stop what runs."""

    def under_way(self) -> Text | None:
        """What runs here and would end with the page; none where nothing would be lost by that."""
        return None

    def left(self) -> object:
        """What the page that takes this one's place, in another language, goes on with; none where it begins anew."""
        return None

    @classmethod
    def in_place_of(cls, desk: Desk, parent: QWidget, left: object) -> Page:
        """A page that goes on with what another one left, none for the first; `take_up` comes once it knows the machine."""
        return cls(desk, parent)

    def take_up(self, left: object) -> None:
        """Goes on with what the page before left: as if it was opened for that, where it is an errand."""
        self.arrive(left)  # type: ignore[arg-type]  # what `left` of the same page gave

    def fill_with_scroll(self) -> ScrollPage:
        """Makes the page one that scrolls, with a title; for the constructor."""
        layout = bare(QVBoxLayout(self))
        self._scrolled = ScrollPage(self)
        layout.addWidget(self._scrolled)
        return self._scrolled


def new_action(owner: QWidget, words: str, pressed: Callable[[], None], keys: str = "") -> QAction:
    """An action of a page, with the keys that press it anywhere on the page, if there are any; its button names them."""
    action = QAction(words, owner)
    action.setShortcut(keys)
    action.setStatusTip(keys)
    action.triggered.connect(pressed)
    owner.addAction(action)
    return action
