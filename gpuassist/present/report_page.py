"""A report as one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from gpuassist.formats.visible import visible
from gpuassist.model.words import Words
from gpuassist.present.chain_picture import chain_picture
from gpuassist.present.marks import GLYPHS, MARK_WORDS
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

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d2733; --quiet: #5b6774; --line: #d5dae0; --plate: #f4f6f8;
  --right: #1a7f37; --warning: #8a5a00; --problem: #c0212f; --unknown: #57606a; --absent: #6e7781; --info: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ed; --quiet: #a3adb8; --line: #39424d; --plate: #1d232a;
  --right: #4cc06a; --warning: #e0a63b; --problem: #ff7b80; --unknown: #a3adb8; --absent: #8d98a5; --info: #6cb0ff; } }
* { box-sizing: border-box; }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem;
  padding: 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.2rem; margin-top: 2rem; }
.quiet, .source { color: var(--quiet); }
.source { font-size: .85rem; overflow-wrap: anywhere; }
pre { background: var(--plate); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; padding: .6rem .8rem; }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .25rem .5rem; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { width: 30%; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; font-weight: 600; }
a { color: var(--info); overflow-wrap: anywhere; }
li { white-space: pre-line; overflow-wrap: anywhere; }
.mark-word { color: var(--tone); font-size: .8rem; font-weight: 600; letter-spacing: .03em; text-transform: uppercase; }
.right { --tone: var(--right); }
.warning { --tone: var(--warning); }
.problem { --tone: var(--problem); }
.unknown { --tone: var(--unknown); }
.absent { --tone: var(--absent); }
.info { --tone: var(--info); }
svg.chain { display: block; min-width: 44rem; width: 100%; }
.picture { overflow-x: auto; }
svg text { fill: var(--ink); font-family: system-ui, sans-serif; }
svg .label { fill: var(--quiet); font-size: 12px; }
svg .name { font-size: 16px; font-weight: 600; }
svg .reason { font-size: 13px; }
svg .glyph { fill: var(--paper); font-size: 13px; font-weight: 700; }
svg .box { fill: var(--plate); stroke: var(--tone); stroke-width: 1.5; }
svg .line { stroke: var(--tone); stroke-width: 2; }
svg .mark { fill: var(--tone); }
svg .plate { fill: var(--paper); stroke: var(--tone); }
@media print { details { border: 0; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_page(report: MachineReport, words: Words) -> str:
    """The whole report."""
    parts = tuple(parts_of(report, words))
    title = next((one.words for one in parts if isinstance(one, ReportHeading)), "gpuassist")
    body = "\n".join(piece for part in parts for piece in _part(part, words))
    language = words.language.replace("_", "-")
    return visible(
        f'<!DOCTYPE html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _part(part: Part, words: Words) -> Iterator[str]:
    if isinstance(part, ReportHeading):
        mark = ""
        if part.mark is not None:
            said = escape(words(MARK_WORDS[part.mark]))
            mark = f'<span class="mark-word {part.mark.value}">{GLYPHS[part.mark]} {said}</span><br>'
        yield f"<h{part.level}>{mark}{_shown(part.words)}</h{part.level}>"
    elif isinstance(part, ReportParagraph):
        kind = ' class="quiet"' if part.quiet else ""
        yield f"<p{kind}>{_shown(part.words)}</p>"
    elif isinstance(part, ReportItems):
        lines = "".join(f"<li>{_linked(line)}</li>" for line in part.lines)
        yield f'<ol start="{part.numbered_from}">{lines}</ol>' if part.numbered_from else f"<ul>{lines}</ul>"
    elif isinstance(part, ReportCommands):
        yield f"<pre>{escape(chr(10).join(part.lines))}</pre>"
    elif isinstance(part, FactRows):
        rows = "".join(
            f'<tr><td>{escape(label)}</td><td>{escape(value)}</td><td class="source">{escape(source)}</td></tr>'
            for label, value, source in part.rows
        )
        yield f"<details><summary>{escape(part.title)}</summary><table>{rows}</table></details>"
    elif isinstance(part, ChainPart):
        yield f'<p class="quiet">{escape(part.caption)}</p><div class="picture">{chain_picture(part.chain, words)}</div>'


def _shown(words: str) -> str:
    """Words, what stands between two backticks as code."""
    parts = escape(words).split("`")
    if len(parts) % 2 == 0:
        return escape(words)
    return "".join(f"<code>{one}</code>" if place % 2 else one for place, one in enumerate(parts))


def _linked(line: str) -> str:
    """A line, as a link where it is nothing but an address."""
    if line.startswith("https://") and not any(letter.isspace() for letter in line):
        return f'<a href="{escape(line)}" rel="noreferrer">{escape(line)}</a>'
    return _shown(line)
