"""The verify page: what can be chosen, checks as they come, every ending in words, saving and copying."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.model.driver import Driver
from gpuassist.model.environment import PythonEnvironment, Torch
from gpuassist.model.fact import Unknown, value_or
from gpuassist.model.finding import Answer, Severity
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, Terminal, Variable
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import Marked, StepStatus, ToExplainText, ToInstall, WizardStep
from gpuassist.session.verification_differences import Difference
from gpuassist.session.verify import rests_on
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui.jobs import Done, Job
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.verify.page import VerifyPage
from gpuassist.ui.pages.verify.work import Ran
from gpuassist.ui.widgets.cards import Notice
from gpuassist.verify.protocol import CheckBegun, CheckDone, Device, Planned, Started
from gpuassist.verify.runner import Level
from tests.torch_environment import torch_python
from tests.ui.made import Answers, framed, inspection, known

PLANNED = (Planned("matmul", "fp32"), Planned("matmul", "bf16"), Planned("memory-returned", "fp32"))
ENVIRONMENT = (("python", "3.11.9"), ("torch", "2.5.1+cu124"), ("cuda", "12.4"))
BEGAN = Started(ENVIRONMENT, (Device("cuda:0", "RTX 4090", PLANNED),), 1, "")
NEVER = Unknown(verbatim("the check was skipped"))
RIGHT = Check("matmul", "fp32", Verdict.PASS, None, known(3.1e-7), known(4.2e-6), known(0.01), known(58.2), "TFLOP/s")
WRONG = Check("matmul", "bf16", Verdict.FAIL, verbatim("the result is too far off"), known(0.5), known(0.01))
SKIPPED = Check("memory-returned", "fp32", Verdict.SKIPPED, verbatim("torch counts GPUs only"), NEVER, NEVER, NEVER, NEVER)


def environment(prefix: str, interpreter: str, torch: str = "2.5.1+cu124") -> PythonEnvironment:
    torches = (Torch(prefix, known(torch)),) if torch else ()
    name = Path(prefix).name
    return PythonEnvironment(prefix, name, interpreter=known(interpreter), active=known(False), torch=known(torches))


MACHINE = Machine(
    gpus=known((Gpu(name=known("NVIDIA GeForce RTX 4090"), index=known(0)), Gpu(name=known("NVIDIA T400"), index=known(1)))),
    environments=known(
        (environment("/envs/train", "/envs/train/bin/python"), environment("/envs/web", "/envs/web/bin/python", ""))
    ),
)


class Shown:
    """The page in a window, with what it asked of the frame."""

    def __init__(self, desk: Desk, qtbot: QtBot, machine: Machine = MACHINE, *, recorded: bool = False) -> None:
        self.qtbot = qtbot
        self.frame = framed(qtbot)
        self.page = VerifyPage(desk, self.frame)
        self.page.resize(1056, 700)
        self.page.show()
        self.asked: list[object] = []
        self.page.asked.connect(self.asked.append)
        self.page.show_inspection(inspection(machine, recorded=recorded))
        self.wishes = self.page._wishes

    def cells(self, row: int) -> list[str]:
        """Of a check by its place, headings of groups left out."""
        self.page._show_progress()
        table = self.page.body.table
        model, checks = table.model(), [place for place, one in enumerate(table._checks.table_rows) if one.planned is not None]
        return [model.index(checks[row], column).data() for column in range(model.columnCount())]

    def end(self, *checks: Check, verdict: Verdict, device: str = "cuda:0", **more: object) -> None:
        done = DeviceVerdict(device, "RTX 4090", verdict, checks)
        told = Verification(
            "/envs/train/bin/python",
            ENVIRONMENT,
            (done,),
            visible=0 if device == "cpu" else 1,
            verdict=verdict,
            **more,  # type: ignore[arg-type]
        )
        self.ended(told)

    def ended(self, result: Verification, *differences: Difference) -> None:
        self.page._asked = replace(self.page._asked, rests_on=rests_on(self.page._machine, "/envs/train/bin/python"))
        self.end_with(Ran(VerifyReport(result), (), differences))

    def end_with(self, ran: Ran) -> None:
        self.page._recalling.drop()  # as the start of a run does
        self.page._end(Done(ran))
        self.settle()

    def settle(self) -> None:
        """Until all of the result is shown."""
        self.qtbot.waitUntil(lambda: not self.page.body.shows)

    def notice(self) -> str:
        return " ".join(one.words for one in self.page.findChildren(Notice) if one.isVisibleTo(self.page))

    def words(self) -> str:
        return " ".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisibleTo(self.page))

    def run(self) -> None:
        self.page.start()
        self.qtbot.waitUntil(lambda: self.page._job is None)
        self.settle()


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot) -> Shown:
    return Shown(desk, qtbot)


@pytest.fixture
def begun(shown: Shown) -> Shown:
    shown.page._take(BEGAN)
    shown.page._show_progress()
    return shown


def test_environments_with_torch_are_offered(shown: Shown) -> None:
    choice = shown.wishes._environment
    assert [choice.itemText(place) for place in range(choice.count())] == [
        "train · Python not known · torch 2.5.1+cu124",
        "In an image or a container…",
        "Choose an interpreter…",
    ]


def test_the_preferred_environment_is_chosen(shown: Shown) -> None:
    assert shown.wishes.interpreter == "/envs/train/bin/python"


def test_every_gpu_and_the_cpu_are_offered(shown: Shown) -> None:
    choice = shown.wishes._devices
    names = [choice.itemText(place) for place in range(choice.count())]
    assert names == ["All GPUs", "GPU 0 · RTX 4090", "GPU 1 · T400", "CPU"]


def test_a_chosen_gpu_is_what_is_verified(shown: Shown) -> None:
    shown.wishes._devices.setCurrentIndex(2)
    assert shown.wishes.devices == ("1",)


def test_depth_changes_what_is_left_open(shown: Shown) -> None:
    shown.wishes._depth.setCurrentIndex(1)
    shown.wishes.changed.emit()
    assert shown.wishes.level is Level.FULL
    assert not any("Full runs longer" in sentence for sentence in shown.page.body.proves.sentences)


def test_without_torch_nothing_can_be_started_but_an_installation_planned(desk: Desk, qtbot: QtBot) -> None:
    made = Shown(desk, qtbot, Machine(environments=known(())))
    assert not made.wishes.start.isEnabled()
    lead = made.page.bar().primary
    assert lead is not None
    with qtbot.waitSignal(made.page.asked, check_params_cb=lambda asked: isinstance(asked, ToInstall)):
        lead.trigger()
    made.wishes.add_interpreter(sys.executable)
    assert made.page.bar().primary is None


def test_an_interpreter_can_be_named(desk: Desk, qtbot: QtBot, answers: Answers) -> None:
    made = Shown(desk, qtbot, Machine(environments=known(())))
    answers.opened = sys.executable
    made.wishes.interpreter_wanted.emit()
    made.qtbot.waitUntil(lambda: made.wishes.interpreter == sys.executable)
    assert made.wishes.start.isEnabled()


def test_a_path_without_interpreter_is_told(shown: Shown, answers: Answers) -> None:
    answers.opened = "/nowhere/python"
    shown.wishes.interpreter_wanted.emit()
    shown.qtbot.waitUntil(lambda: "/nowhere/python" in shown.notice())


def test_a_dialog_closed_changes_nothing(shown: Shown) -> None:
    shown.wishes._environment.setCurrentIndex(2)
    shown.wishes._choose_environment(2)
    assert shown.wishes.interpreter == "/envs/train/bin/python"


def test_checks_wait_before_they_run(begun: Shown) -> None:
    assert begun.cells(0) == ["Matrix product", "waiting", "", ""]


def test_a_running_check_says_so(begun: Shown) -> None:
    begun.page._take(CheckBegun("cuda:0", "matmul", "fp32"))
    assert begun.cells(0)[1] == "running"


def test_a_right_check_shows_error_bound_and_rate(begun: Shown) -> None:
    begun.page._take(CheckDone("cuda:0", RIGHT))
    assert begun.cells(0)[1:] == ["passed", "3.1e-07 / 4.2e-06", "58.2 TFLOP/s"]


def test_progress_is_counted(begun: Shown) -> None:
    begun.page._job = Job(begun.page)
    begun.page._take(CheckDone("cuda:0", RIGHT))
    begun.page._show_progress()
    assert begun.wishes.progress_words.startswith("1 of 3")
    begun.page._job = None


def test_the_title_names_the_device(begun: Shown) -> None:
    assert begun.page._header.title == "Verifying RTX 4090"
    assert begun.page._header.subtitle == "Python 3.11.9 · torch 2.5.1+cu124 · CUDA 12.4"


def test_all_right_is_said_and_marked(begun: Shown) -> None:
    begun.end(RIGHT, verdict=Verdict.PASS)
    assert begun.page._header.title == "All checks passed on the GPU"
    assert begun.asked[-1] == Marked(WizardStep.VERIFY, StepStatus.RIGHT)


def test_a_wrong_result_is_a_problem(begun: Shown) -> None:
    begun.end(RIGHT, WRONG, verdict=Verdict.FAIL)
    assert begun.page.body.summary.sentences[0] == "cuda:0 (RTX 4090): of 2 checks 1 gave a wrong result."
    assert begun.asked[-1] == Marked(WizardStep.VERIFY, StepStatus.PROBLEM)


def test_a_wrong_check_says_why(begun: Shown) -> None:
    begun.end(RIGHT, WRONG, verdict=Verdict.FAIL)
    assert begun.page.body.detail.isVisibleTo(begun.page)
    assert "the result is too far off" in begun.words().lower()


def test_the_result_names_what_failed(begun: Shown) -> None:
    begun.end(RIGHT, WRONG, verdict=Verdict.FAIL)
    assert "matrix product (bf16): the result is too far off" in begun.page.body.summary.sentences


def test_a_skipped_check_says_why(begun: Shown) -> None:
    begun.end(RIGHT, SKIPPED, verdict=Verdict.PASS)
    _, state, why, _ = begun.page.body.table._checks.rows[-1]
    assert (why.after, state.mark) == ("torch counts GPUs only", Mark.ABSENT)


def test_cpu_alone_proves_no_accelerator(begun: Shown) -> None:
    begun.end(RIGHT, verdict=Verdict.PASS, device="cpu", no_accelerator="this torch is built for the CPU only")
    assert begun.notice().startswith("No GPU was tested")
    assert begun.page._header.title == "The CPU passed; no GPU was tested"


def test_cpu_alone_leaves_the_step_unknown(begun: Shown) -> None:
    begun.end(RIGHT, verdict=Verdict.PASS, device="cpu")
    assert begun.asked[-1] == Marked(WizardStep.VERIFY, StepStatus.UNKNOWN)


def test_a_hung_check_is_told(begun: Shown) -> None:
    hung = Check("matmul", "fp32", Verdict.HUNG, verbatim("no answer for 10 s"))
    begun.end(hung, verdict=Verdict.HUNG)
    assert begun.page._header.title == "Matrix product (fp32) hung on cuda:0 (RTX 4090): no answer for 10 s"


def test_what_torch_printed_can_be_shown(begun: Shown) -> None:
    begun.end(WRONG, verdict=Verdict.FAIL, output="warning: something\n")
    begun.page.body.output.toggle.click()
    assert begun.page.body.output.block.isVisibleTo(begun.page)
    assert begun.page.body.output.block.content == "warning: something"


def test_silence_of_torch_shows_nothing(begun: Shown) -> None:
    begun.end(RIGHT, verdict=Verdict.PASS)
    assert not begun.page.body.output.isVisibleTo(begun.page)


def test_several_devices_have_a_column(shown: Shown) -> None:
    devices = (Device("cuda:0", "RTX 4090", PLANNED), Device("cuda:1", "T400", PLANNED))
    shown.page._take(Started((), devices, 2, ""))
    assert shown.cells(0) == ["Matrix product", "waiting", "waiting"]
    assert len(shown.page.progress.lines) == 6


def test_the_result_is_saved_as_the_command_prints_it(begun: Shown, answers: Answers, tmp_path: Path) -> None:
    answers.saved = str(tmp_path / "result.json")
    begun.end(RIGHT, verdict=Verdict.PASS)
    begun.page._save.trigger()
    begun.qtbot.waitUntil(lambda: "saved" in begun.notice())
    document = json.loads((tmp_path / "result.json").read_text())
    assert (document["schema"], document["accelerator_verified"]) == (1, True)


def test_a_place_that_cannot_be_written_is_told(begun: Shown, answers: Answers, tmp_path: Path) -> None:
    answers.saved = str(tmp_path / "missing" / "result.json")
    begun.end(RIGHT, verdict=Verdict.PASS)
    begun.page._save.trigger()
    begun.qtbot.waitUntil(lambda: "No such file" in begun.notice())


@pytest.mark.parametrize(("ending", "begin"), [(".svg", b"<svg"), (".png", b"\x89PNG")])
def test_the_result_is_saved_as_a_picture(begun: Shown, answers: Answers, tmp_path: Path, ending: str, begin: bytes) -> None:
    answers.saved = str(tmp_path / f"result{ending}")
    begun.end(RIGHT, verdict=Verdict.PASS)
    begun.page._card.action.trigger()
    assert (tmp_path / f"result{ending}").read_bytes().startswith(begin)
    assert str(tmp_path) in begun.notice()


def test_the_result_can_be_copied(begun: Shown) -> None:
    begun.end(RIGHT, verdict=Verdict.PASS)
    begun.page._copy.trigger()
    assert json.loads(QGuiApplication.clipboard().text())["devices"][0]["device"] == "cuda:0"


def test_nothing_is_offered_before_a_result(shown: Shown) -> None:
    assert shown.page.bar().left == ()


def test_a_recorded_machine_computes_nothing(desk: Desk, qtbot: QtBot) -> None:
    made = Shown(desk, qtbot, recorded=True)
    made.page.start()
    assert made.page._job is None
    assert "recorded machine" in made.words()


def test_a_python_without_torch_is_told(desk: Desk, qtbot: QtBot) -> None:
    made = Shown(desk, qtbot, Machine(environments=known((environment("/envs/bare", sys.executable),))))
    made.run()
    assert "has no torch" in made.notice()
    assert "Nothing was verified" in made.words()


def test_a_missing_interpreter_is_told(shown: Shown) -> None:
    shown.run()
    assert "there is no interpreter at /envs/train/bin/python" in shown.notice()


def test_cancel_ends_a_run_that_hangs(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    hanging = tmp_path / "python"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o755)
    made = Shown(desk, qtbot, Machine(environments=known((environment("/envs/slow", str(hanging)),))))
    made.page.start()
    made.page.cancel()
    qtbot.waitUntil(lambda: made.page._job is None)
    assert made.page._header.title == "Cancelled before the first check"
    assert made.notice() == ""


def test_closing_ends_a_run(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    hanging = tmp_path / "python"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o755)
    made = Shown(desk, qtbot, Machine(environments=known((environment("/envs/slow", str(hanging)),))))
    made.page.start()
    job = made.page._job
    assert job is not None
    made.page.close_down()
    qtbot.waitUntil(lambda: made.page._job is None)
    assert job.cancelled.is_set()


@pytest.mark.slow
def test_a_real_torch_is_verified_on_the_cpu(desk: Desk, qtbot: QtBot) -> None:
    made = Shown(desk, qtbot, Machine(environments=known((environment("/envs/real", torch_python()),))))
    made.wishes._devices.setCurrentIndex(made.wishes._devices.findData("cpu"))
    made.run()
    assert made.page.result is not None
    assert made.page.result.verdict is Verdict.PASS
    assert made.page._header.title == "The CPU passed; no GPU was tested"


def test_an_error_leads_to_its_explanation(shown: Shown) -> None:
    shown.end(replace(WRONG, verdict=Verdict.ERROR), verdict=Verdict.ERROR)
    explain = next(action for action in shown.page.bar().left if action.text() == "Explain the error")
    explain.trigger()
    assert shown.asked[-1] == ToExplainText("the result is too far off")


@pytest.mark.parametrize(("check", "verdict"), [(RIGHT, Verdict.PASS), (WRONG, Verdict.FAIL)])
def test_without_words_of_torch_there_is_nothing_to_explain(shown: Shown, check: Check, verdict: Verdict) -> None:
    shown.end(check, verdict=verdict)
    assert [action.text() for action in shown.page.bar().left] == ["Save", "Copy the result"]


def test_a_result_stays_when_what_it_rests_on_is_read_again_unchanged(begun: Shown) -> None:
    begun.end(RIGHT, verdict=Verdict.PASS)
    used = tuple(replace(one, memory_used_bytes=known(1 << 30)) for one in value_or(MACHINE.gpus, ()))
    begun.page.show_inspection(inspection(replace(MACHINE, gpus=known(used))))
    assert begun.page.result is not None
    assert begun.asked[-1] == Marked(WizardStep.VERIFY, StepStatus.RIGHT)


@pytest.mark.parametrize(
    "machine",
    [
        replace(MACHINE, shell=Shell(new_terminal=known(Terminal("/bin/bash", (Variable("CUDA_HOME", "/new"),), ())))),
        replace(MACHINE, environments=known((environment("/envs/train", "/envs/train/bin/python", "2.7.1+cu128"),))),
        replace(MACHINE, driver=Driver(nvml_version=known("595.10"))),
        replace(MACHINE, gpus=known(())),
    ],
    ids=["terminal", "torch", "driver", "gpus"],
)
def test_a_result_goes_when_what_it_rests_on_changed(begun: Shown, machine: Machine) -> None:
    begun.end(RIGHT, verdict=Verdict.PASS)
    begun.page.show_inspection(inspection(machine))
    assert begun.page.result is None
    assert "Not verified since the machine changed" in begun.words()
    assert begun.page.bar().left == ()


def test_a_run_during_which_the_machine_changed_is_not_marked_right(begun: Shown) -> None:
    begun.page._machine = replace(MACHINE, driver=Driver(nvml_version=known("595.10")))
    done = DeviceVerdict("cuda:0", "RTX 4090", Verdict.PASS, (RIGHT,))
    begun.page._asked = replace(begun.page._asked, rests_on=rests_on(MACHINE, "/envs/train/bin/python"))
    result = Verification("/envs/train/bin/python", ENVIRONMENT, (done,), visible=1, verdict=Verdict.PASS)
    begun.end_with(Ran(VerifyReport(result), ()))
    assert begun.asked[-1] == Marked(WizardStep.VERIFY, StepStatus.UNKNOWN)
    assert begun.notice()


def test_under_a_problem_neither_start_nor_a_torch_that_is_lacking_leads(desk: Desk, qtbot: QtBot) -> None:
    problem = Answer("nouveau-active", Severity.PROBLEM, "nouveau", "", (), (), ())
    lacking = replace(MACHINE, environments=known(()))
    for made, leads, offered in ((MACHINE, True, ""), (lacking, False, "Plan an installation…")):
        shown = Shown(desk, qtbot, made)
        page = shown.page
        assert (page.bar().inside, page._act.text()) == (leads, offered)
        page.show_inspection(replace(inspection(made), answers=(problem,)))
        assert (page.bar().inside, page.bar().primary, page._act.text()) == (False, None, "")
