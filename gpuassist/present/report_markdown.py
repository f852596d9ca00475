"""A report as Markdown for an issue tracker: plain headings, lists and code, the machine's facts folded away."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.formats.visible import visible
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.words import Words
from gpuassist.present.chain import chain_in_words
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

_OBEYED = lazy_regex(r"([\\*\[\]<>#|~@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_ADDRESS = lazy_regex(r"https?://[^\s<>]{1,300}")
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


def plain_markdown(words: str) -> str:
    """Words that Markdown shows as they are; addresses stay links, and what stands between two backticks is code."""
    parts = words.split("`")
    if len(parts) % 2 == 0:
        return _with_links(words).replace("`", "\\`")
    return "".join(f"`{one}`" if place % 2 else _with_links(one) for place, one in enumerate(parts))


def _with_links(words: str) -> str:
    parts, end = list[str](), 0
    for found in _ADDRESS.finditer(words):
        parts += [_OBEYED.sub(r"\\\1", words[end : found.start()]), f"<{found[0]}>"]
        end = found.end()
    return "".join((*parts, _OBEYED.sub(r"\\\1", words[end:])))
