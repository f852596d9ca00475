"""What is set up for every program on the machine: links to toolkits, the loader's directories, what containers are given."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.version import Version


class ToolkitLink(Struct, frozen=True):
    """A symlink that stands for a toolkit, `/usr/local/cuda`: where it leads in the end, and whether something is there;
    `alternatives` where update-alternatives keeps it.
    """

    path: str
    target: str
    exists: bool
    alternatives: bool


class LoaderDirectory(Struct, frozen=True):
    """A directory that a file of /etc/ld.so.conf.d adds for every program, `real` after symlinks, with CUDA's libraries in it."""

    file: str
    directory: str
    real: str
    libraries: tuple[str, ...]


class ContainerList(Struct, frozen=True):
    """A list of driver files for containers (a CDI specification), and the driver that it was made for."""

    path: str
    driver: Fact[Version] = NOT_ASKED


class SystemWide(Struct, frozen=True):
    """Each an empty tuple where somebody looked and found none."""

    links: Fact[tuple[ToolkitLink, ...]] = NOT_ASKED
    loader: Fact[tuple[LoaderDirectory, ...]] = NOT_ASKED
    container_lists: Fact[tuple[ContainerList, ...]] = NOT_ASKED
