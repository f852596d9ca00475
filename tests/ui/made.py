"""Hand-made samples, watches and desks for tests of the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.finding import Action, Answer, CommandUse, Diagnosis, Remedy, Severity
from gpuassist.model.machine import Machine
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.model.text import Text, text, verbatim
from gpuassist.monitor.history import History
from gpuassist.session.inspect import Inspection
from gpuassist.ui.dialogs import Asking
from gpuassist.ui.questions import Answered, CommandsAsked, Verbs

GIB = 1 << 30
EPOCH = 1_800_000_000.0


def known(value: object) -> Known:  # type: ignore[type-arg]  # a test's fact of any kind
    """A fact of a made-up card."""
    return Known(value, "made up")


def process(pid: int, gibibytes: float, command: str = "") -> ProcessSample:
    """A process of the user `you`."""
    return ProcessSample(pid, known("you"), known(command or f"python job{pid}.py"), known(int(gibibytes * GIB)))


def gpu(index: int, *processes: ProcessSample, rest: float = 0.5, total: float = 24, lost: str = "") -> GpuSample:
    """A card of 24 GiB, used by its processes and half a gibibyte beside."""
    if lost:
        gone = Unknown(verbatim(lost))
        return GpuSample(index, known(f"GPU-{index}"), known("NVIDIA GeForce RTX 4090"), gone, gone, gone, gone, gone, gone, gone)
    used = int(rest * GIB) + sum(one.memory_used_bytes.value for one in processes if isinstance(one.memory_used_bytes, Known))
    return GpuSample(
        index,
        known(f"GPU-{index}"),
        known("NVIDIA GeForce RTX 4090"),
        known(int(total * GIB)),
        known(used),
        known(int(total * GIB) - used),
        known(97),
        known(71),
        known(411.6),
        known(processes),
    )


def sample(second: float, *gpus: GpuSample, trouble: tuple[Text, ...] = ()) -> Sample:
    """A sample so many seconds after the made-up beginning."""
    return Sample(EPOCH + second, 1000.0 + second, gpus, trouble)


NO_DRIVER = text("the NVIDIA driver is not loaded")


def unknown(reason: str) -> Fact:  # type: ignore[type-arg]  # a test's fact of any kind
    """A fact that nobody could find out."""
    return Unknown(verbatim(reason))


def with_variables(session: Session, variables: Mapping[str, str]) -> Session:
    """The session with these environment variables beside its own: those that have a child load the scripted NVML."""
    around = session.world.surroundings
    around = replace(around, variables={**around.variables, **variables})
    return replace(session, world=replace(session.world, surroundings=around))


def history(*samples: Sample) -> History:
    """A history of these samples."""
    made = History()
    for one in samples:
        made.add(one)
    return made


@dataclass
class Answers(Asking):
    """Dialogs that answer at once, and remember what they asked."""

    opened: str = ""
    saved: str = ""
    agrees: bool = True
    asked: list[str] = field(default_factory=list)
    visited: list[str] = field(default_factory=list)

    def visit(self, link: str) -> None:
        self.visited.append(link)

    def open_file(self, parent: QWidget, title: str, kinds: str, answered: Answered) -> None:
        self.asked.append(title)
        if self.opened:
            answered(self.opened)

    def open_directory(self, parent: QWidget, title: str, answered: Answered) -> None:
        self.asked.append(title)
        if self.opened:
            answered(self.opened)

    def save_file(self, parent: QWidget, title: str, name: str, answered: Answered, *, replaces: bool = True) -> None:
        self.asked.append(name)
        if self.saved:
            answered(self.saved)

    def confirm_commands(self, parent: QWidget, question: str, about: CommandsAsked, confirmed: Callable[[], None]) -> None:
        self.asked.append("\n".join((*about.lines, *about.remarks)))
        if self.agrees:
            confirmed()

    def confirm(self, parent: QWidget, question: str, explanation: str, confirmed: Callable[[], None], *, verbs: Verbs) -> None:
        self.asked.append(explanation)
        if self.agrees:
            confirmed()


def framed(qtbot: QtBot) -> QWidget:
    """A shown window for a page, as the frame gives it one; without a layout, whose sizes the offscreen platform refuses."""
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.resize(1056, 800)
    with qtbot.waitExposed(frame):
        frame.show()
    return frame


def inspection(machine: Machine, *, use_cuda: str = "", recorded: bool = False) -> Inspection:
    """An inspection with at most one finding: that new shells should use a CUDA version."""
    command = CommandUse("use-cuda", (("version", use_cuda),), (f"gpuassist use cuda {use_cuda}",))
    remedy = Remedy("Use it", (command,), False, Action.EDIT, "")
    answer = Answer("nvcc-too-old", Severity.PROBLEM, "nvcc is too old", "", (), (remedy,), ())
    return Inspection(machine, Diagnosis(), (answer,) if use_cuda else (), (), 0.1, recorded, "made up" if recorded else "")
