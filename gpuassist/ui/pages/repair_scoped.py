"""A repair that may hold in one scope alone: the choice of it, and which programs see what is chosen there."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.changes.scope_find import ListedScope
from gpuassist.changes.wishes import SHELL
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair_plan import PlanCard
from gpuassist.ui.pages.repair_scope import ProgramsCard, ScopeChooser
from gpuassist.ui.pages.repair_section import RepairSection


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
        """Plans for another scope."""
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
