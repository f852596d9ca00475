"""fish's universal variables as lines of the table: they hold everywhere, and no start-up file says so."""

from __future__ import annotations

from gpuassist.detect.startup.effect_by_reading import LISTS, deciding, elements_of
from gpuassist.detect.startup.line import Contribution, SurveyLine, words_of
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.shellfiles.fish_variables import UniversalVariable, read
from gpuassist.system.world import World

_AT_MOST_BYTES = 1 << 20
_SOURCE = "fish's universal variables, and what a new terminal holds"


def universal_lines(world: World, terminal: Fact[Terminal]) -> tuple[SurveyLine, ...]:
    """Those that matter; nothing where the user has none."""
    path = _path(world)
    return tuple(_line(path, one, terminal) for one in universal_variables(world))


def universal_variables(world: World) -> tuple[UniversalVariable, ...]:
    """Those that matter, as fish keeps them; nothing where the user has none."""
    try:
        return read(world.files.read_text(_path(world), _AT_MOST_BYTES))
    except OSError:
        return ()


def _path(world: World) -> str:
    return f"{world.surroundings.configuration()}/fish/fish_variables"


def _line(path: str, one: UniversalVariable, terminal: Fact[Terminal]) -> SurveyLine:
    contribution = Contribution(one.variable, "prepends" if one.name == "fish_user_paths" else "sets", one.elements)
    if isinstance(terminal, Unknown):
        holds: Fact[bool] = Unknown(terminal.reason)
    else:
        value = terminal.value.variable(one.variable)
        if one.variable in LISTS:
            held = elements_of(value)
            holds = Known(one.exported and any(element.rstrip("/") in held for element in one.elements), _SOURCE)
        else:
            holds = Known(one.exported and value == " ".join(one.elements), _SOURCE)
    known = isinstance(holds, Known)
    return SurveyLine(
        path,
        one.line,
        one.line,
        one.text,
        (one.variable,),
        (contribution,),
        (words_of(contribution),),
        "",
        "fish",
        holds,
        text("a universal variable of fish") if known else text("what a new terminal holds is not known"),
        _wins(one, terminal) if known and holds == Known(value=True, source=_SOURCE) else (),
        changeable=False,
        why=text("fish keeps this list itself: `set --erase --universal {name}` takes it out", name=one.name),
    )


def _wins(one: UniversalVariable, terminal: Fact[Terminal]) -> tuple[str, ...]:
    value = terminal.value.variable(one.variable) if isinstance(terminal, Known) else ""
    if one.variable not in LISTS:
        return (one.variable,)
    return (one.variable,) if deciding(terminal, one.variable, value) in one.elements else ()
