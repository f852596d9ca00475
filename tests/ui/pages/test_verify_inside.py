"""Verifying in an image or a container from the window: what is named, what is said of a name, and what comes of a run."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Verification
from gpuassist.model.words import ENGLISH
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.verify.next_step import next_step
from gpuassist.ui.pages.verify.wishes import VerifyWishes
from gpuassist.verify.containers import Place
from tests.ui.made import Answers
from tests.ui.pages.test_verify import Shown
from tests.ui.showing import Show
from tests.values import RTX_4090, Env, machine


def choose_inside(wishes: VerifyWishes) -> None:
    choice = wishes._environment
    place = next(place for place in range(choice.count()) if choice.itemText(place).startswith("In an image"))
    choice.setCurrentIndex(place)
    choice.activated.emit(place)


@pytest.fixture
def wishes(show: Show) -> VerifyWishes:
    made = show(VerifyWishes(ENGLISH), 960, 140)
    made.show_machine(machine(environments=(Env("train", "2.5.1+cu124"),), gpus=(RTX_4090,)))
    return made


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot) -> Shown:
    made = Shown(desk, qtbot)
    choose_inside(made.wishes)
    return made


def test_fields_stand_there_for_an_image_alone(wishes: VerifyWishes) -> None:
    seen = [wishes.inside.isVisible()]
    choose_inside(wishes)
    seen.append(wishes.inside.isVisible())
    wishes.add_interpreter("/opt/python")
    assert [*seen, wishes.inside.isVisible()] == [False, True, False]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("docker", "pytorch/pytorch:2.6.0"),
        ("podman", "localhost/mine"),
        ("apptainer", "/images/my torch.sif"),
        ("container", "3f2a"),
    ],
)
def test_each_kind_is_a_place(wishes: VerifyWishes, kind: str, name: str) -> None:
    choose_inside(wishes)
    wishes.inside.choose_kind(kind)
    QTest.keyClicks(wishes.inside.name, f"{name} ")
    request = wishes.request
    assert request is not None
    assert (request.inside, request.interpreter) == (Place(kind, name), f"{kind}:{name}")
    assert wishes.inside.choose.isVisible() is (kind == "apptainer")


def test_without_a_name_there_is_nothing_to_run(wishes: VerifyWishes) -> None:
    choose_inside(wishes)
    assert (wishes.request, wishes.interpreter) == (None, "")


def test_what_is_no_name_is_said(wishes: VerifyWishes) -> None:
    choose_inside(wishes)
    QTest.keyClicks(wishes.inside.name, "--privileged")
    assert wishes.request is None
    assert "--privileged" in wishes.inside.note.accessibleName()


def test_enter_starts_once_something_is_named(wishes: VerifyWishes) -> None:
    heard: list[str] = []
    wishes.start_wanted.connect(lambda: heard.append("start"))
    choose_inside(wishes)
    QTest.keyClick(wishes.inside.name, Qt.Key.Key_Return)
    QTest.keyClicks(wishes.inside.name, "mine")
    QTest.keyClick(wishes.inside.name, Qt.Key.Key_Return)
    assert heard == ["start"]


def test_an_image_is_kept_when_the_machine_is_read_again(wishes: VerifyWishes) -> None:
    choose_inside(wishes)
    QTest.keyClicks(wishes.inside.name, "mine")
    wishes.show_machine(machine(gpus=(RTX_4090,)))
    request = wishes.request
    assert request is not None
    assert request.inside == Place("docker", "mine")
    assert wishes.inside.isVisible()


def test_tab_goes_along_the_row(wishes: VerifyWishes) -> None:
    choose_inside(wishes)
    QTest.keyClicks(wishes.inside.name, "mine")
    wishes._environment.setFocus()
    came = []
    for _ in range(4):
        wishes.focusNextPrevChild(True)
        came.append(wishes.focusWidget())
    assert came == [wishes.inside.kind, wishes.inside.name, wishes._devices, wishes._depth]


def test_start_waits_for_a_name(shown: Shown) -> None:
    before = shown.wishes.start.isEnabled()
    shown.wishes.inside.name.setText("mine")
    assert (before, shown.wishes.start.isEnabled()) == (False, True)


def test_a_file_is_chosen_in_a_dialog(shown: Shown, answers: Answers) -> None:
    answers.opened = "/images/torch.sif"
    shown.wishes.inside.choose_kind("apptainer")
    shown.wishes.inside.choose.click()
    assert shown.wishes.inside.place == Place("apptainer", "/images/torch.sif")


def test_what_stands_in_the_way_is_said_with_what_to_do(shown: Shown) -> None:
    """Whether the engine lacks or the file: neither is there."""
    shown.wishes.inside.choose_kind("apptainer")
    shown.wishes.inside.name.setText("/nowhere/torch.sif")
    shown.run()
    (card,) = shown.page.body.answers.cards
    assert card.answer.id in {"engine-missing", "image-file-missing"}
    assert card.isVisibleTo(shown.page)
    assert shown.page.result is not None
    assert shown.page.result.image == "apptainer:/nowhere/torch.sif"


def test_a_torch_for_the_cpu_in_an_image_is_not_mended_by_a_plan_for_this_machine() -> None:
    result = Verification("docker:mine", (("torch", "2.6.0"),), (), unverified=verbatim("built for the CPU"), image="docker:mine")
    assert next_step(result, machine(environments=(Env("train", "2.5.1"),))) is None
