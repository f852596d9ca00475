"""The words that a page shows, at one place or all of them, and the terms in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QHeaderView, QLabel, QTextEdit, QWidget

from gpuassist.knowledge.terms import Term
from gpuassist.session.terms import Glossary

_CELLS_AT_MOST = 400
_WIDGETS_AT_MOST = 2000


def words_at(under: QWidget, at: QPoint) -> str:
    """The words below the mouse: a label's, a cell's, a column's."""
    view = under.parentWidget()
    if isinstance(view, QHeaderView):
        column = view.logicalIndexAt(view.viewport().mapFromGlobal(at))
        return str(view.model().headerData(column, view.orientation()) or "")
    if isinstance(view, QAbstractItemView):
        index = view.indexAt(view.viewport().mapFromGlobal(at))
        return str(index.data() or "") if index.isValid() else ""
    return "" if isinstance(under, QTextEdit) or isinstance(view, QTextEdit) else words_of(under)


def terms_below(page: QWidget, glossary: Glossary) -> tuple[Term, ...]:
    """The terms of all that is to be seen of a page, each once: first those beside the focus, then from its top down."""
    focused = cast("QWidget | None", page.window().focusWidget())
    near = focused.parentWidget() if focused is not None and page.isAncestorOf(focused) else None
    found: dict[str, Term] = {}
    for widget in (*(_shown(near) if near is not None and near is not page else ()), *_shown(page)):
        for words in _texts(widget):
            found |= {one.key: one for one in glossary.in_text(words) if one.key not in found}
    return tuple(found.values())


def _shown(top: QWidget) -> list[QWidget]:
    shown = [one for one in (top, *top.findChildren(QWidget)) if one.isVisible()]
    return sorted(shown[:_WIDGETS_AT_MOST], key=_place)


def words_of(widget: QWidget) -> str:
    """A label's words without their mark-up, those of a button, or what another widget is called."""
    if isinstance(widget, QLabel):
        return widget.accessibleName() or widget.text()
    if isinstance(widget, QAbstractButton):
        return widget.text()
    return widget.accessibleName()


def _texts(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QTextEdit):
        yield widget.toPlainText()
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from _cells(widget)
    else:
        yield words_of(widget)


def _cells(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    rows, columns = model.rowCount(), model.columnCount()
    for column in range(columns):
        yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")
    for place in range(min(rows * columns, _CELLS_AT_MOST)):
        yield str(model.index(place // columns, place % columns).data() or "")


def _place(widget: QWidget) -> tuple[int, int]:
    corner = widget.mapTo(widget.window(), QPoint(0, 0))
    return corner.y(), corner.x()
