"""The left card of a repair: what is chosen for it, its steps, and each line of the start-up files that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.changes.plan import ChangePlan
from gpuassist.model.plan import StepKind
from gpuassist.model.text import Text, counted, text
from gpuassist.model.words import Words
from gpuassist.present.changes import at_home, matters
from gpuassist.present.marks import Mark
from gpuassist.present.toolkit_change import Offer, edit_summary
from gpuassist.shellfiles.lines import Choice, ShellLine
from gpuassist.ui.pages.repair.choices import LineRow, LoaderRow
from gpuassist.ui.widgets.buttons import DropDown, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import StepRow
from gpuassist.ui.widgets.labels import Hairline
from gpuassist.ui.widgets.layouts import add_layout, bare, clear, widgets_in


class PlanCard(Card):
    """What will be done, and what becomes of each line. Emits what was chosen; a new plan comes back."""

    lines_chosen = Signal(object)  # tuple[LineChoice, ...]: the lines that do not stay
    all_lines_wanted = Signal()

    def __init__(self, words: Words, home: str, title: Text, parent: QWidget | None = None) -> None:
        super().__init__(words(title), parent=parent)
        self.words = words
        self._home = home
        self._rows: tuple[LineRow, ...] | None = None
        self.top = bare(QVBoxLayout(), 8)
        self._steps = bare(QVBoxLayout(), 10)
        self._choices = bare(QVBoxLayout(), 14)
        for layout in (self.top, self._steps, self._choices):
            add_layout(self.body, layout)
        self.body.addStretch(1)

    @property
    def offers_something(self) -> bool:
        """Whether there is something to choose here before anything is planned."""
        return True

    @property
    def lines(self) -> tuple[LineRow, ...]:
        """The rows of the lines, in the order of the files."""
        return self._rows or ()

    def show_repair(self, repair: ChangePlan) -> None:
        """The steps and choices of a plan; rows of lines that are the same stay, and with them the keyboard's focus."""
        clear(self._steps)
        for place, row in enumerate(self._step_rows(repair)):
            self._steps.addWidget(row)
            row.show_number(place + 1)
        lines = tuple(line for line in repair.lines if repair.cuda is None or matters(line))
        if self._rows is not None and _bare(lines) == _bare(row.line for row in self._rows):
            for line_row, line in zip(self._rows, lines, strict=True):
                line_row.show_choice(line.choice)
            self.keep_choices(repair)
            return
        clear(self._choices)
        self._rows = tuple(LineRow(self.words, line, self._home, self) for line in lines)
        self.fill_choices(self._choices, repair)
        self._add_rows(len(repair.lines) - len(lines))

    def fill_choices(self, choices: QVBoxLayout, repair: ChangePlan) -> None:
        """What else is chosen, above the lines; for the kinds of repairs."""

    def keep_choices(self, repair: ChangePlan) -> None:
        """Another plan of the same choices."""

    def forget_plan(self) -> None:
        self._rows = None
        clear(self._steps)
        clear(self._choices)

    def mark_steps(self, marks: Sequence[Mark]) -> None:
        for row, mark in zip(widgets_in(self._steps), marks, strict=False):  # a step after these is marked apart
            if isinstance(row, StepRow):
                row.show_mark(mark)

    def mark_kernels(self, mark: Mark) -> None:
        """How the last step went, which comes after all others."""
        row = next(reversed(widgets_in(self._steps)), None)
        if isinstance(row, StepRow):
            row.show_mark(mark)

    def freeze(self) -> None:
        """What is being applied is no longer chosen."""
        for row in self._rows or ():
            row.freeze()
        self._rows = None  # so that the next plan makes new rows

    def _add_rows(self, rest: int) -> None:
        if self.lines:
            self._choices.addWidget(Hairline(self))
        for row in self.lines:
            row.chosen.connect(self._choose_lines)
            self._choices.addWidget(row)
        if rest > 0:
            more = counted("{count} more line touches these variables", "{count} more lines touch these variables", count=rest)
            words = self.words(more)
            made = small(words, self)
            made.setProperty("kind", "link")
            link = made
            link.clicked.connect(self.all_lines_wanted)
            self._choices.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)

    def _step_rows(self, repair: ChangePlan) -> list[StepRow]:
        steps = [step for step in repair.plan.steps if step.kind is StepKind.EDIT and (step.diff or repair.cuda is not None)]
        rows = []
        for place, step in enumerate(steps):
            about = edit_summary(repair) if place == 0 and repair.cuda is not None else None
            rows.append(StepRow(self.words, at_home(step.text, self._home), about, self))
        if repair.scope is not None and repair.afterwards is not None:
            rows.append(StepRow(self.words, repair.afterwards, None, self))
        elif rows:
            if repair.cuda is not None:
                proof_words = text("Login, interactive and script shells are started and asked for nvcc")
            else:
                proof_words = text("A new shell is started and asked for its variables")
            rows.append(StepRow(self.words, text("Test in new terminals"), proof_words, self))
        if repair.cuda is not None and repair.diff:
            kernel = text("with the chosen nvcc, for each architecture of this machine's GPUs")
            rows.append(StepRow(self.words, text("Compile a kernel for each GPU"), kernel, self))
        return rows

    @Slot()
    def _choose_lines(self) -> None:
        chosen = (row.line_choice for row in self.lines)
        self.lines_chosen.emit(tuple(one for one in chosen if one.choice is not Choice.KEEP))


class ToolkitCard(PlanCard):
    """The toolkit, and LD_LIBRARY_PATH with its reason."""

    toolkit_chosen = Signal(object)  # str: the version wished for
    loader_chosen = Signal(object)  # LdLibraryPath

    def __init__(self, words: Words, home: str, parent: QWidget | None = None) -> None:
        super().__init__(words, home, text("Plan"), parent)
        self._offers: tuple[Offer, ...] = ()
        self.loader: LoaderRow | None = None
        self._toolkit = DropDown(self)
        self._toolkit.setAccessibleName(words(text("Toolkit")))
        self._toolkit.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._toolkit.activated.connect(self._choose_toolkit)
        self.top.addWidget(self._toolkit)

    def show_offers(self, offers: tuple[Offer, ...], chosen: str) -> None:
        """The toolkits to choose from; none is shown as chosen where `chosen` is none of them."""
        self._offers = offers
        self._toolkit.clear()
        for offer in offers:
            self._toolkit.addItem(self.words(offer.words))
        self._toolkit.setCurrentIndex(next((place for place, offer in enumerate(offers) if meant(offer, chosen)), -1))
        self._toolkit.setPlaceholderText(self.words(text("Choose an installed toolkit")))
        self._toolkit.setVisible(bool(offers))

    @property
    def offers_something(self) -> bool:
        return bool(self._offers)

    def show_repair(self, repair: ChangePlan) -> None:
        self._head(text("Plan"))
        super().show_repair(repair)

    def fill_choices(self, choices: QVBoxLayout, repair: ChangePlan) -> None:
        self.loader = None
        if repair.cuda is None:
            return
        choices.addWidget(Hairline(self))
        self.loader = LoaderRow(self.words, repair.cuda, self)
        self.loader.chosen.connect(self.loader_chosen)
        choices.addWidget(self.loader)

    def keep_choices(self, repair: ChangePlan) -> None:
        if self.loader is not None and repair.cuda is not None:
            self.loader.show_choice(repair.cuda)

    def forget_plan(self) -> None:
        super().forget_plan()
        self.loader = None
        self._head(text("Toolkit for new terminals"))

    def freeze(self) -> None:
        super().freeze()
        if self.loader is not None:
            self.loader.tick.setEnabled(False)

    def _head(self, title: Text) -> None:
        if self.title is not None:
            self.title.setText(self.words(title))

    @Slot(int)
    def _choose_toolkit(self, place: int) -> None:
        self.toolkit_chosen.emit(self._offers[place].version)


def meant(offer: Offer, version: str) -> bool:
    """Whether this version is one that the offer is for."""
    return bool(version) and (offer.version == version or offer.version.startswith(version + "."))


def _bare(lines: Iterable[ShellLine]) -> tuple[ShellLine, ...]:
    return tuple(replace(line, ticked=False, rewritten=False) for line in lines)
