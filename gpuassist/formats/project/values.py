"""What a project's files say of Python, torch, CUDA, images and architectures, each with its file, line and place in it.

Places count characters of the file decoded as UTF-8 with `surrogateescape`, which gives every byte back.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text
from gpuassist.model.version import Target


class Spot(Struct, frozen=True):
    """A place in a file: the words from `first` up to `end` may be replaced, and are none where they are equal; -1 is no place that
    can be edited. `line` counts from 1.
    """

    file: str
    line: int
    first: int = -1
    end: int = -1

    @property
    def editable(self) -> bool:
        return self.first >= 0


class Spelling(str, Enum):
    """How the versions of a requirement are written: as pip does, as poetry (`^2.0`), as conda (`=2.0`)."""

    PIP = "pip"
    POETRY = "poetry"
    CONDA = "conda"


class AskedAs(str, Enum):
    """The kind of thing that a requirement is for; what `build-system.requires` names is only there while a package is built."""

    INSTALL = "install"
    CONSTRAINT = "constraint"
    BUILD = "build"
    OPTIONAL = "optional"


class ProjectRequirement(Struct, frozen=True):
    """A package that is asked for. `versions` is the range as pip writes it, `spelled` as the file does and `spot` where that
    stands; `whole` is where the line or the element stands as a whole, with its line end. `source` is the index that it is bound to
    by name, `build` conda's build string.
    """

    name: str
    versions: str
    spot: Spot
    spelled: str = ""
    spelling: Spelling = Spelling.PIP
    extras: tuple[str, ...] = ()
    marker: str = ""
    url: str = ""
    hashed: bool = False
    source: str = ""
    origin: AskedAs = AskedAs.INSTALL
    group: str = ""
    build: str = ""
    channel: str = ""
    whole: Spot | None = None
    from_source: bool = False
    stage: int = 0


class IndexRole(str, Enum):
    """How an index is asked: in the place of PyPI, beside it, as a page of links, or only for what names it."""

    INSTEAD = "index-url"
    BESIDE = "extra-index-url"
    LINKS = "find-links"
    NAMED = "named"


class ProjectIndex(Struct, frozen=True):
    """An index by its address; `spot` is where that stands, `whole` the line. `name` is what requirements call it."""

    url: str
    role: IndexRole
    spot: Spot
    name: str = ""
    whole: Spot | None = None
    stage: int = 0


class Include(Struct, frozen=True):
    """A file that this one takes in; `constraint` where it only limits versions. The path counts from this file."""

    path: str
    spot: Spot
    constraint: bool = False
    stage: int = 0


class PythonWish(Struct, frozen=True):
    """The Python that is asked for: a range as pip writes it, or (`pinned`) one version."""

    versions: str
    spot: Spot
    pinned: bool = False
    spelled: str = ""
    spelling: Spelling = Spelling.PIP


class ProjectImage(Struct, frozen=True):
    """A container image that the project stands on or runs; `name` is empty where it is put together of what is not known.

    `stage` counts the FROM lines of a Dockerfile from 1; `parent` is that of the stage that it continues, else 0. Of a service in a
    compose file `gpu` says whether it is given GPUs.
    """

    name: str
    spot: Spot
    stage: int = 0
    parent: int = 0
    spelled: str = ""
    service: str = ""
    gpu: bool | None = None


class ArchitectureKind(str, Enum):
    """How architectures are asked for."""

    FLAG = "-gencode"
    LIST = "TORCH_CUDA_ARCH_LIST"
    CMAKE = "CMAKE_CUDA_ARCHITECTURES"


class ArchitectureWish(Struct, frozen=True):
    """Lines that ask for architectures: `targets` by name, `spelled` the words as they stand; `conditional` where they count in
    some cases only. `named` is what of the words says all, `native`, `all`.
    """

    kind: ArchitectureKind
    targets: tuple[Target, ...]
    spot: Spot
    spelled: str
    conditional: bool = False
    named: str = ""
    stage: int = 0


class ExtensionWish(Struct, frozen=True):
    """Something with CUDA code that has to be compiled here: by its name, and what shows that."""

    name: str
    spot: Spot
    shown_by: str
    conditional: bool = False
    stage: int = 0


class LockedPackage(Struct, frozen=True):
    """A package in a lock file, at one version; `source` is the index or channel that it comes from, `tag` conda's build string."""

    name: str
    version: str
    spot: Spot
    source: str = ""
    build: str = ""
    marker: str = ""


class LateDevices(Struct, frozen=True):
    """A line that sets CUDA_VISIBLE_DEVICES below the one that imports torch; `started` where CUDA was used in between.

    `movable` where it is a plain statement that can stand above, `whole` the line, `imports_os` the place where that is done above.
    """

    spot: Spot
    imported: Spot
    started: bool
    movable: bool = False
    whole: Spot | None = None
    imports_os: Spot | None = None


class Trouble(Struct, frozen=True):
    """What of a file could not be read, and where; `about` is the id of the check that it leaves open."""

    spot: Spot
    reason: Text
    about: str = "torch-build"


class FileReading(Struct, frozen=True):
    """All that one file says."""

    file: str
    kind: str
    requirements: tuple[ProjectRequirement, ...] = ()
    indexes: tuple[ProjectIndex, ...] = ()
    includes: tuple[Include, ...] = ()
    pythons: tuple[PythonWish, ...] = ()
    images: tuple[ProjectImage, ...] = ()
    architectures: tuple[ArchitectureWish, ...] = ()
    extensions: tuple[ExtensionWish, ...] = ()
    locked: tuple[LockedPackage, ...] = ()
    devices: tuple[LateDevices, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    channels: tuple[str, ...] = ()
    made_by: str = ""
    sources: tuple[tuple[str, str], ...] = ()
