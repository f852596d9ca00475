"""A planned change of the user's files, whatever it is for, and what came of it: one plan, one outcome for every face."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.plan import FileEdit, Outcome, Plan, Receipt, Result
from gpuassist.model.text import Text, text

if TYPE_CHECKING:  # an undo has an outcome, and takes nothing of what plans and proofs are made of
    from gpuassist.changes.choice import Devices
    from gpuassist.changes.library_path import LoaderChoice
    from gpuassist.changes.scope_find import Scope
    from gpuassist.changes.scopes.values import ScopeValues
    from gpuassist.changes.shells import ShellChange, ShellSeen, Winner
    from gpuassist.changes.wishes import ChangeWish, UseCuda
    from gpuassist.model.shell import Terminal
    from gpuassist.model.toolkit import Toolkit
    from gpuassist.shellfiles.dialect import Dialect
    from gpuassist.shellfiles.lines import ShellLine

RECORDED = text("this is a recorded machine: nothing on it can be changed")


class Expected(Struct, frozen=True):
    """What a new terminal should hold once the plan is carried out."""

    nvcc: str
    cuda_home: str
    ld_library_path: str


class ToolkitChoice(Struct, frozen=True):
    """The toolkit that is chosen; `login` is the login file that does not read the one with the block, else empty."""

    wish: UseCuda
    toolkit: Toolkit
    loader: LoaderChoice
    expected: Expected
    dialect: Dialect
    others: tuple[Toolkit, ...] = ()
    login: str = ""


class ScopeChoice(Struct, frozen=True):
    """What is chosen for one environment, project, kernel or the desktop, and what that holds then."""

    scope: Scope
    held: ScopeValues
    toolkit: Toolkit | None = None
    devices: Devices | None = None


class ChangePlan(Struct, frozen=True):
    """The plan of a wish with all that is shown of it, and what it chooses: one of `cuda`, `devices` and `scope`, none for a
    cleaning.

    `command` is what the history calls it, `now` what a new terminal holds before, `block` what may be written by hand where
    `obstacle` says why gpuassist may not (`by_hand` introduces it where it is for no start-up file), `paste` the lines for a
    terminal that is open, `afterwards` what the user does once it is made; a `recorded` machine can be looked at only.
    """

    wish: ChangeWish
    plan: Plan
    command: str
    lines: tuple[ShellLine, ...] = ()
    block: str = ""
    paste: tuple[str, ...] = ()
    obstacle: Text | None = None
    by_hand: Text | None = None
    afterwards: Text | None = None
    now: Fact[Terminal] = NOT_ASKED
    recorded: bool = False
    cuda: ToolkitChoice | None = None
    devices: Devices | None = None
    scope: ScopeChoice | None = None

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        return tuple(step.edit for step in self.plan.steps if step.edit is not None)

    @property
    def edit(self) -> FileEdit:
        return self.edits[0]

    @property
    def diff(self) -> str:
        """Their unified diffs; empty where nothing is left to do."""
        return "".join(step.diff for step in self.plan.steps)


class Proof(Struct, frozen=True):
    """What real shells were found to do: `holds` whether that is what was planned, `words` say so.

    `terminal` is what a new terminal holds now; `winner` the nvcc that it finds, none where it finds none or a toolkit was not
    asked for; `worse` why the change made something worse than before, none where it did not.
    """

    holds: Fact[bool]
    words: Text
    terminal: Fact[Terminal] = NOT_ASKED
    winner: Winner | None = None
    worse: Text | None = None


class ChangeOutcome(Struct, frozen=True):
    """What came of carrying out a plan, or of an undo: the receipts of its files, what became of an earlier change that had been
    interrupted, and the proof where something was asked.

    `shells` are all ways of starting a shell before and after, `slow` the one that took long; `rolled_back` says why the change was
    taken back by itself, none where it stands.
    """

    outcome: Outcome
    receipts: tuple[Receipt, ...] = ()
    notes: tuple[Text, ...] = ()
    proof: Proof | None = None
    shells: tuple[ShellChange, ...] = ()
    slow: ShellSeen | None = None
    rolled_back: Text | None = None
    left_behind: tuple[str, ...] = ()

    @property
    def wrote(self) -> bool:
        """Whether what was planned stands in the files now."""
        return self.outcome.result in {Result.MODIFIED, Result.UNCHANGED} and self.rolled_back is None

    @property
    def receipt(self) -> Receipt | None:
        """The first file's receipt, whose id names the whole change."""
        return self.receipts[0] if self.receipts else None
