"""Which channels conda is told to look in: as the user's settings spell them, and what these keep conda from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.knowledge.conda_records import CondaRecord
from gpuassist.model.package_settings import Channels, Setting
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version, VersionError

_DECIDE = ("pytorch", "cuda-version", "pytorch-cuda", "cudatoolkit", "cuda", "__cuda", "libtorch")
_PACKAGE = re.compile(r"[\w.-]+")
_NEVER_SHOWN = "***"


def channels_for(names: tuple[str, ...], settings: Channels) -> tuple[str, ...]:
    """What `-c` takes for each: the user's own address of it where the settings have one; none where that holds a token, which only
    the settings know.
    """
    spelled = (_spelled(name, settings) for name in names)
    return tuple(one for one in spelled if _NEVER_SHOWN not in one)


def notes_on_channels(record: CondaRecord, settings: Channels) -> tuple[Text, ...]:
    """What of the settings serves the build, and what stands in its way."""
    return tuple(_notes(record, settings))


def name_of(channel: str) -> str:
    """A channel's own name: the last part of its address."""
    return channel.rstrip("/").rpartition("/")[2]


def _spelled(name: str, settings: Channels) -> str:
    return next((one.value for one in _own(name, settings)), name)


def _own(name: str, settings: Channels) -> Iterator[Setting]:
    """The channels of that name that the user gives an address for."""
    return (one for one in settings.channels if "://" in one.value and name_of(one.value) == name)


def _notes(record: CondaRecord, settings: Channels) -> Iterator[Text]:
    for name in record.channels:
        yield from _on_channel(name, settings)
    for pin in settings.pins:
        # The name in `pytorch=2.1`, `cuda-version >=12` and `conda-forge::pytorch`.
        found = _PACKAGE.match(pin.value.rpartition("::")[2].strip())
        if (found[0] if found else "") in _DECIDE:
            words = {"source": pin.source, "pin": pin.value}
            yield text("{source} pins {pin} in every environment: conda keeps to it or finds nothing", **words)
    if settings.offline:
        source = settings.offline.source
        yield text("{source} keeps conda from the network: it takes only what it has downloaded before", source=source)
    if record.cuda is not None and settings.virtual and _is_older(settings.virtual.value, record.cuda):
        yield text(
            "{source} makes conda take the driver for one of CUDA {value}, so that it refuses the build for {cuda}: unset it",
            source=settings.virtual.source,
            value=settings.virtual.value,
            cuda=str(record.cuda),
        )


def _on_channel(name: str, settings: Channels) -> Iterator[Text]:
    own = next(_own(name, settings), settings.alias)
    if own:
        yield text("{url} of {source} is kept for {channel}", url=own.value, source=own.source, channel=name)
    if settings.allowed and name not in map(_named, settings.allowed):
        source = settings.allowed[0].source
        yield text("{source} allows other channels alone: {channel} is missing there", source=source, channel=name)
    denied = next((one for one in settings.denied if _named(one) == name), None)
    if denied is not None:
        yield text("{source} denies the channel {channel}, which has the build", source=denied.source, channel=name)


def _named(setting: Setting) -> str:
    return name_of(setting.value)


def _is_older(value: str, cuda: Version) -> bool:
    try:
        return Version.parse(value).major < cuda.major
    except VersionError:
        return True
