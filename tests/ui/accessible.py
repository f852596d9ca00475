"""The tree that screen readers walk, as Qt gives it to them: the same that AT-SPI hands on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractItemView, QWidget

_TEXT, _ROLE = QAccessible.Text, QAccessible.Role
CONTROLS = {
    *(_ROLE.Button, _ROLE.ButtonMenu, _ROLE.ButtonDropDown, _ROLE.CheckBox, _ROLE.RadioButton, _ROLE.ComboBox, _ROLE.EditableText),
    *(_ROLE.List, _ROLE.Table, _ROLE.Tree, _ROLE.Slider, _ROLE.SpinBox, _ROLE.Link, _ROLE.Graphic, _ROLE.ProgressBar),
}
_CONTROLS = {role.name for role in CONTROLS}
ROWS = {"List", "Table", "Tree"}
_REGIONS = {"Client", "NoRole", "Border", "Pane"}  # of these nobody says what they are for


class Told(NamedTuple):
    """What a screen reader is given of one thing, by Qt or by the bus."""

    role: str
    """By Qt's name."""

    name: str
    description: str
    is_stop: bool
    """Whether the keyboard gets there."""

    is_labelled: bool
    has_parts: bool


def interfaces(widget: QWidget) -> Iterator[QAccessibleInterface]:
    """Everything of the widget that can be seen, rows of lists and tables once each."""
    yield from _below(QAccessible.queryAccessibleInterface(widget))


def _below(one: QAccessibleInterface) -> Iterator[QAccessibleInterface]:
    if one.state().invisible:
        return
    yield one
    if one.role().name not in {*ROWS, "ComboBox"}:
        for place in range(one.childCount()):
            child = one.child(place)
            if child.isValid():
                yield from _below(child)


def told(one: QAccessibleInterface) -> str:
    """How it is named in a failure."""
    where = type(one.object()).__name__ if one.object() is not None else ""
    return f"{where} {one.role().name} {one.text(_TEXT.Name)!r} {one.text(_TEXT.Description)!r}"


def wanting(widget: QWidget) -> list[str]:
    """What a screen reader could not tell of it."""
    return [f"{why}: {told(one)}" for one in interfaces(widget) for why in _faults(one)]


def _faults(one: QAccessibleInterface) -> Iterator[str]:
    thing = one.object()
    focusable = isinstance(thing, QWidget) and bool(thing.focusPolicy() & Qt.FocusPolicy.TabFocus)
    name, description, role = one.text(_TEXT.Name), one.text(_TEXT.Description), one.role().name
    yield from faults(Told(role, name, description, focusable, labelled(one), bool(one.childCount())))
    if role in ROWS:
        yield from _rows_wanting(one)


def faults(one: Told) -> Iterator[str]:
    """Why a screen reader could not tell of it; what stands in rows is looked at apart."""
    if one.role == "ComboBox":  # on this platform its name is what is chosen: what it is for must be said beside that
        if not (one.is_labelled or one.description):
            yield "nobody says what is chosen here"
    elif (one.role in _CONTROLS or one.is_stop) and not one.name.strip():
        yield "no name"
    if one.is_stop and one.role in _REGIONS and not one.has_parts:
        yield "no role"
    if one.role == "Graphic" and not one.description.strip():
        yield "nobody says what the picture shows"


def _rows_wanting(one: QAccessibleInterface) -> Iterator[str]:
    view = one.object()
    model = view.model() if isinstance(view, QAbstractItemView) else None
    if model is None or not model.rowCount():
        return
    words = [str(model.index(0, column).data() or "") for column in range(_columns(model))]
    cells = [one.child(place) for place in range(one.childCount())]
    names = [cell.text(_TEXT.Name) for cell in cells if cell.isValid()]
    if any(word and not any(word in name for name in names) for word in words):
        yield "the first row is not told"


def _columns(model: QAbstractItemModel) -> int:
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())


def labelled(one: QAccessibleInterface) -> bool:
    """Whether a label says that it belongs to it."""
    return bool(one.relations(QAccessible.RelationFlag.Label))
