"""What a screen reader does: asks the bus of assistive technology (AT-SPI) what the programs' windows hold, and presses it.

Each level of a tree is asked for at once: one after the other a page takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.ui.accessible import ROWS, Told

_ATSPI = "org.a11y.atspi"
_FOCUSABLE, _VISIBLE = 11, 30
_LABELLED_BY = 2
_CELLS = 40  # of a table are enough to see that its cells are told
_ROLES = {  # as Qt calls what it hands on under these names
    "push button": "Button",
    "button menu": "ButtonMenu",
    "check box": "CheckBox",
    "radio button": "RadioButton",
    "combo box": "ComboBox",
    "text": "EditableText",
    "list": "List",
    "table": "Table",
    "tree": "Tree",
    "slider": "Slider",
    "spin button": "SpinBox",
    "link": "Link",
    "image": "Graphic",
    "progress bar": "ProgressBar",
    "filler": "Client",
    "panel": "Pane",
    "invalid": "NoRole",
    "unknown": "NoRole",
}


class Thing(NamedTuple):
    """One thing in a window."""

    place: tuple[str, str]
    """The program on the bus, and which of its things."""

    told: Told
    rows: tuple[str, ...]
    """Of a list or a table the names of its cells."""


class ScreenReader:
    """A connection to that bus, which the session's bus has started."""

    def __init__(self, session_bus: str) -> None:
        with open_dbus_connection(session_bus) as session:
            asked = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
            (address,) = session.send_and_get_reply(asked, timeout=60).body
        self._bus: DBusConnection = open_dbus_connection(address)

    def close(self) -> None:
        """Ends it."""
        self._bus.close()

    def programs(self) -> list[tuple[str, str]]:
        """Those that have told the bus of themselves."""
        registry = (f"{_ATSPI}.Registry", f"/{_ATSPI.replace('.', '/')}/accessible/root")
        (answer,) = self._ask([(registry, "Accessible", "GetChildren", ())])
        return list(*answer)

    def things(self, *top: tuple[str, str], without: str = "") -> list[Thing]:
        """Everything below these that can be seen, but what is called so. What goes away meanwhile is left out."""
        found: list[Thing] = []
        level = list(top)
        while level:
            shown = [one for one in self._told(level) if not without or one[0].told.name != without]
            level = [child for one in shown for child in self._taken(one, found)]
        return found

    def press(self, thing: Thing) -> None:
        """As a button is pressed."""
        self._ask([(thing.place, "Action", "DoAction", (0,))])

    def _taken(self, seen: tuple[Thing, list[tuple[str, str]]], found: list[Thing]) -> list[tuple[str, str]]:
        thing, children = seen
        if thing.told.role in {"ComboBox", "Graphic"}:
            relations, description = self._ask(
                [(thing.place, "Accessible", "GetRelationSet", ()), (thing.place, "Accessible", "Description", None)]
            )
            is_labelled = any(kind == _LABELLED_BY for answer in relations for kind, _ in answer)
            told = thing.told._replace(is_labelled=is_labelled, description="".join(words for _, words in description))
            thing = thing._replace(told=told)
        if thing.told.role in ROWS:
            names = self._ask([(child, "Accessible", "Name", None) for child in children[:_CELLS]])
            thing = thing._replace(rows=tuple(name for answer in names for _, name in answer))
        found.append(thing)
        return [] if thing.told.role in {*ROWS, "ComboBox"} else children

    def _told(self, places: list[tuple[str, str]]) -> Iterator[tuple[Thing, list[tuple[str, str]]]]:
        asked = (("GetState", ()), ("GetRoleName", ()), ("GetChildren", ()), ("Name", None))
        answers = iter(self._ask((place, "Accessible", *one) for place in places for one in asked))
        for place in places:
            states, role, children, name = (next(answers) for _ in asked)
            if not all((states, role, children, name)):
                continue
            bits = states[0][0] | states[0][1] << 32
            if bits >> _VISIBLE & 1:
                is_stop = bool(bits >> _FOCUSABLE & 1) and role[0] != "label"  # text that a mouse can select is called so as well
                told = Told(_ROLES.get(role[0], role[0]), name[0][1], "", is_stop, is_labelled=False, has_parts=bool(children[0]))
                yield Thing(place, told, ()), children[0]

    def _ask(self, questions: Iterable[tuple[tuple[str, str], str, str, tuple[int, ...] | None]]) -> list[Any]:
        """The answers to questions that are all sent first; nothing for a thing that is no longer there."""
        waiting: dict[int, int] = {}
        answers: list[Any] = []
        for (program, path), interface, name, given in questions:
            if given is None:
                address = DBusAddress(path, program, "org.freedesktop.DBus.Properties")
                message = new_method_call(address, "Get", "ss", (f"{_ATSPI}.{interface}", name))
            else:
                address = DBusAddress(path, program, f"{_ATSPI}.{interface}")
                message = new_method_call(address, name, "i" * len(given), given)
            serial = next(self._bus.outgoing_serial)
            waiting[serial] = len(answers)
            answers.append(None)
            self._bus.send(message, serial=serial)
        while waiting:
            answer = self._bus.receive(timeout=60)
            place = waiting.pop(answer.header.fields.get(HeaderFields.reply_serial, 0), None)
            if place is not None:
                answers[place] = () if answer.header.message_type is MessageType.error else answer.body
        return answers
