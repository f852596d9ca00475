"""Programs that still have the environment of before: what is said of each, for the terminal, the window and programs."""

from __future__ import annotations

from collections.abc import Mapping

from gpuassist.model.codec import Json
from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily
from gpuassist.model.text import Text, counted, enumerated, joined, listed, text, verbatim
from gpuassist.model.words import Words

_Family = ProgramFamily
_NUMBERS_SHOWN, _HELD_SHOWN = 4, 4
_HOW: Mapping[ProgramFamily, Text] = {
    _Family.CONTAINER: text(
        "It is the container's own environment, from its image or from how it was started: a restart in the container changes "
        "nothing. What is started from a new shell in it has the new."
    ),
    _Family.MANAGER: text(
        "Your services were started from it, and it ends when your last session does: log out everywhere and in again, or restart "
        "the computer."
    ),
    _Family.DESKTOP: text(
        "Log out and in again: until then all that the launcher starts begins with it. What a new terminal starts does not."
    ),
    _Family.MULTIPLEXER: text(
        "What is new in it begins with what it was started with, then your start-up files put the new in front and take nothing "
        "out. Start another one from a new terminal, and end this one once nothing in it is needed."
    ),
    _Family.NOTEBOOK: text("End it where it runs (Ctrl+C) and start it from a new terminal: its kernels are given what it has."),
    _Family.EDITOR_SERVER: text("End it and connect anew: what runs in it is given what it has."),
    _Family.EDITOR: text("Close all of its windows, so that it ends, and start it again from a new terminal."),
    _Family.SERVER: text("End it where it runs and start it from a new terminal: what it starts is given what it has."),
    _Family.TERMINAL: text(
        "Close all of its windows, so that it ends, and open it from the launcher: every shell in it begins with what it has, and "
        "your start-up files take nothing out."
    ),
    _Family.SESSION: text("Log out of this session and in again."),
    _Family.SHELL: text("Leave this shell and begin another one."),
    _Family.KERNEL: text("Restart the kernel from its notebook, once what starts it was restarted."),
    _Family.PROGRAM: text("It keeps what it has until it ends; start it from a new terminal the next time."),
}
_INSIDE: Mapping[ProgramFamily, Text] = {
    _Family.TERMINAL: text("Open new windows or tabs in it, and close the old ones: the program itself may stay."),
    _Family.SESSION: text("Log out of this session and in again: a new one reads your start-up files anew."),
    _Family.SHELL: text("Leave this shell and begin another one, which reads your start-up files anew."),
    _Family.NOTEBOOK: text("Restart these kernels: the server itself holds nothing old."),
}
_IN_IT = text("Restart what runs in it: the program itself holds nothing old.")


def headline(found: OldEnvironments, *, at_any_time: bool = False) -> Text:
    """How many there are, and that they are left alone; `at_any_time` where no change was made just now."""
    count = len(found.programs)
    if not found.programs:
        return text("No program of yours that could be looked at still has the old environment.")
    if at_any_time:
        return counted(
            "{count} program was started with another toolkit than a new terminal finds; gpuassist ends none.",
            "{count} programs were started with another toolkit than a new terminal finds; gpuassist ends none.",
            count,
        )
    return counted(
        "{count} program still has the old environment; gpuassist ends none.",
        "{count} programs still have the old environment; gpuassist ends none.",
        count,
    )


def limits(found: OldEnvironments) -> Text:
    """What it rests on, and what cannot be seen by that."""
    told = text(
        "By what each was started with (/proc/PID/environ): what it changed itself since, as a shell does by `export` and tmux by "
        "`set-environment`, is not seen there."
    )
    if not any(one.shells_before for one in found.programs):
        return told
    return text("{told} Shells that were open before the change are told by their start.", told=told)


def label(one: OldProgram) -> Text:
    """Which program it is."""
    shown = ", ".join(map(str, one.pids[:_NUMBERS_SHOWN])) + (", …" if len(one.pids) > _NUMBERS_SHOWN else "")
    name = verbatim(one.name)
    if one.family is _Family.DESKTOP:
        name = text("your desktop session ({name})", name=one.name)
    elif one.family is _Family.MANAGER:
        name = text("the manager of your services ({name})", name=one.name)
    elif one.family is _Family.CONTAINER:
        name = text("the container's first process ({name})", name=one.name)
    elif one.key == "ssh":
        name = text("session over SSH ({name})", name=one.name)
    elif one.family in {_Family.MULTIPLEXER, _Family.NOTEBOOK}:
        name = text("{name} server", name=one.name)
    return text("{name}, process {numbers}", name=name, numbers=shown)


def about(one: OldProgram) -> Text:
    """What it holds, and what runs in it."""
    parts = []
    if one.itself and one.holds:
        parts.append(text("was started with {held}", held=held_words(one)))
    inside = [
        *((counted("{count} open shell", "{count} open shells", one.shells),) if one.shells else ()),
        *((counted("{count} kernel", "{count} kernels", one.kernels),) if one.kernels else ()),
        *((counted("{count} other program", "{count} other programs", one.programs),) if one.programs else ()),
    ]
    alone = one.family in {_Family.SHELL, _Family.SESSION} and one.shells == len(one.pids) and len(inside) == 1
    if inside and not alone:
        listed = joined_by_and(inside)
        parts.append(text("in it {what}", what=listed))
    if not one.itself and one.holds:
        parts.append(text("started with {held}", held=held_words(one)))
    elif one.shells_before:
        parts.append(text("opened before the change"))
    if one.here:
        parts.append(text("this terminal is one of them") if one.shells > 1 else text("this terminal"))
    return joined(tuple(parts))


def joined_by_and(parts: list[Text]) -> Text:
    """`A`, `A and B`, `A, B and C`, of what has words of its own."""
    row = parts[0]
    for place, part in enumerate(parts[1:], 2):
        last = place == len(parts)
        row = text("{names} and {last}", names=row, last=part) if last else text("{names}, {name}", names=row, name=part)
    return row


def held_words(one: OldProgram) -> Text:
    """The variables that it holds the old in."""
    told = [f"{held.name}={held.value}" if held.value else f"{held.name} ''" for held in one.holds[:_HELD_SHOWN]]
    if all(not held.value for held in one.holds):
        return text("{name} not set", name=listed(held.name for held in one.holds))
    return enumerated((*told, "…") if len(one.holds) > _HELD_SHOWN else told)


def how(one: OldProgram) -> Text:
    """How it is restarted, or what else helps."""
    if one.how is not None:
        return one.how
    return _HOW[one.family] if one.itself else _INSIDE.get(one.family, _IN_IT)


def here(found: OldEnvironments) -> Text | None:
    """Of the terminal in which the command was typed; none where it is not one of them."""
    if not any(one.here for one in found.programs):
        return None
    return text(
        "This terminal has it too. To `source` the file puts the new in front and takes nothing out, such as a variable that no "
        "line sets any more: open a new terminal."
    )


def old_json(found: OldEnvironments | None, words: Words) -> Json:
    """The document's member; null where nobody looked."""
    if found is None:
        return None
    return {
        "programs": [
            {
                "family": one.family.value,
                "name": one.name,
                "pids": list(one.pids),
                "itself": one.itself,
                "holds": [{"variable": held.name, "value": held.value} for held in one.holds],
                "open_shells": one.shells,
                "opened_before": one.shells_before,
                "kernels": one.kernels,
                "programs": one.programs,
                "this_terminal": one.here,
                "about": words(about(one)),
                "how": words(how(one)),
                "commands": list(one.commands),
            }
            for one in found.programs
        ],
        "notes": [words(note) for note in found.notes],
    }
