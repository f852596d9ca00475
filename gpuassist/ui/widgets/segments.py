"""A few words of which one is chosen, side by side; the arrow keys walk them, and Tab goes past them as one control."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QFont, QFontMetrics
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QPushButton, QSizePolicy, QWidget

from gpuassist.ui.theme import strong_weight
from gpuassist.ui.widgets.layouts import FlowLayout
from gpuassist.ui.wording import as_tip

_INSIDE = 2


class Segments(QFrame):
    """Emits `chosen` with the place of what the user chose, and never for what code shows."""

    chosen = Signal(int)

    def __init__(self, titles: Sequence[str], name: str, parent: QWidget | None = None, *, compact: bool = False) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        policy = QSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._row = FlowLayout(self, gap=_INSIDE)
        self._row.setContentsMargins(_INSIDE, _INSIDE, _INSIDE, _INSIDE)
        self._group = QButtonGroup(self)
        for place, title in enumerate(titles):
            segment = _Segment(title, self)
            segment.setProperty("kind", "segment")
            if compact:
                segment.setProperty("compact", True)  # noqa: FBT003 -- the style sheet asks for it
            segment.setCheckable(True)
            segment.setAutoExclusive(True)  # so that it is told as one of several, and not as a check box
            segment.setCursor(Qt.CursorShape.PointingHandCursor)
            segment.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
            button = segment
            self._group.addButton(button, place)
            self._row.addWidget(button)
        self.show_chosen(0)
        self._group.idToggled.connect(self._tell)
        self._shows = False

    def sizeHint(self) -> QSize:
        """All of them side by side; where there is less room they stand in lines."""
        return self._row.one_line().grownBy(self.contentsMargins())

    @property
    def place(self) -> int:
        return self._group.checkedId()

    def button(self, place: int) -> QPushButton:
        button = self._group.button(place)
        assert isinstance(button, QPushButton)
        return button

    def show_chosen(self, place: int) -> None:
        self._shows = True
        self.button(place).setChecked(True)
        self._shows = False

    def choose(self, place: int) -> None:
        self.button(place).setChecked(True)

    def offer(self, place: int, *, why_not: str = "") -> None:
        """Whether a place can be chosen: only where nothing is said against it."""
        self.button(place).setEnabled(not why_not)
        self.button(place).setToolTip(as_tip(why_not))

    @Slot(int, bool)
    def _tell(self, place: int, checked: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        if checked and not self._shows:
            self.chosen.emit(place)


class _Segment(QPushButton):
    """As wide as its words are when it is chosen: the style sheet makes them bold then, and Qt asks for the width of plain ones."""

    def sizeHint(self) -> QSize:
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight(strong_weight()))
        more = QFontMetrics(bold).horizontalAdvance(self.text()) - self.fontMetrics().horizontalAdvance(self.text())
        hint = super().sizeHint()
        return QSize(hint.width() + max(0, more), hint.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tab comes to the one that is chosen: Qt lets it stop at whichever it comes to first."""
        chosen: QAbstractButton | None = self.group().checkedButton()
        by_tab = event.reason() in {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}
        if by_tab and chosen is not None and chosen is not self and chosen.isEnabled():
            chosen.setFocus(event.reason())
        else:
            super().focusInEvent(event)
