"""Where pip, uv and conda take packages from, as the user's own settings say: files and variables, each with its source."""

from __future__ import annotations

from msgspec import Struct

NOWHERE = ""


class PackageSetting(Struct, frozen=True):
    """A value as it is set, without the passwords in it, and the file or variable that sets it; both empty where nothing does."""

    value: str = NOWHERE
    source: str = NOWHERE

    def __bool__(self) -> bool:
        return bool(self.value)


class Indexes(Struct, frozen=True):
    """What pip or uv is told: `index` in the place of PyPI, `extra` beside it, `links` directories or pages of files; `forbidden`
    where no index may be asked. `pins` are the torch that constraints allow, as `==2.1.0`; `backend` is uv's own wish for a build.
    """

    index: PackageSetting = PackageSetting()
    extra: tuple[PackageSetting, ...] = ()
    links: tuple[PackageSetting, ...] = ()
    forbidden: PackageSetting = PackageSetting()
    constraints: tuple[PackageSetting, ...] = ()
    pins: tuple[PackageSetting, ...] = ()
    offline: PackageSetting = PackageSetting()
    backend: PackageSetting = PackageSetting()


class Channels(Struct, frozen=True):
    """What conda is told: `channels` in their order, `alias` the place that names without one are looked up at; only those that are
    `allowed` where any is, none that is `denied`; `pins` are packages that every environment keeps to; `virtual` is what conda is
    to take for the driver's CUDA.
    """

    channels: tuple[PackageSetting, ...] = ()
    alias: PackageSetting = PackageSetting()
    allowed: tuple[PackageSetting, ...] = ()
    denied: tuple[PackageSetting, ...] = ()
    pins: tuple[PackageSetting, ...] = ()
    offline: PackageSetting = PackageSetting()
    virtual: PackageSetting = PackageSetting()


class PackageSettings(Struct, frozen=True):
    """The settings of each tool."""

    pip: Indexes = Indexes()
    uv: Indexes = Indexes()
    conda: Channels = Channels()
