"""The dialog with everything that was read: shown as a tree, copied and saved as what `detect --json` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.model.machine import encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.ui.widgets.everything import Everything
from tests.ui.made import Answers
from tests.ui.showing import words_in
from tests.values import machine

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to every dialog
DOCUMENT = dict(encode_machine(machine(note="größer"), ENGLISH))


@pytest.fixture
def asking() -> Answers:
    return Answers()


@pytest.fixture
def dialog(asking: Answers, qtbot: QtBot) -> Everything:
    made = Everything(ENGLISH, DOCUMENT, asking)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def press(dialog: Everything, words: str) -> None:
    """Presses the button with these words."""
    next(button for button in dialog.findChildren(QPushButton) if button.text() == words).click()


def test_the_copy_is_the_whole_document(dialog: Everything, clipboard: QClipboard) -> None:
    press(dialog, "Copy as JSON")
    assert json.loads(clipboard.text()) == DOCUMENT


def test_letters_stay_letters_in_the_document(dialog: Everything) -> None:
    assert "größer" in dialog.json


def test_saving_proposes_a_name(dialog: Everything, asking: Answers) -> None:
    press(dialog, "Save…")
    assert asking.asked == ["machine.json"]


def test_a_saved_file_is_named(dialog: Everything, asking: Answers, tmp_path: Path) -> None:
    asking.saved = str(tmp_path / "here.json")
    press(dialog, "Save…")
    assert json.loads(Path(asking.saved).read_text("utf-8")) == DOCUMENT
    assert f"Saved as {asking.saved}" in words_in(dialog)


def test_a_folder_that_is_not_there_is_told(dialog: Everything, asking: Answers) -> None:
    asking.saved = "/nowhere/at/all.json"
    press(dialog, "Save…")
    assert "Could not be saved: No such file or directory" in words_in(dialog)


def test_the_tree_shows_every_section(dialog: Everything) -> None:
    model = dialog.tree.model()
    names = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert names[:4] == ["Read at", "Computer", "GPUs", "Driver"]


def test_a_row_is_copied_with_its_source(dialog: Everything, clipboard: QClipboard) -> None:
    model = dialog.tree.model()
    host = next(model.index(row, 0) for row in range(model.rowCount()) if model.index(row, 0).data() == "Computer")
    kernel = next(model.index(row, 0, host) for row in range(model.rowCount(host)) if model.index(row, 0, host).data() == "Kernel")
    dialog.tree.setCurrentIndex(kernel)
    QTest.keyClick(dialog.tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == "Kernel\t6.8.0-60-generic\t/proc/sys/kernel/osrelease"


def test_closing_is_one_press(dialog: Everything) -> None:
    press(dialog, "Close")
    assert not dialog.isVisible()


def shown(dialog: Everything) -> list[str]:
    """The first column as it is shown, unfolded."""
    model, found = dialog.tree.model(), []
    below = [model.index(row, 0) for row in range(model.rowCount())]
    while below:
        index = below.pop(0)
        found.append(str(index.data()))
        below = [model.index(row, 0, index) for row in range(model.rowCount(index))] + below
    return found


def test_a_search_leaves_what_has_the_words_and_what_is_above(dialog: Everything) -> None:
    before = shown(dialog)
    dialog.search.setText("OSRELEASE")  # in a source, in other letters
    assert shown(dialog) == ["Computer", "Kernel", "WSL"]
    assert dialog.tree.isExpanded(dialog.tree.model().index(0, 0))
    dialog.search.clear()
    assert shown(dialog) == before


def test_a_search_that_finds_nothing_says_so(dialog: Everything) -> None:
    dialog.search.setText("<b>no such thing</b>")
    assert not dialog.tree.isVisible()
    assert any("<b>no such thing</b>" in words for words in words_in(dialog))


def test_the_key_for_finding_leads_to_the_search(dialog: Everything) -> None:
    assert dialog.tree.hasFocus()
    QTest.keyClick(dialog, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert dialog.search.hasFocus()
