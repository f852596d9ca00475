"""Words that are not rendered yet: a message in English, which is its gettext id, with its parameters.

Stages return these and never finished sentences; `model.words` renders them at the border (cli, ui, report).
Babel extracts the first argument of `text` and the first two of `counted`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from msgspec import Struct

Parameter = Union[str, int, float, "Text"]
Parameters = tuple[tuple[str, Parameter], ...]


class Text(Struct, frozen=True):
    """A message with `{name}` slots, and what goes into them; `plural` is the form for other counts than one."""

    message: str
    parameters: Parameters = ()
    plural: str = ""


def text(message: str, /, **parameters: Parameter) -> Text:
    """A message to translate; a literal brace in it is written twice."""
    return Text(message, tuple(parameters.items()))


def counted(one: str, many: str, /, count: int, **parameters: Parameter) -> Text:
    """A message whose form depends on `count`, which is also a parameter of it."""
    return Text(one, (("count", count), *parameters.items()), many)


def enumerated(names: Iterable[str]) -> Text:
    """Names in a row, each once: `A`, `A and B`, `A, B and C`."""
    *others, last = dict.fromkeys(names) or ("",)
    return text("{names} and {last}", names=listed(others), last=last) if others else verbatim(last)


def listed(names: Iterable[str]) -> Text:
    """Names in a row, as often as they come: `A, B, C`. A language has a comma of its own for that."""
    every = tuple(names)
    if len(every) < 2:
        return verbatim(every[0] if every else "")
    half = (len(every) + 1) // 2  # a row of thousands stays some ten texts deep
    return text("{names}, {name}", names=listed(every[:half]), name=listed(every[half:]))


def labelled(name: Parameter, value: Parameter) -> Text:
    """A value behind what it is called."""
    return text("{fact}: {value}", fact=name, value=value)


def joined(parts: tuple[Text, ...]) -> Text:
    """Parts in one line, dots between them."""
    message = " · ".join(f"{{part{place}}}" for place in range(len(parts)))
    return Text(message, tuple((f"part{place}", part) for place, part in enumerate(parts))) if parts else verbatim("")


def sentence(ours: str) -> Text:
    """A sentence of ours that stands in a file of knowledge: a message as those in the code are, without slots."""
    return Text(ours.replace("{", "{{").replace("}", "}}"))


def verbatim(words: str) -> Text:
    """Words that are shown as they are in every language: a path, a version, what a tool printed."""
    return Text("{words}", (("words", words),))
