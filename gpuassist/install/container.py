"""The steps to torch in a container: NVIDIA's image tried on the GPUs, run on a project, and as the ground of one's own image."""

from __future__ import annotations

from gpuassist.install.place import Place, step, use
from gpuassist.knowledge.commands import Commands
from gpuassist.model.outlook import Way, WayPlan
from gpuassist.model.plan import Step
from gpuassist.model.text import text

_NAME = "my-project"
_NEEDS = text("Docker starts it, and the NVIDIA Container Toolkit gives it the GPUs: both have to be installed on this computer")
_KEEP = text(
    "in the container `pip install torch` would put a wheel in the place of the image's own torch: leave torch out of what you "
    "install there"
)


def container_way(image: str, torch: str, place: Place, commands: Commands, *, integrated: bool = False) -> WayPlan:
    """The steps, none of which touches an environment of the host; an `integrated` image is for Jetson."""
    suffix = "-jetson" if integrated else ""
    key = f"docker-run{suffix}"
    does = text("Work in it, in the directory of your project, which it shows under /workspace/project")
    steps = (
        _try(image, f"docker-check{suffix}", place, commands),
        step((use(key, image=image),), place, commands, (does, None)),
        _own(image, place, commands),
    )
    does = text("In a container of {image}, whose torch is {torch}", image=image, torch=torch)
    return WayPlan(Way.CONTAINER, does, steps, (_NEEDS, _KEEP))


def _try(image: str, key: str, place: Place, commands: Commands) -> Step:
    does = text("Fetch the image, several gigabytes, and let its torch compute on a GPU")
    check = text("it prints the GPU's name and a tensor; where it does not find the GPU, the NVIDIA Container Toolkit is missing")
    return step((use(key, image=image),), place, commands, (does, check))


def _own(image: str, place: Place, commands: Commands) -> Step:
    does = text(
        "For an image of your own: a Dockerfile of three lines in the directory of your project, and the image made from it"
    )
    return step((use("docker-image", image=image, name=_NAME),), place, commands, (does, None))
