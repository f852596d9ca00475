"""What opens over the window, in its look: menus and the lists of drop-down choices, with round corners and one frame."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QPainter, QPainterPath, QPen, QRegion
from PySide6.QtWidgets import QComboBox, QFrame, QMenu, QStyledItemDelegate, QWidget

from gpuassist.ui.theme import colours, set_look

AnyPopup = TypeVar("AnyPopup", bound=QWidget)
CORNER = 9.0
_INSIDE = 4


def menu(parent: QWidget) -> QMenu:
    """A menu; what is popped up once is to be deleted when it closes."""
    return rounded(QMenu(parent))


def open_menu(made: QMenu | None, event: QContextMenuEvent) -> None:
    """Opens the menu that a field of Qt's made of itself, in the window's look."""
    if made is not None:
        rounded(made).setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.popup(event.globalPos())


def rounded(popup: AnyPopup) -> AnyPopup:
    """Gives a window of its own round corners, whether the desktop blends windows or not.

    Where it does, the corners see through; where it does not, they would be black, and are cut off.
    """
    popup.setWindowFlags(popup.windowFlags() | Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint)
    popup.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    set_look(popup, "round", "yes")
    popup.installEventFilter(_Corners(popup))
    return popup


def round_list(box: QComboBox) -> None:
    """Gives the list of a drop-down choice the look of a menu, before it is first shown."""
    frame = box.view().parentWidget()
    if frame is None or frame.property("round") == "yes":
        return
    if isinstance(frame, QFrame):
        frame.setFrameShape(QFrame.Shape.NoFrame)  # Fusion draws one around that of the style sheet
        frame.setContentsMargins(_INSIDE, _INSIDE, _INSIDE, _INSIDE)
    rounded(frame)
    box.setItemDelegate(QStyledItemDelegate(box))  # without it Qt heeds no style of the rows


class _Corners(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(watched, QWidget):
            return False
        if event.type() in {QEvent.Type.Resize, QEvent.Type.Show}:
            outline = QPainterPath()
            outline.addRoundedRect(QRectF(watched.rect()), CORNER, CORNER)
            watched.setMask(QRegion(outline.toFillPolygon().toPolygon()))
        elif event.type() is QEvent.Type.Paint and isinstance(watched, QFrame):
            _paint_ground(watched)  # no style sheet gives one to the window of a drop-down list, nor to a list that is a window
        return False


def _paint_ground(frame: QFrame) -> None:
    palette = colours()
    painter = QPainter(frame)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(palette.line), 1))
    painter.setBrush(QColor(palette.panel))
    painter.drawRoundedRect(QRectF(frame.rect()).adjusted(0.5, 0.5, -0.5, -0.5), CORNER - 1, CORNER - 1)
    painter.end()
