"""A home with a project, environments and kernels, and a session of its user."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.changes.homes import make_toolkit, world_at

KERNEL = b'{\n "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],\n "display_name": "ML"\n}\n'

ACTIVATE = """deactivate () {{
    PATH="$_OLD_VIRTUAL_PATH"
    unset VIRTUAL_ENV _OLD_VIRTUAL_PATH
    if [ ! "${{1:-}}" = "nondestructive" ] ; then unset -f deactivate; fi
}}
export VIRTUAL_ENV="{prefix}" _OLD_VIRTUAL_PATH="$PATH"
export PATH="$VIRTUAL_ENV/bin:$PATH"
"""


def session_at(home: Path, *, uid: int = -1, shell: str = "/bin/bash", **variables: str) -> Session:
    """The session of the home's user."""
    world = world_at(home, uid=uid)
    around = replace(world.surroundings, login_shell=shell, variables={**world.surroundings.variables, **variables})
    return Session(replace(world, surroundings=around), Knowledge(lambda name: b"[]"), ENGLISH)


def furnish(home: Path) -> Path:
    """Makes two conda environments beside base, a virtual one, a project, and a kernel."""
    for prefix in ("miniconda3", "miniconda3/envs/ml", "miniconda3/envs/other"):
        (home / prefix / "conda-meta").mkdir(parents=True)
        (home / prefix / "bin").mkdir()
    (home / "miniconda3/condabin").mkdir()
    _virtual(home / "project/.venv")
    kernel = home / ".local/share/jupyter/kernels/ml/kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(KERNEL)
    return home


def _virtual(prefix: Path) -> None:
    """As much of a virtual environment as entering and leaving it takes; the real scripts are in the tests of its block."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    (prefix / "bin/activate").write_text(ACTIVATE.format(prefix=prefix))
    (prefix / "bin/activate.fish").write_text(f'set -gx VIRTUAL_ENV "{prefix}"\n')


def machine(home: Path) -> Machine:
    """Three GPUs and two toolkits."""
    gpus = tuple(Gpu(name=Known(f"RTX {n}", "x"), index=Known(n, "x"), uuid=Known(f"GPU-{n}{n}", "x")) for n in range(3))
    found = tuple(_toolkit(home, version) for version in ("11.8", "12.4"))
    return Machine(gpus=Known(gpus, "x"), toolkits=Known(found, "x"))


def _toolkit(home: Path, version: str) -> Toolkit:
    root = home / f"cuda-{version}"
    if not os.path.isdir(root):
        make_toolkit(root, f"{version}.1")
    known = Known(Version.parse(version), "x")
    return Toolkit(str(root), version=known, nvcc=Known(f"{root}/bin/nvcc", "x"))


def tree(home: Path) -> dict[str, bytes]:
    """Every file below the home, without what gpuassist keeps for itself."""
    found = (path for path in home.rglob("*") if path.is_file() and ".local/state" not in str(path))
    return {str(path.relative_to(home)): path.read_bytes() for path in found}
