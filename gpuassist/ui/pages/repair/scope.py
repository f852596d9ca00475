"""Where a repair holds: every new terminal, an environment, a project, a kernel or the desktop; and which programs see it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gpuassist.changes.scope_find import ListedScope
from gpuassist.changes.scopes.kinds import PROGRAMS, SEEN, TITLES, Kind, Sees, ViewingProgram
from gpuassist.changes.wishes import SHELL
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.changes import scope_title
from gpuassist.present.marks import Mark
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.plan import PlanCard
from gpuassist.ui.pages.repair.section import RepairSection
from gpuassist.ui.widgets.buttons import LongChoice, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.folds import Fold, Folds
from gpuassist.ui.widgets.labels import Hairline, label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel
from gpuassist.ui.widgets.table import Table
from gpuassist.ui.wording import sentence_case

_MARKS = {Sees.YES: Mark.RIGHT, Sees.NO: Mark.TODO, Sees.DEPENDS: Mark.WARNING}
_SEES = {Sees.YES: text("yes"), Sees.NO: text("no"), Sees.DEPENDS: text("depends")}
_ALL = (Kind.SHELL, Kind.CONDA, Kind.VENV, Kind.ENVRC, Kind.DOTENV, Kind.JUPYTER, Kind.DESKTOP)


class ScopeChooser(QWidget):
    """The scopes of this machine to choose from, and a project that the user names."""

    chosen = Signal(str)  # the scope's words on the command line
    project_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._scopes: tuple[ListedScope, ...] = ()
        self.scope = Kind.SHELL.value
        self.box = LongChoice(self)
        self.box.setAccessibleName(words(text("Applies to")))
        self.box.activated.connect(self._choose)
        self._held = paragraph("", "small", self)
        column = bare(QVBoxLayout(self), 4)
        column.addWidget(label(words(text("Applies to")), "small", self))
        column.addWidget(self.box)
        column.addWidget(self._held)
        self._held.hide()
        self.hide()

    def show_scopes(self, scopes: tuple[ListedScope, ...], chosen: str = "") -> None:
        """The scopes that there are; `chosen` stays chosen where it is one of them."""
        self._scopes = scopes
        self.scope = chosen or self.scope
        self.box.clear()
        for scope in scopes:
            self.box.addItem(self._words(scope_title(scope)))
            self.box.setItemData(self.box.count() - 1, self._words(TITLES[scope.kind]), Qt.ItemDataRole.ToolTipRole)
        self.box.addItem(self._words(text("A project…")))
        self._show_place()
        self.setVisible(bool(scopes))

    def _show_place(self) -> None:
        places = [place for place, scope in enumerate(self._scopes) if scope.words == self.scope]
        self.box.setCurrentIndex(places[0] if places else 0)
        held = self._scopes[places[0]].held.variables if places else ()
        shown = ", ".join(f"{name}={value}" for name, value in held)
        set_paragraph(self._held, self._words(text("Currently: {held}", held=shown)))
        self._held.setVisible(bool(shown))

    @Slot(int)
    def _choose(self, place: int) -> None:
        if place >= len(self._scopes):
            self._show_place()
            self.project_wanted.emit()
            return
        self.scope = self._scopes[place].words
        self._show_place()
        self.chosen.emit(self.scope)


class ProgramsCard(Card):
    """Which programs see what is chosen in a scope, and, folded, in every kind of them; unfolded for all but new terminals."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Where this takes effect")), parent=parent)
        self._words = words
        self._kind: Kind | None = None
        self.fold = small(words(text("Show")), self)
        self.fold.setCheckable(True)
        self.fold.setAccessibleName(words(text("Where this takes effect")))
        self.fold.toggled.connect(self._open)
        self.head.addWidget(self.fold)
        self._rows = QVBoxLayout()
        add_layout(self.body, self._rows)
        self.all_scopes = Folds((Fold(words(text("Compare all scopes")), self._fill),), self)
        self.all_scopes.hide()
        self.body.addWidget(self.all_scopes)

    def show_kind(self, kind: Kind) -> None:
        if kind is self._kind:
            return
        self._kind = kind
        if self.fold.isChecked() or kind is Kind.SHELL:
            self._open(self.fold.isChecked())
        else:
            self.fold.setChecked(True)

    @Slot(bool)
    def _open(self, is_open: bool) -> None:  # noqa: FBT001 -- Qt's own signal
        self.all_scopes.setVisible(is_open)
        clear(self._rows)
        if is_open and self._kind is not None:
            self._add_rows(self._kind)

    def _add_rows(self, kind: Kind) -> None:
        box = QWidget(self)
        grid = bare(QGridLayout(box))
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 2)
        grid.setColumnStretch(2, 3)
        for row, (program, sight) in enumerate(SEEN[kind].items()):
            top = Qt.AlignmentFlag.AlignTop
            if row:
                grid.addWidget(Hairline(box), 2 * row - 1, 0, 1, 3)
            grid.addWidget(MarkIcon(_MARKS[sight.sees], box), 2 * row, 0, top)
            grid.addWidget(paragraph(sentence_case(self._words(PROGRAMS[program])), "", box), 2 * row, 1, top)
            said = self._words(sight.when if sight.when is not None else _SEES[sight.sees])
            grid.addWidget(paragraph(sentence_case(said), "small", box), 2 * row, 2, top)
        self._rows.addWidget(box)

    def _fill(self, card: Card) -> None:
        headings = [self._words(text("Program")), *(kind.value for kind in _ALL)]
        table = Table(RowsModel(headings, [self._row(program) for program in ViewingProgram], card), headings[0], card)
        table.spread(0)
        card.body.addWidget(table)

    def _row(self, program: ViewingProgram) -> Row:
        cells = [Cell(sentence_case(self._words(PROGRAMS[program])))]
        for kind in _ALL:
            sight = SEEN[kind][program]
            when: Text | None = sight.when
            cells.append(Cell(self._words(_SEES[sight.sees]), mark=_MARKS[sight.sees], tip=self._words(when) if when else ""))
        return tuple(cells)


class ScopedSection(RepairSection):
    """Plans for the scope that is chosen; a recorded machine has none to choose from."""

    project_wanted = Signal()

    def __init__(self, desk: Desk, card: PlanCard, parent: QWidget | None = None) -> None:
        super().__init__(desk, card, parent)
        self.scope = SHELL
        self.scopes: tuple[ListedScope, ...] = ()
        words = desk.words
        self.choice = ScopeChooser(words, card)
        self.choice.chosen.connect(self._choose_scope)
        self.choice.project_wanted.connect(self.project_wanted)
        card.top.addWidget(self.choice)
        self.programs = ProgramsCard(words, self)
        self.programs.hide()
        self.right.insertWidget(self.right.count() - 1, self.programs)

    def show_scopes(self, scopes: tuple[ListedScope, ...], chosen: str = "") -> None:
        """The scopes that there are; one that was asked for is chosen."""
        self.scopes = scopes
        self.choice.show_scopes(scopes, self.scope)
        if chosen and any(scope.words == chosen for scope in scopes):
            self._choose_scope(chosen)
        else:
            self._show_programs()

    def scope_changed(self) -> None:
        self.start()

    def leave_scope(self) -> None:
        """Back to every new terminal, without planning."""
        self.scope = SHELL
        self.choice.show_scopes(self.scopes, SHELL)
        self._show_programs()

    @Slot(str)
    def _choose_scope(self, scope: str) -> None:
        self.scope = scope
        self.choice.show_scopes(self.scopes, scope)
        self._show_programs()
        self.scope_changed()

    def _show_programs(self) -> None:
        kind = next((scope.kind for scope in self.scopes if scope.words == self.scope), None)
        self.programs.setVisible(kind is not None)
        if kind is not None:
            self.programs.show_kind(kind)
