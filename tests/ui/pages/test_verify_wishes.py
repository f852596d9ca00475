"""What shall be verified, chosen by key: environments as they are known, devices, depth; and how far a run is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QProgressBar, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.verify.wishes import VerifyWishes
from gpuassist.verify.runner import Level
from tests.ui.made import known, unknown
from tests.ui.showing import Show, words_in
from tests.values import GTX_1080_TI, RTX_4090, Env, machine, without

TWO = (Env("train", "2.5.1+cu124", active=True), Env("other", "2.5.1+cu124"), Env("plain"))


@pytest.fixture
def wishes(show: Show) -> VerifyWishes:
    return show(VerifyWishes(ENGLISH), 960, 70)


@pytest.fixture
def offered(wishes: VerifyWishes) -> VerifyWishes:
    """The wishes on a machine with two GPUs and two environments with torch."""
    wishes.show_machine(machine(environments=TWO, gpus=(RTX_4090, GTX_1080_TI)))
    return wishes


def press(widget: QWidget, key: Qt.Key) -> None:
    widget.setFocus()
    QTest.keyClick(widget, key)


def items(choice: QComboBox) -> list[str]:
    return [choice.itemText(place) for place in range(choice.count())]


def told(wishes: VerifyWishes) -> list[str]:
    """Which signals come from now on."""
    heard: list[str] = []
    wishes.changed.connect(lambda: heard.append("changed"))
    wishes.interpreter_wanted.connect(lambda: heard.append("interpreter"))
    wishes.start_wanted.connect(lambda: heard.append("start"))
    wishes.cancel_wanted.connect(lambda: heard.append("cancel"))
    return heard


def test_an_environment_says_its_python_and_torch(offered: VerifyWishes) -> None:
    assert items(offered._environment) == [
        "train · Python 3.11 · torch 2.5.1+cu124",
        "other · Python 3.11 · torch 2.5.1+cu124",
        "In an image or a container…",
        "Choose an interpreter…",
    ]


def test_gpus_go_by_index_and_short_name(offered: VerifyWishes) -> None:
    assert items(offered._devices) == ["All GPUs", "GPU 0 · RTX 4090", "GPU 1 · GTX 1080 Ti", "CPU"]


def test_all_gpus_are_meant_at_first(offered: VerifyWishes) -> None:
    assert (offered.devices, offered.level) == (("all",), Level.QUICK)


@pytest.mark.parametrize(("steps", "devices"), [(1, ("0",)), (2, ("1",)), (3, ("cpu",))])
def test_a_device_is_chosen_by_arrow_key(offered: VerifyWishes, steps: int, devices: tuple[str, ...]) -> None:
    for _ in range(steps):
        press(offered._devices, Qt.Key.Key_Down)
    assert offered.devices == devices


def test_each_choice_by_key_is_told(offered: VerifyWishes) -> None:
    heard = told(offered)
    for choice in (offered._environment, offered._devices, offered._depth):
        press(choice, Qt.Key.Key_Down)
    assert heard == ["changed", "changed", "changed"]


def test_the_depth_is_chosen_by_its_letter(offered: VerifyWishes) -> None:
    press(offered._depth, Qt.Key.Key_F)
    assert offered.level is Level.FULL


def test_the_dialog_is_asked_for_by_key(offered: VerifyWishes) -> None:
    heard = told(offered)
    press(offered._environment, Qt.Key.Key_End)
    assert heard == ["interpreter"]


def test_a_dialog_left_keeps_the_last_choice(offered: VerifyWishes) -> None:
    press(offered._environment, Qt.Key.Key_Down)
    press(offered._environment, Qt.Key.Key_End)
    assert offered.environment_name.startswith("other · ")


def test_showing_a_machine_chooses_nothing_by_itself(wishes: VerifyWishes) -> None:
    heard = told(wishes)
    wishes.show_machine(machine(environments=TWO))
    wishes.show_machine(machine())
    assert heard == []


@pytest.mark.parametrize("of", [machine(environments=()), machine(environments=(Env("plain"),)), Machine()])
def test_without_torch_the_user_is_asked_for_an_interpreter(wishes: VerifyWishes, of: Machine) -> None:
    wishes.show_machine(of)
    assert wishes.interpreter == ""
    assert wishes._environment.shown == "None found"
    assert wishes.lacks_environment


def test_an_unknown_interpreter_cannot_be_chosen(wishes: VerifyWishes) -> None:
    whole = machine()
    (one,) = whole.environments.value  # type: ignore[union-attr]
    nowhere = replace(one, interpreter=unknown("a broken link"))
    wishes.show_machine(replace(whole, environments=known((nowhere,))))
    assert items(wishes._environment) == ["In an image or a container…", "Choose an interpreter…"]


def test_gpus_that_are_unknown_leave_it_to_torch(wishes: VerifyWishes) -> None:
    wishes.show_machine(without(machine(), ["gpus"]))
    assert items(wishes._devices) == ["All that torch sees", "CPU"]
    assert wishes.devices == ("all",)


def test_sleeping_gpus_are_all_or_none(wishes: VerifyWishes) -> None:
    wishes.show_machine(machine(asleep=True))
    assert items(wishes._devices) == ["All GPUs", "CPU"]


def test_a_named_interpreter_is_told_once(offered: VerifyWishes) -> None:
    heard = told(offered)
    offered.add_interpreter("/opt/python")
    assert heard == ["changed"]
    assert offered.environment_name == "/opt/python"


def test_a_listed_interpreter_is_chosen_in_its_place(offered: VerifyWishes) -> None:
    count = offered._environment.count()
    offered.add_interpreter("/home/you/other/bin/python")
    assert offered._environment.count() == count
    assert offered.environment_name.startswith("other · ")


def test_a_named_interpreter_outlives_a_closed_dialog(offered: VerifyWishes) -> None:
    offered.add_interpreter("/opt/python")
    press(offered._environment, Qt.Key.Key_End)
    assert offered.interpreter == "/opt/python"


def test_start_is_pressed_by_key(offered: VerifyWishes) -> None:
    heard = told(offered)
    press(offered.start, Qt.Key.Key_Space)
    assert heard == ["start"]


def test_cancel_is_pressed_by_key(offered: VerifyWishes) -> None:
    heard = told(offered)
    offered.show_running("1 of 4", 1, 4)
    press(offered.cancel, Qt.Key.Key_Space)
    assert heard == ["cancel"]


def test_a_run_cannot_be_changed_by_key(offered: VerifyWishes) -> None:
    heard = told(offered)
    offered.show_running("1 of 4", 1, 4)
    for choice in (offered._environment, offered._devices, offered._depth):
        press(choice, Qt.Key.Key_Down)
    assert (heard, offered.devices, offered.level) == ([], ("all",), Level.QUICK)


@pytest.mark.parametrize(("done", "of"), [(0, 0), (0, 12), (3, 12), (12, 12)])
def test_the_bar_is_as_far_as_the_count(offered: VerifyWishes, done: int, of: int) -> None:
    offered.show_running("", done, of)
    (bar,) = offered.findChildren(QProgressBar)
    assert (bar.minimum(), bar.maximum()) == (0, of)
    assert bar.value() in {done, -1}


def test_after_a_run_no_count_is_left(offered: VerifyWishes) -> None:
    offered.show_running("3 of 12", 3, 12)
    offered.show_idle()
    assert words_in(offered) == ["Environment", "Devices", "Test length"]
    assert "12" not in offered.progress_words


def test_choices_are_kept_over_a_run(offered: VerifyWishes) -> None:
    press(offered._devices, Qt.Key.Key_Down)
    press(offered._depth, Qt.Key.Key_Down)
    offered.show_running("3 of 12", 3, 12)
    offered.show_idle()
    assert (offered.devices, offered.level) == (("0",), Level.FULL)


def test_one_button_is_the_obvious_one(offered: VerifyWishes) -> None:
    seen = [one for one in offered.findChildren(QPushButton) if one.isVisibleTo(offered)]
    assert [(one.text(), one.property("kind")) for one in seen] == [("Start", "primary")]


def test_every_choice_has_a_name(offered: VerifyWishes) -> None:
    assert [one.accessibleName() for one in offered.findChildren(QComboBox)] == [
        "Environment",
        "Kind of image",
        "Devices",
        "Test length",
    ]


def test_a_run_fits_into_the_same_width(offered: VerifyWishes, qtbot: QtBot) -> None:
    offered.show_running("11 of 12", 11, 12)
    qtbot.waitUntil(lambda: offered.cancel.isVisible() and offered.cancel.geometry().right() <= offered.width())
    assert offered.minimumSizeHint().width() <= 960


def test_what_was_chosen_is_still_chosen_when_the_machine_is_read_again(offered: VerifyWishes) -> None:
    press(offered._environment, Qt.Key.Key_Down)
    offered._devices.setCurrentIndex(2)
    chosen, devices = offered.interpreter, offered.devices
    offered.show_machine(machine(environments=TWO, gpus=(RTX_4090, GTX_1080_TI)))
    assert (offered.interpreter, offered.devices) == (chosen, devices)


def test_an_interpreter_that_was_named_is_still_there_and_chosen(offered: VerifyWishes) -> None:
    offered.add_interpreter("/elsewhere/bin/python")
    offered.show_machine(machine(environments=TWO[:1]))
    assert offered.interpreter == "/elsewhere/bin/python"


def test_an_environment_that_is_gone_makes_room_for_the_one_to_prefer(offered: VerifyWishes) -> None:
    preferred = offered.interpreter
    press(offered._environment, Qt.Key.Key_Down)
    offered.show_machine(machine(environments=(TWO[0], TWO[2])))
    assert offered.interpreter == preferred


FOUR = (RTX_4090, RTX_4090, RTX_4090, GTX_1080_TI)


@pytest.fixture
def of_four(wishes: VerifyWishes) -> VerifyWishes:
    """The wishes on a machine with four GPUs, several of which shall be chosen one by one."""
    wishes.show_machine(machine(environments=TWO, gpus=FOUR))
    wishes._devices.setCurrentIndex(wishes._devices.findData("several"))
    wishes._devices.activated.emit(wishes._devices.currentIndex())
    return wishes


def test_some_of_several_gpus_are_chosen_by_ticks(of_four: VerifyWishes) -> None:
    heard = told(of_four)
    press(of_four.ticks[1], Qt.Key.Key_Space)
    assert (of_four.devices, heard) == (("0", "2", "3"), ["changed"])


def test_ticks_stand_there_for_several_alone(of_four: VerifyWishes) -> None:
    assert all(tick.isVisibleTo(of_four) for tick in of_four.ticks)
    of_four._devices.setCurrentIndex(0)
    of_four._devices.activated.emit(0)
    assert not any(tick.isVisibleTo(of_four) for tick in of_four.ticks)
    assert of_four.devices == ("all",)


def test_with_no_gpu_ticked_none_is_meant(of_four: VerifyWishes) -> None:
    for tick in of_four.ticks:
        tick.setChecked(False)
    assert of_four.devices == ()


def test_ticks_are_kept_when_the_machine_is_read_again(of_four: VerifyWishes) -> None:
    of_four.ticks[0].setChecked(False)
    of_four.show_machine(machine(environments=TWO, gpus=FOUR))
    assert of_four.devices == ("1", "2", "3")


def test_of_two_gpus_both_are_all_of_them(offered: VerifyWishes) -> None:
    assert offered._devices.findData("several") < 0


def test_each_level_says_what_it_costs(offered: VerifyWishes) -> None:
    quick = offered.progress_words
    press(offered._depth, Qt.Key.Key_F)
    assert quick
    assert offered.progress_words not in {"", quick}
