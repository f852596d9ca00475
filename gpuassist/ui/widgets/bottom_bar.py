"""The bar at the bottom: what else can be done at the left, the way on at the right."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from gpuassist.ui.theme import set_look
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.layouts import MARGIN, bare, widgets_in


class BottomBar(QFrame):
    """Shows actions as buttons; the one at the far right is the primary one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[tuple[QAction, ...], tuple[QAction, ...], bool] = ((), (), True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(MARGIN, 12, MARGIN, 12)
        layout.setSpacing(12)
        self._left = bare(QHBoxLayout(), 8)
        self._note = ElidedLabel("", "muted", self, elide=Qt.TextElideMode.ElideRight)
        self._right = bare(QHBoxLayout(), 8)
        layout.addLayout(self._left)
        layout.addWidget(self._note, 1)
        layout.addLayout(self._right)

    def show_actions(self, left: tuple[QAction, ...], note: str, right: tuple[QAction, ...], *, has_primary: bool = True) -> None:
        """Other buttons; the last at the right is primary if there is one. Where they stay the same they keep their focus."""
        if self._shown != (left, right, has_primary):
            self._shown = (left, right, has_primary)
            kept = {button.action(): button for button in self._buttons()}
            self._fill(self._left, left, kept)
            self._fill(self._right, right, kept)
            for button in kept.values():
                button.go()
            for button in self._buttons():
                button.show_primary(is_primary=has_primary and (button.action(),) == right[-1:])
        self._note.set_words(note)

    def _fill(self, row: QHBoxLayout, actions: tuple[QAction, ...], kept: dict[QAction, ActionButton]) -> None:
        """A button that stays keeps the focus."""
        for place, action in enumerate(actions):
            button = kept.pop(action, None) or ActionButton(action, self)
            (self._right if row is self._left else self._left).removeWidget(button)
            row.removeWidget(button)
            row.insertWidget(place, button)

    def say(self, note: str) -> None:
        """Says this until something else is shown."""
        self._note.set_words(note)

    def button(self, action: QAction) -> ActionButton | None:
        """The button of an action, none where it is not shown."""
        return next((button for button in self._buttons() if button.action() is action), None)

    def _buttons(self) -> list[ActionButton]:
        shown = (*widgets_in(self._left), *widgets_in(self._right))
        return [widget for widget in shown if isinstance(widget, ActionButton)]


class ActionButton(QPushButton):
    """A button that is what its action is: words, whether it can be pressed, why not."""

    def __init__(self, action: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._action = action
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setProperty("kind", "secondary")
        action.changed.connect(self._mirror)
        self.clicked.connect(action.trigger)
        self._mirror()

    def action(self) -> QAction:
        return self._action

    def show_primary(self, *, is_primary: bool) -> None:
        set_look(self, "kind", "primary" if is_primary else "secondary")

    def go(self) -> None:
        """Its place is another's. Without a parent, its action would show it once more: as a window, which takes the focus."""
        self._action.changed.disconnect(self._mirror)
        self.hide()
        self.setParent(None)
        self.deleteLater()

    @Slot()
    def _mirror(self) -> None:
        self.setText(self._action.text())
        self.setEnabled(self._action.isEnabled())
        self.setVisible(self._action.isVisible())
        self.setToolTip(self._action.statusTip())
        menu = self._action.menu()
        if menu is not None:
            self.setMenu(menu)  # type: ignore[arg-type]
