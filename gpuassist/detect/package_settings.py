"""The user's settings of pip, uv and conda: every place that these tools read them from, nothing run and nothing asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from gpuassist.formats.package_settings import Condarc, UvSettings, read_condarc, read_pip_conf, read_uv_toml
from gpuassist.model.address import without_secrets
from gpuassist.model.fact import Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.package_settings import Channels, Indexes, PackageSetting, PackageSettings
from gpuassist.model.shell import Terminal
from gpuassist.system.files import Files
from gpuassist.system.world import World

_MOST_BYTES = 1 << 18
_TRUE = frozenset({"1", "true", "yes", "on", "t", "y"})
_PIN = lazy_regex(r"^\s*torch\s*((?:[=<>!~]=?=?\s*[\w.*+!]+\s*,?\s*)+)", re.MULTILINE | re.IGNORECASE)


def probe(world: World, terminal: Fact[Terminal]) -> Fact[PackageSettings]:
    """What a new terminal's pip, uv and conda are told, or gpuassist's own where that could not be asked."""
    variables = dict(world.surroundings.variables)
    if isinstance(terminal, Known):
        variables |= {one.name: one.value for one in terminal.value.variables}
    view = _View(world.files, world.surroundings.home, variables)
    settings = PackageSettings(_pip(view), _uv(view), _conda(view))
    return Known(settings, "pip.conf, uv.toml, .condarc; PIP_*, UV_*, CONDA_*")


class _View(Struct, frozen=True):
    """The files, HOME, and the variables that count."""

    files: Files
    home: str
    variables: Mapping[str, str]

    @property
    def config(self) -> str:
        chosen = self.variables.get("XDG_CONFIG_HOME", "")
        return chosen if chosen.startswith("/") else f"{self.home}/.config"

    @property
    def shared(self) -> tuple[str, ...]:
        listed = self.variables.get("XDG_CONFIG_DIRS") or "/etc/xdg"
        return tuple(one for one in listed.split(":") if one.startswith("/"))

    def read(self, path: str) -> str:
        """What a file holds, nothing where it cannot be read, or where its name counts from wherever the tool is started."""
        return self.files.text(path, _MOST_BYTES) if path.startswith("/") else ""

    def setting(self, *names: str) -> PackageSetting:
        """The first of these variables that is set."""
        return next((_told(self.variables[name], name) for name in names if self.variables.get(name)), PackageSetting())

    def settings(self, *names: str) -> tuple[PackageSetting, ...]:
        return tuple(_told(word, name) for name in names for word in self.variables.get(name, "").split())


def _told(value: str, source: str) -> PackageSetting:
    return PackageSetting(without_secrets(value), source)


def _pip(view: _View) -> Indexes:
    """pip's own order: a later place overrides an earlier one, and variables all of them (its documentation, Configuration)."""
    merged: dict[str, tuple[PackageSetting, ...]] = {}
    for path in _pip_places(view):
        merged |= {name: tuple(_told(one, path) for one in values) for name, values in read_pip_conf(view.read(path)).items()}
    for name in ("index-url", "extra-index-url", "find-links", "no-index", "constraint"):
        told = view.settings(f"PIP_{name.upper().replace('-', '_')}")
        merged[name] = told or merged.get(name, ())
    constraints = merged.get("constraint", ())
    return Indexes(
        index=_last(merged.get("index-url", ())),
        extra=merged.get("extra-index-url", ()),
        links=merged.get("find-links", ()),
        forbidden=_if_true(_last(merged.get("no-index", ()))),
        constraints=constraints,
        pins=tuple(_pins(view, constraints)),
    )


def _pip_places(view: _View) -> Iterator[str]:
    own = view.variables.get("PIP_CONFIG_FILE", "")
    if own == os.devnull:
        return
    yield from (f"{one}/pip/pip.conf" for one in view.shared)
    yield "/etc/pip.conf"
    if not (own and view.files.exists(own)):
        yield f"{view.home}/.pip/pip.conf"
        yield f"{view.config}/pip/pip.conf"
    prefix = view.variables.get("VIRTUAL_ENV") or view.variables.get("CONDA_PREFIX")
    if prefix:
        yield f"{prefix}/pip.conf"
    if own.startswith("/"):
        yield own


def _uv(view: _View) -> Indexes:
    found = Indexes()
    if view.variables.get("UV_NO_CONFIG", "").lower() not in _TRUE:
        for path in _uv_places(view):
            found = _over(found, read_uv_toml(view.read(path)), path)
    index = view.setting("UV_DEFAULT_INDEX", "UV_INDEX_URL") or found.index
    extra = view.settings("UV_INDEX", "UV_EXTRA_INDEX_URL") or found.extra
    constraints = view.settings("UV_CONSTRAINT") or found.constraints
    return Indexes(
        index=_unnamed(index),
        extra=tuple(map(_unnamed, extra)),
        links=view.settings("UV_FIND_LINKS") or found.links,
        forbidden=found.forbidden,
        constraints=constraints,
        pins=(*found.pins, *_pins(view, constraints)),
        offline=_if_true(view.setting("UV_OFFLINE")) or found.offline,
        backend=view.setting("UV_TORCH_BACKEND") or found.backend,
    )


def _uv_places(view: _View) -> Iterator[str]:
    own = view.variables.get("UV_CONFIG_FILE", "")
    if own:
        yield own
        return
    shared = (*(f"{one}/uv/uv.toml" for one in view.shared), "/etc/uv/uv.toml")
    yield from [one for one in shared if view.files.exists(one)][:1]  # of those for all users uv reads the first alone
    yield f"{view.config}/uv/uv.toml"


def _over(below: Indexes, told: UvSettings, path: str) -> Indexes:
    """What one file says over what those before it say."""
    pins = tuple(PackageSetting(found[1].strip(), path) for one in told.constraints if (found := _PIN.match(one)))
    return Indexes(
        index=_told(told.index, path) if told.index else below.index,
        extra=(*(_told(one, path) for one in told.extra), *below.extra),
        links=(*(_told(one, path) for one in told.links), *below.links),
        forbidden=PackageSetting("true", path) if told.forbidden else below.forbidden,
        pins=pins or below.pins,
        offline=PackageSetting("true", path) if told.offline else below.offline,
        backend=PackageSetting(told.backend, path) if told.backend else below.backend,
    )


def _unnamed(setting: PackageSetting) -> PackageSetting:
    """uv takes `name=URL` as well."""
    name, sign, url = setting.value.partition("=")
    return PackageSetting(url, setting.source) if sign and "://" in url and "://" not in name else setting


def _conda(view: _View) -> Channels:
    """conda merges the lists of all its files, the nearest to the user first (its documentation, Using the .condarc file)."""
    read = [(read_condarc(view.read(path)), path) for path in _conda_places(view)]
    read.reverse()
    listed = view.variables.get("CONDA_CHANNELS", "")
    own = tuple(_told(one.strip(), "CONDA_CHANNELS") for one in listed.split(",") if one.strip())
    return Channels(
        channels=(*own, *_merged(read, "channels")),
        alias=_first(read, "channel_alias"),
        allowed=(*_merged(read, "allowlist_channels"), *_merged(read, "whitelist_channels")),
        denied=_merged(read, "denylist_channels"),
        pins=_merged(read, "pinned_packages"),
        offline=_if_true(view.setting("CONDA_OFFLINE") or _first(read, "offline")),
        virtual=view.setting("CONDA_OVERRIDE_CUDA"),
    )


def _conda_places(view: _View) -> Iterator[str]:
    prefix = view.variables.get("CONDA_PREFIX", "")
    root = prefix.partition("/envs/")[0] if "/envs/" in prefix else ""  # conda's own directory is told by what is active alone
    directories = ("/etc/conda", "/var/lib/conda", root, f"{view.config}/conda", f"{view.home}/.conda", view.home)
    for directory in dict.fromkeys(one for one in (*directories, prefix) if one):
        if directory == view.home:
            yield f"{directory}/.condarc"
            continue
        yield from (f"{directory}/{name}" for name in (".condarc", "condarc"))
        yield from (f"{directory}/condarc.d/{name}" for name in view.files.names(f"{directory}/condarc.d"))
    if view.variables.get("CONDARC"):
        yield view.variables["CONDARC"]


def _merged(read: list[tuple[Condarc, str]], name: str) -> tuple[PackageSetting, ...]:
    found = {one: _told(one, path) for condarc, path in reversed(read) for one in condarc.lists.get(name, ())}
    order = dict.fromkeys(one for condarc, _ in read for one in condarc.lists.get(name, ()))
    return tuple(found[one] for one in order)


def _first(read: list[tuple[Condarc, str]], name: str) -> PackageSetting:
    return next((_told(condarc.lists[name][0], path) for condarc, path in read if condarc.lists.get(name)), PackageSetting())


def _pins(view: _View, constraints: tuple[PackageSetting, ...]) -> Iterator[PackageSetting]:
    """What the files of constraints say of torch."""
    for one in constraints:
        path = one.value.removeprefix("file://")
        found = _PIN.search(view.read(path)) if path.startswith("/") else None
        if found:
            yield PackageSetting("".join(found[1].split()), path)


def _last(settings: tuple[PackageSetting, ...]) -> PackageSetting:
    return settings[-1] if settings else PackageSetting()


def _if_true(setting: PackageSetting) -> PackageSetting:
    return setting if setting.value.lower() in _TRUE else PackageSetting()
