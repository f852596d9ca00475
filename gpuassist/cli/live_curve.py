"""A history as a small curve of characters: braille, eight dots a cell, or ASCII where the locale or the terminal has no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuassist.monitor.pyramid import Curve

_BRAILLE = 0x2800
# Unicode's numbering of the dots, from the lowest up, left and right column.
_LEFT, _RIGHT = (0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08)
_FILLED_LEFT, _FILLED_RIGHT = (tuple(sum(dots[:count]) for count in range(5)) for dots in (_LEFT, _RIGHT))
_CELLS = tuple(" " if not left + right else chr(_BRAILLE + left + right) for left in _FILLED_LEFT for right in _FILLED_RIGHT)
"""A cell by how high its columns are: five times the left one and the right one."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STEPS = " .:#"
# Python takes a locale that says nothing, or `C`, for one of UTF-8 (PEP 538), and says so in LC_CTYPE.
_BY_PYTHON = ("C.UTF-8", "C.utf8", "UTF-8")


def draws_unicode(variables: Mapping[str, str]) -> bool:
    """Whether locale and terminal show more than ASCII: the console of the kernel has a font of 256 or 512 characters."""
    if variables.get("TERM") == "linux":
        return False
    named = variables.get("LC_ALL") or variables.get("LC_CTYPE") or variables.get("LANG") or ""
    if not variables.get("LC_ALL") and named in _BY_PYTHON and variables.get("LANG") in {"C", "POSIX"}:
        return False
    return not named or "utf" in named.lower()


def shares_of(curve: Curve, since: float, until: float, columns: int, *, capacity: float, gap: float) -> list[float | None]:
    """The greatest value in each of so many columns as a share of the capacity; none where nothing was seen.

    A reading holds until the next one, and no longer than `gap`.
    """
    step = (until - since) / columns
    shares: list[float | None] = [None] * columns
    if capacity <= 0 or step <= 0:
        return shares
    breaks = set(curve.breaks)
    last = len(curve.times) - 1
    for place, begin in enumerate(curve.times):
        end = begin + curve.width
        if place < last and place + 1 not in breaks:
            end = curve.times[place + 1]
        elif place == last:
            end = min(until, begin + max(gap, curve.width))
        first = max(0, int((begin - since) // step))
        share = min(1.0, curve.high[place] / capacity)
        beyond = min(columns, max(first + 1, int((end - since) // step)))
        if first < beyond:
            before = shares[first]
            shares[first] = share if before is None or share > before else before
        for column in range(first + 1, beyond):  # nothing came before there: times only rise
            shares[column] = share
    return shares


def drawn_curve(shares: Sequence[float | None], rows: int, *, unicode: bool) -> list[str]:
    """The area below the curve in so many rows, the highest first; braille takes two shares a cell, ASCII one."""
    if unicode:
        dots = [_height(share, rows * 4) for share in shares]
        drawn = []
        for within in (_within(row, rows, 4) for row in range(rows - 1, -1, -1)):
            levels = [within[height] for height in dots]
            drawn.append("".join([_CELLS[5 * left + right] for left, right in zip(levels[::2], levels[1::2], strict=False)]))
        return drawn
    steps = [_height(share, rows * 3) for share in shares]
    return [
        "".join([_STEPS[within[step]] for step in steps]) for within in (_within(row, rows, 3) for row in range(rows - 1, -1, -1))
    ]


def bar(share: float, width: int, *, unicode: bool) -> tuple[str, str]:
    """How much is used, and what is left: together as wide as asked for."""
    if not unicode:
        full = round(share * width)
        return "#" * full, "." * (width - full)
    eighths = round(share * width * 8)
    used = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return used, "░" * (width - len(used))


def _height(share: float | None, most: int) -> int:
    # What is there is seen, however small: one dot is the difference between idle and not known.
    return 0 if share is None else max(1, round(share * most))


def _within(row: int, rows: int, steps: int) -> list[int]:
    """How much of a row, the lowest of which is 0, each height fills."""
    return [max(0, min(steps, height - row * steps)) for height in range(rows * steps + 1)]
