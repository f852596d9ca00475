"""Where to verify other than in an environment of this machine: an image, or a container that runs, named by the user."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.ui.widgets.buttons import DropDown, small
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.text_fields import TextLine
from gpuassist.ui.wording import sentence_case
from gpuassist.verify.containers import CONTAINER, Engine, NoPlaceError, Place, place_of

# Each kind, and what is to be written beside it.
_KINDS: dict[str, tuple[Text, Text]] = {
    Engine.DOCKER.value: (text("Docker image"), text("name:tag of an image that is on this computer")),
    Engine.PODMAN.value: (text("Podman image"), text("name:tag of an image that is on this computer")),
    Engine.APPTAINER.value: (text("Apptainer file"), text("path of a .sif file")),
    CONTAINER: (text("Running container"), text("name or ID of a container of docker or podman")),
}
_NEW = text("Runs the image's own torch in a new container without network, with access to the GPUs. Nothing is downloaded.")
_OF_FILE = text("Runs the file's own torch in a new container, with access to the GPUs. Nothing is downloaded.")
_AS_IT_RUNS = text("Runs the container's own torch, with the GPUs that the container was started with.")
_ABOUT = {Engine.DOCKER.value: _NEW, Engine.PODMAN.value: _NEW, Engine.APPTAINER.value: _OF_FILE, CONTAINER: _AS_IT_RUNS}


class InsideRow(QWidget):
    """`docker:IMAGE` and its like, in two fields."""

    changed = Signal()
    confirmed = Signal()  # Enter, in the field of the name
    file_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.kind = DropDown(self)
        self.kind.setAccessibleName(words(text("Kind of image")))
        for kind, (title, _) in _KINDS.items():
            self.kind.addItem(words(title), kind)
        self.kind.activated.connect(self._show_kind)
        self.name = TextLine(self)
        self.name.setAccessibleName(words(text("Image or container")))
        self.name.textChanged.connect(self._tell)
        self.name.returnPressed.connect(self.confirmed)
        self.choose = small(words(text("Choose a file…")), self)
        self.choose.clicked.connect(self.file_wanted)
        self.note = paragraph("", "muted", self)
        column = bare(QVBoxLayout(self), 6)
        row = bare(QHBoxLayout(), 10)
        for widget in (label(words(text("In")), "muted", self), self.kind):
            row.addWidget(widget)
        row.addWidget(self.name, 1)
        row.addWidget(self.choose)
        add_layout(column, row)
        column.addWidget(self.note)
        self._show_kind()

    @property
    def place(self) -> Place | None:
        """What is named; None until something is, or where it can be no name."""
        found = self._read()
        return found if isinstance(found, Place) else None

    def show_name(self, name: str) -> None:
        """A name from elsewhere: a file that was chosen."""
        self.name.setText(name)
        self.name.setFocus()

    def choose_kind(self, kind: str) -> None:
        blocked = QSignalBlocker(self.kind)
        self.kind.setCurrentIndex(max(0, self.kind.findData(kind)))
        blocked.unblock()
        self._show_kind()

    def _read(self) -> Place | Text | None:
        name = self.name.text().strip()
        if not name:
            return None
        try:
            return place_of(f"{self.kind.currentData()}:{name}")
        except NoPlaceError as error:
            return error.reason

    @Slot()
    def _show_kind(self) -> None:
        kind = str(self.kind.currentData())
        self.name.setPlaceholderText(self._words(_KINDS[kind][1]))
        self.choose.setVisible(kind == Engine.APPTAINER.value)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        """What will be done, or why this is no name."""
        found = self._read()
        told = found if isinstance(found, Text) else _ABOUT[str(self.kind.currentData())]
        set_paragraph(self.note, sentence_case(self._words(told)))
        self.changed.emit()
