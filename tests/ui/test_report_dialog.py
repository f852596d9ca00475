"""The dialog that shows a report before it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuassist.present.report_file import ReportFormat
from gpuassist.session.inspect import open_example
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.found import FoundPage
from gpuassist.ui.report_dialog import ReportDialog
from tests.ui.showing import Show, words_in

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to every dialog
TOO_OLD = "02-rtx-4090-cuda-11-7-first"


@pytest.fixture
def dialog(desk: Desk, show: Show, qtbot: QtBot) -> ReportDialog:
    """The dialog of an example, once the report is made."""
    page = show(FoundPage(desk), 984, 660)
    page.show_inspection(open_example(desk.session, TOO_OLD))
    page._hand_on.trigger()
    (made,) = page.findChildren(ReportDialog)
    qtbot.waitUntil(lambda: made.report is not None)
    return made


def test_the_page_offers_it_once_there_is_a_machine(desk: Desk, show: Show) -> None:
    page = show(FoundPage(desk), 984, 660)
    assert page._hand_on not in page.bar().left
    page.show_inspection(open_example(desk.session, TOO_OLD))
    assert page._hand_on in page.bar().left


def test_it_shows_all_that_leaves_and_what_was_left_out(dialog: ReportDialog) -> None:
    assert dialog.preview.toPlainText() == dialog.content
    assert "names of users: 1, now user" in words_in(dialog.left)
    assert "/home/you" not in dialog.content


def test_the_format_that_is_chosen_is_what_is_copied_and_saved(dialog: ReportDialog, tmp_path: Path) -> None:
    for place, form in enumerate((ReportFormat.MARKDOWN, ReportFormat.HTML, ReportFormat.JSON)):
        dialog.formats.choose(place)
        assert dialog.form is form
        dialog.save_to(str(tmp_path / f"r.{form.value}"))
        dialog.copy.click()
        assert QGuiApplication.clipboard().text() == (tmp_path / f"r.{form.value}").read_text("utf-8") == dialog.content
    assert json.loads(dialog.content)["schema"] == 1
    assert (tmp_path / "r.json").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_saved_is_said(dialog: ReportDialog, tmp_path: Path) -> None:
    dialog.save_to(str(tmp_path))
    assert dialog.notice.isVisible()
    assert any(str(tmp_path) in words for words in words_in(dialog.notice))


def test_it_fits_a_small_window_and_tells_no_word_cut_off(dialog: ReportDialog) -> None:
    parent = dialog.parentWidget()
    assert parent is not None
    room = parent.window().size()
    assert (dialog.width() < room.width(), dialog.height() < room.height()) == (True, True)
    for label in dialog.left.findChildren(QWidget):
        assert label.width() <= dialog.left.width()
