"""How a verification ends on its page: the way on, what it says of a failure, earlier runs, and what a stop leaves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.model.finding import Action, Answer, CommandUse, Remedy, Severity
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text, verbatim
from gpuassist.model.verdict import Cause, Check, DeviceVerdict, Explained, Verdict, Verification
from gpuassist.session.navigation import Marked, StepStatus, ToHolders, ToInstall, WizardStep
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.session.verification_differences import Change, Difference
from gpuassist.session.verifications import KeptVerification
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui.jobs import Job
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.verify.work import Ran
from gpuassist.ui.widgets.keys import tab_stops
from gpuassist.verify.protocol import CheckBegun, CheckDone, Device, Imported, Planned, Started
from gpuassist.verify.toolkits import ToolkitBegun, ToolkitCheck
from tests.ui.pages.test_verify import BEGAN, ENVIRONMENT, PLANNED, RIGHT, WRONG, Shown

SAID = "CUDA error: no kernel image is available\nCompile with TORCH_USE_CUDA_DSA"
ERROR = Check("matmul", "bf16", Verdict.ERROR, verbatim(SAID.partition("\n")[0]), said=SAID)
COMMAND = CommandUse("torch-arch-list", (), ("python -c 'import torch'",))
REMEDY = Remedy("Compare torch's list with the GPU.", (COMMAND,), needs_root=False, action=Action.COMMAND, check="")
ANSWER = Answer("torch.no-code", Severity.PROBLEM, "torch has no code for this GPU", "Its list is short.", (), (REMEDY,), ())


@pytest.fixture
def begun(desk: Desk, qtbot: QtBot) -> Shown:
    shown = Shown(desk, qtbot)
    shown.page._take(BEGAN)
    shown.page._show_progress()
    return shown


def result(*checks: Check, verdict: Verdict, **more: object) -> Verification:
    device = DeviceVerdict("cuda:0", "RTX 4090", verdict, checks)
    return Verification("/envs/train/bin/python", ENVIRONMENT, (device,), visible=1, verdict=verdict, **more)  # type: ignore[arg-type]


def explained(shown: Shown, answer: Answer = ANSWER) -> None:
    shown.ended(result(RIGHT, ERROR, verdict=Verdict.ERROR, explained=(Explained(SAID, answer),)))


def primary(shown: Shown) -> str:
    action = shown.page.bar().primary
    return action.text() if action is not None else ""


def press_primary(shown: Shown) -> None:
    action = shown.page.bar().primary
    assert action is not None
    action.trigger()


def test_a_torch_for_the_cpu_alone_leads_to_the_plan_for_another(begun: Shown) -> None:
    why = text("this torch is built for the CPU alone, and this machine has a GPU")
    cpu = DeviceVerdict("cpu", "x86_64", Verdict.PASS, (RIGHT,))
    begun.ended(Verification("/envs/train/bin/python", (("torch", "2.6.0+cpu"),), (cpu,), verdict=Verdict.SKIPPED, unverified=why))
    press_primary(begun)
    assert begun.asked[-1] == ToInstall(InstallWish(torch=ANY))
    assert begun.page.bar().left == (begun.page._card.saving, begun.page._copy)
    assert begun.asked[-2] == Marked(WizardStep.VERIFY, StepStatus.UNKNOWN)


def test_a_gpu_that_is_hidden_needs_no_other_torch(begun: Shown) -> None:
    why = text("CUDA_VISIBLE_DEVICES={value} hides every GPU", value="-1")
    begun.ended(replace(result(RIGHT, verdict=Verdict.SKIPPED), devices=(), visible=0, unverified=why))
    assert primary(begun) == ""


def test_a_gpu_that_others_hold_leads_to_who_holds_it(begun: Shown) -> None:
    held = Check("matmul", "bf16", Verdict.SKIPPED, verbatim("others hold 23.4 GiB"), cause=Cause.MEMORY)
    begun.ended(result(RIGHT, held, verdict=Verdict.SKIPPED))
    press_primary(begun)
    assert begun.asked[-1] == ToHolders()
    assert begun.page._header.title == "Not verified: others hold 23.4 GiB"


def test_a_known_cause_has_its_card_and_its_remedy_is_the_blue_button(begun: Shown) -> None:
    explained(begun)
    assert [card.answer for card in begun.page.body.answers.cards] == [ANSWER]
    press_primary(begun)
    assert QGuiApplication.clipboard().text() == "python -c 'import torch'"
    assert begun.page._header.title == "Torch has no code for this GPU"


def test_a_remedy_that_is_a_plan_leads_to_it(begun: Shown) -> None:
    step = Step(StepKind.COMMAND, text("install torch"), ("pip install torch==2.7",))
    planned = replace(REMEDY, goal="torch==2.7", steps=(step,))
    explained(begun, replace(ANSWER, remedies=(planned,)))
    press_primary(begun)
    assert begun.asked[-1] == ToInstall(InstallWish(torch="2.7"))


def test_what_is_explained_need_not_be_explained_again(begun: Shown) -> None:
    explained(begun)
    assert begun.page._explain not in begun.page.bar().left


def test_one_button_at_most_is_blue_on_the_page(begun: Shown) -> None:
    explained(begun)
    seen = [one for one in begun.page.findChildren(QPushButton) if one.isVisibleTo(begun.page)]
    assert [one.text() for one in seen if one.property("kind") == "primary"] == []


def test_the_first_failure_is_chosen_with_all_that_torch_said(begun: Shown) -> None:
    explained(begun)
    detail = begun.page.body.detail
    assert "no kernel image" in begun.words()
    assert not detail.said.isVisibleTo(begun.page)
    detail.toggle.click()
    assert detail.said.isVisibleTo(begun.page)
    assert detail.said.content == SAID


def test_a_check_leads_to_the_card_of_its_cause(begun: Shown) -> None:
    explained(begun)
    (card,) = begun.page.body.answers.cards
    card.set_open(False)
    begun.page.body.detail.to_answer.click()
    assert card.is_open


def test_where_time_ended_a_run_the_title_says_how_much_passed(begun: Shown) -> None:
    late = Check("memory-returned", "fp32", Verdict.SKIPPED, verbatim("not run: time"), cause=Cause.TIME)
    begun.ended(result(RIGHT, late, verdict=Verdict.PASS))
    assert begun.page._header.title == "All checks that ran passed: 1 of 3"


def test_what_mends_an_error_does_not_lead_on_from_a_wrong_result(begun: Shown) -> None:
    begun.ended(result(WRONG, ERROR, verdict=Verdict.FAIL, explained=(Explained(SAID, ANSWER),)))
    assert primary(begun) == ""
    assert begun.page.body.answers.cards


def tops(begun: Shown) -> list[str]:
    """Which cards stand below one another at the left, from the top."""
    body = begun.page.body
    named = {"table": body._checks, "detail": body.detail, "causes": body.answers, "result": body.summary, "proves": body.proves}
    there = [(body._left.indexOf(widget), name) for name, widget in named.items() if body._left.indexOf(widget) >= 0]
    return [name for _, name in sorted(there)]


def test_a_cause_of_all_comes_before_the_table_and_one_of_a_check_after_it(begun: Shown) -> None:
    begun.page.resize(700, 700)
    explained(begun)
    of_a_check = tops(begun)
    begun.page._forget_result()
    begun.page._take(BEGAN)
    begun.ended(result(RIGHT, verdict=Verdict.ERROR, no_accelerator=SAID, explained=(Explained(SAID, ANSWER),)))
    assert of_a_check == ["table", "detail", "causes", "result", "proves"]
    assert tops(begun)[:2] == ["causes", "table"]


def test_what_a_run_will_prove_stands_beside_it_and_what_it_came_to_then(begun: Shown) -> None:
    body = begun.page.body
    begun.page.resize(1400, 700)
    while_it_runs = body._right.indexOf(body.proves)
    begun.ended(result(RIGHT, verdict=Verdict.PASS))
    assert while_it_runs >= 0
    assert "proves" in tops(begun)
    assert body.summary.isVisibleTo(begun.page)


def test_tab_goes_through_what_stands_on_the_page_from_the_top(begun: Shown) -> None:
    begun.page.resize(1400, 700)
    begun.page._wishes.add_interpreter("/opt/python")
    explained(begun)
    body, came = begun.page.body, []
    stop: QWidget | None = begun.wishes.start.nextInFocusChain()
    while stop is not None and stop is not begun.wishes.start:
        if stop.isVisibleTo(begun.page) and stop.focusPolicy() & Qt.FocusPolicy.TabFocus:
            came.append(stop)
        stop = stop.nextInFocusChain()
    (card,) = body.answers.cards
    places = [came.index(one) for one in (body.table, *tab_stops(card)[:1], body.detail.to_answer)]
    assert came[0] is body.table
    assert places == sorted(places)


def test_escape_stops_a_run(desk: Desk, qtbot: QtBot) -> None:
    shown = Shown(desk, qtbot)
    shown.frame.activateWindow()
    qtbot.waitUntil(shown.frame.isActiveWindow)
    shown.page._job = Job(shown.page)
    shown.page._show_progress()
    with qtbot.waitSignal(shown.wishes.cancel_wanted):
        QTest.keyClick(shown.page, Qt.Key.Key_Escape)


def test_a_stop_keeps_what_was_found_and_says_how_much(begun: Shown) -> None:
    cut = tuple(Check(one.name, one.dtype, Verdict.SKIPPED, verbatim("stopped"), cause=Cause.CANCELLED) for one in PLANNED[1:])
    begun.ended(result(RIGHT, *cut, verdict=Verdict.SKIPPED, cancelled=True, error=text("it was stopped")))
    assert begun.page._header.title == "Cancelled: 1 of 3 checks were done"
    assert begun.notice() == ""
    assert [begun.cells(place)[1] for place in range(3)] == ["passed", "not run", "not run"]


def test_a_stop_after_a_failure_stays_a_problem(begun: Shown) -> None:
    begun.ended(result(RIGHT, WRONG, verdict=Verdict.FAIL, cancelled=True))
    assert begun.asked[-1] == Marked(WizardStep.VERIFY, StepStatus.PROBLEM)


def test_a_title_stands_once(begun: Shown) -> None:
    begun.page._forget_result()
    begun.ended(Verification("/envs/train/bin/python", (), (), verbatim("ImportError: libcudart.so.12"), verdict=Verdict.ERROR))
    assert begun.words().count(begun.page._header.title) == 1
    assert "libcudart" in begun.notice()


def test_a_toolkit_that_computes_wrong_is_no_pass(begun: Shown) -> None:
    wrong = ToolkitCheck(verbatim("nvcc 12.4 with g++ 12 for sm_89"), Verdict.FAIL, "/nvcc", reason=verbatim("0 and not 42"))
    report = VerifyReport(result(RIGHT, verdict=Verdict.PASS), toolkits=(wrong,))
    begun.end_with(Ran(report, ()))
    assert begun.page._header.title == "1 check of the toolkits failed"
    assert begun.page.body.toolkits.sentences == ("nvcc 12.4 with g++ 12 for sm_89: failed, 0 and not 42",)


def test_earlier_runs_stand_with_what_is_otherwise(begun: Shown) -> None:
    document = {"accelerator_verified": True, "environment": {"torch": "2.5.1"}, "devices": [{"name": "T400", "verdict": "pass"}]}
    before = (KeptVerification("2026-11-20T09:02:00+00:00", "550.54.14", "quick", document),)
    slower = Difference(Change.SLOWER, "cuda:0", "", verbatim("the driver update came with 12 % less"), share=-0.12)
    begun.end_with(Ran(VerifyReport(result(RIGHT, verdict=Verdict.PASS)), before, (slower,)))
    told = begun.page.body.earlier.sentences
    assert told == (
        "The driver update came with 12 % less",
        "2026-11-20 09:02: passed, T400 · torch 2.5.1 · driver 550.54.14 · Quick",
    )


@pytest.fixture
def running(begun: Shown) -> Shown:
    """The page with a run under way whose clock the test sets."""
    begun.page._forget_result()
    begun.page._job = Job(begun.page)
    begun.page._now = lambda: 0.0  # type: ignore[method-assign]
    return begun


def said_at(shown: Shown, second: float) -> str:
    shown.page._now = lambda: second  # type: ignore[method-assign]
    shown.page._show_progress()
    return shown.wishes.progress_words


def test_seconds_are_counted_from_the_import_on(running: Shown) -> None:
    assert said_at(running, 4.2) == "Importing torch, 4 s (limit 180 s)"
    running.page._take(Imported(5.0))
    assert said_at(running, 6.2) == "Starting the driver, 2 s (limit 30 s)"
    running.page._take(BEGAN)
    assert said_at(running, 7.2) == "0 of 3 checks · at most 7 s of 10 s left"


def test_a_check_that_takes_long_is_named(running: Shown) -> None:
    running.page._take(BEGAN)
    running.page._take(CheckBegun("cuda:0", "matmul", "fp32"))
    assert said_at(running, 6.0).endswith("matrix product fp32 for 6 s")


def test_a_time_that_is_over_is_said(running: Shown) -> None:
    running.page._take(BEGAN)
    assert said_at(running, 14.0) == "0 of 3 checks · time is up, ending"


def test_a_toolkit_that_is_compiled_for_is_named(running: Shown) -> None:
    running.page._take(BEGAN)
    running.page._take(ToolkitBegun(verbatim("nvcc 12.4 with g++ 12")))
    assert said_at(running, 1.0) == "Toolkits: nvcc 12.4 with g++ 12"


def test_many_events_are_painted_together(running: Shown) -> None:
    devices = tuple(Device(f"cuda:{place}", "RTX 4090", PLANNED) for place in range(16))
    running.page._take(Started(ENVIRONMENT, devices, 16, ""))
    for device in devices:
        running.page._take(CheckDone(device.device, RIGHT))
    running.qtbot.waitUntil(lambda: running.wishes.progress_words.startswith("16 of 48"))
    assert running.page.body.table.model().columnCount() == 17


def test_a_pair_of_devices_is_no_column(running: Shown) -> None:
    joint = Device("cuda:0+cuda:1", "pair", (Planned("peer-copy", "int64"),), members=("cuda:0", "cuda:1"))
    devices = (*(Device(f"cuda:{place}", "RTX 4090", PLANNED) for place in range(2)), joint)
    running.page._take(Started(ENVIRONMENT, devices, 2, ""))
    running.page._show_progress()
    assert [column.device for column in running.page.body.shown.columns] == ["cuda:0", "cuda:1"]


def test_the_focus_goes_to_the_result_where_cancel_had_it(desk: Desk, qtbot: QtBot) -> None:
    shown = Shown(desk, qtbot)
    shown.frame.activateWindow()
    qtbot.waitUntil(shown.frame.isActiveWindow)
    shown.page._job = Job(shown.page)
    shown.wishes.start.setFocus()
    shown.page._take(BEGAN)
    shown.page._show_progress()
    assert shown.wishes.cancel.hasFocus()
    shown.end(RIGHT, verdict=Verdict.PASS)
    assert shown.page.body.table.hasFocus()


def test_what_mends_a_wrong_result_is_the_blue_button(begun: Shown) -> None:
    of_error, of_wrong = Explained(SAID, replace(ANSWER, id="another")), Explained("the result is too far off", ANSWER)
    begun.ended(result(WRONG, ERROR, verdict=Verdict.FAIL, explained=(of_error, of_wrong)))
    press_primary(begun)
    assert QGuiApplication.clipboard().text() == "python -c 'import torch'"
