"""conda's channels as the user's settings spell them, and what keeps conda from a build."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.install.conda import channels_for, notes_on_channels
from gpuassist.knowledge.records import Channel, CondaRecord
from gpuassist.model.package_settings import Channels, PackageSetting
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

CONDARC = "/home/you/.condarc"
FORGE = "https://conda.example.org/cloud/conda-forge"


def record(channel: Channel, version: str, cuda: str) -> CondaRecord:
    wanted = (channel, Version.parse(version), Version.parse(cuda), "linux-64")
    return next(one for one in knowledge().conda() if (one.channel, one.version, one.cuda, one.platform) == wanted)


NEW = record(Channel.CONDA_FORGE, "2.13.0", "13.0")
OLD = record(Channel.PYTORCH, "2.5.1", "12.4")


def set_to(*values: str) -> tuple[PackageSetting, ...]:
    return tuple(PackageSetting(value, CONDARC) for value in values)


def told(settings: Channels, one: CondaRecord = NEW) -> list[str]:
    return [ENGLISH(note) for note in notes_on_channels(one, settings)]


def test_names_stay_names() -> None:
    assert channels_for(("pytorch", "nvidia"), Channels()) == ("pytorch", "nvidia")
    assert channels_for(("conda-forge",), Channels(set_to("conda-forge", "defaults"))) == ("conda-forge",)


@pytest.mark.parametrize("address", [FORGE, FORGE + "/"])
def test_the_users_own_address_of_a_channel(address: str) -> None:
    assert channels_for(("conda-forge",), Channels(set_to(address, "defaults"))) == (address,)


def test_an_address_with_a_token_is_left_to_the_settings() -> None:
    assert channels_for(("conda-forge",), Channels(set_to("https://conda.example.org/t/***/conda-forge"))) == ()


def test_nothing_set_needs_no_word() -> None:
    assert told(Channels()) == told(Channels(set_to("defaults", "conda-forge"))) == []


def test_a_mirror_that_serves_is_named() -> None:
    assert told(Channels(set_to(FORGE))) == [f"{FORGE} of {CONDARC} is kept for conda-forge"]


def test_every_channel_of_a_build_has_to_be_allowed() -> None:
    assert told(Channels(allowed=set_to("pytorch")), OLD) == [f"{CONDARC} allows other channels alone: nvidia is missing there"]


def test_a_denied_channel_is_named() -> None:
    assert "denies the channel conda-forge" in told(Channels(denied=set_to("conda-forge")))[0]


@pytest.mark.parametrize(
    ("pin", "named"),
    [("pytorch=2.1", True), ("conda-forge::pytorch", True), ("cuda-version 12.*", True), ("python=3.11", False), ("", False)],
)
def test_pins_that_decide_about_torch(pin: str, named: bool) -> None:
    assert bool(told(Channels(pins=set_to(pin)))) is named


@pytest.mark.parametrize(("value", "named"), [("11.8", True), ("12.9", True), ("13.0", False), ("13.4", False), ("none", True)])
def test_a_driver_that_is_only_said(value: str, named: bool) -> None:
    assert bool(told(replace(Channels(), virtual=PackageSetting(value, "CONDA_OVERRIDE_CUDA")))) is named


def test_offline_is_said() -> None:
    assert "from the network" in told(Channels(offline=PackageSetting("true", CONDARC)))[0]
