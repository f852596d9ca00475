"""The compatibility chain of one GPU as a picture: boxes, a mark on each joint, and the reason where a pair does not fit."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuassist.model.chain import Chain, Joint, Node, Status
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.chain import PART_WORDS, chain_in_words, status_words
from gpuassist.present.marks import Mark
from gpuassist.ui import clipboard
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import SMALL_POINTS, colours, sans
from gpuassist.ui.widgets.chain_layout import JOINT_SIZE, Drawing, arrange
from gpuassist.ui.widgets.layouts import by_text
from gpuassist.ui.widgets.marks import paint_mark
from gpuassist.ui.widgets.paintings import PaintedPicture
from gpuassist.ui.widgets.term_names import with_terms
from gpuassist.ui.wording import as_tip

_CORNER = 10.0
_PADDING = 12.0
_USUAL_WIDTH, _LEAST_WIDTH = 520, 240
_LEAST_NAME = 120  # so much of a part's name is shown
_RING = 1.6  # as around the rows of the side list
_BREAKS = " /"  # a line may end behind these
_BETWEEN = " ·"  # and stands not at the end of one


class _Box(Struct, frozen=True):
    part: str
    name: str
    detail: str
    status: Status


class ChainView(PaintedPicture):
    """Paints a chain across its whole width; read aloud, and copied, as sentences."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.chain = Chain((), ())
        self._boxes: tuple[_Box, ...] = ()
        self._reasons: dict[Joint, str] = {}
        self._drawing = Drawing((), (), (), 0)
        self._arrangements: dict[int, Drawing] = {}  # by width: a layout asks for the same one over and over
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click on a picture asks for nothing
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(words(text("Compatibility chain")))

    def show_chain(self, chain: Chain) -> None:
        self.chain = chain
        self._boxes = tuple(self._box(node) for node in chain.nodes)
        self._reasons = {joint: self._words(joint.reason) for joint in chain.joints}
        self._arrangements.clear()
        self._place()
        self.setAccessibleDescription(self.plain_text())

    def plain_text(self) -> str:
        return chain_in_words(self.chain, self._words)

    def sizeHint(self) -> QSize:
        return QSize(_USUAL_WIDTH, round(self._arranged(max(self.width(), _LEAST_WIDTH)).height))

    def minimumSizeHint(self) -> QSize:
        return QSize(by_text(_LEAST_WIDTH), self.sizeHint().height())

    def heightForWidth(self, width: int) -> int:
        return round(self._arranged(width).height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = colours()
        for placed in self._drawing.joints:
            mark = Mark(placed.joint.status.value)
            painter.setPen(QPen(QColor(palette.ink(mark)), 2.2))
            painter.drawLine(placed.start, placed.end)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(palette.panel))
            painter.drawEllipse(placed.mark.adjusted(-2, -2, 2, 2))
            paint_mark(painter, placed.mark, mark, palette)
        for lane in self._drawing.lanes:
            painter.setPen(QPen(QColor(palette.ink(Mark(lane.joint.status.value))), 1.6, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            if lane.path:
                painter.drawPolyline(list(lane.path))
        for lane in self._drawing.lanes:  # after all lines, which then stop at the words
            paint_reason = Mark(lane.joint.status.value)
            ink = QColor(palette.ink(paint_reason))
            painter.fillRect(lane.words, QColor(palette.panel))
            circle = QRectF(lane.words.x() + 4, lane.words.center().y() - JOINT_SIZE / 2, JOINT_SIZE, JOINT_SIZE)
            paint_mark(painter, circle, paint_reason, palette)
            painter.setFont(_reason_font())
            painter.setPen(ink)
            room = lane.words.adjusted(JOINT_SIZE + 10, 0, -2, 0)
            words = QFontMetrics(_reason_font()).elidedText(
                self._reasons[lane.joint], Qt.TextElideMode.ElideRight, int(room.width()) + 1
            )
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        for rect, box in zip(self._drawing.nodes, self._boxes, strict=True):
            _paint_box(painter, rect, box, palette)
        if self.hasFocus():
            painter.setPen(QPen(QColor(palette.accent), _RING))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            inside = QRectF(self.rect()).adjusted(_RING / 2, _RING / 2, -_RING / 2, -_RING / 2)
            painter.drawRoundedRect(inside, _CORNER, _CORNER)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange, QEvent.Type.StyleChange}:
            self._arrangements.clear()
        super().changeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            clipboard.copy(self.plain_text())
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            words = self.words_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), as_tip(with_terms(words, self._words)), self)
            return True
        return super().event(event)

    def words_at(self, point: QPointF) -> str:
        """What the tool tip says there: all of a box that may be cut, or the reason of a joint."""
        for rect, box in zip(self._drawing.nodes, self._boxes, strict=True):
            if rect.contains(point):
                return f"{box.part}: {box.name}\n{box.detail}"
        for placed in self._drawing.joints:
            if placed.mark.adjusted(-6, -6, 6, 6).contains(point):
                return self._reasons[placed.joint] or self._words(status_words(placed.joint.status))
        return next((self._reasons[lane.joint] for lane in self._drawing.lanes if lane.words.contains(point)), "")

    def cut_words(self) -> tuple[tuple[str, str], ...]:
        """Words of boxes that do not fit, each with what is shown of it."""
        shown = (
            (words, _shown(words, font, rect))
            for rect, box in zip(self._drawing.nodes, self._boxes, strict=True)
            for words, font in (*_lines(box)[:2], *((line, sans(SMALL_POINTS)) for line in _detail(box, rect)))
        )
        return tuple((words, cut) for words, cut in shown if words != cut)

    def _box(self, node: Node) -> _Box:
        return _Box(self._words(PART_WORDS[node.part]), self._words(node.name), self._words(node.detail), node.status)

    def _place(self) -> None:
        self._drawing = self._arranged(self.width())
        self.updateGeometry()
        self.update()

    def _arranged(self, width: int) -> Drawing:
        if width not in self._arrangements:
            made = self._made(width, 1)
            wraps = any(len(_detail(box, rect)) > 1 for rect, box in zip(made.nodes, self._boxes, strict=True))
            self._arrangements[width] = self._made(width, 2) if wraps else made
        return self._arrangements[width]

    def _made(self, width: int, detail_lines: int) -> Drawing:
        metrics = QFontMetrics(_reason_font())
        words = [float(metrics.horizontalAdvance(self._reasons[joint])) for joint in self.chain.joints]
        names = [QFontMetrics(font).horizontalAdvance(said) for box in self._boxes for said, font in _lines(box)[:2]]
        least = min(max(names, default=0), by_text(_LEAST_NAME)) + 2 * _PADDING
        height = _box_height(detail_lines)
        return arrange(self.chain.nodes, self.chain.joints, width, height, word_widths=words, node_width=least)


def _paint_box(painter: QPainter, rect: QRectF, box: _Box, palette: Palette) -> None:
    mark = Mark(box.status.value)
    loud = box.status in {Status.PROBLEM, Status.WARNING}
    absent = box.status in {Status.ABSENT, Status.UNKNOWN}
    pen = QPen(QColor(palette.line if box.status is Status.ABSENT else palette.ink(mark)), 2.0 if loud else 1.3)
    pen.setStyle(Qt.PenStyle.DashLine if absent else Qt.PenStyle.SolidLine)
    painter.setPen(pen)
    painter.setBrush(QColor(palette.panel))
    painter.drawRoundedRect(rect, _CORNER, _CORNER)
    room = _room(rect)
    part, name, detail = _lines(box)
    lines = [part, name, *((words, detail[1]) for words in _detail(box, rect))]
    share = room.height() / (3 if rect.height() < _box_height(2) else 4)
    inks = (palette.muted, palette.muted if absent else palette.text, palette.muted, palette.muted)
    for place, ((words, font), ink) in enumerate(zip(lines, inks, strict=False)):
        painter.setFont(font)
        painter.setPen(QColor(ink))
        line = QRectF(room.x(), room.y() + place * share, room.width(), share)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, _shown(words, font, rect))


def _room(box: QRectF) -> QRectF:
    return box.adjusted(_PADDING, 8, -_PADDING + 4, -8)


def _lines(box: _Box) -> tuple[tuple[str, QFont], ...]:
    return (box.part, sans(SMALL_POINTS)), (box.name, sans(11.0, bold=True)), (box.detail, sans(SMALL_POINTS))


def _shown(words: str, font: QFont, box: QRectF) -> str:
    """What there is room for in a box."""
    return QFontMetrics(font).elidedText(words, Qt.TextElideMode.ElideRight, int(_room(box).width()))


def _detail(box: _Box, rect: QRectF) -> tuple[str, ...]:
    """The detail on one line, or on two where one has not room for it and there is a place to end it."""
    words, metrics, room = box.detail, QFontMetrics(sans(SMALL_POINTS)), int(_room(rect).width())
    if metrics.horizontalAdvance(words) <= room:
        return (words,)
    ends = [place + 1 for place, letter in enumerate(words[:-1]) if letter in _BREAKS]
    first = next((words[:end] for end in reversed(ends) if metrics.horizontalAdvance(words[:end].rstrip()) <= room), "")
    if not first.strip(_BREAKS):
        return (words,)
    return first.rstrip().removesuffix(_BETWEEN), words[len(first) :].removeprefix(_BETWEEN.strip()).lstrip()


def _box_height(detail_lines: int) -> float:
    small = QFontMetrics(sans(SMALL_POINTS)).lineSpacing()
    return (1.0 + detail_lines) * small + QFontMetrics(sans(11.0, bold=True)).lineSpacing() + 24


def _reason_font() -> QFont:
    return sans(9.5)
