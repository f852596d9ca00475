"""The bar at the bottom: what else can be done at the left, the way on at the right."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from gpuassist.ui.widgets.buttons import ActionButton
from gpuassist.ui.widgets.cards import MARGIN, clear
from gpuassist.ui.widgets.labels import ElidedLabel


class BottomBar(QFrame):
    """Shows actions as buttons; the one at the far right is the primary one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(MARGIN, 12, MARGIN, 12)
        layout.setSpacing(12)
        self._left = QHBoxLayout()
        self._left.setSpacing(8)
        self._note = ElidedLabel("", "muted", self)
        self._right = QHBoxLayout()
        self._right.setSpacing(8)
        layout.addLayout(self._left)
        layout.addWidget(self._note, 1)
        layout.addLayout(self._right)

    def show_actions(self, left: tuple[QAction, ...], note: str, right: tuple[QAction, ...], *, has_primary: bool = True) -> None:
        """Other buttons; the last at the right is primary if there is one. Where they stay the same they keep their focus."""
        if [button.action() for button in self._buttons()] != [*left, *right]:
            clear(self._left)
            clear(self._right)
            for action in left:
                self._left.addWidget(ActionButton(action, self))
            for action in right:
                self._right.addWidget(ActionButton(action, self, is_primary=has_primary and action is right[-1]))
        self._note.set_words(note)

    def button(self, action: QAction) -> ActionButton | None:
        """The button of an action, none where it is not shown."""
        return next((button for button in self._buttons() if button.action() is action), None)

    def _buttons(self) -> list[ActionButton]:
        items = [layout.itemAt(place) for layout in (self._left, self._right) for place in range(layout.count())]
        widgets = [item.widget() for item in items if item is not None]
        return [widget for widget in widgets if isinstance(widget, ActionButton)]
