"""The page of a memory snapshot: whose memory it is at any moment, what grew, the segments, and files that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.present.snapshot_page import block_life, figures, plot_summary
from gpuassist.session.navigation import SideTool, ToSnapshot
from gpuassist.session.opened_snapshot import ReadingOutlook
from gpuassist.session.snapshot_owners import OwnerGrouping
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.snapshot.page import SnapshotPage
from gpuassist.ui.pages.snapshot.snapshot_view import FINDINGS, GROWTH, MOMENT, OTHER, SEGMENTS, SETTINGS, SnapshotView
from tests.ui.made_snapshots import BASE, MIB, opened_snapshot, snapshot_bytes
from tests.ui.showing import Show, words_in
from tools.window_room import cramped


@pytest.fixture
def page(desk: Desk, show: Show) -> SnapshotPage:
    return show(SnapshotPage(desk), 1056, 720)


@pytest.fixture
def view(page: SnapshotPage, qtbot: QtBot) -> SnapshotView:
    """What is shown of an opened one."""
    page.take_up(opened_snapshot())
    settle(page, qtbot)
    assert page.view is not None
    return page.view


def settle(page: SnapshotPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.busy)


def rows(view: SnapshotView) -> dict[str, tuple[int, int | None]]:
    """What each line holds, and held before."""
    told = {row.line.frame: (row.held // MIB, None if row.before is None else row.before // MIB) for row in view.shares.rows}
    return {f"{frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame else "": held for frame, held in told.items()}


def compared(view: SnapshotView) -> tuple[int, int] | None:
    assert view.card.plot.range == view.range
    return view.range


def test_a_file_is_read_by_a_child_and_shown(page: SnapshotPage, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "step.pickle").write_bytes(snapshot_bytes())
    page.arrive(ToSnapshot(str(tmp_path / "step.pickle")))
    settle(page, qtbot)
    assert page.view is not None
    assert page.view.isVisible()
    assert rows(page.view) == {"train.py:2": (64, None), "model.py:10": (32, None), "train.py:7": (16, None)}
    assert page.opened is not None
    assert page.left() is page.opened
    (tmp_path / "other.pickle").write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")
    page.files.open_other(str(tmp_path / "other.pickle"))  # what is shown stays
    settle(page, qtbot)
    assert page.view.isVisible()
    assert page.view.tabs.place == OTHER
    page.close_down()


def test_what_is_no_snapshot_is_refused_with_its_reason(page: SnapshotPage, qtbot: QtBot, tmp_path: Path) -> None:
    page.arrive(ToSnapshot(str(tmp_path / "gone.pickle")))
    settle(page, qtbot)
    assert page.nothing.isVisible()
    assert any("gone.pickle" in words for words in words_in(page))
    assert page.nothing.opens.isVisible()
    assert page.under_way() is None


def test_a_large_file_is_asked_about_first(page: SnapshotPage, qtbot: QtBot) -> None:
    wanted: list[int] = []
    page.files.asked.emit(ReadingOutlook("/x/big.pickle", 4 << 30, 5 << 30, 2 << 30, 3 << 30, 160.0))
    assert page.before is not None
    page.before.read_wanted.disconnect()
    page.before.read_wanted.connect(wanted.append)
    assert page.before.isVisible()
    assert not page.before.parts.button(0).isEnabled()  # there is not so much memory
    assert page.before.parts.place == 1
    page.before.parts.choose(2)
    page.before.reads.click()
    assert wanted == [100_000]
    page.before.cancel.click()
    assert page.nothing.isVisible()
    page.files.asked.emit(ReadingOutlook("/x/huge.pickle", 40 << 30, 50 << 30, 20 << 30, 3 << 30, 1600.0))
    assert not page.before.reads.isEnabled()


def test_the_page_says_how_to_make_one(page: SnapshotPage) -> None:
    said = " ".join(words_in(page))
    assert page.nothing.how.isVisible()
    assert "snapshot" in said
    assert page.STEP is SideTool.SNAPSHOT


def test_a_moment_is_chosen_with_the_mouse_and_its_stacks_are_shown(view: SnapshotView) -> None:
    plot = view.card.plot
    assert view.look is not None
    plot.repaint()
    at = QPoint(round(plot.x_of(5)) + 4, round(plot.y_of(70 * MIB)))  # 64 MiB of one line, 24 of the other
    QTest.mouseClick(plot, Qt.MouseButton.LeftButton, pos=at)
    assert view.moment == 5
    assert rows(view) == {"train.py:2": (64, None), "train.py:7": (24, None)}
    assert plot.marked is not None
    assert view.shares.chosen is not None
    assert view.shares.chosen.owner == plot.marked
    assert "torch/nn/functional.py:2000 linear" in view.shares.stack.toPlainText()


def test_two_moments_are_compared_by_a_drag_and_by_keys(view: SnapshotView) -> None:
    plot = view.card.plot
    plot.repaint()
    QTest.mousePress(plot, Qt.MouseButton.LeftButton, pos=QPoint(round(plot.x_of(2)) + 3, 60))
    QTest.mouseMove(plot, QPoint(round(plot.x_of(4)) + 3, 60))
    QTest.mouseMove(plot, QPoint(round(plot.x_of(5)) + 3, 60))
    QTest.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=QPoint(round(plot.x_of(5)) + 3, 60))
    assert compared(view) == (2, 5)
    assert view.tabs.place == GROWTH
    assert rows(view) == {"train.py:7": (24, 16), "model.py:10": (0, 32)}
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert compared(view) is None
    for key in (Qt.Key.Key_Home, Qt.Key.Key_A, Qt.Key.Key_End, Qt.Key.Key_B):
        QTest.keyClick(plot, key)
    assert compared(view) == (0, 6)
    assert rows(view) == {"train.py:7": (24, 0)}


def test_what_grew_most_comes_into_sight_whatever_row_was_chosen(view: SnapshotView) -> None:
    view.shares.table.selectRow(1)  # what shrinks then
    view.card.range_chosen.emit((2, 5))
    assert rows(view) == {"train.py:7": (24, 16), "model.py:10": (0, 32)}
    assert view.shares.table.currentIndex().row() == 0


def test_a_snapshot_without_history_tells_no_peak(view: SnapshotView) -> None:
    look = view.look
    assert look is not None
    assert "peak" in ENGLISH(figures(look))
    late = replace(look, story=replace(look.story, has_history=False))
    assert "peak" not in ENGLISH(figures(late)) + ENGLISH(plot_summary(late))


def test_a_block_tells_the_note_of_its_allocation(view: SnapshotView) -> None:
    look = view.look
    assert look is not None
    told = dict(block_life(look, int(np.flatnonzero(look.story.allocations.start == 2)[0])))
    assert "epoch 3" in map(ENGLISH, told.values())


def test_keys_walk_the_recording_and_the_bands(view: SnapshotView) -> None:
    plot = view.card.plot
    plot.repaint()
    QTest.keyClick(plot, Qt.Key.Key_P)
    assert plot.cursor_at is not None
    assert plot.cursor_at.point == 2
    told = {plot.cursor_at.owner}
    for _ in range(4):
        QTest.keyClick(plot, Qt.Key.Key_Down)
        assert plot.cursor_at.owner is not None
        told.add(plot.cursor_at.owner)
        assert plot.accessibleDescription() == view.card.said.words or not plot.hasFocus()
    assert len(told) == 3
    QTest.keyClick(plot, Qt.Key.Key_End)
    assert plot.cursor_at.point == 6
    assert plot.view is not None
    whole = plot.view.span
    QTest.keyClick(plot, Qt.Key.Key_Plus)
    assert plot.view.span <= whole
    QTest.keyClick(plot, Qt.Key.Key_Return)
    assert view.tabs.place == MOMENT
    assert view.moment == 6


def test_who_owns_an_address(view: SnapshotView) -> None:
    view.show_tab(SEGMENTS)
    part = view.segments
    assert part is not None
    for asked, line in (
        (f"{BASE + 70 * MIB:x}", "model.py:10"),
        (hex(BASE + 5), "train.py:2"),
        (hex(BASE + 100 * MIB), "train.py:7"),
    ):
        part.address.setText(asked)
        QTest.keyClick(part.address, Qt.Key.Key_Return)
        assert line in part.said.words
    for asked in ("0x12", "nothing", ""):
        part.address.setText(asked)
        QTest.keyClick(part.address, Qt.Key.Key_Return)
        assert "train.py" not in part.said.words
    QTest.keyClick(part.picture, Qt.Key.Key_Right)
    assert "train.py:2" in part.said.words
    QTest.keyClick(part.picture, Qt.Key.Key_PageDown)
    assert part.picture.offset == 120 * MIB


def test_another_snapshot_is_compared_with(page: SnapshotPage, view: SnapshotView, qtbot: QtBot) -> None:
    page.files.other_opened.emit(opened_snapshot("/home/me/before.pickle", step=60 * MIB))
    settle(page, qtbot)
    assert view.tabs.place == OTHER
    assert rows(view) == {"model.py:10": (32, 0), "train.py:7": (16, 76)}  # the peak of the other is its last allocation
    view.end.click()
    assert rows(view) == {"train.py:7": (24, 76)}


def test_another_gpu_and_other_owners_are_shown(page: SnapshotPage, view: SnapshotView, qtbot: QtBot) -> None:
    assert view.card.device.isVisible()
    view.card.device_chosen.emit(1)
    settle(page, qtbot)
    assert rows(view) == {"train.py:2": (2, None)}
    view.card.grouping_chosen.emit(OwnerGrouping.STACK)
    settle(page, qtbot)
    assert view.look is not None
    assert (view.look.story.device, view.look.grouping) == (1, OwnerGrouping.STACK)


def test_every_part_says_something(view: SnapshotView) -> None:
    for tab in (FINDINGS, SETTINGS, SEGMENTS, GROWTH, OTHER, MOMENT):
        view.show_tab(tab)
        part = view.parts.currentWidget()
        assert part is not None
        assert part.isVisible()
    assert view.findings is not None
    assert words_in(view.findings)
    assert view.settings is not None
    assert ["expandable_segments", "False"] in [[cell.words for cell in row] for row in view.settings.rows_model.rows]
    assert view.card.plot.accessibleDescription()
    assert view.segments is not None
    assert view.segments.picture.accessibleDescription()


def test_without_times_there_is_one_axis(page: SnapshotPage, qtbot: QtBot) -> None:
    page.take_up(opened_snapshot(times=False))
    settle(page, qtbot)
    assert page.view is not None
    assert not page.view.card.axes.button(1).isEnabled()
    page.take_up(opened_snapshot())
    settle(page, qtbot)
    page.view.card.axes.choose(1)
    page.view.card.plot.repaint()
    assert page.view.card.plot.view is not None
    assert page.view.card.plot.view.axis.end < 0.001


@pytest.mark.parametrize("size", [(736, 480), (800, 600)])  # the page of the smallest window is as wide as the first
@pytest.mark.usefixtures("theme")
def test_a_low_window_scrolls_the_page_and_cuts_nothing(view: SnapshotView, size: tuple[int, int]) -> None:
    page = view.parentWidget()
    assert isinstance(page, SnapshotPage)
    for part in (MOMENT, GROWTH, OTHER, SEGMENTS, FINDINGS, SETTINGS):
        view.show_tab(part)
        page.resize(QSize(*size).expandedTo(QSize(0, page.heightForWidth(size[0]))))  # as what it lies in does
        QTest.qWait(0)
        assert cramped(page) == [], part
