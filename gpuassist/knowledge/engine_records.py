"""What is known of the engines beside torch, as typed records."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.version import ComputeCapability, Version


class EngineRecord(Struct, frozen=True):
    """A package that people install beside torch, or in its place: `key` is what a goal calls it. `asks_torch` where it stands on
    torch; `own` where it pins so much that an environment of its own is its usual place; `of_pytorch` where PyTorch's own index has
    it, built for each CUDA; `index` is another index that it comes from, `instead` the engine that does the same on newer GPUs.
    """

    key: str
    title: str
    aliases: tuple[str, ...]
    asks_torch: bool
    own: bool
    of_pytorch: bool
    index: str
    instead: str
    home: str
    source: str
    checked: str


class EngineRelease(Struct, frozen=True):
    """Releases of an engine that ask for the same, the newest first, by the name that pip is told (`jax[cuda13]`).

    `torch` are the versions that it takes, as pip writes ranges, each of them enough, empty where it takes any; `cuda` the CUDA
    majors of its wheels, None where that is not known, empty where it compiles its own code; `tags` those of PyTorch's index that
    have it. `python` is what it asks for, `pythons` those that it has wheels for, empty where one serves every Python;
    `libraries` what it asks of NVIDIA's packages. `compiles`: nvcc is needed to install it.
    """

    engine: str
    package: str
    releases: tuple[str, ...]
    torch: tuple[str, ...]
    cuda: tuple[int, ...] | None
    tags: tuple[str, ...]
    python: str
    pythons: tuple[Version, ...]
    machines: tuple[str, ...]
    capability_min: ComputeCapability | None
    capability_max: ComputeCapability | None
    driver: Version | None
    libraries: tuple[tuple[str, str], ...]
    compiles: bool
    source: str
    checked: str

    @property
    def newest(self) -> str:
        """The newest of them."""
        return self.releases[0]
