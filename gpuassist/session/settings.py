"""What the window remembers between two starts: its look and its place, and nothing about the machine.

JSON files of our own under the configuration directory. They are a convenience: what cannot be read is forgotten, what cannot be
written is left, and neither is worth an error; nor is a file that another user could have written. What stands in one that we
cannot read, because it is damaged or a newer gpuassist wrote it, is somebody's all the same: it is set aside under another name.
"""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import asdict

from gpuassist.model.text import Text, text
from gpuassist.system.ownership import require_own_state, why_untrusted
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

_log = logging.getLogger(__name__)
_NAME = "window.json"
_LARGEST = 64 * 1024
_SCHEMA = 1
ASIDE = ".set-aside"
"""Behind the name of a file that was set aside, from the second one on with its number."""
_ASIDE_AT_MOST = 99


class Settings(Struct, frozen=True):
    """`appearance` is system, light or dark; `language` is as `resources/words` has it, empty for the desktop's; `geometry` is what
    Qt saved of the window, in base 64; `place` is the page that was shown, as `kept_place.place_words` has it.
    """

    appearance: str = "system"
    language: str = ""
    geometry: str = ""
    place: str = ""


class Remembered(Struct, frozen=True):
    """What a file of ours holds; `strange` says why that is nothing that we understand."""

    values: Mapping[str, object]
    strange: Text | None = None


def load_settings(world: World) -> Settings:
    """What was remembered, and the defaults for the rest."""
    return _settings(_read(world, _NAME))


def found_settings(world: World) -> tuple[Settings, Text | None]:
    """The same; what cannot be understood is set aside, and it says so."""
    found = _read(world, _NAME)
    return _settings(found), None if found.strange is None else _set_aside(world, _NAME, found.strange)


def _settings(found: Remembered) -> Settings:
    known = {name: value for name, value in found.values.items() if name in Settings.__struct_fields__ and isinstance(value, str)}
    return Settings(**known)


def save_settings(world: World, settings: Settings) -> None:
    """Remembers, in one step: a crash leaves the old file or the new one."""
    write_own_object(world, _NAME, asdict(settings))


def save_changes(world: World, changes: Mapping[str, str]) -> None:
    """Remembers these fields, and leaves the others as another window may have written them meanwhile."""
    before = load_settings(world)
    after = Settings(**{**asdict(before), **changes})
    if after != before:
        save_settings(world, after)


def read_own_object(world: World, name: str) -> Mapping[str, object]:
    """What a file of ours among the settings holds; nothing where it cannot be read, or could be another user's."""
    return _read(world, name).values


def write_own_object(world: World, name: str, content: Mapping[str, object]) -> None:
    """Writes it whole, or not at all; what stands there and is not ours to understand is set aside first."""
    disk, place = world.disk, os.path.join(world.surroundings.settings(), name)
    fresh = f"{place}.new"
    try:
        require_own_state(world, world.surroundings.settings())
        disk.make_directory(os.path.dirname(place))
        strange = _read(world, name).strange
        if strange is not None:
            _set_aside(world, name, strange)
            if disk.exists(place):
                return
        disk.remove(fresh)
        disk.create(fresh)
        disk.write(fresh, json.dumps({"schema": _SCHEMA, **content}, indent=2).encode())
        disk.replace(fresh, place)
    except (OSError, UntrustedStateError) as error:
        _log.info("settings could not be saved: %s", error)


def _read(world: World, name: str) -> Remembered:
    place = os.path.join(world.surroundings.settings(), name)
    try:
        require_own_state(world, world.surroundings.settings())
        content, status = world.disk.read_own(place, _LARGEST + 1)
    except (OSError, UntrustedStateError) as error:
        _log.debug("no settings: %s", error)
        is_link = isinstance(error, OSError) and error.errno == errno.ELOOP
        return Remembered({}, text("it is a symlink") if is_link else None)
    strange = why_untrusted(world, status)
    return Remembered({}, strange) if strange is not None else _understood(content)


def _understood(content: bytes) -> Remembered:
    if len(content) > _LARGEST:
        return Remembered({}, text("it is larger than anything that gpuassist writes there"))
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return Remembered({}, text("it is damaged"))
    schema = found.get("schema", _SCHEMA)
    if isinstance(schema, int) and schema > _SCHEMA:
        return Remembered({}, text("a newer gpuassist wrote it"))
    return Remembered(found)


def _set_aside(world: World, name: str, why: Text) -> Text:
    place = os.path.join(world.surroundings.settings(), name)
    try:
        aside = next(one for one in _names_aside(place) if not world.disk.exists(one))
        world.disk.replace(place, aside)
    except (OSError, StopIteration) as error:
        _log.info("%s cannot be set aside: %s", place, error)
        return text("The settings in {path} are not used: {reason}. The file is left unchanged.", path=place, reason=why)
    _log.info("%s was set aside as %s", place, aside)
    return text(
        "The settings in {path} could not be used: {reason}. The file was moved to {aside}.", path=place, reason=why, aside=aside
    )


def _names_aside(place: str) -> Iterator[str]:
    yield f"{place}{ASIDE}"
    yield from (f"{place}{ASIDE}-{number}" for number in range(2, _ASIDE_AT_MOST + 1))
