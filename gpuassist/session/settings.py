"""What the window remembers between two starts: its look and its place, and nothing about the machine.

A JSON file of our own under the configuration directory. It is a convenience: what cannot be read is forgotten, what cannot be
written is left, and neither is worth an error; nor is a file that another user could have written.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import asdict

from gpuassist.system.ownership import require_own_state, why_untrusted
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

_log = logging.getLogger(__name__)
_NAME = "window.json"
_LARGEST = 64 * 1024


class Settings(Struct, frozen=True):
    """`appearance` is system, light or dark; `language` is as `resources/words` has it, empty for the desktop's; `geometry` is what
    Qt saved of the window, in base 64.
    """

    appearance: str = "system"
    language: str = ""
    geometry: str = ""


def load_settings(world: World) -> Settings:
    """What was remembered, and the defaults for the rest."""
    found = read_own_object(world, _NAME)
    return Settings(
        **{name: value for name, value in found.items() if name in Settings.__struct_fields__ and isinstance(value, str)}
    )


def save_settings(world: World, settings: Settings) -> None:
    """Remembers, in one step: a crash leaves the old file or the new one."""
    write_own_object(world, _NAME, asdict(settings))


def read_own_object(world: World, name: str) -> dict[str, object]:
    """What a file of ours among the settings holds; nothing where it cannot be read, or could be another user's."""
    try:
        require_own_state(world, world.surroundings.settings())
        content, status = world.disk.read_own(os.path.join(world.surroundings.settings(), name))
        found = json.loads(content) if len(content) <= _LARGEST and why_untrusted(world, status) is None else {}
    except (OSError, ValueError, RecursionError, UntrustedStateError) as error:
        _log.debug("no settings: %s", error)
        return {}
    return found if isinstance(found, dict) else {}


def write_own_object(world: World, name: str, content: Mapping[str, object]) -> None:
    """Writes it whole, or not at all."""
    disk, place = world.disk, os.path.join(world.surroundings.settings(), name)
    fresh = f"{place}.new"
    try:
        require_own_state(world, world.surroundings.settings())
        disk.make_directory(os.path.dirname(place))
        disk.remove(fresh)
        disk.create(fresh)
        disk.write(fresh, json.dumps(content, indent=2).encode())
        disk.replace(fresh, place)
    except (OSError, UntrustedStateError) as error:
        _log.info("settings could not be saved: %s", error)
