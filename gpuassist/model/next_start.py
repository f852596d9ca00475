"""What the next start of the computer brings: its kernel, and what of NVIDIA's driver is ready for that one."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.driver import KernelModule, ModuleBlock
from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.text import Text


class ChosenBy(str, Enum):
    """Why this kernel starts next: there is no other, the boot loader's setting names it, it is the first of the boot loader's
    list, it is that of the system image that waits, or it is the newest that is installed, where the boot loader's choice was not
    to be read.
    """

    ONLY = "only"
    SETTING = "setting"
    FIRST = "first"
    IMAGE = "image"
    NEWEST = "newest"


class BuildTool(str, Enum):
    """What builds the module on this computer."""

    DKMS = "dkms"
    AKMODS = "akmods"


class BuildState(str, Enum):
    """How far a module came for a kernel; `added`: its sources are there and nothing was built, `failed`: the build broke off."""

    ADDED = "added"
    BUILT = "built"
    INSTALLED = "installed"
    FAILED = "failed"


class ModuleBuild(Struct, frozen=True):
    """Sources of NVIDIA's module on this computer, and what came of them for the next kernel. `name` is what the tool calls them,
    `version` is empty where it does not tell it; `log` is the file of a build that failed, `error` its first error, both empty
    elsewhere.
    """

    tool: BuildTool
    name: str
    version: str
    state: BuildState
    log: str = ""
    error: str = ""


class EarlyImage(Struct, frozen=True):
    """The early boot image (initramfs) of the next kernel. `written` is when, as ISO 8601. `blocks_after` are the files written
    after it that forbid nouveau. `takes_nvidia` are the files by which NVIDIA's modules are taken into it (empty where none says
    so), and `modules_after` those of these modules that came after it was written.
    """

    path: str
    written: str
    blocks_after: tuple[str, ...] = ()
    takes_nvidia: tuple[str, ...] = ()
    modules_after: tuple[str, ...] = ()


class NextStart(Struct, frozen=True):
    """`kernel` is the release that starts next (`uname -r` then), `kernels` every one that can start, the newest first.

    Of that kernel: `modules` are NVIDIA's on disk (empty: looked, none there), `builds` those that are built here, `headers`
    whether what they are built with is there; `built_at_start` are the services that build what is missing while the system
    starts. `early_image` is its early boot image, `nouveau` whether a nouveau of its own is on disk, `nouveau_blocks` what forbids
    it then. `key_known` whether the computer trusts the key that a module which was built here is signed with.

    `deployment` is the system image that waits for the restart (ostree), empty of none; `modules_gone` whether the modules of the
    kernel that runs were removed; `restart_packages` are those that asked for a restart. `unread` says what could not be read on
    the way.
    """

    kernel: Fact[str] = NOT_ASKED
    chosen_by: Fact[ChosenBy] = NOT_ASKED
    kernels: Fact[tuple[str, ...]] = NOT_ASKED
    modules: Fact[tuple[KernelModule, ...]] = NOT_ASKED
    builds: Fact[tuple[ModuleBuild, ...]] = NOT_ASKED
    headers: Fact[bool] = NOT_ASKED
    built_at_start: Fact[tuple[str, ...]] = NOT_ASKED
    early_image: Fact[EarlyImage] = NOT_ASKED
    nouveau: Fact[bool] = NOT_ASKED
    nouveau_blocks: Fact[tuple[ModuleBlock, ...]] = NOT_ASKED
    key_known: Fact[bool] = NOT_ASKED
    deployment: Fact[str] = NOT_ASKED
    modules_gone: Fact[bool] = NOT_ASKED
    restart_packages: Fact[tuple[str, ...]] = NOT_ASKED
    unread: tuple[Text, ...] = ()
