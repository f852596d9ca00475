"""A line to search a long list with: what is typed narrows the list, Enter or a click takes a row of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QCompleter, QListView, QWidget

from gpuassist.ui.widgets.popups import rounded
from gpuassist.ui.widgets.text_fields import TextLine
from gpuassist.ui.wording import as_tip

_ROWS_SHOWN = 12
_NO_MATCH = 4
_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class SearchBox(TextLine):
    """Emits what was taken, and is empty again; what is no row of the list is told as `missed`."""

    taken = Signal(object)  # str
    missed = Signal(object)  # str: what was typed

    def __init__(self, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._options: tuple[str, ...] = ()
        self._model = QStringListModel(self)
        self._completer = QCompleter(self._model, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setMaxVisibleItems(_ROWS_SHOWN)
        self._completer.setWidget(self)  # and not the line's own, which would write the chosen row into it
        self._completer.activated.connect(self._take)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setToolTip(as_tip(placeholder))
        self.popup = QListView()
        self.popup.setObjectName("completions")
        self._completer.setPopup(self.popup)  # owns it from now on
        self.popup.installEventFilter(self)
        rounded(self.popup)  # only now: the completer made it a window of its own
        self.textEdited.connect(self._offer)

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(self._model.stringList())

    def set_options(self, options: Sequence[str]) -> None:
        """What can be taken, in the order in which it is offered."""
        self._options = tuple(options)
        self._model.setStringList(list(self._options))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if self.popup.isVisible() and key in {*_ENTER, Qt.Key.Key_Escape}:
            event.ignore()  # the list has it: it takes its row, or closes
        elif key in _ENTER:
            typed = self.text().strip()
            found = matching(self._options, typed) if typed else ()
            if found:
                self._take(found[0])
            elif typed:
                self.missed.emit(typed)
        elif key in {Qt.Key.Key_Down, Qt.Key.Key_Up}:
            self._offer(self.text())
        elif key == Qt.Key.Key_Escape:
            self.clear()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Of the list, which has the keys while it is open: Enter takes the best where no row is chosen."""
        enter = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _ENTER
        if watched is self.popup and enter and not self.popup.currentIndex().isValid():
            self._take(self.shown[0])
            return True
        return super().eventFilter(watched, event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in {Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason}:
            self.popup.hide()

    @Slot(str)
    def _offer(self, typed: str) -> None:
        self._model.setStringList(list(matching(self._options, typed)))
        if not self._model.rowCount():
            self.popup.hide()
            return
        self._completer.complete()
        self.popup.setCurrentIndex(QModelIndex())  # the first arrow goes to the first row

    @Slot(str)
    def _take(self, row: str) -> None:
        self.clear()
        self.popup.hide()
        self._model.setStringList(list(self._options))
        self.taken.emit(row)


def matching(options: Sequence[str], typed: str) -> tuple[str, ...]:
    """The options that hold every word typed, with or without the spaces between.

    First those that end with what was typed, which say no more; then those with the same words, with words that begin so, and the
    others; among equals in the order of the options.
    """
    words = typed.lower().split()
    if not words:
        return tuple(options)
    scored = [(_distance(option.lower(), words), place, option) for place, option in enumerate(options)]
    return tuple(option for distance, _, option in sorted(scored) if distance < _NO_MATCH)


def _distance(option: str, words: list[str]) -> int:
    own = option.split()
    if option.endswith(" ".join(words)) and words[0] in own:
        return 0
    if all(word in own for word in words):
        return 1
    if all(any(one.startswith(word) for one in own) for word in words):
        return 2
    held = all(word in option for word in words) or "".join(words) in option.replace(" ", "")
    return 3 if held else _NO_MATCH
