"""Your machine: what was read, each fact with its source, and other machines to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import WizardStep
from gpuassist.ui.jobs import Control, Done, Failed
from gpuassist.ui.page import Bar, Desk, OpenExample, OpenRecording, Page, ReadAgain, new_action
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.skeleton import Skeleton

# What shows a machine that was read is imported once one was: the first window is painted before that.
if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from gpuassist.model.machine import Machine
    from gpuassist.session.inspect import Inspection
    from gpuassist.ui.pages.machine.cards import MachineCards
    from gpuassist.ui.widgets.cards import Notice


class MachinePage(Page):
    """The first page; it is there before anything was read."""

    STEP = WizardStep.MACHINE

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine: Machine | None = None
        self._cards: MachineCards | None = None
        self._trouble: Notice | None = None
        self._menu: QMenu | None = None
        self._scroll = self.fill_with_scroll()
        self._scroll.header.show_words(desk.words(text("Your machine")), desk.words(text("Read only: nothing is changed.")))
        self._strip = ProgressStrip(self)
        self._scroll.header.put_beside(self._strip)
        self._skeleton: Skeleton | None = Skeleton(self)
        self._scroll.content.addWidget(self._skeleton, 1)
        self._again = new_action(self, desk.words(text("Refresh")), self._read_again)
        self._again.setStatusTip("Ctrl+R")
        self._open = new_action(self, desk.words(text("Open a recorded machine…")), self._ask_recording, "Ctrl+O")
        self._examples = QAction(desk.words(text("Examples")), self)
        self._examples.setVisible(False)

    def bar(self) -> Bar:
        return Bar((self._again, self._open, self._examples), next_title=self.desk.words(text("Show diagnosis")))

    def show_reading(self, words: str) -> None:
        """A machine is being read, for whatever reason: says so, and what was read last."""
        if not words:
            self._strip.end()
            return
        if self._trouble is not None:
            self._trouble.hide()
        self._strip.begin(words)

    def show_progress(self, words: str) -> None:
        self._strip.say(words)

    def show_failure(self, reason: str) -> None:
        """Nothing could be read; what is shown of the machine before stays."""
        from gpuassist.ui.widgets.cards import Notice

        self._strip.end()
        self._drop_skeleton()
        if self._trouble is None:
            self._trouble = Notice(Mark.PROBLEM, reason, self)
            self._scroll.content.insertWidget(0, self._trouble)
        self._trouble.show_words(Mark.PROBLEM, reason)
        self._trouble.show()
        if self._machine is None:
            rest = text("Refresh to try again, or open a recorded machine.")
            self._scroll.header.show_words(self.desk.words(text("Nothing could be read")), self.desk.words(rest))

    def show_inspection(self, inspection: Inspection) -> None:
        from gpuassist.present.overview import title
        from gpuassist.present.summary import machine_figures
        from gpuassist.ui.pages.machine.cards import MachineCards, ShownFacts

        words = self.desk.words
        self._strip.end()
        self._drop_skeleton()
        self._machine = inspection.machine
        figures = machine_figures(inspection.seconds, recorded=inspection.recorded, title=inspection.title, host=inspection.host)
        self._scroll.header.show_words(words(title(inspection.machine)), words(figures))
        facts = ShownFacts.of(inspection.machine)
        if self._cards is None or self._cards.facts != facts:
            self._show_cards(MachineCards(words, facts, self))
        if self._menu is None:
            from gpuassist.ui.widgets.popups import menu

            self._menu = menu(self)
            self._examples.setMenu(self._menu)
            self.desk.jobs.start(self._read_examples, self).finished.connect(self._offer_examples)

    def _show_cards(self, cards: MachineCards) -> None:
        if self._cards is not None:
            self._cards.hide()
            self._cards.deleteLater()
        self._cards = cards
        self._cards.everything_wanted.connect(self.show_everything)
        self._scroll.content.addWidget(self._cards)

    def _drop_skeleton(self) -> None:
        if self._skeleton is not None:
            self._skeleton.hide()
            self._skeleton.deleteLater()
            self._skeleton = None

    @property
    def is_complete(self) -> bool:
        return self._cards is not None and not self._cards.building.busy

    def examples(self) -> tuple[QAction, ...]:
        return tuple(self._menu.actions()) if self._menu is not None else ()

    @Slot()
    def show_everything(self) -> None:
        from gpuassist.model.machine import encode_machine
        from gpuassist.ui.widgets.everything import Everything

        if self._machine is not None:
            Everything(self.desk.words, encode_machine(self._machine, self.desk.session.words), self.desk.asking, self).open()

    @Slot()
    def _read_again(self) -> None:
        self.asked.emit(ReadAgain())

    @Slot()
    def _ask_recording(self) -> None:
        kinds = f"{self.desk.words(text('Recorded machines'))} (*.json)"
        self.desk.asking.open_file(self, self.desk.words(text("Open a recorded machine")), kinds, self._open_recording)

    def _open_recording(self, path: str) -> None:
        self.asked.emit(OpenRecording(path))

    def _read_examples(self, control: Control) -> tuple[tuple[str, str], ...]:
        from gpuassist.session.inspect import examples

        return tuple((one.name, self.desk.words(one.title)) for one in examples(self.desk.session))

    @Slot(object)
    def _offer_examples(self, result: Done | Failed) -> None:
        found = result.value if isinstance(result, Done) and isinstance(result.value, tuple) else ()
        assert self._menu is not None
        for name, title in found:
            action = QAction(title, self._menu)
            action.setData(name)
            action.triggered.connect(self._open_example)
            self._menu.addAction(action)
        self._examples.setVisible(bool(found))
        self.bar_changed.emit()

    @Slot()
    def _open_example(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.asked.emit(OpenExample(str(action.data())))
