"""A whole machine at one moment: every fact that rules judge and pages show."""

from __future__ import annotations

from msgspec import Struct, field

from gpuassist.model.codec import DecodeError, Json, Render, decode, encode
from gpuassist.model.driver import Driver, Library
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.gpu import Gpu, Holder
from gpuassist.model.holds import PackageHold, SystemPackages
from gpuassist.model.next_start import NextStart
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.shell import Shell
from gpuassist.model.system_wide import SystemWide
from gpuassist.model.text import text
from gpuassist.model.toolkit import Compiler, Toolkit
from gpuassist.model.version import Version

SCHEMA = 1


class Distribution(Struct, frozen=True):
    """What /etc/os-release says: `id` and `id_like` as they stand there, `version_id` empty where a rolling one has none.
    `codename` is that of the release whose packages it takes (UBUNTU_CODENAME, DEBIAN_CODENAME, else its own), `variant` its
    edition. `image`: the system is an image that is exchanged as a whole (ostree), to which packages are layered.
    """

    id: str
    id_like: tuple[str, ...]
    version_id: str
    name: str
    codename: str = ""
    variant: str = ""
    image: bool = False


class Host(Struct, frozen=True):
    """`container` is empty outside one, else its kind (docker, podman, lxc, ...); `wsl` is 0 outside, else WSL's 1 or 2.

    `key_pending`: a key for Secure Boot waits to be confirmed at the next start. `slept` counts since the start. `unattended`:
    packages are upgraded by themselves. `provider` is the cloud that the machine is rented from (aws, azure, gcp, ...), empty where
    it is none that is known, `product` what the firmware calls the machine; `hybrid`: a laptop whose processor draws as well;
    `administrator`: this user is root, or of a group that may become root. `l4t` is the release of Jetson Linux, `36.4.3`, empty
    where this is none. `board` is the maker and model of the main board: a disk that is moved takes the machine's id along, and not
    this.
    """

    distribution: Fact[Distribution] = NOT_ASKED
    kernel: Fact[str] = NOT_ASKED
    architecture: Fact[str] = NOT_ASKED
    glibc: Fact[Version] = NOT_ASKED
    wsl: Fact[int] = NOT_ASKED
    container: Fact[str] = NOT_ASKED
    jetson: Fact[bool] = NOT_ASKED
    secure_boot: Fact[bool] = NOT_ASKED
    key_pending: Fact[bool] = NOT_ASKED
    realtime: Fact[bool] = NOT_ASKED
    slept: Fact[int] = NOT_ASKED
    unattended: Fact[bool] = NOT_ASKED
    provider: Fact[str] = NOT_ASKED
    product: Fact[str] = NOT_ASKED
    hybrid: Fact[bool] = NOT_ASKED
    administrator: Fact[bool] = NOT_ASKED
    l4t: Fact[str] = NOT_ASKED
    board: Fact[str] = NOT_ASKED


class Machine(Struct, frozen=True):
    """An immutable snapshot; `taken_at` is ISO 8601, empty in one that was read from a pasted text; `path_libraries` are those of
    cuDNN that LD_LIBRARY_PATH leads to, `holds` what the distribution keeps of `system_packages`.
    """

    taken_at: str = ""
    host: Host = field(default_factory=Host)
    gpus: Fact[tuple[Gpu, ...]] = NOT_ASKED
    driver: Driver = field(default_factory=Driver)
    toolkits: Fact[tuple[Toolkit, ...]] = NOT_ASKED
    compilers: Fact[tuple[Compiler, ...]] = NOT_ASKED
    environments: Fact[tuple[PythonEnvironment, ...]] = NOT_ASKED
    shell: Shell = field(default_factory=Shell)
    holders: Fact[tuple[Holder, ...]] = NOT_ASKED
    note: str = ""
    system: SystemWide = field(default_factory=SystemWide)
    path_libraries: Fact[tuple[Library, ...]] = NOT_ASKED
    package_settings: Fact[PackageSettings] = NOT_ASKED
    next_start: NextStart = field(default_factory=NextStart)
    holds: Fact[tuple[PackageHold, ...]] = NOT_ASKED
    system_packages: SystemPackages = field(default_factory=SystemPackages)


def encode_machine(machine: Machine, render: Render) -> dict[str, Json]:
    """The document that `detect --json` prints."""
    document = encode(machine, render)
    assert isinstance(document, dict)
    return {"schema": SCHEMA, **document}


def decode_machine(data: Json) -> Machine:
    """The machine of a document that `encode_machine` made; raises `DecodeError` for anything else."""
    if not isinstance(data, dict) or "schema" not in data:
        raise DecodeError(text("this is not a recorded machine: it has no schema number"))
    schema = data["schema"]
    if isinstance(schema, bool) or schema != SCHEMA:
        found = "…" if isinstance(schema, (list, dict)) else str(schema)  # words of a list may be nested as deeply as it is
        raise DecodeError(text("this recording has schema {found}; this program reads schema {known}", found=found, known=SCHEMA))
    if not set(Machine.__struct_fields__) & set(data):  # what `doctor --json` prints has a schema number too
        raise DecodeError(text("this is not a recorded machine: no part of one is in it; `gpuassist detect --json` writes one"))
    machine: Machine = decode(Machine, data)
    return machine
