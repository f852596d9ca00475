"""One file of the problem catalogue as values: its sentences and remedies with their conditions.

Its sentences are English, and gettext ids as the messages in the code are: `tools/words.py` takes both to the translators.
"""

from __future__ import annotations

import string
import sys
from collections.abc import Iterator, Mapping
from typing import TypeVar

from msgspec import Struct

from gpuassist.model.finding import Action, Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OTHERWISE = "otherwise"

T = TypeVar("T")

Table = Mapping[str, object]


class EntryError(ValueError):
    """A file of the catalogue does not describe a problem; the words say which part of it."""


class Condition(Struct, frozen=True):
    """Holds where a parameter is not empty, or is `value`, of which several stand between bars; turned round by `negated`."""

    parameter: str
    value: str = ""
    negated: bool = False

    def holds(self, parameters: Mapping[str, str]) -> bool:
        """Whether it does; a parameter that the finding lacks is empty."""
        found = parameters.get(self.parameter, "")
        return (found in self.value.split("|") if self.value else bool(found)) is not self.negated


class Sentence(Struct, frozen=True):
    """A message that stands only where its conditions hold; with `otherwise` only where the one before it does not stand."""

    message: str
    when: tuple[Condition, ...] = ()
    otherwise: bool = False


class CommandEntry(Struct, frozen=True):
    """A command by its key, with the templates of its parameters."""

    key: str
    parameters: tuple[tuple[str, str], ...]


class RemedyEntry(Struct, frozen=True):
    """A way to mend the problem, where its conditions hold; `otherwise` as a sentence has it.

    `plan` is the goal of the plan whose steps it is (`driver`, `torch=={torch}`), empty where it has commands of its own.
    """

    message: str
    check: str
    action: Action
    commands: tuple[CommandEntry, ...]
    plan: str
    when: tuple[Condition, ...] = ()
    otherwise: bool = False


class CatalogueEntry(Struct, frozen=True):
    """A problem; the first of `severity_when` whose condition holds replaces the severity.

    `defaults` go into slots whose parameter is not known; conditions do not see them. `guides` are topics to read on. `changed_by`
    says what on a machine that was sound must have changed for it: a `Subject` (`driver`), or one with a word that stands in the
    change (`variable:CUDA_HOME`), the likeliest first.
    """

    severity: Severity
    severity_when: tuple[tuple[Condition, Severity], ...]
    parameters: tuple[str, ...]
    defaults: tuple[tuple[str, str], ...]
    links: tuple[Sentence, ...]
    guides: tuple[str, ...]
    titles: tuple[Sentence, ...]
    explanation: tuple[Sentence, ...]
    remedies: tuple[RemedyEntry, ...]
    changed_by: tuple[str, ...] = ()

    def messages(self) -> Iterator[str]:
        """Every sentence that it can say."""
        yield from (one.message for one in (*self.titles, *self.explanation))
        for remedy in self.remedies:
            yield remedy.message
            if remedy.check:
                yield remedy.check


def read_entry(content: bytes) -> CatalogueEntry:
    """The entry in a file's bytes; raises `EntryError` where it is none."""
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError alike
        raise EntryError(str(error)) from error
    return entry_in(document)


def entries_in(content: bytes) -> dict[str, CatalogueEntry]:
    """The entries of a file that holds several, each as a table of its own; raises `EntryError` as well."""
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:
        raise EntryError(str(error)) from error
    return {name: entry_in(read_value(document, name, dict)) for name in document}


def entry_in(document: Table) -> CatalogueEntry:
    """The entry that a table describes."""
    table = read_value(document, "defaults", dict, {})
    titles = _sentences(document, "title")  # of several the first that holds is the title
    if not titles or titles[-1].when:
        raise EntryError("title: the last one must stand without a condition")
    return CatalogueEntry(
        severity=_severity(read_value(document, "severity", str)),
        severity_when=tuple(
            (_condition(name), _severity(word)) for name, word in read_value(document, "severity_when", dict, {}).items()
        ),
        parameters=_strings(document, "parameters"),
        defaults=tuple((name, read_value(table, name, str)) for name in table),
        links=_sentences(document, "links"),
        guides=_strings(document, "guides"),
        titles=titles,
        explanation=_sentences(document, "explanation"),
        remedies=tuple(read_remedy(table) for table in _tables(document, "remedy")),
        changed_by=_strings(document, "changed_by"),
    )


def slots_of(template: str) -> frozenset[str]:
    """The names in braces."""
    return frozenset(slot for _, slot, _, _ in string.Formatter().parse(template) if slot is not None)


def _sentences(table: Table, name: str) -> tuple[Sentence, ...]:
    """One sentence or a list; one with conditions is a table `{ when = ..., text = ... }`."""
    found = table.get(name, [])
    return tuple(_sentence(one, name) for one in (found if isinstance(found, list) else [found]))


def _sentence(found: object, name: str) -> Sentence:
    table = found if isinstance(found, dict) else {"text": found}
    if not table.keys() <= {"when", "text"}:
        raise EntryError(f"{name}: {table}")
    return Sentence(read_message(table, "text"), *read_conditions(table))


def read_remedy(table: Table) -> RemedyEntry:
    commands = tuple(_command(one) for one in _tables(table, "commands"))
    plan = read_message(table, "plan") if "plan" in table else ""
    if plan and (commands or "check" in table):
        raise EntryError("plan: its steps have the commands and the check")
    when, otherwise = read_conditions(table)
    return RemedyEntry(
        message=read_message(table, "text"),
        check=read_message(table, "check") if "check" in table else "",
        action=_action(read_value(table, "action", str, (Action.COMMAND if commands else Action.NONE).value)),
        commands=commands,
        plan=plan,
        when=when,
        otherwise=otherwise,
    )


def _command(table: Table) -> CommandEntry:
    parameters = {name: value for name, value in table.items() if name != "key"}
    return CommandEntry(read_value(table, "key", str), tuple((name, read_message(parameters, name)) for name in parameters))


def read_message(table: Table, name: str) -> str:
    """A message whose slots are plain names, so that filling them in cannot fail."""
    words = read_value(table, name, str)
    try:
        slots = [(slot, form, conversion) for _, slot, form, conversion in string.Formatter().parse(words) if slot is not None]
    except ValueError as error:
        raise EntryError(f"{error}: {words!r}") from error
    if not all(slot.isidentifier() and not form and not conversion for slot, form, conversion in slots):
        raise EntryError(f"slots: {words!r}")
    return words


def read_conditions(table: Table) -> tuple[tuple[Condition, ...], bool]:
    """The conditions, and whether `otherwise` is among them."""
    found = table.get("when", [])
    names = [found] if isinstance(found, str) else found
    if not isinstance(names, list):
        raise EntryError("when")
    return tuple(_condition(name) for name in names if name != OTHERWISE), OTHERWISE in names


def _condition(words: object) -> Condition:
    if not isinstance(words, str) or not words.strip("!="):
        raise EntryError(f"when: {words!r}")
    name, _, value = words.removeprefix("!").partition("=")
    return Condition(name, value, words.startswith("!"))


def _severity(words: object) -> Severity:
    try:
        return Severity(words)
    except ValueError as error:
        raise EntryError(f"severity: {words!r}") from error


def _action(words: str) -> Action:
    try:
        return Action(words)
    except ValueError as error:
        raise EntryError(f"action: {words!r}") from error


def _strings(table: Table, name: str) -> tuple[str, ...]:
    found = read_value(table, name, list, [])
    if not all(isinstance(one, str) for one in found):
        raise EntryError(name)
    return tuple(found)


def _tables(table: Table, name: str) -> tuple[Table, ...]:
    found = read_value(table, name, list, [])
    if not all(isinstance(one, dict) for one in found):
        raise EntryError(name)
    return tuple(found)


def read_value(table: Table, name: str, kind: type[T], default: T | None = None) -> T:
    found = table.get(name, default)
    if not isinstance(found, kind):
        raise EntryError(name)
    return found
