"""The bar at the bottom: what else can be done at the left, the way on at the right; what does not fit is in a menu."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QSizePolicy, QWidget

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.ui import clipboard
from gpuassist.ui.theme import set_look
from gpuassist.ui.widgets import popups
from gpuassist.ui.widgets.buttons import ElidedButton
from gpuassist.ui.widgets.labels import Hints
from gpuassist.ui.widgets.layouts import MARGIN, add_layout, bare, widgets_in

_GAP, _BUTTON_GAP = 12, 8
_LEAST_NOTE = 60


class BottomBar(QFrame):
    """Shows actions as buttons; the one at the far right is the primary one. Where the window is too narrow for all of them, those
    that matter least are in a menu.
    """

    def __init__(self, parent: QWidget | None = None, *, words: Words = ENGLISH) -> None:
        super().__init__(parent)
        self._words = words
        self._shown: tuple[tuple[QAction, ...], tuple[QAction, ...], bool] = ((), (), True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(MARGIN, 12, MARGIN, 12)
        layout.setSpacing(_GAP)
        self._left = bare(QHBoxLayout(), _BUTTON_GAP)
        self._more = QPushButton("⋯", self)
        self._more.setAccessibleName(words(text("More actions")))
        self._more.setToolTip(self._more.accessibleName())
        self._more.setCursor(Qt.CursorShape.PointingHandCursor)
        self._more.clicked.connect(self._open_menu)
        self._more.hide()
        self._note = Hints(self)
        self._right = bare(QHBoxLayout(), _BUTTON_GAP)
        add_layout(layout, self._left)
        layout.addWidget(self._more)
        layout.addWidget(self._note, 1)
        add_layout(layout, self._right)

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
        self._fold()

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
        self._fold()

    def copy(self, lines: tuple[str, ...]) -> None:
        """Puts these on the clipboard, and says so."""
        from gpuassist.present.commands import copied  # not needed before something is

        clipboard.copy("\n".join(lines))
        self.say(self._words(copied(lines)))

    def button(self, action: QAction) -> ActionButton | None:
        """The button of an action, none where it is not shown."""
        return next((button for button in self._buttons() if button.action() is action), None)

    def menu(self) -> QMenu:
        """What is not shown as a button, made anew each time."""
        menu = popups.menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in self._buttons():
            if button.folded and button.action().isVisible():
                menu.addAction(button.action())
        return menu

    def minimumSizeHint(self) -> QSize:
        """As wide as what is never in the menu."""
        last = self._buttons()[-1:]
        inside = self._more.sizeHint().width() + sum(_GAP + one.minimumSizeHint().width() for one in last)
        return QSize(inside + 2 * MARGIN, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self._fold()  # a button came, went, or says something else
        return super().event(event)

    @Slot()
    def _open_menu(self) -> None:
        menu = self.menu()
        menu.popup(self._more.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _fold(self) -> None:
        """Puts into the menu what there is no room for: the last of the left first, then the ways back, never the way on."""
        buttons = [one for one in self._buttons() if one.action().isVisible()]
        left = [one for one in buttons if self._left.indexOf(one) >= 0]
        right = buttons[len(left) :]
        note = _GAP + max(_LEAST_NOTE, self._note.minimumSizeHint().width()) if self._note.words else 0
        room = self.width() - 2 * MARGIN - note
        folded: list[ActionButton] = []
        for one in (*reversed(left), *right[:-1]):
            shown = [other for other in buttons if other not in folded]
            needs = sum(other.sizeHint().width() + _BUTTON_GAP for other in shown) + _GAP
            if needs + (self._more.sizeHint().width() + _GAP if folded else 0) <= room:
                break
            folded.append(one)
        for one in buttons:
            one.fold(folded=one in folded)
        self._more.setVisible(bool(folded))

    def _buttons(self) -> list[ActionButton]:
        shown = (*widgets_in(self._left), *widgets_in(self._right))
        return [widget for widget in shown if isinstance(widget, ActionButton)]


class ActionButton(ElidedButton):
    """A button that is what its action is: words, whether it can be pressed, why not."""

    def __init__(self, action: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._action = action
        self.folded = False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setProperty("kind", "secondary")
        action.changed.connect(self._mirror)
        self.clicked.connect(action.trigger)
        self._mirror()

    def action(self) -> QAction:
        return self._action

    def fold(self, *, folded: bool) -> None:
        """Whether it is in the menu instead."""
        if folded != self.folded:
            self.folded = folded
            self.setVisible(self._action.isVisible() and not folded)

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
        self.setVisible(self._action.isVisible() and not self.folded)
        self.setToolTip(self._action.statusTip())
        menu = self._action.menu()
        if menu is not None:
            self.setMenu(menu)  # type: ignore[arg-type]
