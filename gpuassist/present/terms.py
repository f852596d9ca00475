"""What is said of a term: a tool tip's line, an entry's rows for a terminal, its Markdown for the window, its document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from gpuassist.knowledge.terms import Term
from gpuassist.model.text import Text, counted, labelled, listed, sentence, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.markdown import plain_markdown
from gpuassist.session.terms import Glossary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuassist.model.codec import Json
    from gpuassist.model.machine import Machine
    from gpuassist.present.listing import Section

TERM_LINK, GUIDE_LINK = "term:", "guide:"
_HERE_AT_MOST = 4  # values of this machine: a server has eight GPUs that are the same
_IN_TIP = 2  # terms of one text; the panel of the page has the others
# Facts that are called by a word which means something else elsewhere: section and label.
_FACTS = {
    "architecture": ("GPU: {name}", "architecture"),
    "driver-branch": ("Driver", "version"),
    "open-module": ("Driver", "loaded NVIDIA modules"),
}


def tip(terms: Sequence[Term], glossary: Glossary, words: Words) -> str:
    """The tool tip of a text with these terms; empty where it has none."""
    if not terms:
        return ""
    lines = [words(labelled(glossary.title(one.key), sentence(one.short))) for one in terms[:_IN_TIP]]
    more = len(terms) - len(lines)
    if more:
        lines.append(words(counted("Shift+F1: these and {count} more term", "Shift+F1: these and {count} more terms", more)))
    else:
        lines.append(words(text("More: Guides › {term} (Shift+F1)", term=glossary.title(terms[0].key))))
    return "\n".join(lines)


class TermRow(Struct, frozen=True):
    """One row below an entry's text."""

    label: Text
    value: Text
    source: str = ""


def facts_of(machine: Machine | None) -> tuple[Section, ...]:
    """What entries are looked up in: all that is known of a machine, in some milliseconds, so once for many entries."""
    from gpuassist.present.listing import facts_read  # reads every part of a machine: not needed for a tool tip

    return facts_read(machine) if machine is not None else ()


def here(term: Term, facts: Sequence[Section]) -> tuple[TermRow, ...]:
    """What this machine's facts say of it: equal values once, each with the part of the machine that it is of."""
    wanted = _FACTS.get(term.key)
    rows: dict[Text, TermRow] = {}
    for section in facts:
        for row in section.lines:
            fits = row.label.message in term.labels if wanted is None else (section.title.message, row.label.message) == wanted
            if fits:
                rows.setdefault(row.value, TermRow(section.title, row.value, row.source))
    return tuple(rows.values())[:_HERE_AT_MOST]


def term_rows(term: Term, facts: Sequence[Section], glossary: Glossary) -> Iterator[TermRow]:
    """What stands below an entry's text."""
    for row in here(term, facts):
        yield TermRow(text("On this machine"), labelled(row.label, row.value), row.source)
    yield TermRow(text("Where to see it"), sentence(term.where))
    for label, packages in ((text("By pip"), term.pip), (text("By apt"), term.apt), (text("By conda"), term.conda)):
        if packages:
            yield TermRow(label, listed(packages))
    if term.checks:
        yield TermRow(text("Checks that call it"), listed(term.checks))
    elif term.pip:
        yield TermRow(text("Checks that call it"), text("none of `gpuassist verify`"))
    if term.see:
        yield TermRow(text("See also"), listed(glossary.title(one) for one in term.see))
    if term.guide:
        yield TermRow(text("Guide"), verbatim(f"gpuassist explain --topic {term.guide}"))
    yield TermRow(text("source"), text("{source} ({checked})", source=" ".join(term.links), checked=term.checked))


def term_markdown(term: Term, facts: Sequence[Section], glossary: Glossary, words: Words, *, guide_title: str) -> str:
    """An entry below its title, with links that lead to other entries and to its guide."""
    pieces = [f"**{plain_markdown(words(sentence(term.short)))}**", plain_markdown(words(sentence(term.text)))]
    for row in term_rows(term, facts, glossary):
        value = plain_markdown(words(row.value))
        if row.label.message == "See also":
            value = words(listed(f"[{plain_markdown(glossary.title(one))}]({TERM_LINK}{one})" for one in term.see))
        elif row.label.message == "Guide":
            value = f"[{plain_markdown(guide_title)}]({GUIDE_LINK}{term.guide})"
        pieces.append(words(labelled(f"**{plain_markdown(words(row.label))}**", value)))
    return "\n\n".join(pieces) + "\n"


def term_document(term: Term, machine: Machine | None, glossary: Glossary, words: Words) -> dict[str, Json]:
    """An entry for programs."""
    rows = here(term, facts_of(machine))
    return {
        "kind": "term",
        "key": term.key,
        "title": glossary.title(term.key),
        "short": words(sentence(term.short)),
        "text": words(sentence(term.text)),
        "where": words(sentence(term.where)),
        "here": [{"of": words(one.label), "value": words(one.value), "source": one.source} for one in rows],
        "packages": {"pip": list(term.pip), "apt": list(term.apt), "conda": list(term.conda)},
        "checks": list(term.checks),
        "see": list(term.see),
        "guide": term.guide or None,
        "links": list(term.links),
        "checked": term.checked,
    }
