"""The steps to another torch: into the environment that is there, or into a new one where that is to be left as it is."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.commands import Commands
from gpuassist.model.plan import Step
from gpuassist.model.text import text
from gpuassist.repair.install_place import Place, Use, step, use

_NEW = "torch-gpu"


def torch_steps(move: TorchMove, place: Place, commands: Commands) -> Iterator[Step]:
    """Installing the build, and nothing else where the environment can take it."""
    build = move.build
    version, tag = str(build.newest), build.tag
    python = place.python if place.tool and move.python is None else f"{_NEW}/bin/python"
    check = text("`gpuassist verify --python {python}` passes on every GPU", python=python)
    if move.python is not None:
        does = text(
            "Make a new environment with Python {python}, because torch {version} has no wheel for the one that is there",
            python=str(move.python),
            version=version,
        )
        yield step((use("environment-create-uv", version=move.python, directory=_NEW),), place, commands, (does, None))
        uses: tuple[Use, ...] = (use("torch-install-uv", python=python, version=version, tag=tag),)
    elif place.tool == "uv":
        uses = (use("torch-install-uv", python=python, version=version, tag=tag),)
    else:
        if not place.tool:
            does = text("Make a new environment, and leave those that are there as they are")
            yield step((use("environment-create", python=place.python, directory=_NEW),), place, commands, (does, None))
        remove = (use("torch-remove", python=python),) if place.torch_there and place.tool else ()
        uses = (*remove, use("torch-install", python=python, version=version, tag=tag))
    yield step(uses, place, commands, (text("Install torch {version} of the build {tag}", version=version, tag=tag), check))


def jetson_steps(place: Place, commands: Commands) -> tuple[Step, ...]:
    """torch of NVIDIA's own index for the system that the board runs: its driver cannot be replaced alone."""
    steps = []
    if not place.tool:
        does = text("Make a new environment, and leave those that are there as they are")
        steps.append(step((use("environment-create", python=place.python, directory=_NEW),), place, commands, (does, None)))
    python = place.python if place.tool else f"{_NEW}/bin/python"
    check = text("`gpuassist verify --python {python}` passes on every GPU", python=python)
    does = text("Install torch from NVIDIA's index for JetPack 6; PyTorch's own builds need a newer driver than this system's")
    remove = (use("torch-remove", python=python),) if place.torch_there and place.tool else ()
    return (*steps, step((*remove, use("torch-install-jetson", python=python)), place, commands, (does, check)))
