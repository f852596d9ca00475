"""The live page's controls say what is shown, and hand on what is chosen."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.curves import CurveKind
from gpuassist.present.samples import WINDOWS_SECONDS
from gpuassist.ui.pages.live.controls import ALL, LiveControls
from gpuassist.ui.pages.live.legend import legend_entries
from gpuassist.ui.plots.colour_table import REST, TORCH, series_colour
from gpuassist.ui.theme import Theme
from tests.ui.showing import Show, ink_in


@pytest.fixture
def controls(show: Show) -> LiveControls:
    return show(LiveControls(ENGLISH), 900, 90)


def test_every_window_can_be_chosen(controls: LiveControls) -> None:
    names = [controls._window.itemText(place) for place in range(controls._window.count())]
    assert names == ["30 s", "1 min", "5 min", "15 min", "1 h", "4 h", "12 h", "24 h"]


@pytest.mark.parametrize("seconds", WINDOWS_SECONDS)
def test_the_window_shown_is_the_one_chosen(controls: LiveControls, seconds: int) -> None:
    controls.show_window(float(seconds))
    assert controls._window.currentData() == seconds


def test_a_chosen_window_is_handed_on_in_seconds(controls: LiveControls) -> None:
    heard: list[object] = []
    controls.window_chosen.connect(heard.append)
    controls._window.activated.emit(4)
    assert heard == [3600.0]


def test_pausing_is_asked_for(controls: LiveControls) -> None:
    heard: list[int] = []
    controls.pause_chosen.connect(lambda: heard.append(1))
    controls._pause.click()
    assert heard == [1]


def test_a_paused_view_says_since_when(controls: LiveControls) -> None:
    controls.show_state(text("Paused at {time}", time="14:02:11"), paused=True, follows=False)
    assert controls.state == "Paused at 14:02:11"
    assert controls._pause.text() == "Resume"
    assert not controls._follow.isVisibleTo(controls)


def test_a_view_of_the_past_leads_back(controls: LiveControls) -> None:
    heard: list[int] = []
    controls.follow_chosen.connect(lambda: heard.append(1))
    controls.show_state(text("earlier"), paused=False, follows=False)
    controls._follow.click()
    assert heard == [1]
    controls.show_state(text("now"), paused=False, follows=True)
    assert not controls._follow.isVisibleTo(controls)


def test_a_window_that_was_zoomed_to_is_named_too(controls: LiveControls) -> None:
    controls.show_window(42.3)
    assert controls._window.currentText() == "42 s"
    controls.show_window(300)
    assert controls._window.findData(42) < 0


def test_a_rate_is_handed_on(controls: LiveControls) -> None:
    heard: list[object] = []
    controls.rate_chosen.connect(heard.append)
    controls._rate.activated.emit(controls._rate.findData(10.0))
    assert heard == [10.0]


def test_ticked_curves_are_handed_on(controls: LiveControls) -> None:
    heard: list[object] = []
    controls.curves_chosen.connect(heard.append)
    controls._curves[CurveKind.POWER].trigger()
    controls._curves[CurveKind.USE].trigger()
    assert heard == [(CurveKind.POWER,), (CurveKind.USE, CurveKind.POWER)]


def test_old_figures_raise_an_alarm(controls: LiveControls) -> None:
    controls.show_alarm(text("no answer"))
    assert controls.alarm == "no answer"
    controls.show_alarm(None)
    assert controls.alarm == ""


def test_one_gpu_leaves_nothing_to_choose(controls: LiveControls) -> None:
    controls.show_gpus({0: "0"}, ALL)
    assert not controls._gpu.isVisibleTo(controls)


def test_several_gpus_can_be_chosen_from(controls: LiveControls) -> None:
    controls.show_gpus({0: "0", 1: "1"}, ALL)
    names = [controls._gpu.itemText(place) for place in range(controls._gpu.count())]
    assert names == ["All GPUs", "GPU 0", "GPU 1"]


def test_the_gpu_shown_is_the_one_chosen(controls: LiveControls) -> None:
    controls.show_gpus({0: "0", 1: "1"}, 1)
    assert controls._gpu.currentText() == "GPU 1"


def test_a_chosen_gpu_is_handed_on_by_its_index(controls: LiveControls) -> None:
    heard: list[object] = []
    controls.gpu_chosen.connect(heard.append)
    controls.show_gpus({0: "0", 3: "3"}, ALL)
    controls._gpu.activated.emit(2)
    controls._gpu.activated.emit(0)
    assert heard == [3, ALL]


def test_the_legend_names_its_colours(controls: LiveControls) -> None:
    controls.show_legend(((0, "train.py"), (REST, "other")))
    assert controls._legend.accessibleName() == "train.py\nother"


def test_another_legend_takes_its_place(controls: LiveControls) -> None:
    controls.show_legend(((0, "train.py"), (1, "Xorg")))
    controls.show_legend(((1, "Xorg"),))
    assert controls.legend == ((1, "Xorg"),)


def test_where_names_do_not_fit_processes_are_left_out_first(controls: LiveControls) -> None:
    controls.show_legend((*((number, f"job{number}.py") for number in range(7)), (REST, "other"), (TORCH, "allocated by torch")))
    shown, left_out = controls._legend._fitting([controls._legend.width() // 4] * 9, 30)
    assert (shown, left_out) == ([0, 7, 8], 6)


def test_what_the_view_does_is_said_whole_beside_many_names(controls: LiveControls, qtbot: QtBot) -> None:
    controls.show_legend(tuple((number, f"a-long-name-{number}.py") for number in range(9)))
    controls.show_state(text("Shown until 11:22:04, still measuring"), paused=False, follows=False)
    qtbot.waitUntil(lambda: controls._state.width() >= controls._state.sizeHint().width())


def test_everything_fits_a_small_window_whatever_goes_on(show: Show, qtbot: QtBot) -> None:
    made = show(LiveControls(ENGLISH), 736, 90)  # beside the side list, of 1024
    made.show_gpus({0: "0", 1: "1"}, ALL)
    made.show_recording("run.db")
    for paused, follows in ((True, False), (False, False), (False, True)):
        made.show_state(text("Shown until 11:22:04, still measuring"), paused=paused, follows=follows)
        qtbot.waitUntil(lambda: made.minimumSizeHint().width() <= made.width())
        assert made._pause.isVisible() != made._follow.isVisible()
    assert made.record.accessibleName() == "Stop recording"


def test_swatches_have_their_bands_colour(each_look: Theme, show: Show, qtbot: QtBot) -> None:
    made = show(LiveControls(ENGLISH), 900, 90)
    made.show_legend(((0, "train.py"), (1, "Xorg")))
    wanted = [series_colour(each_look.palette(), number) for number in (0, 1)]
    qtbot.waitUntil(lambda: all(ink_in(made, colour) >= 100 for colour in wanted))


def test_every_choice_is_named(controls: LiveControls) -> None:
    assert all(choice.accessibleName() for choice in (controls._window, controls._gpu, controls._rate))


def test_of_one_name_and_two_colours_the_number_is_told() -> None:
    names = {1: "train.py", 2: "train.py", 3: "Xorg", 4: "train.py"}
    assert legend_entries((1, 2, 3, 4), {1: 0, 2: 0, 3: 1, 4: 2}.__getitem__, names.__getitem__) == (
        (0, "train.py 1, 2"),
        (2, "train.py 4"),
        (1, "Xorg"),
    )
