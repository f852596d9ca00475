"""Which index a torch is installed from: the user's own where it has the build, else PyTorch's beside it, and why."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.specifier import admits
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.package_settings import Indexes, PackageSetting, PackageSettings
from gpuassist.model.plan import Tool
from gpuassist.model.text import Text, text
from gpuassist.model.version import VersionError

_TAG = lazy_regex(r"(cu\d{2,3}|cpu|xpu|rocm[\d.]+)(?:/simple)?/?")


class IndexOrigin(Struct, frozen=True):
    """`own` where the user's settings lead to the build, so that the command names no index; `exact` where they name several
    places, so that only the version with its tag means one build.
    """

    own: bool
    exact: bool


def origin_of(build: TorchBuild, tool: Tool, settings: PackageSettings) -> IndexOrigin:
    """Where a build comes from, as the user's settings stand."""
    told = _of(tool, settings)
    tags = [tag_of(one.value) for one in (told.index, *told.extra)]
    if told.forbidden:
        return IndexOrigin(own=True, exact=True)
    if build.tag in tags:
        return IndexOrigin(own=True, exact=True)
    keeps = tool is Tool.PIP and bool(told.index) and build.default and not any(tags)
    return IndexOrigin(own=keeps, exact=bool(told.extra) or bool(told.links))


def tag_of(url: str) -> str:
    """The tag of the builds that an index holds, as PyTorch's and its mirrors end in one; empty for one like PyPI."""
    found = _TAG.fullmatch(url.rstrip("/").removesuffix("/simple").rpartition("/")[2])
    return found[1] if found else ""


def notes_on_index(build: TorchBuild, tool: Tool, settings: PackageSettings) -> tuple[Text, ...]:
    """What of the settings serves the build, and what is missing there."""
    told = _of(tool, settings)
    return (*_on_index(build, tool, told), *_on_pins(build, told))


def _of(tool: Tool, settings: PackageSettings) -> Indexes:
    return settings.uv if tool is Tool.UV else settings.pip


def _on_index(build: TorchBuild, tool: Tool, told: Indexes) -> Iterator[Text]:
    version, tag = str(build.newest), build.tag
    if told.offline:
        yield text("{source} keeps uv from the network: it takes only what is in its cache", source=told.offline.source)
    if told.forbidden:
        yield text(
            "{source} forbids every index: the wheels of torch {version}+{tag} and of what it asks for have to be in {places}",
            source=told.forbidden.source,
            version=version,
            tag=tag,
            places=", ".join(one.value for one in told.links) or text("a directory that find-links names"),
        )
        return
    serving = next((one for one in (told.index, *told.extra) if tag_of(one.value) == tag), None)
    if serving is not None:
        yield text("{url} of {source} has the builds of {tag}: it is kept", url=serving.value, source=serving.source, tag=tag)
        return
    if told.index:
        yield from _on_own_index(build, tool, told.index)
    for one in told.extra:
        if tag_of(one.value):
            yield _other_builds(one, tag)


def _on_own_index(build: TorchBuild, tool: Tool, index: PackageSetting) -> Iterator[Text]:
    version, tag, words = str(build.newest), build.tag, {"url": index.value, "source": index.source}
    if tag_of(index.value):
        yield _other_builds(index, tag)
    elif tool is Tool.UV:
        yield text("{url} of {source} is kept for all but torch itself, which comes from PyTorch's index", **words)
    elif build.default:
        yield text("{url} of {source} is kept: PyPI's torch {version} is the build {tag}", **words, version=version, tag=tag)
    else:
        yield text(
            "{url} of {source} has no build {tag} if it mirrors PyPI, whose torch {version} is another: the command names "
            "PyTorch's index instead. Where this computer reaches that mirror alone, it has to mirror "
            "download.pytorch.org/whl/{tag} as well",
            **words,
            version=version,
            tag=tag,
        )


def _other_builds(index: PackageSetting, tag: str) -> Text:
    return text(
        "{url} of {source} has builds of {other}, not of {tag}: the command asks PyTorch's index instead",
        url=index.value,
        source=index.source,
        other=tag_of(index.value),
        tag=tag,
    )


def _on_pins(build: TorchBuild, told: Indexes) -> Iterator[Text]:
    for pin in told.pins:
        try:
            fits = admits(pin.value, build.newest)
        except VersionError:
            continue
        if not fits:
            yield text(
                "{source} allows torch {pin} alone: torch {version} is refused until that line is changed",
                source=pin.source,
                pin=pin.value,
                version=str(build.newest),
            )
