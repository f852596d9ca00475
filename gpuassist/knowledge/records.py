"""What the knowledge files say, as typed records; each with the source it is from and the day it was looked at."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.knowledge.families import Family
from gpuassist.model.finding import Action
from gpuassist.model.version import ComputeCapability, Target, Version


class ModuleFlavour(str, Enum):
    """Whether the open kernel modules serve an architecture: they alone, they too, or not at all."""

    OPEN_REQUIRED = "required"
    OPEN_POSSIBLE = "possible"
    OPEN_IMPOSSIBLE = "impossible"


class GpuRecord(Struct, frozen=True):
    """A GPU by its PCI id; a chip inside a system on a chip has none there (""). `aliases` are its other names; `memory_bytes`
    the sizes that it was sold with, empty where that is not known; `unlisted` where NVIDIA's own lists of products lack it;
    `first_driver` the oldest release that lists it, None where that is not known beyond its chip's.
    """

    pci_id: str
    name: str
    aliases: tuple[str, ...]
    chip: str
    architecture: str
    compute_capability: ComputeCapability | None
    integrated: bool
    module: ModuleFlavour
    source: str
    checked: str
    memory_bytes: tuple[int, ...] = ()
    unlisted: bool = False
    first_driver: Version | None = None

    @property
    def list_name(self) -> str:
        """The list that names it, without what its row has from elsewhere: a fact beside a finding needs no more."""
        return self.source.partition("; ")[0]


class ChipRecord(Struct, frozen=True):
    """A chip by its code name; `compute_capability` is None where its maker has not said, `first_driver` where every branch
    known here serves it, or where its driver is part of a system of its own (Jetson).
    """

    chip: str
    compute_capability: ComputeCapability | None
    integrated: bool
    first_driver: Version | None


class ArchitectureRecord(Struct, frozen=True):
    """A generation of chips, and which driver branches serve it; `last_branch` is None while every new one does."""

    name: str
    chips: tuple[ChipRecord, ...]
    last_branch: int | None
    module: ModuleFlavour
    source: str
    checked: str

    @property
    def capabilities(self) -> tuple[ComputeCapability, ...]:
        """The compute capabilities of its chips, lowest first."""
        return tuple(sorted({chip.compute_capability for chip in self.chips if chip.compute_capability}))


class BranchKind(str, Enum):
    """What NVIDIA calls a branch: long-term support, production, new features, only for legacy GPUs, or nothing yet."""

    LONG_TERM = "long-term"
    PRODUCTION = "production"
    NEW_FEATURE = "new-feature"
    LEGACY = "legacy"
    UNDESIGNATED = "undesignated"


class BranchRecord(Struct, frozen=True):
    """A driver branch. `end_of_life` is the month, `2026-06`, and empty where none is published; `ended` where it was over when
    looked at; `cuda` is what its own libcuda reports, None where not known.
    """

    branch: int
    kind: BranchKind
    end_of_life: str
    ended: bool
    cuda: Version | None
    source: str
    checked: str

    def has_ended(self, today: str) -> bool:
        """Whether its support is over on a day, given as ISO 8601."""
        return self.ended or (self.end_of_life != "" and self.end_of_life < today[:7])


class ToolkitRecord(Struct, frozen=True):
    """A CUDA release: the architectures that its nvcc accepts (PTX names, without `a` and `f` variants), the host compilers
    that it accepts (newest major; None where not known), the first glibc that its headers clash with (None: none known),
    the driver made for it, and the oldest that runs its programs (minor-version compatibility). `codes` is every machine code
    that its nvcc accepts by name, the variants among them; `deprecated` what it warns of, None where that is not known.
    """

    release: Version
    targets: tuple[Target, ...]
    deprecated: tuple[Target, ...] | None
    gcc_limit: int | None
    clang_limit: int | None
    glibc_clash: Version | None
    native_driver: Version | None
    driver_floor: Version
    source: str
    checked: str
    codes: tuple[Target, ...] = ()


class RunfileRecord(Struct, frozen=True):
    """NVIDIA's installer of a CUDA release that needs no package manager: the newest of its versions, the driver that it brings
    along, which its name carries, and the machines that there is one for.
    """

    release: Version
    version: Version
    driver: Version
    machines: tuple[str, ...]
    source: str
    checked: str

    def file(self, machine: str) -> str:
        """Its name; NVIDIA calls servers with ARM processors sbsa."""
        return f"cuda_{self.version}_{self.driver}_linux{'' if machine == 'x86_64' else '_sbsa'}.run"


class WheelRecord(Struct, frozen=True):
    """A package that holds a part of CUDA for Python environments: `role` in plain English, `libraries` the sonames inside, over
    all its versions, `compilers` the programs inside that compile, `directory` where its files lie under site-packages; `instead`
    is the package to take where this one is an empty placeholder (else ""). `last` is its newest release on the day `last_seen`,
    None where nobody looked; `of_cuda` is false for what is no part of CUDA (TensorRT).
    """

    distribution: str
    role: str
    libraries: tuple[str, ...]
    compilers: tuple[str, ...]
    directory: str
    instead: str
    cuda_majors: tuple[int, ...]
    last: str | None
    last_seen: str | None
    of_cuda: bool
    source: str
    checked: str


class TorchBuild(Struct, frozen=True):
    """A torch release as one index serves it to one CPU architecture: `newest` is its last patch, `tag` `cu128` or `cpu`, `targets`
    the GPU code inside, `default` whether a bare `pip install torch` gets it, `pythons` the minor versions with a wheel, `pins`
    the nvidia packages and the triton that its wheel asks for: a version (`12.8.4.1`), or a range where it starts with a sign
    (`~=3.9.0`); empty where it brings all of that itself, None where that is not known. Patches of a release differ in triton
    alone (`TorchRelease` tells), and a wheel for a Python that triton does not serve yet asks for none. `glibc`: the oldest for it.
    """

    release: Version
    newest: Version
    tag: str
    cuda: Version | None
    machine: str
    default: bool
    targets: tuple[Target, ...]
    pythons: tuple[Version, ...]
    pins: tuple[tuple[str, str], ...] | None
    source: str
    checked: str
    glibc: Version | None = None


class CommandRecord(Struct, frozen=True):
    """Command lines under a key for one family; `{name}` is a parameter of theirs."""

    key: str
    family: Family
    lines: tuple[str, ...]
    parameters: tuple[str, ...]
    needs_root: bool
    action: Action
    source: str
    checked: str


class Companion(Struct, frozen=True):
    """A library that belongs to one patch release of torch; `version` is exact (`0.22.1`), or a range as pip writes it."""

    name: str
    version: str
    torch: Version


class TorchRelease(Struct, frozen=True):
    """A torch release (2.7) with its patches. `published` is the day of its first one (the month alone where no day is known);
    `known_in_detail` is false where gpuassist knows no builds of it, because it is older than they are: of such `cudas` are the
    CUDA releases that it is built for, PyPI's own first. `nccl` lies in its wheels; None where it is a package of its own.
    """

    release: Version
    patches: tuple[Version, ...]
    published: str
    pythons: tuple[Version, ...]
    companions: tuple[Companion, ...]
    known_in_detail: bool
    source: str
    checked: str
    nccl: Version | None = None
    cudas: tuple[Version, ...] = ()

    def companions_of(self, torch: Version) -> tuple[Companion, ...]:
        """What belongs to a version of it: to its own patch, or to the newest before it; of 2.7 alone to the newest of all."""
        listed = {one.torch for one in self.companions}
        nearest = max({one for one in listed if one <= torch} or listed, default=None)
        return tuple(one for one in self.companions if one.torch == nearest)


class Party(Struct, frozen=True):
    """A library in some of its versions, as pip writes them (`>=2`, `<2.3`); "" is any version."""

    name: str
    versions: str


class BadPair(Struct, frozen=True):
    """Two libraries that do not work together in these versions: what is seen (`symptom`), why, and what helps. All in English."""

    key: str
    one: Party
    other: Party
    symptom: str
    why: str
    remedy: str
    source: str
    checked: str


class ImageFamily(str, Enum):
    """The kinds of images that are read, by the repository that they are pulled from."""

    NGC_PYTORCH = "nvcr.io/nvidia/pytorch"
    NGC_TENSORRT = "nvcr.io/nvidia/tensorrt"
    NGC_TENSORFLOW = "nvcr.io/nvidia/tensorflow"
    NGC_TRITON = "nvcr.io/nvidia/tritonserver"
    NGC_JAX = "nvcr.io/nvidia/jax"
    CUDA = "nvidia/cuda"
    TORCH = "pytorch/pytorch"


class ImageRecord(Struct, frozen=True):
    """One month of an NVIDIA framework image: `month` is 23.10, `torch` the version that the torch inside tells of itself, without
    the `.nv24.10` that it has appended since 2024.

    `version` is that of TensorFlow, Triton or JAX where the image is theirs; `variant` is `tf1` or `tf2` where a month has both.

    None is not known, and "" (of torch) none inside. `driver` is what the release notes ask for on any GPU; `compat_drivers`
    are older drivers that do on data-centre GPUs, by the compatibility package in the image (empty where the notes name none).
    `capability_min` is the oldest GPU that the notes name, `jetpack` the JetPack that the month's `-igpu` variant is made for.
    """

    family: ImageFamily
    month: Version
    variant: str
    version: str | None
    cuda: Version | None
    torch: str | None
    tensorrt: Version | None
    python: Version | None
    system: str | None
    driver: Version | None
    compat_drivers: tuple[Version, ...]
    capability_min: ComputeCapability | None
    jetpack: Version | None
    source: str
    checked: str

    @property
    def name(self) -> str:
        """As it is pulled."""
        return f"{self.family.value}:{self.month}-{self.variant}{'-' if self.variant else ''}py3"


class ImageTag(Struct, frozen=True):
    """A tag that an image of PyTorch's or NVIDIA's is known to have, as it is pulled; by rule there could be many more."""

    tag: str
    source: str
    checked: str


class SystemRecord(Struct, frozen=True):
    """A distribution as image names spell it (`ubuntu22.04`), with its C library and its `python3`; None where not known."""

    name: str
    glibc: Version | None
    source: str
    checked: str
    python: Version | None = None


class Channel(str, Enum):
    """The channels that have a torch for Linux: PyTorch's own, up to 2.5.1, and conda-forge."""

    PYTORCH = "pytorch"
    CONDA_FORGE = "conda-forge"


class CondaRecord(Struct, frozen=True):
    """A torch release as a channel builds it for one platform and CUDA (`cuda` None: for the CPU alone).

    `selector` is the package that chooses the CUDA (`pytorch-cuda`, before it `cudatoolkit`, on conda-forge `cuda-version`),
    `channels` what `-c` has to name, in that order. None is not known: `cudnn`, `pythons`, `targets` (the GPU code inside). A
    `tegra` build is for Jetson alone.
    """

    channel: Channel
    version: Version
    platform: str
    cuda: Version | None
    selector: str
    channels: tuple[str, ...]
    cudnn: Version | None
    pythons: tuple[Version, ...] | None
    targets: tuple[Target, ...] | None
    tegra: bool
    source: str
    checked: str

    @property
    def needs_virtual(self) -> bool:
        """Whether its own recipe asks for the virtual package `__cuda`: on conda-forge since 1.12."""
        return self.channel is Channel.CONDA_FORGE and self.cuda is not None and self.version >= Version((1, 12))

    @property
    def virtual_floor(self) -> Version | None:
        """What `__cuda` must reach where there is one: the CUDA's major, which is what the package `cuda-version` constrains."""
        return Version((self.cuda.major,)) if self.selector == "cuda-version" and self.cuda else None


class CondaPackage(Struct, frozen=True):
    """A package by which conda brings CUDA or chooses torch's: `cudas` the releases that it has, `last` its newest version where it
    ends there, `instead` what took its place (else ""). Of one `of_torch` both follow from the builds of torch.
    """

    name: str
    channel: Channel
    role: str
    libraries: tuple[str, ...]
    cudas: tuple[Version, ...]
    last: str | None
    instead: str
    of_torch: bool
    source: str
    checked: str


class XidCause(str, Enum):
    """Where an Xid event may come from; several where it does not tell."""

    APPLICATION = "application"
    DRIVER = "driver"
    FIRMWARE = "firmware"
    HARDWARE = "hardware"
    GPU_MEMORY = "gpu-memory"
    LINK = "link"
    BUS = "bus"
    POWER = "power"
    SYSTEM_MEMORY = "system-memory"
    THERMAL = "thermal"


class XidRecord(Struct, frozen=True):
    """An Xid event by its number. `name` is NVIDIA's mnemonic; `ended` where no driver sends that number any more, or it is only
    reserved; `causes` is empty where it is, and for events that report no fault.
    """

    number: int
    name: str
    meaning: str
    action: str
    causes: tuple[XidCause, ...]
    ended: bool
    source: str
    checked: str
