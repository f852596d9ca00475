"""Our own command lines, and the place of the window that does the same: what can be pressed need not be typed.

A line of which the window does only a part, or with a choice that it cannot be opened with, has no place.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.outlook import GoalKind
from gpuassist.model.plan import Tool
from gpuassist.model.version import whole_number
from gpuassist.session.navigation import (
    Destination,
    GoTo,
    RepairPart,
    SideTool,
    ToEstimate,
    ToGuide,
    ToHolders,
    ToInstall,
    ToProject,
    ToRepair,
    ToRepairPart,
    ToVerify,
    WizardStep,
)
from gpuassist.session.plan import ANY, PARTS, InstallWish

_LONGEST = 1000  # characters of a line; ours are much shorter
_CODE = lazy_regex(r"`(gpuassist [^`\n]{1,500})`")


def place_of(line: str) -> Destination | None:
    """The place that does what this line does; none for another program's, and for what no page does."""
    if not line.startswith("gpuassist ") or len(line) > _LONGEST:
        return None
    try:
        _, command, *words = shlex.split(line)
    except ValueError:
        return None
    found = _PLACES.get(command)
    return found(words) if found is not None else None


def places_in(lines: Iterable[str]) -> tuple[Destination, ...]:
    """Those of several lines, each once."""
    return tuple(dict.fromkeys(place for line in lines if (place := place_of(line)) is not None))


def commands_in(words: str) -> tuple[str, ...]:
    """Our own command lines that a sentence holds between backticks."""
    return tuple(_CODE.findall(words))


def _use(words: list[str]) -> Destination | None:
    if len(words) != 2:
        return None
    if words[0] == "cuda":
        return ToRepair(words[1])
    return ToRepairPart(RepairPart.DEVICES) if words[0] == "devices" else None


def _plan(words: list[str]) -> Destination | None:
    wish, wanted = InstallWish(), iter(words)
    for word in wanted:
        if word == "--project":
            return ToProject(next(wanted, ""))
        if word == "--back":
            return GoTo(SideTool.INSTALL)
        if word == "--no-root":
            wish = replace(wish, no_root=True)
        elif word == "--as":
            tool = next(wanted, "")
            if tool not in {one.value for one in Tool}:
                return None
            wish = replace(wish, tool=tool)
        else:
            part, version = _part(word)
            if not part:
                return None
            wish = replace(wish, **{part: version})
    return ToInstall(wish) if wish.goals else GoTo(SideTool.INSTALL)


def _part(goal: str) -> tuple[str, str]:
    """The field of a wish that a goal fills, and with what; no field for a goal of another kind."""
    name, _, version = goal.partition("==")
    kind = next((one for one in GoalKind if one.value == name), None)
    part = PARTS.get(kind, "") if kind is not None else ""
    return part, version or ANY


def _verify(words: list[str]) -> Destination:
    at = words.index("--python") + 1 if "--python" in words else len(words)
    return ToVerify(words[at]) if at < len(words) else GoTo(WizardStep.VERIFY)


def _estimate(words: list[str]) -> Destination:
    return ToEstimate(next((word for word in words if not word.startswith("-")), ""))


def _holders(words: list[str]) -> Destination:
    return ToHolders(next((pid for pid in map(whole_number, words) if pid is not None), None))


def _shell(words: list[str]) -> Destination:
    return ToRepairPart(RepairPart.CLEAN if "--clean" in words else RepairPart.LINES)


def _explain(words: list[str]) -> Destination | None:
    if words[:1] == ["--topic"]:
        return ToGuide(words[1]) if len(words) == 2 else GoTo(SideTool.GUIDES)
    return GoTo(SideTool.EXPLAIN)


_PLACES: dict[str, Callable[[list[str]], Destination | None]] = {
    "use": _use,
    "plan": _plan,
    "verify": _verify,
    "holders": _holders,
    "estimate": _estimate,
    "shell": _shell,
    "explain": _explain,
    "undo": lambda words: GoTo(WizardStep.REPAIR) if len(words) <= 1 else None,
    "monitor": lambda _: GoTo(WizardStep.LIVE),
    "changes": lambda _: GoTo(WizardStep.FOUND),
    "doctor": lambda _: GoTo(WizardStep.FOUND),
    "report": lambda _: GoTo(WizardStep.FOUND),
    "detect": lambda _: GoTo(WizardStep.MACHINE),
}
