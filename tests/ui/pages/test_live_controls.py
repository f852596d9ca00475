"""The live page's controls say what is shown, and hand on what is chosen."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.samples import WINDOWS_SECONDS
from gpuassist.ui.pages.live.controls import ALL, LiveControls
from gpuassist.ui.plots.bands import REST, series_colour
from gpuassist.ui.theme import Theme
from tests.ui.showing import Show, ink_in, words_in


@pytest.fixture
def controls(show: Show) -> LiveControls:
    return show(LiveControls(ENGLISH), 900, 60)


def test_every_window_can_be_chosen(controls: LiveControls) -> None:
    names = [controls._window.itemText(place) for place in range(controls._window.count())]
    assert names == ["1 min", "5 min", "15 min", "1 h", "4 h", "24 h"]


@pytest.mark.parametrize("seconds", WINDOWS_SECONDS)
def test_the_window_shown_is_the_one_chosen(controls: LiveControls, seconds: int) -> None:
    controls.show_window(float(seconds))
    assert controls._window.currentData() == seconds


def test_a_chosen_window_is_handed_on_in_seconds(controls: LiveControls) -> None:
    heard: list[object] = []
    controls.window_chosen.connect(heard.append)
    controls._window.activated.emit(3)
    assert heard == [3600.0]


def test_pausing_is_asked_for(controls: LiveControls) -> None:
    heard: list[int] = []
    controls.pause_chosen.connect(lambda: heard.append(1))
    controls._pause.click()
    assert heard == [1]


def test_a_paused_view_says_since_when(controls: LiveControls) -> None:
    controls.show_pause(text("Paused at {time}; sampling goes on", time="14:02:11"))
    assert "Paused at 14:02:11; sampling goes on" in words_in(controls)
    assert controls._pause.text() == "Go on"


def test_a_running_view_says_its_unit(controls: LiveControls) -> None:
    controls.show_pause(None)
    assert "GiB" in words_in(controls)
    assert controls._pause.text() == "Pause"


def test_one_gpu_leaves_nothing_to_choose(controls: LiveControls) -> None:
    controls.show_gpus((0,), ALL)
    assert not controls._gpu.isVisibleTo(controls)


def test_several_gpus_can_be_chosen_from(controls: LiveControls) -> None:
    controls.show_gpus((0, 1), ALL)
    names = [controls._gpu.itemText(place) for place in range(controls._gpu.count())]
    assert names == ["All GPUs", "GPU 0", "GPU 1"]


def test_the_gpu_shown_is_the_one_chosen(controls: LiveControls) -> None:
    controls.show_gpus((0, 1), 1)
    assert controls._gpu.currentText() == "GPU 1"


def test_a_chosen_gpu_is_handed_on_by_its_index(controls: LiveControls) -> None:
    heard: list[object] = []
    controls.gpu_chosen.connect(heard.append)
    controls.show_gpus((0, 3), ALL)
    controls._gpu.activated.emit(2)
    controls._gpu.activated.emit(0)
    assert heard == [3, ALL]


def test_the_legend_names_its_colours(controls: LiveControls) -> None:
    controls.show_legend(((0, "train.py"), (REST, "everything else")))
    assert [label.text() for label in controls._legend.findChildren(QLabel)] == ["train.py", "everything else"]


def test_an_equal_legend_is_left_standing(controls: LiveControls) -> None:
    controls.show_legend(((0, "train.py"),))
    before = controls._flow.itemAt(0)
    controls.show_legend(((0, "train.py"),))
    assert controls._flow.itemAt(0) is before


def test_another_legend_takes_its_place(controls: LiveControls) -> None:
    controls.show_legend(((0, "train.py"), (1, "Xorg")))
    controls.show_legend(((1, "Xorg"),))
    assert controls.legend == ((1, "Xorg"),)
    assert controls._flow.count() == 1


def test_swatches_have_their_bands_colour(each_look: Theme, show: Show, qtbot: QtBot) -> None:
    made = show(LiveControls(ENGLISH), 900, 60)
    made.show_legend(((0, "train.py"), (1, "Xorg")))
    wanted = [series_colour(each_look.palette(), number) for number in (0, 1)]
    qtbot.waitUntil(lambda: all(ink_in(made, colour) >= 100 for colour in wanted))


def test_every_choice_is_named(controls: LiveControls) -> None:
    assert {controls._window.accessibleName(), controls._gpu.accessibleName()} == {"How much time is shown", "Which GPU is shown"}
