"""A planned change of the user's files, whatever it is for, and what came of it: one plan, one outcome for every face."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field

from gpuassist.changes.choice import LdLibraryPath, LoaderChoice
from gpuassist.changes.devices import Devices
from gpuassist.changes.scope_find import Scope
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.changes.shells import ShellChange, ShellSeen, Winner
from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.plan import FileEdit, Outcome, Plan, Receipt, Result
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.lines import LineChoice, ShellLine

RECORDED = text("this is a recorded machine: nothing on it can be changed")


class Aim(str, Enum):
    """What is changed: which toolkit new shells use, what start-up files put on search lists, which GPUs programs see."""

    TOOLKIT = "toolkit"
    CLEAN = "clean"
    DEVICES = "devices"


class UseCuda(Struct, frozen=True):
    """What the user wishes: a CUDA version, the start-up file (empty: the login shell's own), and what becomes of which lines.

    `lines` are the lines that are not kept; none means what is suggested, an empty tuple no line. `retire` says the same of the one
    file alone by line numbers.
    """

    version: str
    rc: str = ""
    ld_library_path: LdLibraryPath = LdLibraryPath.AUTO
    retire: tuple[int, ...] | None = None
    lines: tuple[LineChoice, ...] | None = None


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


class DevicesChoice(Struct, frozen=True):
    """The GPUs that programs see."""

    devices: Devices
    dialect: Dialect

    @property
    def value(self) -> str:
        """What a program would find in CUDA_VISIBLE_DEVICES; empty where it should not be set by us."""
        return ",".join(self.devices.values)


class ScopeChoice(Struct, frozen=True):
    """What is chosen for one environment, project, kernel or the desktop, and what that holds then."""

    scope: Scope
    held: ScopeValues
    toolkit: Toolkit | None = None
    devices: Devices | None = None


class ChangePlan(Struct, frozen=True):
    """The plan with all that is shown of it, and what it chooses: one of `cuda`, `devices` and `scope`, none for a cleaning.

    `command` is what the history calls it, `now` what a new terminal holds before, `block` what may be written by hand where
    `obstacle` says why gpuassist may not (`by_hand` introduces it where it is for no start-up file), `paste` the lines for a
    terminal that is open, `afterwards` what the user does once it is made; a `recorded` machine can be looked at only.
    """

    aim: Aim
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
    devices: DevicesChoice | None = None
    scope: ScopeChoice | None = None

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The edits of all files, that of the main one first."""
        return tuple(step.edit for step in self.plan.steps if step.edit is not None)

    @property
    def edit(self) -> FileEdit:
        """The edit of the file that is named first."""
        return self.edits[0]

    @property
    def diff(self) -> str:
        """Their unified diffs; empty where nothing is left to do."""
        return "".join(step.diff for step in self.plan.steps)


class Proof(Struct, frozen=True):
    """What real shells were found to do: `holds` whether that is what was planned, `words` say so.

    `terminal` is what a new terminal holds now; `winner` the nvcc that it finds, none where it finds none or a toolkit was not
    asked for.
    """

    holds: Fact[bool]
    words: Text
    terminal: Fact[Terminal] = NOT_ASKED
    winner: Winner | None = None


class ChangeOutcome(Struct, frozen=True):
    """What came of carrying out a plan: the receipts of its files, what became of an earlier change that had been interrupted, and
    the proof where something was asked.

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
    left_behind: tuple[str, ...] = field(default=())

    @property
    def wrote(self) -> bool:
        """Whether what was planned stands in the files now."""
        return self.outcome.result in {Result.MODIFIED, Result.UNCHANGED} and self.rolled_back is None

    @property
    def receipt(self) -> Receipt | None:
        """The first file's receipt, whose id names the whole change."""
        return self.receipts[0] if self.receipts else None
