"""The repair page in a window, in a home with two toolkits: what its tests share."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.changes.plan import ChangePlan, ToolkitChoice
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.lines import Choice
from gpuassist.system.terminal import ask_terminal
from gpuassist.ui.page import Desk, Wrote
from gpuassist.ui.pages.repair.choices import CHOICES, LineRow
from gpuassist.ui.pages.repair.page import RepairPage
from gpuassist.ui.pages.repair.plan import ToolkitCard
from gpuassist.ui.widgets.cards import Notice
from tests.changes.homes import make_toolkit, world_at
from tests.remembered import RememberedShells
from tests.ui.made import framed, inspection


def two_toolkits(home: Path) -> Session:
    """A user with two toolkits in their home, whose .bashrc puts the older one first."""
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_text(rc(home))
    (home / ".profile").write_text('. "$HOME/.bashrc"\n')  # login shells too: those of the machine may find a toolkit of its own
    return Session(world_at(home, processes=RememberedShells(home)), Knowledge(lambda name: b"[]"), ENGLISH)


def machine_of(session: Session, *gpus: Gpu) -> Machine:
    """As much of the machine as the page needs; a real new terminal is asked."""
    home = session.world.surroundings.home
    versions = (("12.4", "12.4.131"), ("11.7", "11.7.99"))
    toolkits = tuple(Toolkit(f"{home}/cuda-{name}", version=Known(Version.parse(full), "made up")) for name, full in versions)
    return Machine(
        "2026",
        gpus=Known(gpus, "made up"),
        toolkits=Known(toolkits, "made up"),
        environments=Known((), "made up"),
        shell=Shell(new_terminal=ask_terminal(session.world)),
    )


def rc(home: Path) -> str:
    return f"alias ll='ls -l'\nexport PATH={home}/cuda-11.7/bin:$PATH\nif true; then\n  export CUDA_HOME={home}/cuda-11.7\nfi\n"


def choose(row: LineRow, choice: Choice) -> None:
    """As the user would."""
    assert row.row is not None
    row.row.segments.choose(CHOICES.index(choice))


class Shown:
    """The page in a window, with what it asked of the frame."""

    def __init__(self, desk: Desk, qtbot: QtBot) -> None:
        self.desk, self.qtbot = desk, qtbot
        self.frame = framed(qtbot)
        self.page = RepairPage(desk, self.frame)
        self.page.resize(1056, 700)
        self.page.show()
        self.asked: list[object] = []
        self._gpus: tuple[Gpu, ...] = ()
        self._version = ""
        self._owed = False
        self.page.asked.connect(self._hear)

    def open(self, machine: Machine, version: str = "12.4", *, recorded: bool = False) -> None:
        self._gpus, self._version = value_or(machine.gpus, ()), version
        self.page.show_inspection(inspection(machine, use_cuda=version, recorded=recorded))
        self.page.arrive(None)
        self.settle()

    def settle(self) -> None:
        """Until nothing is under way any more, also what the frame does: read the machine again after a write."""
        self.qtbot.waitUntil(lambda: self._owed or not self.page.busy)
        while self._owed:
            self._owed = False
            self.read_again()
            self.qtbot.waitUntil(lambda: self._owed or not self.page.busy)

    def read_again(self) -> None:
        """The machine as it is now; the finding is there as long as a new terminal does not find the version."""
        machine = machine_of(self.desk.session, *self._gpus)
        terminal = machine.shell.new_terminal
        command = terminal.value.command("nvcc") if isinstance(terminal, Known) else None
        mended = command is not None and f"cuda-{self._version}/" in command.path
        self.page.show_inspection(inspection(machine, use_cuda="" if mended else self._version))
        self.page.show_reading("")

    def _hear(self, wish: object) -> None:
        self.asked.append(wish)
        if isinstance(wish, Wrote):
            self.page.show_reading("Reading again")
            self._owed = True

    def apply(self) -> None:
        self.page.toolkit.apply.trigger()
        self.settle()

    @property
    def plan(self) -> ChangePlan | None:
        return self.page.toolkit.repair

    @property
    def chosen(self) -> ToolkitChoice | None:
        return self.plan.cuda if self.plan is not None else None

    @property
    def title(self) -> str:
        return self.page._header.title

    @property
    def card(self) -> ToolkitCard:
        return self.page.toolkit.toolkit_card

    def words(self) -> str:
        return " ".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisibleTo(self.page))

    def notice(self) -> str:
        return " ".join(one.words for one in self.page.findChildren(Notice) if one.isVisibleTo(self.page))
