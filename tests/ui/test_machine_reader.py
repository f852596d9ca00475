"""Reading a machine: off this thread, told as it goes, and the last wish wins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.model.machine import encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.session.inspect import Inspection
from gpuassist.ui.machine_reader import MachineReading
from gpuassist.ui.page import Desk
from tests.values import machine

EXAMPLE = "08-healthy"


@pytest.fixture
def recording(tmp_path: Path) -> str:
    place = tmp_path / "machine.json"
    place.write_text(json.dumps(encode_machine(machine(note="of a test"), ENGLISH)))
    return str(place)


@pytest.fixture
def reading(desk: Desk, qtbot: QtBot) -> MachineReading:
    return MachineReading(desk.session, desk.jobs)


def ended(reading: MachineReading, qtbot: QtBot) -> Inspection:
    """What the reading that is under way ends with."""
    with qtbot.waitSignal(reading.ended) as blocker:
        pass
    found = blocker.args[0]
    assert isinstance(found, Inspection)
    return found


def test_a_recording_is_read(reading: MachineReading, recording: str, qtbot: QtBot) -> None:
    reading.open_recording(recording)
    found = ended(reading, qtbot)
    assert (found.recorded, found.title) == (True, "of a test")


def test_an_example_is_read(reading: MachineReading, qtbot: QtBot) -> None:
    reading.open_example(EXAMPLE)
    assert ended(reading, qtbot).recorded


def test_the_live_machine_is_read_and_told_section_by_section(reading: MachineReading, qtbot: QtBot) -> None:
    told: list[object] = []
    reading.progressed.connect(told.append)
    reading.read_live()
    found = ended(reading, qtbot)
    assert not found.recorded
    assert len(told) >= 5
    assert all(isinstance(words, str) and words for words in told)


def test_beginning_says_what_is_read(reading: MachineReading, recording: str, qtbot: QtBot) -> None:
    with qtbot.waitSignal(reading.started) as blocker:
        reading.open_recording(recording)
    assert blocker.args == ["Opening the recorded machine…"]
    assert reading.busy
    ended(reading, qtbot)
    assert not reading.busy


@pytest.mark.parametrize(("content", "words"), [("no json", "is not a JSON document"), ("{}", "it has no schema number")])
def test_a_file_that_is_no_recording_says_why(
    reading: MachineReading, tmp_path: Path, qtbot: QtBot, content: str, words: str
) -> None:
    place = tmp_path / "odd.json"
    place.write_text(content)
    with qtbot.waitSignal(reading.failed) as blocker:
        reading.open_recording(str(place))
    assert words in blocker.args[0]


def test_a_missing_file_says_so(reading: MachineReading, qtbot: QtBot) -> None:
    with qtbot.waitSignal(reading.failed) as blocker:
        reading.open_recording("/nowhere/machine.json")
    assert "/nowhere/machine.json" in blocker.args[0]
    assert "No such file" in blocker.args[0]


def test_an_unknown_example_says_so(reading: MachineReading, qtbot: QtBot) -> None:
    with qtbot.waitSignal(reading.failed) as blocker:
        reading.open_example("none-such")
    assert "none-such" in blocker.args[0]


def test_the_last_wish_wins(reading: MachineReading, recording: str, qtbot: QtBot) -> None:
    heard: list[object] = []
    reading.ended.connect(heard.append)
    reading.open_example(EXAMPLE)
    reading.open_recording(recording)
    qtbot.waitUntil(lambda: not reading.busy)
    assert [found.title for found in heard if isinstance(found, Inspection)] == ["of a test"]


def test_again_reads_what_was_read_last(reading: MachineReading, recording: str, qtbot: QtBot) -> None:
    reading.open_recording(recording)
    ended(reading, qtbot)
    reading.again()
    assert ended(reading, qtbot).title == "of a test"


def test_again_notices_that_the_file_changed(reading: MachineReading, recording: str, qtbot: QtBot) -> None:
    reading.open_recording(recording)
    ended(reading, qtbot)
    Path(recording).write_text(json.dumps(encode_machine(machine(note="changed"), ENGLISH)))
    reading.again()
    assert ended(reading, qtbot).title == "changed"
