"""Icons of thin lines in the palette's colours, for what Qt would show with pictures of its own: its dialog for files."""

from __future__ import annotations

from PySide6.QtCore import QFileInfo, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QAbstractFileIconProvider, QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QListView, QSplitter, QToolButton

from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.popups import round_list, rounded

_SIZE = 20
_Line = tuple[tuple[float, float], ...]
# In units of the square's side.
_FOLDER: tuple[_Line, ...] = (
    ((0.1, 0.25), (0.1, 0.8), (0.9, 0.8), (0.9, 0.35), (0.48, 0.35), (0.4, 0.22), (0.13, 0.22), (0.1, 0.25)),
)
_FILE: tuple[_Line, ...] = (
    ((0.22, 0.12), (0.22, 0.88), (0.78, 0.88), (0.78, 0.36), (0.55, 0.12), (0.22, 0.12)),
    ((0.55, 0.12), (0.55, 0.36), (0.78, 0.36)),
)
_COMPUTER: tuple[_Line, ...] = (
    ((0.1, 0.18), (0.1, 0.66), (0.9, 0.66), (0.9, 0.18), (0.1, 0.18)),
    ((0.5, 0.66), (0.5, 0.84)),
    ((0.3, 0.84), (0.7, 0.84)),
)
_TOOLS: dict[str, tuple[_Line, ...]] = {  # by the name of the button
    "backButton": (((0.62, 0.22), (0.36, 0.5), (0.62, 0.78)),),
    "forwardButton": (((0.38, 0.22), (0.64, 0.5), (0.38, 0.78)),),
    "toParentButton": (((0.5, 0.8), (0.5, 0.2)), ((0.26, 0.44), (0.5, 0.2), (0.74, 0.44))),
    "newFolderButton": (*_FOLDER, ((0.5, 0.45), (0.5, 0.71)), ((0.37, 0.58), (0.63, 0.58))),
    "listModeButton": tuple(((0.15, y), (0.85, y)) for y in (0.28, 0.5, 0.72)),
    "detailModeButton": tuple(line for y in (0.28, 0.5, 0.72) for line in (((0.15, y), (0.25, y)), ((0.4, y), (0.85, y)))),
}
_SIDE, _WIDTH, _HEIGHT = 170, 860, 560


def line_icon(lines: tuple[_Line, ...]) -> QIcon:
    """The lines as an icon, quieter where it cannot be pressed."""
    icon, palette = QIcon(), colours()
    for mode, ink in ((QIcon.Mode.Normal, palette.muted), (QIcon.Mode.Disabled, palette.line)):
        for scale in (1, 2):
            icon.addPixmap(_drawn(lines, ink, scale), mode)
    return icon


def dress_file_dialog(dialog: QFileDialog) -> None:
    """Gives Qt's own dialog for files the look of the window; that of the desktop has a look of its own, and is left alone."""
    splitter = dialog.findChild(QSplitter)
    if splitter is None:
        return
    dialog.setIconProvider(_keep(dialog))
    for button in dialog.findChildren(QToolButton):
        lines = _TOOLS.get(button.objectName())
        if lines is not None:
            button.setIcon(line_icon(lines))
            button.setIconSize(QSize(_SIZE, _SIZE))
    for box in dialog.findChildren(QComboBox):
        round_list(box)
    name = dialog.findChild(QLineEdit)
    completer = name.completer() if name is not None else None
    if completer is not None:
        names = QListView()  # Qt's own has no ground where lists have none, and is black as a window
        names.setObjectName("completions")
        completer.setPopup(names)  # owns it from now on
        rounded(names)
    dialog.resize(_WIDTH, _HEIGHT)
    splitter.setSizes([_SIDE, _WIDTH - _SIDE])


def _keep(dialog: QFileDialog) -> FileIcons:
    made = FileIcons()
    dialog.setProperty("gpuassistIcons", made)  # the dialog does not own what it is given
    return made


class FileIcons(QAbstractFileIconProvider):
    """A folder, a file or a computer, by what is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._folder, self._file, self._computer = map(line_icon, (_FOLDER, _FILE, _COMPUTER))

    def icon(self, what: QAbstractFileIconProvider.IconType | QFileInfo) -> QIcon:
        if isinstance(what, QFileInfo):
            return self._folder if what.isDir() else self._file
        kind = QAbstractFileIconProvider.IconType
        if what in {kind.Computer, kind.Desktop, kind.Network}:
            return self._computer
        return self._file if what is kind.File else self._folder


def _drawn(lines: tuple[_Line, ...], ink: str, scale: int) -> QPixmap:
    picture = QPixmap(_SIZE * scale, _SIZE * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(ink), 1.5)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    square = QRectF(0, 0, _SIZE, _SIZE)
    for line in lines:
        painter.drawPolyline([QPointF(x * square.width(), y * square.height()) for x, y in line])
    painter.end()
    return picture
