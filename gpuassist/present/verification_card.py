"""A verification as one picture for a forum or a seller: what was proved in large letters, and as large what was not."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.visible import on_one_line
from gpuassist.model.fact import value_or
from gpuassist.model.gpu import PcieLink
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, counted, joined, text
from gpuassist.model.words import Words
from gpuassist.present.marks import GLYPHS, Mark
from gpuassist.present.moments import minute_utc
from gpuassist.present.overview import link_words, short_name
from gpuassist.present.report_words import share_words
from gpuassist.session.verification_summary import DeviceFigures, VerificationFigures, VerificationOutcome

WIDTH, HEIGHT = 1200, 630  # as pages on the web show a picture of themselves
_SHOWN = 3  # kinds of devices that the card has room for
_EDGE = 64
_SMALL = 26
_PAPER, _INK, _QUIET, _LINE = "#ffffff", "#1d2733", "#5b6774", "#d5dae0"

_BANNERS: dict[VerificationOutcome, tuple[Mark, str, Text]] = {
    VerificationOutcome.PASSED: (Mark.RIGHT, "#1a7f37", text("VERIFIED: all checks passed")),
    VerificationOutcome.FAILED: (Mark.PROBLEM, "#c0212f", text("FAILED: not all checks passed")),
    VerificationOutcome.INCOMPLETE: (Mark.WARNING, "#8a5a00", text("INCOMPLETE: this proves little")),
    VerificationOutcome.CPU_ONLY: (Mark.WARNING, "#8a5a00", text("CPU ONLY: no GPU was tested")),
    VerificationOutcome.NOTHING: (Mark.WARNING, "#8a5a00", text("NOT VERIFIED: no check was passed")),
}


class CardLine(Struct, frozen=True):
    """A line of the card."""

    words: str
    size: int
    colour: str = _INK
    bold: bool = False


def verification_card(figures: VerificationFigures, links: tuple[Text, ...], version: str, words: Words) -> str:
    """An SVG document of its own; `links` are how the GPUs are connected, each kind once."""
    mark, colour, banner = _BANNERS[figures.outcome]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_PAPER}"/>',
        f'<rect width="{WIDTH}" height="128" fill="{colour}"/>',
        _line(84, CardLine(f"{GLYPHS[mark]}  {words(banner)}", 44, "#ffffff", bold=True)),
    ]
    down = 128.0
    for line in _body(figures, links, words):
        down += line.size * 1.28 + (14 if line.bold else 4)
        parts.append(_line(down, line))
    parts.append(f'<line x1="{_EDGE}" y1="566" x2="{WIDTH - _EDGE}" y2="566" stroke="{_LINE}"/>')
    when = minute_utc(figures.made_at) or words(text("date not known"))
    told = words(
        text("{moment} UTC · gpuassist {version} · made by its user, who could have changed it", moment=when, version=version)
    )
    parts.append(_line(602, CardLine(told, 20, _QUIET)))
    return "\n".join((*parts, "</svg>", ""))


def pcie_links(machine: Machine) -> tuple[Text, ...]:
    """How the GPUs of a machine are connected: at full speed, which idle cards do not show, and with the lanes that they have."""
    found = (value_or(gpu.pcie_link, None) for gpu in value_or(machine.gpus, ()))
    return tuple(dict.fromkeys(_link(one) for one in found if one is not None))


def _link(link: PcieLink) -> Text:
    words = link_words(link.max_speed_gigatransfers, link.width)
    if link.width < link.max_width:
        return text("PCIe {link} of ×{most}", link=words, most=link.max_width)
    return text("PCIe {link}", link=words)


def _body(figures: VerificationFigures, links: tuple[Text, ...], words: Words) -> Iterator[CardLine]:
    gpus = [one for one in figures.devices if not one.is_cpu]
    devices = gpus or list(figures.devices)
    alike = [_together(tuple(one for one in devices if one.name == name)) for name in dict.fromkeys(one.name for one in devices)]
    alone = len(alike) == 1
    size = 52 if alone else 36 if len(alike) == 2 else 26
    for one, count in alike[:_SHOWN]:
        name = words(text("CPU")) if one.is_cpu else short_name(one.name) or "GPU"
        yield CardLine(f"{count} × {name}" if count > 1 else name, size, bold=True)
        proved = tuple(_proved(one, several=count > 1))
        if alone:
            yield from (CardLine(words(line), 34) for line in proved)
        else:
            yield CardLine(words(joined(proved)), max(20, size - 12))
    if len(alike) > _SHOWN:
        more = len(alike) - _SHOWN
        yield CardLine(words(counted("and {count} more device", "and {count} more devices", more)), 22, _QUIET)
    if not devices:
        yield CardLine(words(text("No device was tested.")), 34, bold=True)
    if figures.outcome is VerificationOutcome.FAILED and devices and not gpus:
        yield CardLine(words(_BANNERS[VerificationOutcome.CPU_ONLY][2]), 26, bold=True)
    if figures.other_bad:
        bad = counted(
            "{count} check between devices or of toolkits FAILED",
            "{count} checks between devices or of toolkits FAILED",
            figures.other_bad,
        )
        yield CardLine(words(bad), 26, _BANNERS[VerificationOutcome.FAILED][1], bold=True)
    known = (
        *(links if gpus else ()),  # those of a GPU that nobody tried prove nothing
        text("driver {version}", version=figures.driver) if figures.driver else None,
        text("CUDA {version}", version=figures.cuda) if figures.cuda else None,
        text("torch {version}", version=figures.torch) if figures.torch else None,
        text("quick run") if figures.level == "quick" else text("full run") if figures.level == "full" else None,
    )
    told = [words(one) for one in known if one is not None]
    while told:  # as many in a line as there is room for
        fit = next((count for count in range(len(told), 1, -1) if len(" · ".join(told[:count])) <= _letters(_SMALL)), 1)
        yield CardLine(" · ".join(told[:fit]), _SMALL, _QUIET)
        told = told[fit:]


def _together(alike: tuple[DeviceFigures, ...]) -> tuple[DeviceFigures, int]:
    """Devices of one name as one, which is as good as the worst of them; and how many they are."""
    bad, late, held = (sum(getattr(one, field) for one in alike) for field in ("bad", "late", "held"))
    least, best = min((one.least for one in alike if one.rates), default=0.0), max(one.best for one in alike)
    passed, rates = min(one.passed for one in alike), sum(one.rates for one in alike)
    return replace(alike[0], passed=passed, bad=bad, late=late, held=held, least=least, best=best, rates=rates), len(alike)


def _proved(one: DeviceFigures, *, several: bool) -> Iterator[Text]:
    if several:
        yield counted("{count} check passed on each", "{count} checks passed on each", one.passed)
    else:
        yield counted("{count} check passed", "{count} checks passed", one.passed)
    if one.bad:
        yield counted("{count} check FAILED", "{count} checks FAILED", one.bad)
    not_run = one.late + one.held
    if not_run:
        yield counted("{count} check NOT RUN", "{count} checks NOT RUN", not_run)
    yield share_words(one) if one.rates else text("no rate was judged")


def _line(down: float, line: CardLine) -> str:
    room = _letters(line.size, bold=line.bold)
    shown = on_one_line(line.words)
    shown = shown if len(shown) <= room else f"{shown[: room - 1]}…"
    weight = ' font-weight="bold"' if line.bold else ""
    return f'<text x="{_EDGE}" y="{down:g}" font-size="{line.size}" fill="{line.colour}"{weight}>{escape(shown)}</text>'


def _letters(size: int, *, bold: bool = False) -> int:
    """How many letters of this size a line has room for, where they are as wide as those of DejaVu Sans."""
    return int((WIDTH - 2 * _EDGE) / (size * (0.63 if bold else 0.56)))
