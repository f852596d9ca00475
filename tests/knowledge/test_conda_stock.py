"""Every build of conda's channels can be chosen among, and leads back to the record that it was made from."""

from __future__ import annotations

import pytest

from gpuassist.knowledge.conda import LAST_OF_PYTORCH, conda_builds, of_channel, record_of, specs
from gpuassist.knowledge.records import Channel, TorchBuild
from gpuassist.model.version import Version
from tests.knowledge.shipped import KNOWLEDGE

version = Version.parse
FORGE = of_channel(KNOWLEDGE.conda(), Channel.CONDA_FORGE)
OLD = of_channel(KNOWLEDGE.conda(), Channel.PYTORCH)
WHEELS = KNOWLEDGE.torch_builds()


def forge(wanted: str = "", *, tegra: bool = False) -> tuple[TorchBuild, ...]:
    return conda_builds(FORGE, WHEELS, wanted=version(wanted) if wanted else None, tegra=tegra)


@pytest.mark.parametrize("records", [FORGE, OLD], ids=["conda-forge", "pytorch"])
def test_each_build_leads_back_to_its_record(records: tuple[object, ...]) -> None:
    every = FORGE if records is FORGE else OLD
    for build in conda_builds(every, WHEELS):
        record = record_of(every, build)
        assert record is not None
        assert (record.version, record.cuda, record.tegra) == (build.newest, build.cuda, False)
        assert specs(record)[0].startswith(f"pytorch={build.newest}")


def test_builds_for_the_processor_alone_are_none_of_them() -> None:
    assert all(build.cuda is not None and build.targets for build in (*forge(), *conda_builds(OLD, WHEELS)))


def test_the_last_patch_stands_for_its_release() -> None:
    assert {build.newest for build in forge() if build.release == version("2.12")} == {version("2.12.1")}


def test_a_patch_that_is_wanted_stands_for_it() -> None:
    assert {build.newest for build in forge("2.12.0")} == {version("2.12.0")}


def test_a_release_that_is_wanted_comes_in_its_last_patch() -> None:
    assert {build.newest for build in forge("2.7")} == {version("2.7.1")}


def test_a_release_that_the_channel_has_not() -> None:
    assert forge("2.15") == ()
    assert conda_builds(OLD, WHEELS, wanted=version("2.6")) == ()


def test_the_old_channel_ends_where_it_is_said_to() -> None:
    assert max(build.newest for build in conda_builds(OLD, WHEELS)) == LAST_OF_PYTORCH


def test_code_of_the_old_channel_is_that_of_the_wheels() -> None:
    build = next(one for one in conda_builds(OLD, WHEELS, wanted=version("2.5.1")) if one.cuda == version("12.4"))
    wheel = next(one for one in WHEELS if (one.release, one.tag, one.machine) == (version("2.5"), "cu124", "x86_64"))
    assert build.targets == wheel.targets


def test_tags_are_those_of_the_wheels() -> None:
    assert {build.tag for build in forge("2.13.0")} == {"cu129", "cu130"}


def test_builds_for_jetson_come_for_jetson_alone() -> None:
    of_jetson = [record for record in FORGE if record.tegra and record.version == version("2.13.0")]
    assert of_jetson
    assert {build.targets for build in forge("2.13.0")}.isdisjoint(record.targets for record in of_jetson)
    chosen = next(build for build in forge("2.13.0", tegra=True) if build.targets == of_jetson[0].targets)
    assert record_of(FORGE, chosen, tegra=True) == of_jetson[0]
