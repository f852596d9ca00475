"""What a message alone cannot decide: the causes that fit it, and the command whose output tells them apart."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from gpuassist.diagnose.catalogue_entry import (
    CatalogueEntry,
    Condition,
    EntryError,
    RemedyEntry,
    Sentence,
    read_conditions,
    read_message,
    read_remedy,
    read_value,
)
from gpuassist.model.finding import Finding, Severity
from gpuassist.model.text import Text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Case(Struct, frozen=True):
    """What the output may be, and what it then is: a problem of the catalogue, or what to do. `without` are commands that only ask
    what the output has answered.
    """

    shows: str
    problem: str
    remedy: RemedyEntry | None
    without: frozenset[str] = frozenset()


class QuestionEntry(Struct, frozen=True):
    """A question of `resources/questions.toml`, which says when it is asked; `ask` is the command that decides."""

    name: str
    of: frozenset[str]
    says: str
    when: tuple[Condition, ...]
    title: str
    explanation: str
    ask: RemedyEntry
    cases: tuple[Case, ...]

    def messages(self) -> Iterator[str]:
        """Every sentence that it can say."""
        yield from (self.title, self.explanation, self.ask.message)
        for case in self.cases:
            yield case.shows
            if case.remedy is not None:
                yield case.remedy.message

    def entry(self, remedies: Iterable[RemedyEntry]) -> CatalogueEntry:
        """What is written of it, as of a problem: the command that decides, then these."""
        return CatalogueEntry(
            severity=Severity.PROBLEM,
            severity_when=(),
            parameters=(),
            defaults=(("python", "python"),),
            links=(),
            guides=(),
            titles=(Sentence(self.title),),
            explanation=(Sentence(self.explanation),),
            remedies=(self.ask, *remedies),
        )

    def fits(self, finding: Finding, parameters: Mapping[str, str]) -> bool:
        """Whether it is the one that a finding leaves open."""
        return (
            finding.problem in self.of
            and all(condition.holds(parameters) for condition in self.when)
            and any(re.search(self.says, passage, re.IGNORECASE) for passage in _passages(finding))
        )


_HEADING = b"[[question]]\n"


def questions_about(problem: str, content: bytes) -> tuple[QuestionEntry, ...]:
    """Those in the file's bytes that name a problem: to read all of them takes as long as the rest of an answer."""
    _, *tables = content.split(_HEADING)
    named = [_HEADING + table for table in tables if f'"{problem}"'.encode() in table]
    return read_questions(b"".join(named)) if named else ()


def read_questions(content: bytes) -> tuple[QuestionEntry, ...]:
    """Every question in the file's bytes; raises `EntryError` where it holds none."""
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError alike
        raise EntryError(str(error)) from error
    return tuple(_question(table) for table in read_value(document, "question", list))


def _question(table: Mapping[str, object]) -> QuestionEntry:
    return QuestionEntry(
        name=read_value(table, "name", str),
        of=frozenset(read_value(table, "of", list)),
        says=read_value(table, "says", str),
        when=read_conditions(table)[0],
        title=read_message(table, "title"),
        explanation=read_message(table, "explanation"),
        ask=read_remedy({name: table[name] for name in ("text", "commands")}),
        cases=tuple(_case(one) for one in read_value(table, "cases", list)),
    )


def _case(table: Mapping[str, object]) -> Case:
    own = {name: value for name, value in table.items() if name in {"text", "commands"}}
    problem = read_value(table, "problem", str, "")
    if bool(problem) is bool(own):
        raise EntryError(f"case: {dict(table)}")
    return Case(
        read_message(table, "shows"), problem, read_remedy(own) if own else None, frozenset(read_value(table, "without", list, []))
    )


def _passages(finding: Finding) -> Iterator[str]:
    """What the text says, of a finding's evidence."""
    for one in finding.evidence:
        if one.source.startswith("pasted"):
            yield " ".join(str(value) for _, value in one.value.parameters if not isinstance(value, Text))
