"""Markdown to read: tables with lines, code in its own font and on its own ground, colours that follow the theme."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor, QTextBlock, QTextTable

from gpuassist.ui.pages.guides import MarkdownView
from gpuassist.ui.palette import DARK, LIGHT, Palette
from gpuassist.ui.theme import Appearance, Theme, mono
from tests.ui.showing import Show

WORDS = """Words with `code` among them.

| one | two |
|---|---|
| a | `b` |

```python
import torch
```

The end.
"""


@pytest.fixture
def view(show: Show) -> MarkdownView:
    made = show(MarkdownView(), 600, 400)
    made.show_markdown(WORDS)
    return made


def _blocks(view: MarkdownView) -> Iterator[QTextBlock]:
    block = view.document().begin()
    while block.isValid():
        yield block
        block = block.next()


def _block(view: MarkdownView, words: str) -> QTextBlock:
    return next(block for block in _blocks(view) if block.text() == words)


def _table(view: MarkdownView) -> QTextTable:
    (table,) = (frame for frame in view.document().rootFrame().childFrames() if isinstance(frame, QTextTable))
    return table


def _ground(view: MarkdownView) -> QColor:
    return _block(view, "import torch").blockFormat().background().color()


def _fonts(block: QTextBlock) -> dict[str, str]:
    fonts, place = {}, block.begin()
    while not place.atEnd():
        run = place.fragment()
        fonts[run.text()] = run.charFormat().font().family()
        place += 1
    return fonts


def test_table_has_lines_and_takes_the_width(view: MarkdownView) -> None:
    form = _table(view).format().toTableFormat()
    assert (form.border(), form.borderCollapse(), form.width().rawValue()) == (1.0, True, 100.0)
    assert form.borderBrush().color() == QColor(LIGHT.line)


def test_code_among_words_has_the_monospaced_font(view: MarkdownView) -> None:
    fonts = _fonts(_block(view, "Words with code among them."))
    assert fonts["code"] == mono().family()
    assert fonts["Words with "] != mono().family()


def test_block_of_code_has_font_and_ground(view: MarkdownView) -> None:
    assert _fonts(_block(view, "import torch")) == {"import torch": mono().family()}
    assert _ground(view) == QColor(LIGHT.well)


def test_words_have_no_ground(view: MarkdownView) -> None:
    assert not _block(view, "The end.").blockFormat().hasProperty(_block(view, "The end.").blockFormat().Property.BackgroundBrush)


@pytest.mark.parametrize(("appearance", "palette"), [(Appearance.DARK, DARK), (Appearance.LIGHT, LIGHT)])
def test_colours_follow_the_theme(view: MarkdownView, theme: Theme, appearance: Appearance, palette: Palette) -> None:
    theme.choose(appearance)
    assert _ground(view) == QColor(palette.well)


def test_another_text_starts_at_its_beginning(view: MarkdownView) -> None:
    view.show_markdown("line\n\n" * 300)
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    view.show_markdown("other\n\n" * 300)
    assert view.verticalScrollBar().value() == 0


def test_links_open_nothing(view: MarkdownView) -> None:
    view.show_markdown("[a](https://example.org)")
    assert not view.openLinks()
