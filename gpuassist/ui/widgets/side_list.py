"""The side list: each step with its state, then the tools, then look and help; one stop of Tab, inside which the arrows move."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, QPoint, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QFrame, QMenu, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpuassist import __version__
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import MARK_WORDS, Mark
from gpuassist.session.navigation import TITLES, Place, SideListEntry, SideTool, WizardStep
from gpuassist.system.resources import Resources
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import Appearance, colours, sans
from gpuassist.ui.widgets import popups
from gpuassist.ui.widgets.foot_button import FootButton
from gpuassist.ui.widgets.keys import press_focused
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.language_button import LanguageButton
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.marks import paint_mark, paint_tick

WIDTH = 224
_ROW_HEIGHT = 38
_MARK = 20
_BEFORE_WORDS, _AFTER_WORDS = 40, 8
_AROUND = 16  # pixels that are seen above and below the row that was come to
_APPEARANCES: dict[Appearance, Text] = {
    Appearance.SYSTEM: text("Follow system"),
    Appearance.LIGHT: text("Light"),
    Appearance.DARK: text("Dark"),
}


_SAID: dict[tuple[Place, Mark], Text] = {
    (WizardStep.MACHINE, Mark.RIGHT): text("has been read"),
    (WizardStep.FOUND, Mark.RIGHT): text("no problem found"),
    (WizardStep.VERIFY, Mark.RIGHT): text("passed"),
}
"""What a mark says of a step, where that is more than its own words."""


class SideList(QFrame):
    """The steps from top to bottom, the tools below them; what belongs at the bottom goes into `foot`."""

    chosen = Signal(object)  # Place
    passed = Signal()  # another place than that of the row with the focus is shown: the keyboard belongs there

    def __init__(self, words: Words, resources: Resources, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.setMinimumWidth(WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(words(text("Steps")))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 20, 12, 16)
        layout.setSpacing(2)
        brand = label("gpuassist", "brand", self)
        brand.setToolTip(f"gpuassist {__version__}")
        brand.setContentsMargins(10, 0, 0, 24)
        brand.setWordWrap(False)  # a list that is as high as it is wide could not stand closer in a low window
        layout.addWidget(brand)
        self._steps = {step: _StepRow(step, words(TITLES[step]), self) for step in WizardStep}
        self._tools = {
            tool: _ToolRow(tool, words(TITLES[tool]), self, icon=resources.read(f"icons/{tool.value}.svg")) for tool in SideTool
        }
        self._rows: dict[Place, _Row] = {row.place: row for row in (*self._steps.values(), *self._tools.values())}
        self._current: Place = WizardStep.MACHINE
        self._add(words(text("SET UP")), 0, tuple(self._steps.values()))
        self._add(words(text("ANY TIME")), 16, tuple(self._tools.values()))
        layout.addStretch(1)
        self.foot = bare(QVBoxLayout(), 4)
        add_layout(layout, self.foot)
        self._stop_at(next(iter(self._rows.values())))

    def show_entries(self, entries: tuple[SideListEntry, ...]) -> None:
        for entry in entries:
            mark = Mark(entry.state.value)
            self._steps[entry.step].show_entry(entry, self._words(_SAID.get((entry.step, mark), MARK_WORDS[mark])))

    def show_place(self, current: Place) -> None:
        """Once its page is shown. A row keeps the focus while the same page stays, or where it is the row of the new one."""
        for tool, row in self._tools.items():
            row.show_current(current=tool is current)
        before, self._current = self._current, current
        if before is not current and any(row.hasFocus() for place, row in self._rows.items() if place is not current):
            self.passed.emit()
        if not any(stop.hasFocus() for stop in self.stops()):
            self._stop_at(self._rows[current])
            self._reveal(self._rows[current])

    def row(self, place: Place) -> QAbstractButton:
        return self._rows[place]

    def stops(self) -> tuple[QAbstractButton, ...]:
        """What the arrows go through: the rows, then the quiet buttons at the bottom. Tab stops at one of them, by itself at the
        row of what is shown.
        """
        return (*self._rows.values(), *(one for one in self.findChildren(FootButton) if one.parentWidget() is not self))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_focused(self, event) and not self._move(event.key()):
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Of the quiet buttons, which would take the arrows for Tab; and of each stop, that it is where Tab comes back to."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QAbstractButton):
            self._stop_at(watched)
            self._reveal(watched)
        return isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._move(event.key())

    def _move(self, key: int) -> bool:
        stops = [one for one in self.stops() if one.isEnabled() and not one.isHidden()]
        focused = next((place for place, one in enumerate(stops) if one.hasFocus()), -1)
        to = {Qt.Key.Key_Down: focused + 1, Qt.Key.Key_Up: focused - 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: -1}.get(Qt.Key(key))
        if to is None or focused < 0:
            return False
        stops[to % len(stops)].setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def _reveal(self, stop: QAbstractButton) -> None:
        """Where the window is too low for all of them: Qt scrolls for Tab alone."""
        port = self.parentWidget()
        around = port.parentWidget() if port is not None else None
        if stop.isVisible() and isinstance(around, QScrollArea):
            around.ensureWidgetVisible(stop, 0, _AROUND)

    def _stop_at(self, stop: QAbstractButton) -> None:
        for one in self.stops():
            one.setFocusPolicy(Qt.FocusPolicy.TabFocus if one is stop else Qt.FocusPolicy.NoFocus)

    def take_in(self, foot: QWidget) -> None:
        """Puts the quiet buttons at the bottom."""
        self.foot.addWidget(foot)
        for stop in self.stops():
            stop.installEventFilter(self)
        self._stop_at(next(iter(self._rows.values())))

    @Slot()
    def _choose(self) -> None:
        row = self.sender()
        if isinstance(row, _Row):
            self.chosen.emit(row.place)

    def _add(self, title: str, above: int, rows: tuple[_Row, ...]) -> None:
        layout = self.layout()
        assert layout is not None
        section = label(title, "section", self)
        section.setContentsMargins(10, above, 0, 4)
        section.setWordWrap(False)
        layout.addWidget(section)
        for row in rows:
            layout.addWidget(row)
            row.clicked.connect(self._choose)


class _Row(QAbstractButton):
    def __init__(self, place: Place, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.place = place
        self._current = False
        self._tip = ""
        self.setText(words)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def show_current(self, *, current: bool) -> None:
        self._current = current
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._width(), max(_ROW_HEIGHT, QFontMetrics(sans()).height() + 18))

    def minimumSizeHint(self) -> QSize:
        # In a low window they stand closer; in a narrow one their words are cut.
        return QSize(min(self._width(), WIDTH - 24), max(_MARK, QFontMetrics(sans()).height()) + 8)

    @property
    def shown(self) -> str:
        """What there is room for of its words."""
        room = self.width() - _BEFORE_WORDS - _AFTER_WORDS
        return QFontMetrics(sans(bold=self._current)).elidedText(self.text(), Qt.TextElideMode.ElideRight, room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._tell_whole()

    def _tell_whole(self, more: str | None = None) -> None:
        """Words that are cut stand whole in the tool tip, before what else it says."""
        self._tip = self._tip if more is None else more
        widest = QFontMetrics(sans(bold=True)).horizontalAdvance(self.text())
        cut = self.text() if widest > self.width() - _BEFORE_WORDS - _AFTER_WORDS else ""
        self.setToolTip(" · ".join(filter(None, (cut, self._tip))))

    def _width(self) -> int:
        """Of its words as they are where its page is shown."""
        return max(WIDTH - 24, QFontMetrics(sans(bold=True)).horizontalAdvance(self.text()) + _BEFORE_WORDS + _AFTER_WORDS)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QPen(QColor(palette.accent), 1.6) if self.hasFocus() else QPen(Qt.PenStyle.NoPen))
        if self._current:
            painter.setBrush(QColor(palette.accent_tint))
        elif self.underMouse() and self.isEnabled():
            painter.setBrush(QColor(palette.unknown_tint))
        painter.drawRoundedRect(ground, 8, 8)
        self.paint_sign(painter, QRectF(10, (self.height() - _MARK) / 2, _MARK, _MARK), palette)
        painter.setFont(sans(bold=self._current))
        painter.setPen(QColor(palette.accent if self._current else palette.text if self.isEnabled() else palette.muted))
        room = self.rect().adjusted(_BEFORE_WORDS, 0, -_AFTER_WORDS, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.shown)
        painter.end()

    def paint_sign(self, painter: QPainter, square: QRectF, palette: Palette) -> None:
        raise NotImplementedError


class _StepRow(_Row):
    def __init__(self, step: WizardStep, words: str, parent: QWidget) -> None:
        super().__init__(step, words, parent)
        self._mark = Mark.TODO

    def show_entry(self, entry: SideListEntry, state: str) -> None:
        self._mark = Mark(entry.state.value)
        self.setEnabled(entry.enabled)
        self.setAccessibleName(f"{self.text()}, {state}")
        self._tell_whole(state)
        self.show_current(current=entry.current)

    def paint_sign(self, painter: QPainter, square: QRectF, palette: Palette) -> None:
        if self.place is WizardStep.MACHINE and self._mark is Mark.RIGHT:  # it was read: green would call the machine sound
            paint_tick(painter, square, palette)
        else:
            paint_mark(painter, square, self._mark, palette, turn=300)


class _ToolRow(_Row):
    def __init__(self, tool: SideTool, words: str, parent: QWidget, *, icon: bytes) -> None:
        super().__init__(tool, words, parent)
        self._svg = icon
        self._icon = QSvgRenderer(self)
        self._ink = ""
        self.setAccessibleName(words)

    def paint_sign(self, painter: QPainter, square: QRectF, palette: Palette) -> None:
        ink = palette.accent if self._current else palette.text
        if ink != self._ink:
            self._ink = ink
            self._icon.load(QByteArray(self._svg.replace(b"currentColor", ink.encode("ascii"))))
        self._icon.render(painter, square)


class AppearanceButton(FootButton):
    """Chooses between the desktop's look, light and dark."""

    chosen = Signal(object)  # Appearance

    def __init__(self, words: Words, appearance: Appearance, icon: bytes, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Appearance")), icon, parent)
        self._words = words
        self._appearance = appearance
        self.clicked.connect(self._open)

    def menu_of_looks(self) -> QMenu:
        """The choice, made anew each time: it is not needed for the first paint."""
        menu = popups.menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for one, title in _APPEARANCES.items():
            action = QAction(self._words(title), menu)
            action.setCheckable(True)
            action.setChecked(one is self._appearance)
            action.setData(one.value)
            action.triggered.connect(self._choose)
            menu.addAction(action)
        return menu

    @Slot()
    def _open(self) -> None:
        menu = self.menu_of_looks()
        menu.popup(self.mapToGlobal(self.rect().topLeft()) - QPoint(0, menu.sizeHint().height()))

    @Slot()
    def _choose(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._appearance = Appearance(action.data())
            self.chosen.emit(self._appearance)


class Foot(QWidget):
    """The rows at the bottom of the side list."""

    appearance_chosen = Signal(object)  # Appearance
    language_chosen = Signal(str)  # empty for the desktop's
    help_wanted = Signal()

    def __init__(
        self, words: Words, appearance: Appearance, resources: Resources, parent: QWidget | None = None, *, language: str = ""
    ) -> None:
        super().__init__(parent)
        column = bare(QVBoxLayout(self), 2)
        look = AppearanceButton(words, appearance, resources.read("icons/appearance.svg"), self)
        look.chosen.connect(self.appearance_chosen)
        self.language = LanguageButton(words, language, resources, self)
        self.language.chosen.connect(self.language_chosen)
        asking = FootButton(words(text("Help")), resources.read("icons/help.svg"), self, key="F1")
        asking.clicked.connect(self.help_wanted)
        for button in (look, self.language, asking):
            column.addWidget(button)
