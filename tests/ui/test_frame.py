"""The frame: what the user does goes into the flow, and what comes out is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.knowledge.tables import Knowledge
from gpuassist.session.navigation import Back, GoTo, Marked, Next, Place, SideTool, StepStatus, ToRepair, WizardStep
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Bar, Desk, OpenExample, Page, ReadAgain
from gpuassist.ui.widgets.help import Help
from tests.ui.frames import HEALTHY, TOO_OLD, Frames, buttons, recorded
from tests.ui.made import Answers
from tests.ui.showing import Show
from tests.values import machine


@pytest.fixture
def frames(desk: Desk, show: Show, qtbot: QtBot) -> Frames:
    return Frames(desk, show, qtbot)


@pytest.fixture
def healthy(tmp_path: Path) -> str:
    return recorded(machine(note="of a test"), tmp_path)


@pytest.fixture
def too_old(tmp_path: Path) -> str:
    return recorded(machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7"), tmp_path)


def press(frame: Frame, key: Qt.Key, modifier: Qt.KeyboardModifier, qtbot: QtBot) -> None:
    """Presses a key once the window is the active one: shortcuts of others are not heard."""
    window = frame.window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(frame, key, modifier)


def test_a_read_machine_marks_its_steps(frames: Frames, healthy: str) -> None:
    frame = frames(healthy)
    assert frame.flow.state(WizardStep.MACHINE) is StepStatus.RIGHT
    assert frame.side.row(WizardStep.FOUND).isEnabled()


def test_steps_wait_for_the_facts(frames: Frames, healthy: str) -> None:
    frame = frames.opened(healthy)
    assert not frame.side.row(WizardStep.FOUND).isEnabled()
    assert frame.side.row(WizardStep.LIVE).isEnabled()
    frames.settle(frame)


def test_a_page_asked_for_too_early_comes_when_it_can(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy, WizardStep.VERIFY)
    qtbot.waitUntil(lambda: frame.flow.current is WizardStep.VERIFY)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space], ids=lambda key: key.name)
def test_a_key_presses_the_focused_button(frames: Frames, healthy: str, key: Qt.Key) -> None:
    frame = frames(healthy)
    way_on = next(one for one in frame.bar.findChildren(QPushButton) if one.property("kind") == "primary")
    way_on.setFocus()
    QTest.keyClick(way_on, key)
    assert frame.flow.current is WizardStep.FOUND


def test_clicking_a_step_shows_its_page(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    QTest.mouseClick(frame.side.row(WizardStep.FOUND), Qt.MouseButton.LeftButton)
    assert frame.pages.currentWidget() is frame.pages.page(WizardStep.FOUND)


@pytest.mark.parametrize("place", [*WizardStep, *SideTool])
def test_every_place_has_a_page_that_opens(frames: Frames, too_old: str, place: Place) -> None:
    frame = frames(too_old)
    frame.go(GoTo(place))
    assert frame.pages.currentWidget() is frame.pages.page(place)
    frame.close_down()


@pytest.mark.parametrize("tool", list(SideTool))
def test_a_tool_opens_before_anything_was_read(frames: Frames, healthy: str, tool: SideTool) -> None:
    frame = frames.opened(healthy)
    frame.side.row(tool).click()
    assert frame.flow.current is tool
    assert "Back" in buttons(frame)
    frames.settle(frame)
    frame.close_down()


@pytest.mark.parametrize(("number", "tool"), list(enumerate(SideTool, start=len(WizardStep) + 1))[:5])  # there are ten digits
def test_keys_lead_to_the_tools(frames: Frames, healthy: str, qtbot: QtBot, number: int, tool: SideTool) -> None:
    frame = frames(healthy)
    press(frame, Qt.Key(Qt.Key.Key_0.value + number % 10), Qt.KeyboardModifier.ControlModifier, qtbot)
    assert frame.flow.current is tool
    frame.close_down()


def test_keys_lead_to_the_page_below_and_above(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    for key, place in ((Qt.Key.Key_PageUp, SideTool.PROFILE), (Qt.Key.Key_PageDown, WizardStep.MACHINE)):
        press(frame, key, Qt.KeyboardModifier.ControlModifier, qtbot)
        assert frame.flow.current is place
    frame.close_down()


def test_the_way_on_names_where_it_leads(frames: Frames, healthy: str) -> None:
    assert buttons(frames(healthy))[-1] == "Show diagnosis"


def test_the_way_on_from_a_finding_is_repair(frames: Frames, too_old: str) -> None:
    frame = frames(too_old)
    frame.go(Next())
    assert buttons(frame)[-2:] == ["Back", "Switch to CUDA 12.4…"]


def test_the_way_on_without_a_finding_is_verify(frames: Frames, healthy: str) -> None:
    frame = frames(healthy)
    frame.go(Next())
    assert buttons(frame)[-1] == "Verify"


def test_pressing_the_way_on_goes_on(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    primary = next(one for one in frame.bar.findChildren(QPushButton) if one.text() == "Show diagnosis")
    QTest.mouseClick(primary, Qt.MouseButton.LeftButton)
    assert frame.flow.current is WizardStep.FOUND


def test_there_is_no_way_back_at_the_beginning(frames: Frames, healthy: str) -> None:
    assert "Back" not in buttons(frames(healthy))


@pytest.mark.parametrize(
    ("key", "modifier", "step"),
    [
        (Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier, WizardStep.FOUND),
        (Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier, WizardStep.FOUND),
        (Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier, WizardStep.VERIFY),
        (Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier, WizardStep.MACHINE),
    ],
)
def test_keys_lead_through_the_steps(
    frames: Frames, healthy: str, qtbot: QtBot, key: Qt.Key, modifier: Qt.KeyboardModifier, step: WizardStep
) -> None:
    frame = frames(healthy)
    press(frame, key, modifier, qtbot)
    assert frame.flow.current is step


def test_the_back_key_goes_back(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    frame.go(GoTo(WizardStep.VERIFY))
    press(frame, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier, qtbot)
    assert frame.flow.current is WizardStep.MACHINE


def test_a_key_presses_the_blue_button(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    press(frame, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier, qtbot)
    assert frame.flow.current is WizardStep.FOUND


def test_the_reading_key_reads_again(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    press(frame, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier, qtbot)
    assert frame.flow.state(WizardStep.MACHINE) is StepStatus.BUSY
    frames.settle(frame)


@pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to every dialog
def test_the_help_key_opens_help(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    press(frame, Qt.Key.Key_F1, Qt.KeyboardModifier.NoModifier, qtbot)
    qtbot.waitUntil(lambda: bool(frame.findChildren(Help)))
    frame.findChildren(Help)[0].accept()


def test_a_recording_says_so_above_every_page(frames: Frames, healthy: str) -> None:
    frame = frames(healthy)
    banner = frame.banners.recorded
    assert banner is not None
    assert banner.isVisible()
    assert banner.words.startswith("Viewing a recorded machine")


def test_a_page_may_open_an_example(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    frame.pages.machine_page.asked.emit(OpenExample(TOO_OLD))
    qtbot.waitUntil(lambda: frame.flow.repairable == "12.4")


def test_a_page_may_ask_to_read_again(frames: Frames, healthy: str, tmp_path: Path, qtbot: QtBot) -> None:
    frame = frames(healthy)
    recorded(machine(gpus=()), tmp_path)
    frame.pages.machine_page.asked.emit(ReadAgain())
    qtbot.waitUntil(lambda: frame.flow.state(WizardStep.FOUND) is not StepStatus.RIGHT)


def test_a_page_may_mark_its_step(frames: Frames, healthy: str) -> None:
    frame = frames(healthy)
    frame.pages.machine_page.asked.emit(Marked(WizardStep.VERIFY, StepStatus.PROBLEM))
    assert frame.flow.state(WizardStep.VERIFY) is StepStatus.PROBLEM


def test_a_new_machine_reaches_pages_that_exist_already(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    frame.go(GoTo(WizardStep.FOUND))
    frame.pages.machine_page.asked.emit(OpenExample(TOO_OLD))
    qtbot.waitUntil(lambda: "Switch to CUDA 12.4…" in buttons(frame))


def test_a_file_that_is_no_recording_is_told_on_the_first_page(frames: Frames, tmp_path: Path, qtbot: QtBot) -> None:
    place = tmp_path / "odd.json"
    place.write_text("no json")
    frame = frames.opened(str(place))
    qtbot.waitUntil(lambda: frame.flow.state(WizardStep.MACHINE) is StepStatus.UNKNOWN)
    frames.settle(frame)
    assert frame.flow.next() is None


def test_a_fault_of_our_own_is_told_with_its_details(frames: Frames, healthy: str, clipboard: object) -> None:
    frame = frames(healthy)
    frame.show_fault("Traceback: a made-up fault")
    frame.show_fault("Traceback: what followed from it")
    assert frame.banners.fault is not None
    assert frame.banners.fault.isVisible()
    assert frame.banners.details == "Traceback: a made-up fault"


def test_live_memory_waits_for_the_libraries_of_its_plot(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames.opened(healthy, WizardStep.LIVE)
    frame.go(GoTo(WizardStep.LIVE))
    qtbot.waitUntil(lambda: frame.pages.currentWidget() is frame.pages.page(WizardStep.LIVE))
    frames.settle(frame)
    frame.close_down()


def test_reading_again_stays_on_the_page(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    frame.go(Next())
    press(frame, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier, qtbot)
    frames.settle(frame)
    assert frame.flow.current is WizardStep.FOUND


def test_a_step_chosen_meanwhile_is_not_left_again(frames: Frames, healthy: str) -> None:
    frame = frames.opened(healthy, WizardStep.FOUND)
    frame.side.row(WizardStep.LIVE).click()
    frames.settle(frame)
    assert frame.flow.current is WizardStep.LIVE
    frame.close_down()


def test_back_from_a_page_leaves_it(frames: Frames, healthy: str) -> None:
    frame = frames(healthy)
    frame.go(GoTo(WizardStep.FOUND))
    frame.go(Back())
    assert frame.pages.currentWidget() is frame.pages.machine_page


def test_the_finding_leads_to_its_repair(frames: Frames, too_old: str, qtbot: QtBot) -> None:
    frame = frames(too_old)
    frame.go(Next())
    switch = next(button for button in frame.pages.findChildren(QPushButton) if button.text() == "Switch to CUDA 12.4…")
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert (frame.flow.current, frame.flow.errand) == (WizardStep.REPAIR, ToRepair("12.4"))


def test_beside_what_is_elsewhere_nothing_is_repaired(frames: Frames, too_old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = frames(too_old)
    frame.go(GoTo(WizardStep.LIVE))
    assert buttons(frame)[-1] == "Switch to CUDA 12.4…"
    page = frame.pages.currentWidget()
    assert isinstance(page, Page)
    monkeypatch.setattr(page, "bar", lambda: Bar(elsewhere=True))
    page.bar_changed.emit()
    assert buttons(frame) == ["Back"]


def test_choosing_a_file_opens_it(frames: Frames, healthy: str, answers: Answers, qtbot: QtBot) -> None:
    frame = frames(healthy)
    answers.opened = healthy
    press(frame, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier, qtbot)
    assert answers.asked == ["Open a recorded machine"]
    frames.settle(frame)


def test_the_examples_that_ship_are_offered(frames: Frames, healthy: str, qtbot: QtBot) -> None:
    frame = frames(healthy)
    qtbot.waitUntil(lambda: "Examples" in buttons(frame))
    offered = [action.data() for action in frame.pages.machine_page.examples()]
    assert {HEALTHY, TOO_OLD} <= set(offered)


def test_every_button_can_be_reached_by_tab(frames: Frames, too_old: str, qtbot: QtBot) -> None:
    frame = frames(too_old)
    frame.go(Next())
    wanted = {button for button in frame.findChildren(QPushButton) if button.isVisible() and button.isEnabled()}
    reached = set()
    widget = frame.side.row(WizardStep.MACHINE)
    for _ in range(400):
        widget = widget.nextInFocusChain()  # type: ignore[assignment]
        reached.add(widget)
    assert {button.text() for button in wanted - reached} == set()


def test_damaged_knowledge_is_named_once_it_was_met(frames: Frames, healthy: str, desk: Desk) -> None:
    resources = desk.session.world.resources

    def read(name: str) -> bytes:
        content = resources.read(name)
        return content.replace(b'"pci_id"', b"pci_id", 1) if name.endswith("gpus.json") else content

    knowledge = Knowledge(read)
    broken = Frames(replace(desk, session=replace(desk.session, knowledge=knowledge)), frames.show, frames.qtbot)
    frame = broken(healthy)
    knowledge.gpu("10de:2684")
    frame.go(GoTo(WizardStep.LIVE))
    assert frame.banners.damage is not None
    assert "gpus.json" in frame.banners.damage.words
    frame.close_down()


def test_sound_knowledge_needs_no_banner(frames: Frames, healthy: str) -> None:
    frame = frames(healthy)
    assert frame.banners.damage is None
    frame.close_down()
