"""A report as Markdown for an issue tracker: plain headings, lists and code, the machine's facts folded away."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.formats.visible import visible
from gpuassist.model.words import Words
from gpuassist.present.chain import chain_in_words
from gpuassist.present.markdown import plain_markdown
from gpuassist.present.marks import GLYPHS, Mark
from gpuassist.present.report_words import (
    ChainPart,
    FactRows,
    Part,
    ReportCommands,
    ReportHeading,
    ReportItems,
    ReportParagraph,
    parts_of,
)
from gpuassist.session.report import MachineReport

_FENCE = "```"


def report_markdown(report: MachineReport, words: Words) -> str:
    """The whole report."""
    return visible("\n\n".join(piece for part in parts_of(report, words) for piece in _part(part, words)) + "\n")


def _part(part: Part, words: Words) -> Iterator[str]:
    if isinstance(part, ReportHeading):
        mark = "" if part.mark is None or part.mark is Mark.INFO else f"{GLYPHS[part.mark]} "
        yield f"{'#' * part.level} {mark}{plain_markdown(part.words)}"
    elif isinstance(part, ReportParagraph):
        yield f"*{plain_markdown(part.words)}*" if part.quiet else plain_markdown(part.words)
    elif isinstance(part, ReportItems):
        sign = f"{part.numbered_from}. " if part.numbered_from else "- "
        yield "\n".join(sign + plain_markdown(line).replace("\n", "\n  ") for line in part.lines)
    elif isinstance(part, ReportCommands):
        yield "\n".join((f"{_FENCE}sh", *(line.replace(_FENCE, "") for line in part.lines), _FENCE))
    elif isinstance(part, FactRows):
        rows = (
            f"| {plain_markdown(label)} | {plain_markdown(value)} | {plain_markdown(source)} |"
            for label, value, source in part.rows
        )
        table = "\n".join(("| | | |", "|---|---|---|", *rows))
        yield f"<details><summary>{plain_markdown(part.title)}</summary>\n\n{table}\n\n</details>"
    elif isinstance(part, ChainPart):
        yield f"**{plain_markdown(part.caption)}**"
        yield "\n".join((f"{_FENCE}text", chain_in_words(part.chain, words).replace(_FENCE, ""), _FENCE))
