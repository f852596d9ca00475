"""What is remembered of the setup of this machine's GPUs: a small file of its own under XDG state, for this user and machine.

It is a convenience, and no error: where it cannot be written nothing is remembered, and what is damaged is set aside and named.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from msgspec.structs import asdict, replace

from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH
from gpuassist.session.kept import KeptFiles, UnusableFileError, machine_identity
from gpuassist.session.setup_values import SetupRecord
from gpuassist.system.clock import iso
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

SCHEMA = 1
_FILES = KeptFiles("setup", 64 * 1024)
_ASIDE = ".damaged"
_MANY = 64  # entries of what was done
_log = logging.getLogger(__name__)


def path(world: World) -> str:
    """The file of this machine."""
    return _FILES.path(world, _name(world))


def load(world: World) -> tuple[SetupRecord, Text | None]:
    """What is remembered, and why what was there could not be used: it is set aside then, so that this is said once."""
    if not world.disk.exists(path(world)):
        return SetupRecord(), None
    try:
        found = _decoded(read_json(_FILES.read(world, _name(world))))
    except UnusableFileError as error:
        return SetupRecord(), text("What was remembered of the setup is not used: {reason}", reason=error.reason)
    except NotJsonError:
        found = None
    if found is not None:
        return found, None
    aside = f"{path(world)}{_ASIDE}"
    try:
        world.disk.replace(path(world), aside)
    except OSError as error:
        _log.info("a damaged record could not be set aside: %s", error)
        aside = path(world)
    return SetupRecord(), text("What was remembered of the setup is damaged, and was set aside: {path}", path=aside)


def save(world: World, record: SetupRecord) -> Text | None:
    """Remembers it in one step; the reason where it could not be written."""
    content = json.dumps({"schema": SCHEMA, **asdict(record)}).encode()
    try:
        _FILES.make_room(world)
        _FILES.write(world, _name(world), content)
    except UntrustedStateError as error:
        return error.reason
    except OSError as error:
        reason = text("the setup could not be remembered: {error}", error=error.strerror or str(error))
        _log.info("%s", ENGLISH(reason))
        return reason
    return None


def forget(world: World) -> bool:
    """Deletes what is remembered of this machine; whether there was anything. Raises `OSError`."""
    there = world.disk.exists(path(world))
    if there:
        world.disk.remove(path(world))
    return there


def live_was_seen(world: World) -> bool:
    """Live memory was watched on this machine: counts where a setup is remembered that waits for it, and says whether it did."""
    record, _ = load(world)
    if not record.begun_at or record.live_at:
        return False
    save(world, replace(record, live_at=iso(world.clock.now())))
    return True


def _name(world: World) -> str:
    return f"{machine_identity(world) or 'machine'}.json"


def _decoded(document: Any) -> SetupRecord | None:
    """None of what is no record of ours; a field that is missing has its default."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return None
    defaults = asdict(SetupRecord())
    told = {name: document.get(name, default) for name, default in defaults.items()}
    if any(type(told[name]) is not type(default) for name, default in defaults.items() if name != "done"):
        return None
    done = told["done"]
    if not isinstance(done, (list, tuple)) or len(done) > _MANY:
        return None
    pairs = [tuple(one) for one in done if isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one)]
    return SetupRecord(**{**told, "done": tuple(pairs)}) if len(pairs) == len(done) else None
