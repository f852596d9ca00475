"""The set-up in one line: its stages with their marks, what is now, and the way there; on other pages a slim line of it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import Text, joined, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.setup import headline, in_words, place_of, read_aloud, short_headline, title_of
from gpuassist.session.navigation import GoTo, ToFinding, ToInstall, WayOn, WizardStep
from gpuassist.session.setup_values import Setup, SetupStage, SetupStageId, SetupStageState
from gpuassist.ui.leads import way_to
from gpuassist.ui.theme import colours, sans
from gpuassist.ui.widgets.buttons import ElidedButton, small
from gpuassist.ui.widgets.cards import Card, Notice
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.marks import MarkIcon, paint_mark
from gpuassist.ui.wording import as_tip

_MARK, _GAP, _PAD = 18, 6, 8
_NUMBER_POINTS = 8.25
_BETWEEN = 14  # of two stages, with the line that joins them
_GIVES_WAY = (
    SetupStageState.NOT_NEEDED,
    SetupStageState.DONE,
    SetupStageState.LATER,
    SetupStageState.UNKNOWN,
    SetupStageState.WAITS,
    SetupStageState.NOW,
)
"""Whose names are left out first where the room is narrow."""
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -len(SetupStageState), Qt.Key.Key_End: len(SetupStageState)}


class SetupStrip(Card):
    """All of it, on the first page. Emits `wanted` with where a stage leads."""

    wanted = Signal(object)  # Destination
    fold_wanted = Signal()

    def __init__(self, words: Words, setup: Setup, parent: QWidget | None = None, *, leads: bool = True) -> None:
        super().__init__(parent=parent)
        self._now = setup.now
        self.outer.setContentsMargins(0, 0, 0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setAccessibleName(words(text("Setup")))
        self.setAccessibleDescription(words(headline(setup)))
        self.stages = SetupStages(words, setup, self)
        self.stages.wanted.connect(self.wanted)
        self.head.addWidget(self.stages, 1)
        fold = QPushButton(words(text("Hide")), self)
        fold.setProperty("kind", "link")
        fold.setAccessibleName(words(text("Hide the setup")))
        fold.clicked.connect(self.fold_wanted)
        self.head.addWidget(fold)
        row = bare(QHBoxLayout(), 12)
        told = bare(QVBoxLayout(), 2)
        told.addWidget(paragraph(words(setup.back or headline(setup)), "strong", self))
        told.addWidget(paragraph(words(joined(_said(self._now))), "muted", self))
        add_layout(row, told, 1)
        if self._now is not None and leads:
            self.on = small(words(way_of(self._now).title), self)
            self.on.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            self.on.clicked.connect(self._go)
            row.addWidget(self.on, 0, Qt.AlignmentFlag.AlignVCenter)
        add_layout(self.body, row)

    @Slot()
    def _go(self) -> None:
        if self._now is not None:
            self.wanted.emit(way_of(self._now).destination)


class SetupLine(QWidget):
    """The slim line on the pages that the set-up leads to; the way on is left out on the very page, and where the blue button leads
    there.
    """

    wanted = Signal(object)  # Destination

    def __init__(self, words: Words, setup: Setup, parent: QWidget | None = None, *, leads: bool) -> None:
        super().__init__(parent)
        self._now = setup.now
        row = bare(QHBoxLayout(self), 8)
        if self._now is not None:
            row.addWidget(MarkIcon(mark_of_stage(self._now), self, size=_MARK))
        self.said = label(words(short_headline(setup)), "muted", self)
        self.said.setToolTip(as_tip(words(read_aloud(self._now))) if self._now is not None else "")
        row.addWidget(self.said)
        if self._now is not None and leads:
            on = ElidedButton(words(way_of(self._now).title), self)
            on.setProperty("kind", "link")
            on.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            on.setCursor(Qt.CursorShape.PointingHandCursor)
            on.clicked.connect(self._go)
            row.addWidget(on)
        row.addStretch(1)

    @Slot()
    def _go(self) -> None:
        if self._now is not None:
            self.wanted.emit(way_of(self._now).destination)


class SetupFold(QWidget):
    """What is left of a set-up that is hidden: the button that brings it back."""

    wanted = Signal()

    def __init__(self, words: Words, setup: Setup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self))
        row.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        show = QPushButton(words(text("Show the setup")), self)
        show.setProperty("kind", "link")
        show.setAccessibleDescription(words(headline(setup)))
        show.clicked.connect(self.wanted)
        row.addWidget(show)


class SetupDone(Notice):
    """Told once: that all is done."""

    closed = Signal()

    def __init__(self, words: Words, setup: Setup, parent: QWidget | None = None) -> None:
        super().__init__(Mark.RIGHT, words(headline(setup)), parent)
        close = small(words(text("Close")), self)
        close.clicked.connect(self.closed)
        self.buttons.addWidget(close)


class SetupStages(QWidget):
    """The stages side by side; Tab stops at one of them, the arrows walk them, Enter opens. Where the room is narrow they shrink
    to their marks, the one that is now last of all: its name stands below as well.
    """

    wanted = Signal(object)  # Destination

    def __init__(self, words: Words, setup: Setup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(words(text("Stages of the setup")))
        row = bare(QHBoxLayout(self), _BETWEEN)
        self.chips = tuple(StageChip(words, one, place_of(setup, one), self) for one in setup.stages)
        for chip in self.chips:
            row.addWidget(chip)
            chip.clicked.connect(self._choose)
        row.addStretch(1)
        self._stop_at(next((one for one in self.chips if one.stage is setup.now), self.chips[0]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed = sum(one.full_width() for one in self.chips) + _BETWEEN * (len(self.chips) - 1)
        for chip in sorted(self.chips, key=lambda one: _GIVES_WAY.index(one.stage.state)):
            gives = needed > self.width()
            chip.shrink(is_small=gives)
            needed -= chip.full_width() - chip.small_width() if gives else 0

    def minimumSizeHint(self) -> QSize:
        widths = sum(one.small_width() for one in self.chips)
        return QSize(widths + _BETWEEN * (len(self.chips) - 1), self.chips[0].sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()), 0)
        place = next((place for place, one in enumerate(self.chips) if one.hasFocus()), -1)
        if not step or place < 0:
            super().keyPressEvent(event)
            return
        chip = self.chips[min(max(place + step, 0), len(self.chips) - 1)]
        self._stop_at(chip)
        chip.setFocus(Qt.FocusReason.TabFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(QColor(colours().line), 1.4))
        for before, after in zip(self.chips, self.chips[1:], strict=False):
            middle = before.geometry().center().y() + 0.5
            painter.drawLine(QPointF(before.geometry().right() + 2, middle), QPointF(after.geometry().left() - 1, middle))
        painter.end()

    def _stop_at(self, chosen: StageChip) -> None:
        for chip in self.chips:
            chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus if chip is chosen else Qt.FocusPolicy.ClickFocus)

    @Slot()
    def _choose(self) -> None:
        chip = self.sender()
        if isinstance(chip, StageChip):
            self._stop_at(chip)
            self.wanted.emit(chip.stage.destination)


class StageChip(QAbstractButton):
    """One stage: its mark and its name; read aloud with how it stands and why."""

    def __init__(self, words: Words, stage: SetupStage, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stage = stage
        self._number = number
        self.is_small = False
        self.setText(on_one_line(words(title_of(stage))))
        self.setAccessibleName(on_one_line(words(read_aloud(stage))))
        self.setToolTip(as_tip("\n".join((words(read_aloud(stage)), *map(words, in_words(stage)[1:])))))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def _is_now(self) -> bool:
        return self.stage.state is SetupStageState.NOW

    def full_width(self) -> int:
        return self.small_width() + _GAP + QFontMetrics(sans(bold=self._is_now)).horizontalAdvance(self.text()) + 2

    def small_width(self) -> int:
        return _MARK + 2 * _PAD

    def shrink(self, *, is_small: bool) -> None:
        if is_small != self.is_small:
            self.is_small = is_small
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        height = max(_MARK, QFontMetrics(sans(bold=True)).height()) + 10
        return QSize(self.small_width() if self.is_small else self.full_width(), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if Qt.Key(event.key()) in {*_STEPS, Qt.Key.Key_Up, Qt.Key.Key_Down}:
            event.ignore()  # for the row: a button by itself would go on to whatever Tab goes to
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, state = colours(), self.stage.state
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.accent), 1.6) if self.hasFocus() else QPen(Qt.PenStyle.NoPen))
        if self._is_now:
            painter.setBrush(QColor(palette.accent_tint))
        elif self.underMouse():
            painter.setBrush(QColor(palette.unknown_tint))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        square = QRectF(_PAD, (self.height() - _MARK) / 2, _MARK, _MARK)
        if mark_of_stage(self.stage) is Mark.INFO:  # the one that is now, with its number: a mark of a state it has not
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(palette.accent))
            painter.drawEllipse(square)
            painter.setFont(sans(_NUMBER_POINTS, bold=True))
            painter.setPen(QColor(palette.on_accent))
            painter.drawText(square, Qt.AlignmentFlag.AlignCenter, str(self._number))
        else:
            paint_mark(painter, square, mark_of_stage(self.stage), palette, turn=300)
        if not self.is_small:
            painter.setFont(sans(bold=self._is_now))
            quiet = state in {SetupStageState.NOT_NEEDED, SetupStageState.LATER}
            painter.setPen(QColor(palette.accent if self._is_now else palette.muted if quiet else palette.text))
            room = self.rect().adjusted(_PAD + _MARK + _GAP, 0, 0, 0)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        painter.end()


def _said(now: SetupStage | None) -> tuple[Text, ...]:
    """Of a finding its title says all; what is done first stands on the page that it leads to."""
    if now is None:
        return ()
    return in_words(now)[:1] if mark_of_stage(now) is Mark.PROBLEM else in_words(now)


def mark_of_stage(stage: SetupStage) -> Mark:
    """That of its state; of the one that is now whether something is to be mended, which a restart is not."""
    bad = stage.failed or (stage.problem and stage.id is not SetupStageId.RESTART)
    mends = stage.state is SetupStageState.NOW and bad
    return Mark.PROBLEM if mends else mark_of(stage.state)


def way_of(stage: SetupStage) -> WayOn:
    """The way there, in the words that every button has that leads there; to a restart by the plan that ends with it."""
    if stage.id is SetupStageId.RESTART and isinstance(stage.destination, ToInstall):
        return WayOn(text("Plan the restart…"), stage.destination)
    if stage.problem and stage.destination == GoTo(WizardStep.FOUND):
        return way_to(ToFinding(stage.problem))
    return way_to(stage.destination)
