"""The kernels that Jupyter finds: the kernel.json files in its data directories and in the environments of this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.model.json_reader import read_json
from gpuassist.system.world import World

_BYTES_AT_MOST = 1 << 20
_AT_MOST = 200
_SYSTEM = ("/usr/local/share/jupyter", "/usr/share/jupyter")


class KernelSpec(Struct, frozen=True):
    """A kernel by the name of its directory, its kernel.json, and what Jupyter calls it (empty where the file does not say)."""

    name: str
    path: str
    title: str = ""


def kernelspecs(world: World, prefixes: Iterable[str]) -> tuple[KernelSpec, ...]:
    """All of them, each file once: this user's first, then those of the environments with these prefixes, then the system's."""
    found: dict[str, KernelSpec] = {}
    # The data directories of this user (jupyter_core, `jupyter --paths`).
    around = world.surroundings
    variables = around.variables
    users = [path for path in variables.get("JUPYTER_PATH", "").split(":") if path.startswith("/")]
    share = variables.get("XDG_DATA_HOME") or f"{around.home}/.local/share"
    users.append(variables.get("JUPYTER_DATA_DIR") or f"{share}/jupyter")
    users.append(str(PurePosixPath(variables.get("IPYTHONDIR") or f"{around.home}/.ipython")))
    for folder in (*users, *(f"{prefix}/share/jupyter" for prefix in prefixes), *_SYSTEM):
        for name in world.files.names(f"{folder}/kernels"):
            path = f"{folder}/kernels/{name}/kernel.json"
            if len(found) < _AT_MOST and world.files.is_file(path):
                found.setdefault(world.files.real(path), KernelSpec(name, path, _title(world, path)))
    return tuple(found.values())


def _title(world: World, path: str) -> str:
    try:
        said = read_json(world.files.read_text(path, _BYTES_AT_MOST))
        return str(said.get("display_name", "")) if isinstance(said, dict) else ""
    except (OSError, ValueError):
        return ""
