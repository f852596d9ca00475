"""A file of this machine among what was dropped."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QUrl

from gpuassist.ui.clipboard import dropped_file


@pytest.mark.parametrize(
    ("addresses", "path"),
    [
        ([], ""),
        (["https://example.org/a.log"], ""),
        (["file:///tmp/a%20b.log"], "/tmp/a b.log"),
        (["https://example.org/a.log", "file:///tmp/b.log", "file:///tmp/c.log"], "/tmp/b.log"),
    ],
)
def test_the_first_file_of_this_machine_is_taken(addresses: list[str], path: str) -> None:
    data = QMimeData()
    data.setUrls(list(map(QUrl, addresses)))
    assert dropped_file(data) == path


def test_words_are_no_file() -> None:
    data = QMimeData()
    data.setText("/tmp/a.log")
    assert dropped_file(data) == ""
