"""The guides: every topic can be read, opened by its name, and copied."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListWidget

from gpuassist.session.guides import guide, topics
from gpuassist.session.navigation import ToGuide, ToTerm
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.guides import GuidesPage, MarkdownView
from gpuassist.ui.widgets.scroll_page import PageHeader
from tests.ui.made import Answers
from tests.ui.showing import Show


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


def test_a_key_leads_to_the_search(page: GuidesPage) -> None:
    (find,) = (one for one in page.actions() if one.shortcut().toString() == "Ctrl+F")
    find.trigger()
    assert isinstance(page.focusWidget(), QLineEdit)


def _enter(page: GuidesPage, typed: str) -> None:
    """As somebody searches for it and presses Enter."""
    search = page.findChild(QLineEdit)
    assert search is not None
    search.setText(typed)
    QTest.keyClick(search, Qt.Key.Key_Return)


@pytest.mark.parametrize("typed", ["mixed precision", "PRECISION"])
def test_enter_opens_the_first_that_is_found(page: GuidesPage, typed: str) -> None:
    _enter(page, typed)
    assert page.topic == "precision"


def test_enter_opens_what_is_called_so_before_what_only_speaks_of_it(page: GuidesPage) -> None:
    _enter(page, "ptx")
    assert _title(page) == "PTX"


@pytest.mark.parametrize("typed", ["", "  ", "nothing that is called so"])
def test_enter_opens_nothing_where_nothing_is_found(page: GuidesPage, typed: str) -> None:
    page.arrive(ToGuide("profilers"))
    _enter(page, typed)
    assert page.topic == "profilers"


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


def _rows(page: GuidesPage) -> list[str]:
    found = _list(page)
    return [found.item(row).text() for row in range(found.count()) if not found.item(row).isHidden()]


def test_a_term_is_read_like_a_guide(page: GuidesPage) -> None:
    page.arrive(ToTerm("mok"))
    assert (_title(page), page.left()) == ("MOK", ToTerm("mok"))
    assert "mokutil --list-enrolled" in _words(page)


def test_links_of_a_term_lead_to_terms_guides_and_out(page: GuidesPage, answers: Answers) -> None:
    view = page.findChild(MarkdownView)
    assert isinstance(view, MarkdownView)
    page.arrive(ToTerm("reserved-memory"))
    view.anchorClicked.emit(QUrl("term:fragmentation"))
    assert _title(page) == "fragmentation"
    view.anchorClicked.emit(QUrl("https://docs.pytorch.org/"))
    view.anchorClicked.emit(QUrl("file:///etc/passwd"))
    assert answers.visited == ["https://docs.pytorch.org/"]
    view.anchorClicked.emit(QUrl("guide:memory-numbers"))
    assert page.left() == ToGuide("memory-numbers")


def test_the_search_finds_titles_spellings_and_sentences(page: GuidesPage) -> None:
    search = page.findChild(QLineEdit)
    assert isinstance(search, QLineEdit)
    search.setText("cudamm")
    assert _rows(page) == ["RMM (RAPIDS Memory Manager)"]
    search.setText("two of every four")
    assert _rows(page) == ["cuSPARSELt"]
    search.setText("zzz")
    assert _rows(page) == []
    page.arrive(ToTerm("mok"))
    assert (search.text(), _title(page)) == ("", "MOK")
