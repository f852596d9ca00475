"""The cards of the verify page, each by itself."""

from __future__ import annotations

import pytest

from gpuassist.model.environment import PythonEnvironment, Torch
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.ui.pages.verify.result import ProvesCard, ResultCard, TorchOutputCard
from gpuassist.ui.pages.verify.wishes import VerifyWishes
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.verify.runner import Level
from tests.ui.made import known, unknown
from tests.ui.showing import Show


def environment(name: str, *, torch: bool = True, active: bool = False) -> PythonEnvironment:
    torches = (Torch(f"/envs/{name}", known("2.5.1+cu124")),) if torch else ()
    return PythonEnvironment(
        f"/envs/{name}", name, interpreter=known(f"/envs/{name}/bin/python"), active=known(active), torch=known(torches)
    )


def machine(*environments: PythonEnvironment, gpus: int = 0) -> Machine:
    cards = tuple(Gpu(name=known("NVIDIA GeForce RTX 4090"), index=known(index)) for index in range(gpus))
    return Machine(environments=known(environments), gpus=known(cards))


@pytest.fixture
def wishes(show: Show) -> VerifyWishes:
    return show(VerifyWishes(ENGLISH), 900, 70)


def items(choice: object) -> list[str]:
    return [choice.itemText(place) for place in range(choice.count())]  # type: ignore[attr-defined]


def device(verdict: Verdict, *checks: Check, name: str = "cuda:0") -> DeviceVerdict:
    return DeviceVerdict(name, "RTX 4090", verdict, checks)


def result(*devices: DeviceVerdict, **more: object) -> Verification:
    return Verification("/envs/a/bin/python", (), devices, **more)  # type: ignore[arg-type]


def test_before_a_machine_is_read_nothing_can_start(wishes: VerifyWishes) -> None:
    assert wishes.interpreter == ""
    assert wishes.devices == ("all",)


def test_the_active_environment_comes_first(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a"), environment("b", active=True)))
    assert wishes.interpreter == "/envs/b/bin/python"
    assert wishes.environment_name.startswith("b · ")


def test_environments_without_torch_are_left_out(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a", torch=False), environment("b")))
    assert [name.split(" ")[0] for name in items(wishes._environment)] == ["b", "In", "Choose"]


def test_environments_that_are_unknown_leave_the_dialog(wishes: VerifyWishes) -> None:
    wishes.show_machine(Machine(environments=unknown("not looked at")))
    assert items(wishes._environment) == ["In an image or a container…", "Choose an interpreter…"]
    assert wishes.interpreter == ""


def test_without_gpus_torch_decides(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a")))
    assert items(wishes._devices) == ["All that torch sees", "CPU"]


def test_gpus_without_an_index_are_not_offered(wishes: VerifyWishes) -> None:
    wishes.show_machine(Machine(gpus=known((Gpu(name=known("NVIDIA T400")),))))
    assert items(wishes._devices) == ["All GPUs", "CPU"]


def test_another_machine_takes_the_first_ones_place(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a"), environment("b"), gpus=2))
    wishes.show_machine(machine(environment("c")))
    assert [name.split(" ")[0] for name in items(wishes._environment)] == ["c", "In", "Choose"]


def test_a_named_interpreter_is_chosen(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a")))
    wishes.add_interpreter("/opt/python")
    assert wishes.interpreter == "/opt/python"
    assert items(wishes._environment)[-1] == "Choose an interpreter…"


def test_an_interpreter_named_twice_is_listed_once(wishes: VerifyWishes) -> None:
    wishes.add_interpreter("/opt/python")
    wishes.add_interpreter("/opt/python")
    assert items(wishes._environment).count("/opt/python") == 1


def test_choosing_the_dialog_asks_for_it(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a")))
    asked: list[int] = []
    wishes.interpreter_wanted.connect(lambda: asked.append(1))
    wishes._environment.setCurrentIndex(2)
    wishes._environment.activated.emit(2)
    assert asked == [1]
    assert wishes.interpreter == "/envs/a/bin/python"


def test_choosing_another_environment_is_told(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a"), environment("b")))
    told: list[int] = []
    wishes.changed.connect(lambda: told.append(1))
    wishes._environment.setCurrentIndex(1)
    wishes._environment.activated.emit(1)
    assert told == [1]


def test_idle_offers_start(wishes: VerifyWishes) -> None:
    wishes.show_idle()
    assert wishes.start.isVisibleTo(wishes)
    assert not wishes.cancel.isVisibleTo(wishes)


def test_running_offers_cancel_alone(wishes: VerifyWishes) -> None:
    wishes.show_running("", 0, 0)
    assert wishes.cancel.isVisibleTo(wishes)
    assert not wishes.start.isVisibleTo(wishes)
    assert not wishes._environment.isEnabled()


def test_running_says_how_far(wishes: VerifyWishes) -> None:
    wishes.show_running("3 of 10 checks", 3, 10)
    assert wishes.progress_words == "3 of 10 checks"


def test_after_a_run_choices_are_open_again(wishes: VerifyWishes) -> None:
    wishes.show_running("", 1, 2)
    wishes.show_idle()
    assert wishes._environment.isEnabled()


def test_long_names_do_not_widen_the_window(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(environment("a-very-long-name-of-an-environment-" * 5)))
    assert wishes.minimumSizeHint().width() < 860


@pytest.mark.parametrize(("level", "part"), [(Level.QUICK, "Full runs longer"), (Level.FULL, "days of load")])
def test_each_depth_says_what_it_leaves(show: Show, level: Level, part: str) -> None:
    made = show(ProvesCard(ENGLISH), 300, 300)
    made.show_level(level)
    assert any(part in sentence for sentence in made.sentences)


@pytest.mark.parametrize(
    ("verdict", "mark"),
    [
        (Verdict.PASS, Mark.RIGHT),
        (Verdict.FAIL, Mark.PROBLEM),
        (Verdict.ERROR, Mark.PROBLEM),
        (Verdict.HUNG, Mark.PROBLEM),
        (Verdict.SKIPPED, Mark.ABSENT),
    ],
)
def test_each_verdict_has_its_mark(show: Show, verdict: Verdict, mark: Mark) -> None:
    made = show(ResultCard(ENGLISH), 300, 300)
    made.show_result(result(device(verdict)))
    assert [icon.mark for icon in made.findChildren(MarkIcon)] == [mark]


def test_every_device_has_its_sentence(show: Show) -> None:
    right = Check("matmul", "fp32", Verdict.PASS)
    made = show(ResultCard(ENGLISH), 300, 300)
    made.show_result(result(device(Verdict.PASS, right), device(Verdict.PASS, right, name="cuda:1"), visible=2))
    assert len(made.sentences) == 3
    assert made.sentences[-1] == "Every GPU that this torch sees computed the right results."


def test_a_run_without_devices_leaves_no_result(show: Show) -> None:
    made = show(ResultCard(ENGLISH), 300, 300)
    made.show_result(result(error=verbatim("no torch")))
    assert not made.isVisible()


def test_output_is_hidden_until_asked_for(show: Show) -> None:
    made = show(TorchOutputCard(ENGLISH), 400, 200)
    made.show_output("a warning\n")
    assert made.isVisible()
    assert not made.block.isVisibleTo(made)


def test_output_opens_and_closes(show: Show) -> None:
    made = show(TorchOutputCard(ENGLISH), 400, 200)
    made.show_output("a warning\n")
    made.toggle.click()
    assert made.block.isVisibleTo(made)
    made.toggle.click()
    assert not made.block.isVisibleTo(made)


@pytest.mark.parametrize("output", ["", "\n\n", "   "])
def test_blank_output_is_none(show: Show, output: str) -> None:
    made = show(TorchOutputCard(ENGLISH), 400, 200)
    made.show_output(output)
    assert not made.isVisible()
