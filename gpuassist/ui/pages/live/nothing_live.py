"""What stands on the live page while there is nothing to draw, and why."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import EmptyState
from gpuassist.ui.wording import sentence_case


class NothingLive(EmptyState):
    """Says what is waited for or what is missing, and where to go on."""

    found_wanted = Signal()
    cancelled = Signal()
    open_wanted = Signal()  # a recording
    server_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(Mark.BUSY, "", "", parent)
        self._in_words = words
        self._found = small(words(text("Show diagnosis")), self)
        self._found.clicked.connect(self.found_wanted)
        # Who has no GPU here may have a recording of one elsewhere.
        self._open = small(words(text("Open a recording…")), self)
        self._open.setToolTip("Ctrl+O")  # the key, as Qt spells it
        self._open.clicked.connect(self.open_wanted)
        self._server = small(words(text("Prometheus server…")), self)
        self._server.clicked.connect(self.server_wanted)
        self._cancel = small(words(text("Cancel")), self)
        self._cancel.clicked.connect(self.cancelled)
        self.buttons.addStretch(1)
        self.buttons.addWidget(self._found)
        self.buttons.addWidget(self._open)
        self.buttons.addWidget(self._server)
        self.buttons.addWidget(self._cancel)
        self.buttons.addStretch(1)

    def show_waiting(self) -> None:
        self._tell(Mark.BUSY, text("Reading the GPUs"), text("The first figures will appear in a moment."))

    def show_recorded(self) -> None:
        why = text(
            "This window shows a recorded machine. Live memory shows only the computer that gpuassist runs on, so it is off here."
        )
        self._tell(Mark.INFO, text("No live memory on a recorded machine"), why)

    def show_reading(self, words: str) -> None:
        """A recording is read, and how far it is."""
        self.show_words(Mark.BUSY, self._in_words(text("Reading a recording")), words)
        self._found.hide()
        self._open.hide()
        self._server.hide()
        self._cancel.show()

    def show_asking(self, address: str) -> None:
        """A server is asked for what it has kept."""
        self._tell(Mark.BUSY, text("Asking the server"), text("The last 24 hours come first, from {address}.", address=address))

    def show_server_trouble(self, trouble: tuple[Text, ...]) -> None:
        """A server gives no figures, and is asked again and again."""
        then = text("It is asked again every few seconds.")
        self._tell(Mark.PROBLEM, text("No figures from the server"), *trouble, then)
        self._server.show()

    def show_trouble(self, trouble: tuple[Text, ...]) -> None:
        if not trouble:
            why = text("NVIDIA's driver answers, but it drives no GPU.")
            self._tell(Mark.UNKNOWN, text("No GPU to watch"), why, offers_found=True)
            return
        then = text("See Diagnosis for what to do. The plot starts as soon as the driver answers.")
        self._tell(Mark.PROBLEM, text("No GPU data available"), *trouble, then, offers_found=True)

    def _tell(self, mark: Mark, title: Text, *why: Text, offers_found: bool = False) -> None:
        self.show_words(mark, self._in_words(title), "\n".join(sentence_case(self._in_words(one)) for one in why))
        self._found.setVisible(offers_found)
        self._open.setVisible(mark is not Mark.BUSY)
        self._server.setVisible(mark is not Mark.BUSY)
        self._cancel.hide()
