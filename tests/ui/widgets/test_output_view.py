"""Live output: drawn as it comes, progress in its place, bounded, and at its end unless somebody reads above."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from gpuassist.formats.terminal_output import Printed
from gpuassist.install.run_view import RunView
from gpuassist.ui.pages.install.output import LINES_SHOWN, OutputView
from tests.ui.showing import Show

PRINTED = st.builds(Printed, st.sampled_from(["", "a", "bb", "ccc"]), st.booleans(), st.integers(0, 4))
STEPS = st.lists(st.lists(PRINTED, max_size=9), max_size=9)


@pytest.fixture
def output(show: Show) -> OutputView:
    return show(OutputView("Output"), 600, 300)


def shown(output: OutputView) -> list[str]:
    return output.toPlainText().split("\n")


def test_lines_come_by_themselves(output: OutputView, qtbot: QtBot) -> None:
    view = RunView()
    output.follow(view)
    view.add(Printed("hello"))
    qtbot.waitUntil(lambda: output.toPlainText() == "hello")
    output.finish()
    assert not output.follows


def test_the_last_lines_are_drawn_at_the_end(output: OutputView) -> None:
    view = RunView()
    output.follow(view)
    view.add_all((Printed("one"), Printed("two")))
    output.finish()
    assert shown(output) == ["one", "two"]


def test_progress_is_drawn_in_its_place(output: OutputView) -> None:
    view = RunView()
    output.follow(view)
    for percent in ("10 %", "50 %"):
        view.add(Printed(percent, ended=False))
        output.draw()
    assert shown(output) == ["50 %"]


def test_only_the_last_lines_are_kept(output: OutputView) -> None:
    view = RunView(LINES_SHOWN)
    output.follow(view)
    for start in range(0, 5 * LINES_SHOWN, 700):
        view.add_all(Printed(str(number)) for number in range(start, start + 700))
        output.draw()
    assert shown(output) == list(view.lines())
    assert output.blockCount() == LINES_SHOWN


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(STEPS)
def test_whatever_comes_the_view_shows_it(output: OutputView, steps: list[list[Printed]]) -> None:
    view = RunView(5)
    output.follow(view)
    for lines in steps:
        view.add_all(lines)
        output.draw()
        assert output.toPlainText() == "\n".join(view.lines())
    output.finish()


def test_it_follows_to_the_end(output: OutputView) -> None:
    view = RunView()
    output.follow(view)
    view.add_all(Printed(str(number)) for number in range(200))
    output.draw()
    assert output.verticalScrollBar().value() == output.verticalScrollBar().maximum()


def test_who_reads_above_is_left_there(output: OutputView) -> None:
    view = RunView()
    output.follow(view)
    view.add_all(Printed(str(number)) for number in range(200))
    output.draw()
    output.verticalScrollBar().setValue(7)
    view.add_all(Printed(str(number)) for number in range(200))
    output.draw()
    assert output.verticalScrollBar().value() == 7


def test_a_new_step_begins_with_an_empty_view(output: OutputView) -> None:
    first = RunView()
    first.add(Printed("old"))
    output.follow(first)
    output.finish()
    output.follow(RunView())
    output.draw()
    assert output.toPlainText() == ""
    output.finish()


def test_it_can_be_read_and_not_written(output: OutputView) -> None:
    assert output.isReadOnly()
    assert output.tabChangesFocus()


def test_a_few_lines_take_little_room(output: OutputView) -> None:
    view = RunView()
    output.follow(view)
    tall = output.height()
    view.add(Printed("done"))
    output.finish()
    assert output.height() < tall / 2


def test_without_anything_to_follow_nothing_is_drawn(output: OutputView) -> None:
    output.draw()
    assert output.toPlainText() == ""
