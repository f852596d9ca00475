"""Whoever does not see the window is told of everything in it: names, roles and summaries on every page, in each of its states."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.session.navigation import Destination, GoTo, SideTool, ToExplainText, WizardStep
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.lane import Lane
from gpuassist.ui.theme import Theme
from tests.translations import RESOURCES
from tests.ui.accessible import wanting
from tests.ui.frames import TOO_OLD, Frames
from tests.ui.made import EPOCH, gpu, process, sample
from tests.ui.pages.live_shown import Shown
from tests.ui.showing import Show
from tests.ui.test_every_word import OUT_OF_MEMORY

PLACES: tuple[Destination, ...] = (*(GoTo(one) for one in (*WizardStep, *SideTool)), ToExplainText(OUT_OF_MEMORY))


@pytest.mark.parametrize("machine", [TOO_OLD, "01-new-rtx-5090-nouveau"])
def test_everything_on_every_page_has_a_name_and_a_role(desk: Desk, show: Show, qtbot: QtBot, machine: str) -> None:
    frame = Frames(desk, show, qtbot)(str(RESOURCES / "machines" / f"{machine}.json"))
    found = {}
    for place in PLACES:
        frame.go(place)
        page = frame.pages.page(frame.flow.current)
        qtbot.waitUntil(lambda page=page: not getattr(page, "busy", False))  # type: ignore[misc]
        found[str(place)] = wanting(frame)
    frame.close_down()
    assert {place: said for place, said in found.items() if said} == {}


def test_live_memory_is_told_with_its_curves_and_processes(desk: Desk, qtbot: QtBot) -> None:
    shown = Shown(desk, qtbot)
    busy = gpu(0, process(11, 12, "python train.py"), process(12, 2, "python serve.py"), process(13, 1), process(14, 0.5))
    shown.feed(sample(0, busy, gpu(1, lost="the GPU is lost")), sample(1, busy, gpu(1, lost="the GPU is lost")))
    shown.page.setAccessibleName("Live memory")  # as the frame names it
    assert wanting(shown.frame) == []
    first, second = shown.page.view.lanes
    assert first.accessibleDescription().startswith("16.0 of 24 GiB · ")
    assert first.accessibleDescription().endswith("train.py 12.0 GiB · serve.py 2.0 GiB · job13.py 1.0 GiB")
    assert second.accessibleDescription().startswith("the GPU is lost")
    shown.page.close_down()


def test_what_is_told_of_a_plot_changes_every_few_seconds_at_most(theme: Theme, show: Show) -> None:
    lane = show(Lane(ENGLISH, 0), 300, 200)
    told = []
    for second in range(11):
        lane.show_gpu(gpu(0, process(11, second + 1)), 0, now=EPOCH + second)
        told.append(lane.accessibleDescription())
    assert len(set(told)) == 3
    lane.show_gpu(gpu(0, lost="the GPU is lost"), 0, now=EPOCH + 11)
    assert lane.accessibleDescription().startswith("the GPU is lost")  # at once
