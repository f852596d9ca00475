"""The user's own index is kept where it has the build, and named with what it lacks where it has not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.install.torch import IndexOrigin, notes_on_index, origin_of, tag_of
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.package_settings import Indexes, PackageSetting, PackageSettings
from gpuassist.model.plan import Tool
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

MIRROR, WHEELS, CPU = "https://pypi.example.org/simple", "https://m.example.org/whl/cu126", "https://m.example.org/whl/cpu"
PIP_CONF = "/home/you/.config/pip/pip.conf"


def build(tag: str) -> TorchBuild:
    every = knowledge().torch_builds(Version.parse("2.14"))
    return next(one for one in every if one.tag == tag and one.machine == "x86_64")


DEFAULT, OTHER = build("cu130"), build("cu126")


def settings(*, index: str = "", extra: tuple[str, ...] = (), tool: Tool = Tool.PIP) -> PackageSettings:
    told = Indexes(
        PackageSetting(index, PIP_CONF) if index else PackageSetting(), tuple(PackageSetting(one, PIP_CONF) for one in extra)
    )
    return PackageSettings(uv=told) if tool is Tool.UV else PackageSettings(pip=told)


def told(one: TorchBuild, given: PackageSettings, tool: Tool = Tool.PIP) -> str:
    return " / ".join(ENGLISH(note) for note in notes_on_index(one, tool, given))


@pytest.mark.parametrize(
    ("url", "tag"),
    [
        ("https://download.pytorch.org/whl/cu126", "cu126"),
        ("https://download.pytorch.org/whl/cu126/", "cu126"),
        ("https://mirror.example.org/pytorch-wheels/cu118/simple/", "cu118"),
        ("https://download.pytorch.org/whl/cpu", "cpu"),
        ("https://download.pytorch.org/whl/rocm6.4", "rocm6.4"),
        ("https://download.pytorch.org/whl", ""),
        ("https://pypi.example.org/cu126/team/simple", ""),
        ("https://pypi.example.org/simple", ""),
        ("/srv/wheels/cu126", "cu126"),
        ("", ""),
    ],
)
def test_the_tag_that_an_address_ends_in(url: str, tag: str) -> None:
    assert tag_of(url) == tag


def test_without_settings_pytorchs_index_is_named() -> None:
    assert origin_of(OTHER, Tool.PIP, PackageSettings()) == IndexOrigin(own=False, exact=False)
    assert told(OTHER, PackageSettings()) == ""


@pytest.mark.parametrize(
    ("one", "index", "extra", "expected"),
    [
        (DEFAULT, MIRROR, (), IndexOrigin(own=True, exact=False)),
        (OTHER, MIRROR, (), IndexOrigin(own=False, exact=False)),
        (OTHER, WHEELS, (), IndexOrigin(own=True, exact=True)),
        (OTHER, MIRROR, (WHEELS,), IndexOrigin(own=True, exact=True)),
        (DEFAULT, "", (WHEELS,), IndexOrigin(own=False, exact=True)),
        (DEFAULT, MIRROR, (CPU,), IndexOrigin(own=False, exact=True)),
        (DEFAULT, CPU, (), IndexOrigin(own=False, exact=False)),
    ],
)
def test_where_a_build_comes_from(one: TorchBuild, index: str, extra: tuple[str, ...], expected: IndexOrigin) -> None:
    assert origin_of(one, Tool.PIP, settings(index=index, extra=extra)) == expected


def test_a_build_for_the_processor_alone_is_never_left_to_chance() -> None:
    for index in ("", MIRROR, CPU):
        origin = origin_of(DEFAULT, Tool.PIP, settings(index=index, extra=(CPU,)))
        assert origin.exact
        assert not origin.own


def test_pips_settings_are_nothing_to_uv() -> None:
    assert origin_of(OTHER, Tool.UV, settings(index=WHEELS)) == IndexOrigin(own=False, exact=False)


def test_a_kept_index_is_named_with_its_file() -> None:
    assert told(DEFAULT, settings(index=MIRROR)).startswith(f"{MIRROR} of {PIP_CONF} is kept")


def test_what_a_mirror_lacks_is_said() -> None:
    words = told(OTHER, settings(index=MIRROR))
    assert f"{MIRROR} of {PIP_CONF} has no build cu126" in words
    assert "download.pytorch.org/whl/cu126 as well" in words


def test_uv_takes_all_else_from_the_users_index() -> None:
    assert "is kept for all but torch itself" in told(OTHER, settings(index=MIRROR, tool=Tool.UV), Tool.UV)


def test_forbidden_indexes_leave_the_links() -> None:
    pip = replace(Indexes(), forbidden=PackageSetting("true", PIP_CONF), links=(PackageSetting("/srv/wheels", PIP_CONF),))
    given = PackageSettings(pip=pip)
    assert origin_of(OTHER, Tool.PIP, given) == IndexOrigin(own=True, exact=True)
    assert "torch 2.14.1+cu126 and of what it asks for have to be in /srv/wheels" in told(OTHER, given)


@pytest.mark.parametrize(
    ("pin", "refused"), [("==2.1.0", True), ("<2.10", True), (">=2.4", False), ("==2.14.1", False), ("odd", False)]
)
def test_pins_of_constraints(pin: str, refused: bool) -> None:
    given = PackageSettings(pip=Indexes(pins=(PackageSetting(pin, "/srv/c.txt"),)))
    assert ("/srv/c.txt allows torch" in told(OTHER, given)) is refused


@pytest.mark.parametrize(("tool", "other"), [(Tool.PIP, "uv"), (Tool.UV, "pip")])
def test_tool_that_is_kept_from_the_network_is_the_one_that_is_named(tool: Tool, other: str) -> None:
    kept = replace(Indexes(), offline=PackageSetting("true", PIP_CONF))
    told = [ENGLISH(one) for one in notes_on_index(build("cu126"), tool, PackageSettings(pip=kept, uv=kept))]
    assert any(PIP_CONF in one for one in told)
    assert not any(f" {other} " in one for one in told)
