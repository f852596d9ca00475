"""`gpuassist explain --topic`: a guide, or a term of the glossary, by whatever it is called."""

from __future__ import annotations

from gpuassist.cli.context import Context
from gpuassist.cli.paragraphs import columns, width_of, wrapped
from gpuassist.cli.streams import BOLD, DIM, Painted
from gpuassist.model.codec import Json
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, listed, sentence, text
from gpuassist.present.marks import Exit
from gpuassist.present.terms import facts_of, term_document, term_rows
from gpuassist.session.guides import guide, topics
from gpuassist.session.terms import Glossary, glossary

LIST = "list"
_SCHEMA = 1
_LABEL_WIDTH = 22
_NARROW = 64  # columns, below which a value stands under its label


def topic(context: Context, name: str, machine: Machine | None, *, as_json: bool) -> Exit:
    """Says what the name means; every name where it is empty or `list`; the nearest ones where it is not known."""
    known = glossary(context.session)
    report = _Topics(context, known)
    if name in {"", LIST}:
        if as_json:
            context.document(report.list_document())
        else:
            report.show_list()
        return Exit.HEALTHY
    if name in topics(context.session):
        return report.guide(name, as_json=as_json)
    term = known.asked(name)
    if term is None:
        return report.unknown(name, as_json=as_json)
    if as_json:
        context.document({"schema": _SCHEMA, "asked": name, **term_document(term, machine, known, context.session.words)})
        return Exit.HEALTHY
    report.say(known.title(term.key), BOLD)
    report.say(sentence(term.short))
    context.say()
    report.say(sentence(term.text))
    context.say()
    for row in term_rows(term, facts_of(machine), known):
        report.row(row.label, row.value)
    return Exit.HEALTHY


class _Topics:
    """Writes for people to read."""

    def __init__(self, context: Context, known: Glossary) -> None:
        self._context, self._known = context, known
        self._words = context.session.words
        self._width = width_of(context)

    def guide(self, name: str, *, as_json: bool) -> Exit:
        found = guide(self._context.session, name)
        if as_json:
            document: dict[str, Json] = {"kind": "guide", "key": name, "title": found.title, "text": found.body}
            self._context.document({"schema": _SCHEMA, "asked": name, **document})
        else:
            self._context.say_lines(f"# {found.title}\n\n{found.body}".rstrip())
        return Exit.HEALTHY

    def unknown(self, name: str, *, as_json: bool) -> Exit:
        near = self._known.nearest(name)
        if as_json:
            nearest: list[Json] = [one.key for one in near]
            self._context.document({"schema": _SCHEMA, "asked": name, "kind": "unknown", "nearest": nearest})
            return Exit.UNDETERMINED
        self.say(text("there is no guide and no term named {name}", name=name))
        if near:
            self.say(text("The nearest that I know: {names}", names=listed(self._known.title(one.key) for one in near)))
        self.say(text("`gpuassist explain --topic list` lists them all"))
        return Exit.UNDETERMINED

    def show_list(self) -> None:
        self.say(text("Guides"), BOLD)
        for one in topics(self._context.session):
            self._context.say(f"{one}  {guide(self._context.session, one).title}")
        self._context.say()
        self.say(text("Terms"), BOLD)
        for term in self._known.terms:
            self._context.say(f"{term.key}  {self._known.title(term.key)}")

    def list_document(self) -> dict[str, Json]:
        session = self._context.session
        guides: list[Json] = [{"key": one, "title": guide(session, one).title} for one in topics(session)]
        terms: list[Json] = [
            {"key": one.key, "title": self._known.title(one.key), "short": self._words(sentence(one.short))}
            for one in self._known.terms
        ]
        return {"schema": _SCHEMA, "guides": guides, "terms": terms}

    def row(self, label: Text, value: Text) -> None:
        if self._width < _NARROW:
            self._context.say(f"  {self._words(label)}")
            self.say(value, DIM, first="    ", hanging="    ")
            return
        before = f"  {self._words(label)}"
        before += " " * max(2, _LABEL_WIDTH + 2 - columns(before))
        self.say(value, DIM, first=before, hanging=" " * columns(before))

    def say(self, words: Text | str, style: str = "", *, first: str = "", hanging: str = "") -> None:
        rendered = words if isinstance(words, str) else self._words(words)
        for line in wrapped(rendered, self._width, first=first, hanging=hanging):
            self._context.say(Painted(line, style))
