"""Where an explanation leads in the window: the one obvious way on, and how a text or a file is handed to the page."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.install.what_if import Wish
from gpuassist.model.fact import value_or
from gpuassist.model.finding import CommandUse
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.session.explain import Explanation, Ground, about_memory
from gpuassist.session.navigation import FILE_WISH, TEXT_WISH, GoTo, SideTool, WizardStep
from gpuassist.session.step_status import begins_with_holders, holder_wish, switch_version
from gpuassist.session.wish_words import wish_in_words


class WayOn(Struct, frozen=True):
    """A button's words, and where it leads."""

    title: Text
    event: GoTo


def way_on(explanation: Explanation, machine: Machine | None, *, recorded: bool) -> WayOn | None:
    """What to do next in this window, for a text that was joined with the machine that it shows; none where nothing is obvious."""
    if machine is None or explanation.basis.ground is not Ground.JOINED or not explanation.answers:
        return None
    if not about_memory(explanation.answers[0]) or recorded or not value_or(machine.gpus, ()):
        watch: WayOn | None = None
    else:
        watch = WayOn(text("Watch memory live"), GoTo(WizardStep.LIVE))
    version = next((found for answer in explanation.answers for found in [switch_version(answer)] if found), "")
    if not version or not _is_installed(version, machine):
        repair: WayOn | None = None
    else:
        repair = WayOn(text("Switch to CUDA {version}…", version=version), GoTo(WizardStep.REPAIR, version))
    ways = (repair, _holders(explanation), watch)
    return next((way for way in ways if way is not None), None) or _try(explanation)


def wish_for_file(path: str) -> str:
    """The wish with which the page opens a file."""
    return FILE_WISH + path


def wish_for_text(words: str) -> str:
    """The wish with which the page explains a text."""
    return TEXT_WISH + words


def file_wished(wish: str) -> str:
    """The path in a wish; empty where it has none."""
    return wish.removeprefix(FILE_WISH) if wish.startswith(FILE_WISH) else ""


def text_wished(wish: str) -> str:
    """The text in a wish; empty where it has none."""
    return wish.removeprefix(TEXT_WISH) if wish.startswith(TEXT_WISH) else ""


def _is_installed(version: str, machine: Machine) -> bool:
    wanted = tuple(version.split("."))
    installed = (value_or(toolkit.version, None) for toolkit in value_or(machine.toolkits, ()))
    return any(tuple(str(one).split("."))[: len(wanted)] == wanted for one in installed if one is not None)


def _holders(explanation: Explanation) -> WayOn | None:
    answer = explanation.answers[0]
    if not begins_with_holders(answer):
        return None
    return WayOn(text("See who holds the GPU"), GoTo(SideTool.HOLDERS, holder_wish(answer) or ""))


def _try(explanation: Explanation) -> WayOn | None:
    """An installation is tried in thought first."""
    answer = explanation.answers[0]
    commands = (command for remedy in answer.remedies for command in remedy.commands)
    wish = next((wish for command in commands for wish in [_wish_of(command)] if wish != Wish()), Wish())
    title = next((title for value, title in _titles(wish) if value), None)
    return WayOn(title, GoTo(SideTool.WHAT_IF, wish_in_words(wish))) if title is not None else None


def _titles(wish: Wish) -> tuple[tuple[str, Text], ...]:
    return (
        (wish.torch, text("What if torch {version}…", version=wish.torch)),
        (wish.toolkit, text("What if CUDA {version}…", version=wish.toolkit)),
        (wish.driver, text("What if driver {version}…", version=wish.driver)),
    )


def _wish_of(command: CommandUse) -> Wish:
    values = {name: str(value) for name, value in command.parameters}
    version, tag, branch = (values.get(name, "") for name in ("version", "tag", "branch"))
    if command.key in {"torch-install", "torch-install-uv"} and version and tag:
        return Wish(torch=f"{version}+{tag}")
    if command.key == "toolkit-install" and version:
        return Wish(toolkit=version)
    if command.key.startswith("driver-install") and branch:
        return Wish(driver=branch)
    return Wish()
