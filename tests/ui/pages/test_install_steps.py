"""The steps of an install in the window: looked at, confirmed, run, cancelled, said to be done, gone on with, taken back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.install.autostart import autostart_path
from gpuassist.install.records import Install, InstallState, StepState, installs, lock
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import verbatim
from gpuassist.present.marks import Mark
from gpuassist.session.install import Course
from gpuassist.session.navigation import ToRepair
from gpuassist.ui.page import Desk, Wrote
from gpuassist.ui.pages.install.steps import InstallSteps
from tests.install.installs_made import begun, by_user, script
from tests.ui.made import Answers
from tests.ui.showing import Show, button_named, words_in

HELLO = script("print('hello')")


class Shown:
    """The steps with what a test does to them."""

    def __init__(self, desk: Desk, show: Show, qtbot: QtBot) -> None:
        self.desk = desk
        self.qtbot = qtbot
        self.told: list[tuple[Mark, str]] = []
        self.asked: list[object] = []
        self.scroll = show(QScrollArea(), 900, 700)
        self.scroll.setWidgetResizable(True)
        self.steps = InstallSteps(desk, self.scroll)
        self.scroll.setWidget(self.steps)
        self.steps.told.connect(self.told.append)
        self.steps.asked.connect(self.asked.append)
        self.steps.show_machine(Machine(), recorded=False)

    def plan(self, *steps: Step) -> Shown:
        self.steps.show_plan(Course(verbatim("torch"), ("torch",), steps))
        return self

    def next(self) -> Shown:
        self.steps.primary.trigger()
        return self.settle()

    def settle(self) -> Shown:
        self.qtbot.waitUntil(lambda: not self.steps.busy)
        QCoreApplication.processEvents()  # what was put into a layout is shown now
        return self

    @property
    def install(self) -> Install:
        assert self.steps.install is not None
        return self.steps.install

    @property
    def states(self) -> list[StepState]:
        return [one.state for one in self.install.steps]

    @property
    def beside(self) -> list[str]:
        return [action.text() for action in self.steps.beside]

    @property
    def last(self) -> tuple[Mark, str]:
        return self.told[-1]


@pytest.fixture
def shown(desk: Desk, show: Show, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(desk, show, qtbot)
    yield made
    made.steps.close_down()


def test_a_step_is_looked_at_confirmed_and_run(shown: Shown, answers: Answers) -> None:
    shown.plan(HELLO).next()
    assert sys.executable in answers.asked[0]
    assert (shown.states, shown.install.state) == ([StepState.DONE], InstallState.DONE)
    assert "hello" in shown.steps.output.view.toPlainText()
    assert shown.steps.cards[0].mark is Mark.RIGHT
    assert shown.asked == [Wrote()]


def test_nothing_runs_without_a_yes(shown: Shown, answers: Answers, session: Session) -> None:
    answers.agrees = False
    shown.plan(HELLO).next()
    assert (shown.steps.under_way, installs(session.world)) == (False, ())


def test_looking_alone_asks_and_runs_nothing(shown: Shown, answers: Answers) -> None:
    shown.plan(HELLO)
    shown.steps.cards[0].look.click()
    shown.settle()
    assert "No installed package would change" in words_in(shown.steps)
    assert (answers.asked, shown.steps.under_way, shown.asked) == ([], False, [])


def test_a_step_with_a_stop_is_not_run(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere" / "python")
    run = StepRun(((nowhere, "-m", "pip", "install", "torch"),), Tool.PIP, str(tmp_path / "nowhere"), nowhere)
    shown.plan(Step(StepKind.COMMAND, verbatim("install"), ("pip install torch",), run=run)).next()
    assert (answers.asked, shown.steps.under_way) == ([], False)
    assert "So it is not run." in words_in(shown.steps)


def test_each_step_waits_for_the_one_before(shown: Shown) -> None:
    shown.plan(HELLO, script("print('two')")).next()
    assert shown.states == [StepState.DONE, StepState.WAITING]
    assert shown.steps.primary.text() == "Start step 2…"
    shown.next()
    assert not shown.steps.primary.isVisible()


def test_a_failed_step_can_be_taken_again(shown: Shown) -> None:
    shown.plan(script("raise SystemExit('error: no room')")).next()
    assert (shown.states, shown.last[0]) == ([StepState.FAILED], Mark.PROBLEM)
    assert "no room" in shown.last[1]
    assert shown.next().install.steps[0].tries == 2
    assert shown.asked == [Wrote(), Wrote()]


def test_a_running_step_can_be_cancelled(shown: Shown) -> None:
    shown.plan(script("import time; print('now', flush=True); time.sleep(60)"))
    shown.steps.primary.trigger()
    shown.qtbot.waitUntil(lambda: "now" in shown.steps.output.view.toPlainText())
    shown.steps.output.cancel.click()
    assert shown.settle().states == [StepState.CANCELLED]
    assert (shown.last[0], shown.steps.cards[0].mark) == (Mark.WARNING, Mark.WARNING)
    assert shown.asked == [Wrote()]


def test_looking_can_be_cancelled(shown: Shown, tmp_path: Path) -> None:
    python = tmp_path / "environment" / "bin" / "python"
    (tmp_path / "environment" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    (tmp_path / "environment" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexec sleep 60\n")
    python.chmod(0o755)
    run = StepRun(((str(python), "-m", "pip", "install", "torch"),), Tool.PIP, str(tmp_path / "environment"), str(python))
    shown.plan(Step(StepKind.COMMAND, verbatim("install"), run=run)).steps.primary.trigger()
    shown.qtbot.waitUntil((tmp_path / "asked").exists)
    assert shown.beside == ["Cancel"]
    shown.steps.beside[0].trigger()
    assert "Looking was cancelled; nothing was changed" in words_in(shown.settle().steps)
    assert not shown.steps.under_way


def test_while_it_runs_nothing_else_can_be_begun(shown: Shown) -> None:
    shown.plan(script("import time; print('now', flush=True); time.sleep(60)"))
    shown.steps.primary.trigger()
    shown.qtbot.waitUntil(lambda: shown.steps.output.running)
    assert (shown.steps.primary.isEnabled(), shown.beside, shown.steps.under_way) == (False, ["Cancel"], True)
    shown.steps.close_down()
    shown.settle()


def test_the_log_can_be_opened_and_its_path_copied(shown: Shown, answers: Answers, clipboard: QClipboard) -> None:
    shown.plan(HELLO).next()
    shown.steps.output.open_log.click()
    button_named(shown.steps.output, "Copy path").click()
    assert "hello" in Path(clipboard.text()).read_text()
    assert answers.visited == [f"file://{clipboard.text()}"]


def test_a_root_step_is_said_to_be_done_and_checked(shown: Shown, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    shown.plan(by_user(StepKind.ROOT_COMMAND, StepProof(Proves.ABSENT, str(there)))).next()
    assert (shown.states, shown.last[0]) == ([StepState.WAITING], Mark.PROBLEM)
    there.rmdir()
    assert shown.next().states == [StepState.DONE]
    assert shown.last[0] is Mark.RIGHT
    assert shown.asked == [Wrote(), Wrote()]


def test_a_root_step_is_never_run(shown: Shown) -> None:
    shown.plan(by_user(StepKind.ROOT_COMMAND)).settle()
    assert shown.steps.cards[0].look.isHidden()
    assert any("never runs it" in words for words in words_in(shown.steps))


def test_a_restart_is_the_users_to_make(shown: Shown, session: Session) -> None:
    shown.plan(by_user(StepKind.REBOOT)).next()
    assert (shown.states, shown.last[0]) == ([StepState.WAITING], Mark.INFO)
    assert not Path(autostart_path(session.world)).exists()


def test_gpuassist_opens_after_the_restart_where_that_is_ticked(shown: Shown, session: Session) -> None:
    shown.plan(by_user(StepKind.REBOOT))
    tick = shown.steps.cards[0].autostart
    assert tick is not None
    tick.click()
    shown.next()
    assert Path(autostart_path(session.world)).exists()


def test_a_start_up_file_is_changed_on_the_page_repair(shown: Shown) -> None:
    shown.plan(Step(StepKind.EDIT, verbatim("use it"), ("gpuassist use cuda 12.8",))).next()
    assert shown.asked == [ToRepair("12.8")]


def test_what_waits_is_gone_on_with(shown: Shown, session: Session) -> None:
    begun(session, HELLO, HELLO)
    shown.steps.go_on()
    shown.settle()
    assert (shown.states, shown.steps.primary.text()) == ([StepState.WAITING] * 2, "Start step 1…")
    assert session.words(shown.steps.title) == "Step 1 of 2"


def test_nothing_waits(shown: Shown) -> None:
    shown.steps.go_on()
    assert shown.settle().last == (Mark.RIGHT, "No unfinished install.")


def test_it_can_be_given_up(shown: Shown, session: Session) -> None:
    begun(session, HELLO)
    shown.steps.go_on()
    shown.settle()
    shown.steps.beside[-1].trigger()
    assert shown.settle().install.state is InstallState.GIVEN_UP
    assert not shown.steps.primary.isVisible()


def test_it_is_taken_back(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    made = tmp_path / "made"
    shown.plan(script(f"import os; os.mkdir({str(made)!r})", creates=str(made))).next()
    assert made.exists()
    assert shown.beside == ["Undo install…"]
    shown.steps.beside[0].trigger()
    shown.settle()
    assert f"rm -r {made}" in answers.asked[-1]
    assert (made.exists(), shown.install.state) == (False, InstallState.TAKEN_BACK)
    assert shown.asked == [Wrote(), Wrote()]


def test_what_another_gpuassist_is_at_is_left_alone(shown: Shown, session: Session) -> None:
    with lock(session.world):
        shown.plan(HELLO).next()
    assert shown.last == (Mark.PROBLEM, "another gpuassist is at an install just now")
    assert not shown.steps.under_way


def test_beginning_another_says_that_it_gives_up_what_waits(shown: Shown, session: Session, answers: Answers) -> None:
    from gpuassist.install.resume import waiting

    first = begun(session, HELLO)
    shown.steps.show_waiting(waiting(session))
    shown.plan(HELLO).next()
    assert "The unfinished install of torch is given up; what it did stays." in answers.asked[0]
    assert {one.id: one.state for one in installs(session.world)}[first.id] is InstallState.GIVEN_UP


def test_of_a_recorded_machine_nothing_can_be_run(shown: Shown) -> None:
    shown.steps.show_machine(Machine(), recorded=True)
    shown.plan(HELLO)
    assert not shown.steps.primary.isEnabled()
    assert shown.steps.cards[0].look.isHidden()
