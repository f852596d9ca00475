"""The `env` of a kernel's kernel.json: what Jupyter gives a kernel beside the environment of its own server.

`${NAME}` in a value stands for what the server has, so that PATH can be prepended to (jupyter_client, kernel specs).
"""

from __future__ import annotations

from gpuassist.changes.scopes.json_text import read_object, with_members
from gpuassist.changes.scopes.values import ScopeValues, Wanted, require_simple
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError

_NEW = b'{\n "env": {}\n}\n'


def rewritten(content: bytes, wanted: Wanted) -> bytes:
    """The file with what is wanted in its `env`; raises `RepairError` for a file that is no kernel's."""
    words = _words(content)
    env = _env(words)
    after = with_members(words, "env", _members(env, wanted)).encode()
    now: dict[str, str | None] = {**env, **_members(env, wanted)}
    if _env(_words(after)) != {
        name: value for name, value in now.items() if value is not None
    }:  # never: but a file that Jupyter cannot read costs somebody a kernel
        raise RepairError(text("its `env` could not be changed without changing something else"))
    return after


def held(content: bytes) -> ScopeValues:
    """What the file's `env` chooses, whoever wrote it; raises `RepairError` for a file that is no kernel's."""
    env = _env(_words(content))
    devices = env.get("CUDA_VISIBLE_DEVICES", "")
    return ScopeValues(env.get("CUDA_HOME", ""), "", tuple(devices.split(",")) if devices else ())


def by_hand(wanted: Wanted) -> str:
    """The members of `env`, for a file that may not be written."""
    return rewritten(_NEW, wanted).decode()


def _words(content: bytes) -> str:
    try:
        words = content.decode()
    except UnicodeDecodeError as error:
        raise RepairError(text("it is not UTF-8")) from error
    read_object(words)
    return words


def _env(words: str) -> dict[str, str]:
    env = read_object(words).get("env", {})
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        raise RepairError(text("its `env` is no object of strings"))
    return env


def _members(env: dict[str, str], wanted: Wanted) -> dict[str, str | None]:
    chosen: dict[str, str | None] = {}
    if wanted.toolkit is not None:
        require_simple(ScopeValues(wanted.toolkit, wanted.libraries))
        chosen |= {"CUDA_HOME": wanted.toolkit, "PATH": _first(env, "PATH", f"{wanted.toolkit}/bin", env.get("CUDA_HOME", ""))}
        if wanted.libraries:
            chosen["LD_LIBRARY_PATH"] = _first(env, "LD_LIBRARY_PATH", wanted.libraries, env.get("CUDA_HOME", ""))
    if wanted.devices is not None:
        found = dict(ScopeValues(devices=wanted.devices).variables)
        known = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES") if "CUDA_VISIBLE_DEVICES" in env or found else ()
        chosen |= {name: found.get(name) for name in known}
    return chosen


def _first(env: dict[str, str], name: str, directory: str, before: str) -> str:
    """The list with the directory first; the one of the toolkit that was chosen before goes."""
    kept = [one for one in env.get(name, "${" + name + "}").split(":") if one != directory]
    if kept and before and kept[0].startswith(f"{before}/"):
        kept = kept[1:]
    return ":".join((directory, *kept))
