"""A step of a plan: numbered or marked, its commands copied together."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QClipboard

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.code import CodeBlock, StepRow
from tests.ui.showing import Show, words_in


def test_commands_are_copied_together(show: Show, clipboard: QClipboard) -> None:
    row = show(StepRow(ENGLISH, text("Do this"), None, commands=("hash -r", "exec bash")), 360, 120)
    row.findChildren(CopyButton)[0].click()
    assert clipboard.text() == "hash -r\nexec bash"


def test_a_step_without_commands_has_nothing_to_copy(show: Show) -> None:
    row = show(StepRow(ENGLISH, text("Do this"), text("by hand")), 360, 120)
    assert not row.findChildren(CodeBlock)
    assert words_in(row)[-1] == "by hand"


def test_a_step_without_detail_is_one_line(show: Show) -> None:
    row = show(StepRow(ENGLISH, text("Do this"), None), 360, 60)
    row.show_number(2)
    assert words_in(row) == ["2", "Do this"]


@pytest.mark.parametrize("mark", [Mark.BUSY, Mark.RIGHT, Mark.PROBLEM])
def test_a_mark_takes_the_place_of_the_number(show: Show, mark: Mark) -> None:
    row = show(StepRow(ENGLISH, text("Do this"), None), 360, 60)
    row.show_number(2)
    row.show_mark(mark)
    assert (row.mark, words_in(row)) == (mark, ["Do this"])


def test_a_step_has_no_mark_before_it_went(show: Show) -> None:
    assert show(StepRow(ENGLISH, text("Do this"), None), 360, 60).mark is None
