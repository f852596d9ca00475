"""The whole frame under test: shown, on a recording or an example, with dialogs that answer at once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pytestqt.qtbot import QtBot

from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.session.navigation import GoTo, Place, StepStatus, WizardStep
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.theme import Appearance
from tests.ui.showing import Show

TOO_OLD = "02-rtx-4090-cuda-11-7-first"
HEALTHY = "08-healthy"


def recorded(machine: Machine, folder: Path) -> str:
    """The path of a file with this machine."""
    place = folder / "machine.json"
    place.write_text(json.dumps(encode_machine(machine, ENGLISH)))
    return str(place)


@dataclass
class Frames:
    """Makes frames and waits for what they read."""

    desk: Desk
    show: Show
    qtbot: QtBot

    def __call__(self, path: str, start: Place = WizardStep.MACHINE) -> Frame:
        """A frame that has read this recording."""
        frame = self.opened(path, start)
        self.settle(frame)
        return frame

    def opened(self, path: str, start: Place = WizardStep.MACHINE) -> Frame:
        """A frame that begins to read this recording."""
        frame = self.show(Frame(self.desk, machine_file=path, start=GoTo(start), appearance=Appearance.LIGHT), 1280, 800)
        frame.begin()
        return frame

    def settle(self, frame: Frame) -> None:
        """Waits until the machine was read and the plot's libraries are there."""
        done = {StepStatus.RIGHT, StepStatus.UNKNOWN}
        self.qtbot.waitUntil(lambda: frame.flow.state(WizardStep.MACHINE) in done)
        self.qtbot.waitUntil(lambda: frame.pages.warm_up.is_done)


def buttons(frame: Frame) -> list[str]:
    """The words on the buttons of the bottom bar, left to right."""
    return [button.text() for button in frame.bar._buttons() if button.isVisible()]
