"""The card below the lanes: what the figures mean, and the way from an out-of-memory to its answer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.alerts import Measure, Threshold
from gpuassist.monitor.bottleneck import Bottleneck, Bound, Lack, Means
from gpuassist.monitor.growth import Growth, Shape
from gpuassist.session.failure_moment import FailureMoment, Witness
from gpuassist.session.insight import ProgramGrowth
from gpuassist.session.navigation import ToExplainText
from gpuassist.session.thresholds import load_thresholds
from gpuassist.session.watch import Watch
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.alerts_edit import AlertsEdit
from gpuassist.ui.pages.live.insight_card import InsightCard, InsightDetails, InsightShown, insight_shown
from gpuassist.ui.pages.live.live_insight import LiveInsight
from tests.monitor.samples import gpu, sample
from tests.ui.made import framed
from tests.ui.showing import Show, words_in
from tests.values import knowledge

GIB = 1 << 30
PICTURE = MemoryPicture(24 * GIB, (MemoryPart(PartKind.ALLOCATED, 22 * GIB), MemoryPart(PartKind.FREE, 2 * GIB)))
MOMENT = FailureMoment(1e9, 50.0, 0, Witness.MESSAGE, "CUDA out of memory.", 7, "python train.py", PICTURE, 2 * GIB)
GROWING = ProgramGrowth(0, 7, "python train.py", Growth(Shape.REFERENCES_KEPT, 10.0, 2 * GIB, 1e6, 1500.0))
WAITS = Bottleneck(Bound.DATA, Means(120.0, 120, utilization=30.0, power=25.0, main_thread=10.0, workers=4, busy_workers=4))


def shown(card: QWidget) -> str:
    return " ".join(words_in(card))


def story(card: InsightCard) -> InsightDetails:
    assert card.details is not None
    return card.details


def edit(page: LiveInsight) -> AlertsEdit:
    assert page.edit is not None
    return page.edit


def test_it_is_not_there_while_nothing_is_to_be_said(show: Show) -> None:
    card = show(InsightCard(ENGLISH, knowledge().commands), 800, 300)
    assert card.isHidden() or not shown(card).strip()
    card.show_insight(InsightShown(gpu=0))
    assert card.isHidden()


def test_a_line_for_each_thing_opens_its_story(show: Show) -> None:
    card = show(InsightCard(ENGLISH, knowledge().commands), 800, 400)
    card.show_insight(InsightShown((GROWING,), MOMENT, WAITS, 0, 1e9))
    failure, growing, _, verdict = card.lines
    assert "train.py ran out of memory on GPU 0" in failure.said.words
    assert "about 25 min" in growing.said.words
    assert "GPU 0 waits for data" in verdict.said.words
    verdict.open.click()
    assert "does not mean busy" in shown(story(card))
    failure.open.click()
    assert not verdict.open.isChecked()
    for words in (MOMENT.message, "The desktop had 2.00 GiB", "systemctl isolate"):
        assert words in shown(story(card))
    card.show_insight(InsightShown((), None, WAITS, 0, 1e9))
    assert (failure.isHidden(), growing.isHidden(), story(card).isHidden()) == (True, True, True)


def test_an_open_story_goes_on_with_its_figures(show: Show) -> None:
    card = show(InsightCard(ENGLISH, knowledge().commands), 800, 400)
    card.show_insight(InsightShown((), None, WAITS, 0, 1e9))
    card.lines[-1].open.click()
    card.show_insight(InsightShown((), None, replace(WAITS, means=replace(WAITS.means, power=31.0)), 0, 1e9))
    assert "31 %" in shown(story(card))


def test_its_buttons_lead_to_the_answer_and_to_the_plot(show: Show, qtbot: QtBot) -> None:
    card = show(InsightCard(ENGLISH, knowledge().commands), 800, 400)
    card.show_insight(InsightShown((), MOMENT, None, None, 1e9))
    card.lines[0].open.click()
    with qtbot.waitSignal(card.explain_chosen) as asked:
        card.lines[0].explain.click()
    assert asked.args == [MOMENT.message]
    with qtbot.waitSignal(card.moment_chosen) as asked:
        story(card).show_on_plot.click()
    assert asked.args == [50.0]
    card.lines[0].close_it.click()
    assert (card.isHidden(), story(card).isHidden()) == (True, True)
    card.show_insight(InsightShown((), MOMENT, None, None, 1e9))
    assert card.isHidden()
    card.show_insight(InsightShown((), replace(MOMENT, monotonic=60.0, witness=Witness.ENDED, picture=None), None, None, 1e9))
    card.lines[0].open.click()
    assert (card.lines[0].explain.isHidden(), story(card).bar.isHidden()) == (True, True)


def test_a_failure_that_was_read_stays_away_whichever_gpu_is_shown(show: Show) -> None:
    card = show(InsightCard(ENGLISH, knowledge().commands), 800, 400)
    early, late = MOMENT, replace(MOMENT, monotonic=60.0)
    for moment in (late, early):
        card.show_insight(InsightShown((), moment, None, None, 1e9))
        if not card.isHidden():
            card.lines[0].close_it.click()
    card.show_insight(InsightShown((), late, None, None, 1e9))
    assert card.isHidden()
    card.show_insight(InsightShown((), replace(MOMENT, monotonic=70.0), None, None, 1e9))
    assert not card.isHidden()


def test_a_gpu_shows_what_is_its_own() -> None:
    other = replace(GROWING, gpu=1)
    found = insight_shown((GROWING, other), (MOMENT,), WAITS, gpu=1, since_epoch=0.0)
    assert (found.growths, found.moment, found.bottleneck) == ((other,), None, WAITS)
    everything = insight_shown((GROWING, other), (MOMENT,), WAITS, gpu=None, since_epoch=0.0)
    assert (everything.growths, everything.moment, everything.bottleneck) == ((GROWING, other), MOMENT, None)
    idle = replace(WAITS, bound=Bound.IDLE)
    nobody = Bottleneck(Bound.UNDECIDED, replace(WAITS.means, computes=False))
    early = Bottleneck(Bound.UNDECIDED, replace(WAITS.means, computes=True), (Lack.TIME,))
    for one in (idle, nobody, early):
        assert insight_shown((), (), one, gpu=0, since_epoch=0.0) == InsightShown(gpu=0)


def test_thresholds_are_read_as_on_the_command_line(show: Show, qtbot: QtBot) -> None:
    made = show(AlertsEdit(ENGLISH, (Threshold(Measure.TEMPERATURE, 85),)), 600, 60)
    assert made.line.text() == "temperature 85"
    made.line.setText("memory 90%; soon")
    made.button.click()
    assert "soon" in " ".join(words_in(made))
    made.line.setText("memory 90%")
    with qtbot.waitSignal(made.changed) as said:
        made.button.click()
    assert said.args == [(Threshold(Measure.MEMORY_PERCENT, 90),)]
    with qtbot.assertNotEmitted(made.changed):
        made.button.click()


@pytest.fixture
def frame(qtbot: QtBot) -> QWidget:
    return framed(qtbot)


@pytest.fixture
def page(desk: Desk, frame: QWidget) -> LiveInsight:
    return LiveInsight(desk, Watch(desk.session), frame)


def test_thresholds_hold_at_once_and_at_the_next_start(page: LiveInsight, desk: Desk, frame: QWidget) -> None:
    page.alerts.trigger()
    assert not edit(page).isHidden()
    edit(page).line.setText("memory 90%")
    edit(page).button.click()
    wanted = (Threshold(Measure.MEMORY_PERCENT, 90),)
    assert page._watch.insight.thresholds == wanted == load_thresholds(desk.session.world)
    again = LiveInsight(desk, Watch(desk.session), frame)
    assert again._watch.insight.thresholds == wanted
    again.alerts.trigger()
    assert edit(again).line.text() == "memory 90%"


def test_what_helps_is_an_errand_with_the_message(page: LiveInsight) -> None:
    asked: list[object] = []
    page.asked.connect(asked.append)
    page._watch.insight.moments = (MOMENT,)
    page.draw(sample(0.0, gpu(5)), None)
    page.card.lines[0].open.click()
    page.card.lines[0].explain.click()
    assert asked == [ToExplainText(MOMENT.message)]


def test_with_one_gpu_its_verdict_is_shown_unasked(page: LiveInsight) -> None:
    page._watch.insight.bottlenecks = {0: WAITS, 1: WAITS}
    page.draw(sample(0.0, gpu(5)), None)
    assert not page.card.isHidden()
    page.draw(sample(1.0, gpu(5), gpu(5, index=1)), None)
    assert page.card.isHidden()
    page.draw(sample(2.0, gpu(5), gpu(5, index=1)), 1)
    assert "GPU 1 waits for data" in page.card.lines[-1].said.words


def test_the_snapshot_of_a_failure_is_opened(show: Show, qtbot: QtBot) -> None:
    card = show(InsightCard(ENGLISH, knowledge().commands), 800, 400)
    for kept, offered in (("/home/me/oom-1.pickle", True), ("No space left on device", False), ("", False)):
        card.show_insight(InsightShown((), replace(MOMENT, snapshot=kept), None, None, 1e9))
        card.lines[0].open.setChecked(True)
        assert story(card).open_snapshot.isVisible() is offered
        if offered:
            with qtbot.waitSignal(card.snapshot_chosen) as asked:
                story(card).open_snapshot.click()
            assert asked.args == [kept]
