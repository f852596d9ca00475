"""What the window lacks of the system: Qt aborts the whole process where its platform cannot be loaded, so this is asked first."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

from gpuassist.context import Session
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, enumerated, text
from gpuassist.system.libraries import not_in_cache, why_not_loaded

_PLUGINS = ("Qt/plugins/platforms", "../../../../lib/qt6/plugins/platforms")  # of a wheel, of conda-forge's package
_TABLE = "knowledge/qt_libraries.json"
_NAME = lazy_regex(rb'"library": "([^"]+)"')
_FILES = {"wayland": ("libqwayland.so", "libqwayland-generic.so")}
_OF_X, _OF_WAYLAND = ("libxcb", "libX11"), ("libwayland",)


def missing_libraries(session: Session, why_not: Callable[[str], str] = why_not_loaded) -> Text | None:
    """What keeps the window from being shown, and what installs it; none where nothing does, or nobody can tell."""
    if getattr(sys, "frozen", False):  # a bundle brings them, and takes the system's where it has them
        return None
    # The names alone: to read the table costs a start as much as half its window.
    needed = map(bytes.decode, _NAME.findall(session.world.resources.read(_TABLE)))
    platforms = _platforms(session.world.surroundings.variables.get)
    others = _OF_X if platforms == ["wayland"] else () if "wayland" in platforms else _OF_WAYLAND
    absent = not_in_cache(session.world.files, (name for name in needed if not name.startswith(others)))
    if not absent:
        return None
    plugins = tuple(_plugins(platforms))
    reasons = [why_not(path) for path in plugins]
    if not plugins or not all(reasons):
        return None
    named = [name for name in absent if why_not(name)] or [reasons[-1].partition(":")[0]]
    words = enumerated(named)
    command = _command(session, named)
    if not command:
        return text("The window needs libraries of the system that are missing: {libraries}.", libraries=words)
    return text(
        "The window needs libraries of the system that are missing: {libraries}. This installs them: `{command}`",
        libraries=words,
        command=command,
    )


def _platforms(variable: Callable[[str], str | None]) -> list[str]:
    """Those that Qt would try."""
    chosen = [one.partition(":")[0].partition("-")[0] for one in (variable("QT_QPA_PLATFORM") or "").split(";") if one]
    return chosen or [name for name, display in (("wayland", "WAYLAND_DISPLAY"), ("xcb", "DISPLAY")) if variable(display)]


def _plugins(platforms: list[str]) -> Iterator[str]:
    """Their files, of which one has to load."""
    places = [os.path.join(base, folder) for base in _qt() for folder in _PLUGINS]
    names = [name for platform in platforms for name in _FILES.get(platform, (f"libq{platform}.so",))]
    yield from (path for place in places for name in names if os.path.isfile(path := os.path.join(place, name)))


def _qt() -> tuple[str, ...]:
    """Where PySide6 would be imported from, without importing it."""
    folders = (os.path.join(one, "PySide6") for one in sys.path)
    return tuple(folder for folder in folders if os.path.isdir(folder))[:1]


def _command(session: Session, libraries: list[str]) -> str:
    from gpuassist.detect.host import distribution
    from gpuassist.knowledge.families import is_image, lookup_order
    from gpuassist.model.fact import Known

    found = distribution(session.world.files)
    if not isinstance(found, Known) or is_image(found.value):
        return ""
    families = lookup_order(found.value)
    known = {one.name: one.package(families) for one in session.knowledge.qt_libraries()}
    packages = tuple(dict.fromkeys(known.get(name, "") for name in libraries))
    if not all(packages):
        return ""
    return " ".join(session.knowledge.commands.render("library-install", families, {"packages": " ".join(packages)}))
