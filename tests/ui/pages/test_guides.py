"""The guides: every topic can be read, opened by its name, and copied."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QListWidget

from gpuassist.session.guides import guide, topics
from gpuassist.session.navigation import ToGuide
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.guides import GuidesPage, MarkdownView
from gpuassist.ui.widgets.scroll_page import PageHeader
from tests.ui.showing import Show, words_in


@pytest.fixture
def page(desk: Desk, show: Show) -> GuidesPage:
    return show(GuidesPage(desk), 1056, 700)


def _title(page: GuidesPage) -> str:
    header = page.findChild(PageHeader)
    assert isinstance(header, PageHeader)
    return header.title


def _words(page: GuidesPage) -> str:
    view = page.findChild(MarkdownView)
    assert isinstance(view, MarkdownView)
    return view.toPlainText()


def _list(page: GuidesPage) -> QListWidget:
    found = page.findChild(QListWidget)
    assert isinstance(found, QListWidget)
    return found


def test_first_guide_is_open_at_once(page: GuidesPage, desk: Desk) -> None:
    assert page.topic == topics(desk.session)[0]
    assert _title(page) == guide(desk.session, page.topic).title


def test_every_topic_can_be_read(page: GuidesPage, desk: Desk) -> None:
    for row, topic in enumerate(topics(desk.session)):
        _list(page).setCurrentRow(row)
        assert (page.topic, _title(page)) == (topic, guide(desk.session, topic).title)
        assert len(_words(page)) > 300


def test_page_is_opened_at_a_topic(page: GuidesPage) -> None:
    page.arrive(ToGuide("precision"))
    assert (page.topic, _title(page)) == ("precision", "TF32 and mixed precision")


@pytest.mark.parametrize("errand", [None, ToGuide("no such topic")])
def test_other_errands_leave_the_guide_that_is_open(page: GuidesPage, errand: ToGuide | None) -> None:
    page.arrive(ToGuide("precision"))
    page.arrive(errand)
    assert page.topic == "precision"


def test_titles_are_not_cut(page: GuidesPage) -> None:
    found = _list(page)
    for row in range(found.count()):
        assert found.sizeHintForRow(row) <= found.visualItemRect(found.item(row)).height()


def test_guide_is_copied_as_markdown(page: GuidesPage, clipboard: QClipboard) -> None:
    page.arrive(ToGuide("profilers"))
    (copy,) = page.bar().left
    copy.trigger()
    assert clipboard.text().startswith("# Which profiler for what\n\n")


def test_screen_readers_are_told_the_title(page: GuidesPage) -> None:
    page.arrive(ToGuide("freeing-memory"))
    view = page.findChild(MarkdownView)
    assert isinstance(view, MarkdownView)
    assert view.accessibleName() == "Freeing GPU memory"


def _found(page: GuidesPage) -> list[str]:
    """The topics that can be chosen."""
    rows = [_list(page).item(row) for row in range(_list(page).count())]
    return [str(row.data(Qt.ItemDataRole.UserRole)) for row in rows if not row.isHidden()]


def test_a_search_leaves_the_guides_that_have_its_words(page: GuidesPage) -> None:
    everything, read = _found(page), _words(page)
    page.search.setText("XFORMERS flash")
    assert 0 < len(_found(page)) < len(everything)
    assert _words(page) == read  # what is read stays until another is chosen
    page.search.clear()
    assert _found(page) == everything


def test_a_search_that_finds_no_guide_says_so(page: GuidesPage) -> None:
    page.search.setText("no <i>such</i> word")
    assert not _list(page).isVisible()
    assert any("no <i>such</i> word" in words for words in words_in(page))
    page.search.clear()
    assert _list(page).isVisible()
