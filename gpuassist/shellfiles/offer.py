"""Offers a line that leads to another toolkit written anew for the chosen one, or says why that is not offered.

A line that sets nothing else gets the chosen toolkit's directories; from one that sets directories of the user's own too, only the
other toolkit's are taken out.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.text import Text, text
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.installed import HOMES, LISTS, Installed, Lead
from gpuassist.shellfiles.reading import Element, Statement
from gpuassist.shellfiles.rewrite import Rewriting, rewrite


@dataclass(frozen=True, slots=True)
class Offer:
    """A line to put in the place of one that leads to another toolkit; `harms` where that one would stay in front as it is."""

    rewriting: Rewriting
    harms: bool


def offer(
    content: bytes, statement: Statement, installed: Installed, *, mixed: bool, later: bool = False, dialect: Dialect = Dialect.BASH
) -> Offer:
    """The statement for the chosen toolkit; `mixed` where it gives directories of the user's own as well, `later` where it is read
    after the new block.
    """
    follows = _follows(statement, installed)
    if follows:
        return Offer(Rewriting(why=text("it follows ${name}: rewrite the line that sets that", name=follows)), harms=False)

    def fate(variable: str, element: Element) -> str | None:
        if variable not in LISTS | HOMES or installed.lead(element.directory) is not Lead.OTHER:
            return element.written
        return None if mixed and variable in LISTS else installed.moved(element)

    rewriting = rewrite(content, statement, fate, dialect=dialect)
    return Offer(rewriting, harms=bool(rewriting.line) and mixed and _harms(statement, installed, later=later))


def harm(statement: Statement) -> Text:
    """Why a line that also serves the user is rewritten without being asked for."""
    variables = ", ".join(dict.fromkeys(assignment.variable for assignment in statement.assignments))
    return text("puts another toolkit on {variables} beside directories of yours: only that is taken out", variables=variables)


def _follows(statement: Statement, installed: Installed) -> str:
    """The variable through which alone it leads to another toolkit."""
    other = (element for assignment in statement.assignments for element in assignment.elements)
    through = [_home_in(element.written) for element in other if installed.lead(element.directory) is Lead.OTHER]
    return through[0] if through and all(through) else ""


def _home_in(written: str) -> str:
    bare = written.strip("\"'")
    return next((home for home in sorted(HOMES) if bare.split("/")[0] in {f"${home}", f"${{{home}}}"}), "")


def _harms(statement: Statement, installed: Installed, *, later: bool) -> bool:
    # The new block puts the chosen one first on PATH alone, and over what is read before it: elsewhere this one would stay.
    unbeaten = LISTS | HOMES if later else LISTS - {"PATH"}
    return any(
        assignment.variable in unbeaten and installed.lead(element.directory) is Lead.OTHER
        for assignment in statement.assignments
        for element in assignment.elements
    )
