"""Labels: lines that give way where they do not fit, paragraphs that wrap, and the hairline between rows."""

from __future__ import annotations

import html

from PySide6.QtCore import QCoreApplication, QSize, Qt, Slot
from PySide6.QtGui import QAction, QContextMenuEvent, QFont, QFontMetrics, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QStyle, QStyleOption, QWidget

from gpuassist.formats.visible import on_one_line, visible
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.ui import clipboard
from gpuassist.ui.widgets import popups
from gpuassist.ui.widgets.paintings import PaintedWords
from gpuassist.ui.wording import as_tip

COPY = text("Copy")
_NVML = "NVML"
_CODE = lazy_regex(r"`([^`]+)`")
_CODE_FAMILIES, _CODE_POINTS = ("JetBrains Mono", "DejaVu Sans Mono", "monospace"), 9.25
_CODE_SPAN = rf"""<span style="font-family: {str(_CODE_FAMILIES)[1:-1]}; font-size: {_CODE_POINTS}pt">\1</span>"""
_CODE_SHOWN = lazy_regex(r"([^\s<>]*)<span [^<>]*>([^<>]*)</span>([^\s<>]*)")  # with what stands right beside it
_TAG = lazy_regex(r"<[^<>]*>")
# Between spaces, those of no width too, after a hyphen or a slash where no digit follows (UAX 14), around each letter of Han; never
# between a word and the mark that opens or closes something beside it.
_OPENS, _CLOSES = r"[\uff08\u300a\u300c\u3010]", r"[\uff09\u300b\u300d\u3011\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f]"
_WORD, _HAN = r"(?:[^\s\u200b/\-\u2e80-\uffef]|[/\-](?=\d))+[/\-]?", rf"(?:(?!{_OPENS})[\u2e80-\uffef]){{1,3}}"
_PIECE = lazy_regex(rf"{_OPENS}*{_WORD}{_CLOSES}*|{_OPENS}*{_HAN}|{_OPENS}|[/\-]")
# What is longer than this is no language, and no name of ours: a page does not get wider for it.
_PIECE_AT_MOST, _CODE_AT_MOST, _GLUED = 44, 68, 3  # letters
_ONE_LINERS = ("title", "heading", "strong")
_LINE_PERCENT = 122
_BETWEEN_HINTS = " · "
_LONG = 72  # characters; what is longer wraps in most places, and wrapped lines want some air


class Hairline(QFrame):
    """A hairline between rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(1)


class ElidedLabel(PaintedWords):
    """One line that gives way: cut in the middle where it does not fit, whole in its tool tip and when copied."""

    def __init__(
        self,
        words: str,
        role: str = "mono",
        parent: QWidget | None = None,
        *,
        copy_words: str = "",  # of its menu; Qt's own for a text, where none are given
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        super().__init__(parent)
        self._elide = elide
        self._align = align | Qt.AlignmentFlag.AlignVCenter
        self.words = ""
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._whole = ""
        self._copy = QAction(copy_words, self)
        self._copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        self._copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._copy.triggered.connect(self.copy)
        self.addAction(self._copy)
        self.set_words(words)

    def stand_for(self, whole: str) -> None:
        """Has the tool tip say, and copying take, this in place of the words."""
        self._whole = on_one_line(whole)
        self._tell_whole()

    def set_words(self, words: str) -> None:
        self.words, self._whole = on_one_line(words), ""
        self.setAccessibleName(self.words)
        self._tell_whole()
        self.updateGeometry()
        self.update()

    @property
    def shown(self) -> str:
        """What there is room for."""
        return self.fontMetrics().elidedText(self.words, self._elide, self.width())

    @Slot()
    def copy(self) -> None:
        clipboard.copy(self._whole or self.words)

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.words) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        self.ensurePolished()
        metrics = self.fontMetrics()
        return QSize(min(metrics.horizontalAdvance(self.words) + 2, metrics.averageCharWidth() * 8), metrics.height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), self._align, self.shown)
        if self.hasFocus():
            self.style().drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, option, painter, self)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._tell_whole()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = popups.menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._copy.setText(self._copy.text() or QCoreApplication.translate("QWidgetTextControl", "&Copy"))
        menu.addAction(self._copy)
        menu.popup(event.globalPos())

    def _tell_whole(self) -> None:
        whole = self._whole or self.words
        cut = whole != self.words or self.fontMetrics().horizontalAdvance(self.words) > self.width()
        self.setToolTip(as_tip(whole) if cut else "")


class Hints(ElidedLabel):
    """Hints side by side: as many as there is room for, each whole; all of them in the tool tip. The last give way."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "muted", parent, elide=Qt.TextElideMode.ElideRight)

    @property
    def shown(self) -> str:
        hints, metrics = self.words.split(_BETWEEN_HINTS), self.fontMetrics()
        while len(hints) > 1 and metrics.horizontalAdvance(_BETWEEN_HINTS.join(hints)) > self.width():
            hints.pop()
        return metrics.elidedText(_BETWEEN_HINTS.join(hints), self._elide, self.width())


def source_label(words: Words, source: str, parent: QWidget | None = None) -> ElidedLabel:
    """Where a fact was read, in the monospaced font at the right."""
    # Of a path both ends tell most, of a program or a library its beginning.
    elide = Qt.TextElideMode.ElideMiddle if source.startswith(("/", "~")) else Qt.TextElideMode.ElideRight
    shown = ElidedLabel(
        short_source(source), "mono", parent, copy_words=words(COPY), align=Qt.AlignmentFlag.AlignRight, elide=elide
    )
    shown.stand_for(source)
    return shown


def short_source(source: str) -> str:
    """Of a library its name: the function that was called stands in the tool tip."""
    library, _, function = source.partition(" ")
    return library if library == _NVML and function.startswith("nvml") else source


def label(words: str, role: str = "", parent: QWidget | None = None) -> QLabel:
    """A line of the given role (title, heading, strong, muted, small, section, mono, unknown, or plain); it breaks where there is
    no room for all of it.
    """
    made = WrappedLine(on_one_line(words), parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    return _dressed(made, role)


def paragraph(words: str, role: str = "", parent: QWidget | None = None) -> QLabel:
    """Text that wraps; what stands between backticks is shown in the monospaced font."""
    made = _dressed(Paragraph(parent), role)
    set_paragraph(made, words)
    return made


def _dressed(made: QLabel, role: str) -> QLabel:
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        made.setProperty("role", role)
    return made


class _Wrapping(QLabel):
    """A label that knows how narrow it may become: as its longest piece that does not break."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._measured: tuple[str, QFont, int] | None = None
        self.setWordWrap(True)

    def minimumSizeHint(self) -> QSize:
        margins = self.contentsMargins()
        across = margins.left() + margins.right()
        return QSize(self._longest_piece() + across, self.fontMetrics().height() + margins.top() + margins.bottom())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = popups.menu(self)
        menu.addAction(QCoreApplication.translate("QWidgetTextControl", "&Copy"), self._copy_words)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    @Slot()
    def _copy_words(self) -> None:
        """What is marked, or else all of it."""
        clipboard.copy(self.selectedText() or self.accessibleName() or self.text())

    def _longest_piece(self) -> int:
        self.ensurePolished()
        words, font = self.text(), self.font()
        if self._measured is None or self._measured[0] != words or self._measured[1] != font:
            metrics, code, said = self.fontMetrics(), 0, words
            if self.textFormat() is Qt.TextFormat.RichText:
                code = self._longest_code(_CODE_SHOWN.findall(words))
                said = html.unescape(_TAG.sub("", _CODE_SHOWN.sub(r"\1 \3", words)))
            longest = max(code, _longest(said, metrics, _PIECE_AT_MOST))
            self._measured = words, QFont(font), longest + 2 + longest // 64  # slanted letters are laid out wider than told
        return self._measured[2]

    def _longest_code(self, spans: list[tuple[str, str, str]]) -> int:
        """In its own font, with what stands right before and behind it."""
        if not spans:
            return 0
        font = QFont(self.font())
        font.setFamilies(_CODE_FAMILIES)
        font.setPointSizeF(_CODE_POINTS)
        code, metrics = QFontMetrics(font, self), self.fontMetrics()
        return max(
            _longest(html.unescape(before), metrics, _GLUED)
            + _longest(html.unescape(words), code, _CODE_AT_MOST)
            + _longest(html.unescape(after), metrics, _GLUED)
            for before, words, after in spans
        )


def _longest(words: str, metrics: QFontMetrics, at_most: int) -> int:
    return max((metrics.horizontalAdvance(one[:at_most]) for one in _PIECE.findall(words)), default=0)


class WrappedLine(_Wrapping):
    """One line where there is room for it, and more where there is not."""

    def __init__(self, words: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(words)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        margins, metrics = self.contentsMargins(), self.fontMetrics()
        across = margins.left() + margins.right()
        return QSize(metrics.horizontalAdvance(self.text()) + 2 + across, metrics.height() + margins.top() + margins.bottom())

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().boundedTo(self.sizeHint())


class Paragraph(_Wrapping):
    """Wraps at whatever width it is given, and asks for the height of that width only.

    A plain QLabel also asks for the height of its narrowest shape, which makes a page scroll that has nothing below.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()


def set_paragraph(made: QLabel, words: str) -> None:
    """New words for a paragraph."""
    words = visible(words)
    if "`" in words or "\n" in words or (len(words) > _LONG and made.property("role") not in _ONE_LINERS):
        made.setTextFormat(Qt.TextFormat.RichText)
        made.setText(as_rich(words))
    else:
        made.setTextFormat(Qt.TextFormat.PlainText)
        made.setText(words)
    made.setAccessibleName(words.replace("`", ""))


def as_rich(words: str) -> str:
    """Plain words as the few tags Qt's labels need; everything in them is escaped."""
    coded = _CODE.sub(_CODE_SPAN, html.escape(words, quote=False))
    return f'<div style="line-height: {_LINE_PERCENT}%">' + coded.replace("\n", "<br>") + "</div>"
